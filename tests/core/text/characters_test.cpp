// Tests character classes, and normalizers, token models and decoders on short texts.
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/text/model/token_model.h"
#include "core/text/normalize/normalizer.h"
#include "core/text/process/decoder.h"
#include "core/text/process/template.h"
#include "core/text/unicode.h"
#include "core/text/unicode8.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string utf8_of(std::int32_t code) {
  std::string text;
  append_character(text, code);
  return text;
}

std::string normalized(const NormalizerPtr& normalizer, const std::string& text) {
  AlignedText aligned(text, 0);
  normalizer->apply(aligned);
  return aligned.text();
}

TEST(Characters, WhiteSpaceFollowsUnicode) {
  const std::set<std::int32_t> single{' ',    0x85,   0xa0,   0x1680, 0x2028,
                                      0x2029, 0x202f, 0x205f, 0x3000};
  for (std::int32_t c = 0; c < 0x3100; ++c) {
    const bool space = single.contains(c) || (c >= 9 && c <= 13) || (c >= 0x2000 && c <= 0x200a);
    EXPECT_EQ(is_white_space(c), space) << c;
  }
}

TEST(Characters, AsciiSymbolsArePunctuation) {
  for (int c = 0; c < 0x80; ++c) EXPECT_EQ(is_unicode8_punctuation(c), std::ispunct(c) != 0) << c;
  for (const std::int32_t c : {0xa1, 0x2e42, 0x3001, 0x166d, 0x111c9}) {
    EXPECT_TRUE(is_unicode8_punctuation(c)) << c;
  }
  // Characters from ranges added after Unicode 8, a symbol outside ASCII, and a letter.
  for (const std::int32_t c :
       {0x61d, 0x1b7d, 0x1b7e, 0x2e43, 0x2e4f, 0x2e52, 0x2e5d, 0xa2, int{'a'}}) {
    EXPECT_FALSE(is_unicode8_punctuation(c)) << c;
  }
}

TEST(Characters, MarksAndControlsFollowUnicode8) {
  for (const std::int32_t c : {0x300, 0x36f, 0x1734, 0x20d0}) {
    EXPECT_TRUE(is_unicode8_nonspacing_mark(c)) << c;
  }
  for (const std::int32_t c : {0x903, 0x20dd, 0x1e944, 0x1e94a, 0x1e026, 0x1e02a, int{'a'}}) {
    EXPECT_FALSE(is_unicode8_nonspacing_mark(c)) << c;
  }
  for (const std::int32_t c : {0x300, 0x903, 0x20dd, 0x1cf2, 0x1cf3})
    EXPECT_TRUE(is_unicode8_mark(c)) << c;
  for (const std::int32_t c : {0x7fd, 0x7fd, 0x1e4ec, 0x1e4ef, 0x1cf1}) {
    EXPECT_FALSE(is_unicode8_mark(c)) << c;
  }
  for (const std::int32_t c : {0, 0x1f, 0x7f, 0xad, 0x200b, 0xe000, 0xf8ff, 0x10fffd}) {
    EXPECT_TRUE(is_unicode8_control(c)) << c;
  }
  for (const std::int32_t c : {0x890, 0x891, 0x8e2, 0x13430, 0x1343f, 0x20, 0x61, 0x378}) {
    EXPECT_FALSE(is_unicode8_control(c)) << c;
  }
}

