// Alignment of normalized text with the original.
#include "core/text/aligned_text.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"
#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Lists each character with its byte range in the original text: "x[0,1) y[1,3)".
std::string alignment_text(const AlignedText& text) {
  std::string all;
  for (std::size_t at = 0; at < text.text().size();) {
    const std::size_t begin = at;
    next_code(text.text(), at);
    const Span origin = text.origin({begin, at});
    all += (all.empty() ? "" : " ") + text.text().substr(begin, at - begin) + "[" +
           std::to_string(origin.begin) + "," + std::to_string(origin.end) + ")";
  }
  return all;
}

std::string normalized(const NormalizerPtr& normalizer, const std::string& text,
                       std::size_t at = 0) {
  AlignedText aligned(text, at);
  normalizer->apply(aligned);
  return alignment_text(aligned);
}

TEST(AlignedText, StartsAsOriginal) {
  const AlignedText text("ab\u00e9", 5);
  EXPECT_EQ(alignment_text(text), "a[5,6) b[6,7) \u00e9[7,9)");
  EXPECT_EQ(text.origin({1, 1}), (Span{6, 6}));
  AlignedText built = text.empty_copy();
  built.append("_", {5, 5});
  built.append(text, {1, 4});
  EXPECT_EQ(alignment_text(built), "_[5,5) b[6,7) \u00e9[7,9)");
  EXPECT_EQ(built.origin({0, 4}), (Span{5, 9}));
}

TEST(Normalizers, KeepAlignmentInUnicodeForms) {
  const auto nfd = unicode_form_normalizer(UnicodeForm::Nfd);
  const auto nfc = unicode_form_normalizer(UnicodeForm::Nfc);
  EXPECT_EQ(normalized(nfd, "a\u00e9b"), "a[0,1) e[1,3) \u0301[1,3) b[3,4)");
  EXPECT_EQ(normalized(nfc, "e\u0301b", 2), "\u00e9[2,3) b[5,6)") << "as in the reference library";
  EXPECT_EQ(normalized(nfc, "plain"), "p[0,1) l[1,2) a[2,3) i[3,4) n[4,5)");
  EXPECT_EQ(normalized(unicode_form_normalizer(UnicodeForm::Nfkc), "\ufb01x"),
            "f[0,3) i[0,3) x[3,4)");
  EXPECT_EQ(normalized(unicode_form_normalizer(UnicodeForm::Nfkd), "\u00bd"),
            "1[0,2) \u2044[0,2) 2[0,2)");
  EXPECT_EQ(normalized(nfc, "\u1112\u1161\u11ab"), "\ud55c[0,3)") << "Hangul";
}

TEST(Normalizers, RewriteTextWithAlignment) {
  EXPECT_EQ(normalized(lowercase_normalizer(), "A\u0130\u03a3"),
            "a[0,1) i[1,3) \u0307[1,3) \u03c3[3,5)");
  EXPECT_EQ(normalized(strip_accents_normalizer(), "\u0301a\u0301b"), "a[2,3) b[5,6)");
  EXPECT_EQ(normalized(strip_normalizer(true, false), " \ta "), "a[2,3)  [3,4)");
  EXPECT_EQ(normalized(strip_normalizer(true, true), "  "), "");
  EXPECT_EQ(normalized(prepend_normalizer("_"), "a", 3), "_[3,3) a[3,4)");
  EXPECT_EQ(normalized(prepend_normalizer("_"), ""), "");
  EXPECT_EQ(normalized(replace_normalizer(Expression::literal("``"), "\""), "a``b"),
            "a[0,1) \"[2,3) b[3,4)");
  EXPECT_EQ(normalized(replace_normalizer(Expression(" {2,}", "test"), " "), "a   b"),
            "a[0,1)  [3,4) b[4,5)");
  EXPECT_EQ(normalized(bert_normalizer({}), "\u00c9\u4e2d\x01\tx"),
            "e[0,2)  [0,2) \u4e2d[2,5)  [2,5)  [6,7) x[7,8)");
  EXPECT_EQ(normalized(nmt_normalizer(), "a\x01\u200bb"), "a[0,1)  [2,5) b[5,6)");
  EXPECT_EQ(normalized(byte_level_normalizer(), " \u00e9"), "\u0120[0,1) \u00c3[1,2) \u00a9[2,3)");
}

TEST(Normalizers, RejectDamagedTable) {
  EXPECT_THROW(precompiled_normalizer(std::string("\x01", 1), "t"), InputError);
  EXPECT_THROW(precompiled_normalizer(std::string("\xff\xff\xff\x7f", 4), "t"), InputError);
  EXPECT_THROW(precompiled_normalizer(std::string("\4\0\0\0abcdx", 9), "t"), InputError);
  EXPECT_EQ(normalized(precompiled_normalizer("", "t"), "a"), "a[0,1)");
}

// Normalizes arbitrary bytes, including invalid UTF-8. Origins stay within the original text.
TEST(Normalizers, SurviveAnyBytes) {
  std::mt19937 random(3);
  std::string table = std::string("\0\1\0\0", 4);
  for (int n = 0; n < 256; ++n) table += static_cast<char>(random());
  table += std::string("abc\0de\0\0", 8);
  const std::vector<NormalizerPtr> all = {unicode_form_normalizer(UnicodeForm::Nfc),
                                          unicode_form_normalizer(UnicodeForm::Nfkd),
                                          bert_normalizer({}),
                                          lowercase_normalizer(),
                                          nmt_normalizer(),
                                          strip_normalizer(true, true),
                                          precompiled_normalizer(table, "t"),
                                          sentencepiece_normalizer(table, {}, {"ab"}, "t"),
                                          replace_normalizer(Expression("\\s+", "t"), "_"),
                                          byte_level_normalizer()};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto n = random() % 12; n > 0; --n) {
      text += random() % 3 ? static_cast<char>(random()) : "a\xcc\x81 "[random() % 4];
    }
    AlignedText aligned(text, 7);
    for (int step = 0; step < 3; ++step) all[random() % all.size()]->apply(aligned);
    for (std::size_t i = 0; i < aligned.text().size(); ++i) {
      const Span origin = aligned.origin({i, i + 1});
      ASSERT_LE(origin.begin, origin.end);
      ASSERT_GE(origin.begin, 7u);
      ASSERT_LE(origin.end, 7 + text.size());
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