TEST(Characters, NmtRemovesControlsAndNormalizesSpaces) {
  const NormalizerPtr nmt = nmt_normalizer();
  const std::set<std::int32_t> spaces{9,      0xa,    0xc,    0xd,    0x1680,
                                      0x200b, 0x200c, 0x200d, 0x200e, 0x200f,
                                      0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd};
  for (std::int32_t c = 0; c < 0x10000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    const bool control = (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f ||
                         c == 0x8f || c == 0x9f;
    const std::string expected = control ? "" : spaces.contains(c) ? " " : utf8_of(c);
    ASSERT_EQ(normalized(nmt, "a" + utf8_of(c) + "b"), "a" + expected + "b") << c;
  }
}

TEST(Characters, BertSeparatesChineseCharacters) {
  BertOptions options;
  options.strip_accents = options.lowercase = false;
  const NormalizerPtr bert = bert_normalizer(options);
  const auto is_apart = [&](std::int32_t c) {
    return normalized(bert, utf8_of(c)) == " " + utf8_of(c) + " ";
  };
  const std::pair<std::int32_t, std::int32_t> ranges[] = {
      {0x4e00, 0x9fff},   {0x3400, 0x4dbf}, {0x20000, 0x2a6df}, {0x2a700, 0x2b81f},
      {0x2b920, 0x2ceaf}, {0xf900, 0xfaff}, {0x2f800, 0x2fa1f}};
  for (const auto& [first, last] : ranges) {
    EXPECT_TRUE(is_apart(first)) << first;
    EXPECT_TRUE(is_apart(last)) << last;
    EXPECT_FALSE(is_apart(first - 1)) << first;
    EXPECT_FALSE(is_apart(last + 1)) << last;
  }
  EXPECT_EQ(normalized(bert, std::string("a\0b\ufffd\x01"
                                         "c\td\u3000e\rf",
                                         16)),
            "abc d e f");
  EXPECT_EQ(normalized(bert, "\u4e00\u4e01"), " \u4e00  \u4e01 ");
  options.clean_text = options.chinese_characters = false;
  EXPECT_EQ(normalized(bert_normalizer(options), "\u4e00\tA\u00e9\x01"), "\u4e00\tA\u00e9\x01");
}

TEST(WordPiece, LimitsPieceLength) {
  const auto vocabulary = std::make_shared<Vocabulary>();
  for (const char* token : {"?", "a", "##a", "\u00e9", "##\u00e9", "##aa"}) {
    vocabulary->add(token, vocabulary->size(), "test");
  }
  WordPieceOptions options;
  options.unknown = 0;
  options.max_characters = 4;
  const TokenModelPtr model = wordpiece_model(vocabulary, options);
  const auto ids = [&](const std::string& piece) {
    std::vector<Piece> pieces;
    model->encode(piece, pieces);
    std::string text;
    for (const Piece& p : pieces) {
      text +=
          std::to_string(p.id) + "[" + std::to_string(p.begin) + "," + std::to_string(p.end) + ")";
    }
    return text;
  };
  EXPECT_EQ(ids("aaaa"), "1[0,1)5[1,3)2[3,4)");
  EXPECT_EQ(ids("aaaaa"), "0[0,5)");
  EXPECT_EQ(ids("\u00e9\u00e9\u00e9\u00e9"), "3[0,2)4[2,4)4[4,6)4[6,8)") << "characters, not bytes";
  EXPECT_EQ(ids("ab"), "0[0,2)");
  options.unknown = -1;
  std::vector<Piece> none;
  EXPECT_THROW(wordpiece_model(vocabulary, options)->encode("ab", none), InputError);
}

TEST(Vocabulary, FindsManyTokensAndRejectsConflicts) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.find("a"), -1);
  for (std::int32_t id = 0; id < 5000; ++id) vocabulary.add("t" + std::to_string(id), id, "test");
  for (std::int32_t id = 0; id < 5000; ++id)
    EXPECT_EQ(vocabulary.find("t" + std::to_string(id)), id);
  EXPECT_EQ(vocabulary.find("t5000"), -1);
  EXPECT_EQ(vocabulary.size(), 5000);
  EXPECT_NO_THROW(vocabulary.add("t7", 7, "test"));
  EXPECT_THROW(vocabulary.add("t7", 8, "test"), InputError);
  EXPECT_THROW(vocabulary.add("t7", 6000, "test"), InputError);
  EXPECT_THROW(vocabulary.add("new", 4999, "test"), InputError);
  vocabulary.add("new", 5003, "test");
  EXPECT_EQ(vocabulary.size(), 5004);
  EXPECT_EQ(vocabulary.token(5001), "");
  vocabulary.add_or_replace("t7", 5001);
  EXPECT_EQ(vocabulary.find("t7"), 5001);
}

TEST(Vocabulary, NamesBytes) {
  for (int b = 0; b < 256; ++b) {
    EXPECT_EQ(byte_of_token(token_of_byte(static_cast<unsigned char>(b))), b);
  }
  for (const char* none :
       {"<0x>", "<0x0>", "<0x0G>", "<0xG0>", "<0x-1>", "<0x000>", "0x00>>", "<0x00"}) {
    EXPECT_EQ(byte_of_token(none), -1) << none;
  }
}

// Lists template parts: "A", "B" or a token id, then "/" and the segment.
std::string template_text(const std::vector<TemplatePart>& parts) {
  std::string text;
  for (const TemplatePart& part : parts) {
    text += (text.empty() ? "" : " ") +
            (part.text == 0   ? std::string("A")
             : part.text == 1 ? std::string("B")
                              : std::to_string(part.id)) +
            "/" + std::to_string(part.segment);
  }
  return text;
}

TEST(Templates, AddAndRemoveTokensAtTextEnds) {
  Template all;
  set_before(all, 5, false);
  set_after(all, 6, false);
  EXPECT_EQ(template_text(all.single), "A/0");
  set_before(all, 5, true);
  EXPECT_EQ(template_text(all.single), "5/0 A/0");
  EXPECT_EQ(template_text(all.pair), "5/0 A/0 5/1 B/1");
  set_before(all, 5, true);
  set_after(all, 6, true);
  EXPECT_EQ(template_text(all.single), "5/0 A/0 6/0");
  EXPECT_EQ(template_text(all.pair), "5/0 A/0 6/0 5/1 B/1 6/1");
  set_after(all, 6, true);
  set_before(all, 5, false);
  EXPECT_EQ(template_text(all.single), "A/0 6/0");
  EXPECT_EQ(template_text(all.pair), "A/0 6/0 B/1 6/1");
  set_after(all, 6, false);
  EXPECT_EQ(template_text(all.single), "A/0");
  EXPECT_EQ(template_text(all.pair), "A/0 B/1");
  EXPECT_EQ(template_text(bert_template(1, 2).single), "1/0 A/0 2/0");
  EXPECT_EQ(template_text(bert_template(1, 2).pair), "1/0 A/0 2/0 B/1 2/1");
  EXPECT_EQ(template_text(roberta_template(1, 2).single), "1/0 A/0 2/0");
  EXPECT_EQ(template_text(roberta_template(1, 2).pair), "1/0 A/0 2/0 2/0 B/0 2/0");
}

TEST(Decoders, StripLimitedCounts) {
  Decoder decoder;
  decoder.add_strip(' ', 2, 1);
  EXPECT_EQ(decoder.finish("   a  "), " a ");
  EXPECT_EQ(decoder.finish("  a "), "a");
  EXPECT_EQ(decoder.finish(" a"), "a");
  EXPECT_EQ(decoder.finish("a"), "a");
  EXPECT_EQ(decoder.finish("    "), " ");
  EXPECT_EQ(decoder.finish("  "), "");
  EXPECT_EQ(decoder.finish(""), "");
}

TEST(Decoders, ReplaceEverywhere) {
  Decoder decoder;
  decoder.add_spaces("__");
  decoder.add_replacement(Expression("b+", "test"), "<>");
  EXPECT_EQ(decoder.bytes("__a____bbc__b"), " a  <>c <>");
  EXPECT_EQ(decoder.bytes("abb"), "a<>");
  EXPECT_EQ(decoder.bytes("_"), "_");
  Decoder pieces;
  pieces.add_word_pieces("##", true);
  EXPECT_EQ(pieces.bytes("##ing"), "ing");
  EXPECT_EQ(pieces.bytes("ing"), " ing");
  EXPECT_EQ(pieces.bytes("."), ".");
  EXPECT_EQ(pieces.finish("  a"), " a");
}

// A replacement table consists of the byte size of a trie, the trie (4 bytes per unit) and
// zero-terminated replacement strings.
TEST(Precompiled, RejectsDamagedTables) {
  const auto is_accepted = [](std::uint32_t size, const std::string& rest) {
    std::string table(4, '\0');
    std::memcpy(table.data(), &size, 4);
    try {
      precompiled_normalizer(table + rest, "t");
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  const std::string unit(4, '\0');
  EXPECT_TRUE(is_accepted(0, ""));
  EXPECT_TRUE(is_accepted(4, unit + std::string(1, '\0')));
  EXPECT_TRUE(is_accepted(4, unit + std::string("a\0", 2)));
  EXPECT_FALSE(is_accepted(4, unit + "a"));
  EXPECT_FALSE(is_accepted(4, unit)) << "no replacements";
  EXPECT_FALSE(is_accepted(8, unit));
  EXPECT_FALSE(is_accepted(5, unit + std::string(2, '\0')));
  EXPECT_TRUE(is_accepted(0, "abc"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
