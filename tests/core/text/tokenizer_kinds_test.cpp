// Features of all kinds of tokenizers. references_test.cpp compares ids and spans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/file/tokenizer_files.h"
#include "tests/core/text/references.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::reference_tokenizer;

using Ids = std::vector<std::int32_t>;
using Files = std::map<std::string, std::string>;

Ids ids_of(const std::vector<Token>& tokens) {
  Ids ids;
  for (const Token& t : tokens) ids.push_back(t.id);
  return ids;
}

// Quotes `bytes` and writes bytes outside printable ASCII as \xNN.
std::string escaped(const std::string& bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    char number[8];
    std::snprintf(number, sizeof number, "\\x%02x", static_cast<unsigned char>(c));
    text += c >= ' ' && c <= '~' ? std::string(1, c) : number;
  }
  return text + "\"";
}

std::string refusal(const Files& files) {
  try {
    tokenizer_from_files(files, "m");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// [PAD] 0 [UNK] 1 [CLS] 2 [SEP] 3 [MASK] 4 un 5 ##able 6 ##s 7 the 8 , 9
Files bert() {
  return {{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\r\n##able\n##s\nthe\n,\n"}};
}

TEST(WordPieceFile, EncodesPairs) {
  const auto tokenizer = tokenizer_from_files(bert(), "m");
  EXPECT_EQ(tokenizer->kind(), "WordPiece");
  const auto tokens = tokenizer->encode_pair("The Unables", "xyz the");
  EXPECT_EQ(ids_of(tokens), (Ids{2, 8, 5, 6, 7, 3, 1, 8, 3}));
  const std::vector<std::int32_t> segments{0, 0, 0, 0, 0, 0, 1, 1, 1};
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    EXPECT_EQ(tokens[n].segment, segments[n]) << n;
    EXPECT_EQ(tokens[n].text, segments[n]) << n;
    EXPECT_EQ(tokens[n].special, n == 0 || n == 5 || n == 8) << n;
  }
  EXPECT_EQ(tokens[3].begin, 6u);
  EXPECT_EQ(tokens[3].end, 10u);
  EXPECT_EQ(tokens[7].begin, 4u) << "bytes of the second text";
}

TEST(WordPieceFile, LabelsShowVocabularyForm) {
  const auto tokenizer = tokenizer_from_files(bert(), "m");
  EXPECT_EQ(tokenizer->label(6), "##able");
  EXPECT_EQ(tokenizer->label(8), "the");
  EXPECT_EQ(tokenizer->label(2), "[CLS]");
  EXPECT_EQ(tokenizer->bytes(6), "able");
  EXPECT_EQ(tokenizer->bytes(8), " the");
  EXPECT_EQ(tokenizer->decode({2, 8, 5, 6, 9, 8, 3}), "the unable, the");
  EXPECT_EQ(tokenizer->mask_token(), 4);
  EXPECT_EQ(tokenizer->id_of("[SEP]"), 3);
  EXPECT_EQ(tokenizer->id_of("?"), -1);
  EXPECT_TRUE(tokenizer->is_special(4));
  EXPECT_FALSE(tokenizer->is_special(8));
  EXPECT_EQ(ids_of(tokenizer->encode("the [MASK]the")), (Ids{2, 8, 4, 8, 3}));
}

TEST(WordPieceFile, FollowsConfig) {
  Files files = bert();
  files["tokenizer_config.json"] =
      R"({"do_lower_case": false, "tokenizer_class": "BertTokenizer"})";
  EXPECT_EQ(ids_of(tokenizer_from_files(files, "m")->encode("The the")), (Ids{2, 1, 8, 3}));
  files["tokenizer_config.json"] = R"({"tokenizer_class": "EsmTokenizer"})";
  EXPECT_NE(refusal(files).find("EsmTokenizer"), std::string::npos);
  files["tokenizer_config.json"] = R"({"cls_token": "<s>"})";
  EXPECT_NE(refusal(files).find("cls_token"), std::string::npos);
  files["tokenizer_config.json"] =
      R"({"added_tokens_decoder": {"10": {"content": "<new>", "special": true}}})";
  EXPECT_EQ(ids_of(tokenizer_from_files(files, "m")->encode("the<new>")), (Ids{2, 8, 10, 3}));
  files["tokenizer_config.json"] = R"({"added_tokens_decoder": {"x": {"content": "y"}}})";
  EXPECT_NE(refusal(files), "");
  files["vocab.txt"] = "\n\n";
  EXPECT_NE(refusal(files), "");
}

// The mask token is the token that the config names. If the vocabulary lacks that token, a special
// token with a common name such as [MASK] is the mask token.
TEST(WordPieceFile, FindsMaskToken) {
  Files files = bert();
  files["tokenizer_config.json"] =
      R"({"mask_token": "the", "additional_special_tokens": ["[MASK]"]})";
  EXPECT_EQ(tokenizer_from_files(files, "m")->mask_token(), 8);
  files["tokenizer_config.json"] =
      R"({"mask_token": "lacking", "additional_special_tokens": ["[MASK]"]})";
  EXPECT_EQ(tokenizer_from_files(files, "m")->mask_token(), 4);
}

TEST(Tokenizers, NameUnknownTokenOfEveryKind) {
  for (const char* name : {"bert-cased", "vocab-bert-cased"}) {
    const auto tokenizer = reference_tokenizer(name);
    EXPECT_EQ(tokenizer->unknown_token(), tokenizer->id_of("[UNK]")) << name;
    EXPECT_GE(tokenizer->unknown_token(), 0) << name;
  }
  for (const char* name : {"marian", "spm-bpe-unknown", "unigram-t5", "words"}) {
    const auto tokenizer = reference_tokenizer(name);
    ASSERT_GE(tokenizer->unknown_token(), 0) << name;
    const std::vector<Token> tokens = tokenizer->encode("\U0001F9A9");  // a flamingo
    EXPECT_TRUE(std::ranges::any_of(tokens, [&](const Token& token) {
      return token.id == tokenizer->unknown_token();
    })) << name;
  }
  EXPECT_EQ(reference_tokenizer("merges-gpt2")->unknown_token(), -1);  // bytes represent any text
  EXPECT_EQ(byte_tokenizer()->unknown_token(), -1);
}

TEST(MergesFile, OrdinaryTokenIsNotMask) {
  Files files{{"vocab.json", R"({"<mask>": 0, "[MASK]": 1, "a": 2})"},
              {"merges.txt", ""},
              {"tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})"}};
  EXPECT_EQ(tokenizer_from_files(files, "m")->mask_token(), -1);
  files["tokenizer_config.json"] =
      R"({"tokenizer_class": "GPT2Tokenizer", "mask_token": "<mask>",
          "additional_special_tokens": ["[MASK]"]})";
  EXPECT_EQ(tokenizer_from_files(files, "m")->mask_token(), 0);
}

TEST(MergesFile, RejectsUnknownClass) {
  Files files{{"vocab.json", R"({"a": 0})"},
              {"merges.txt", ""},
              {"tokenizer_config.json", R"({"tokenizer_class": "WhisperTokenizer"})"}};
  EXPECT_NE(refusal(files).find("WhisperTokenizer"), std::string::npos);
}

std::string spm_file(const std::string& name, const char* file = "spiece.model") {
  return read_file(testing::reference_folder(name) / file, std::size_t{1} << 24);
}

TEST(SentencePieceModelFile, FollowsTokenizerClass) {
  Files files{{"spiece.model", spm_file("spm-unigram")}};
  const auto plain = tokenizer_from_files(files, "m");
  const Ids ids = ids_of(plain->encode("the cat"));
  EXPECT_EQ(plain->decode(ids), "the cat");
  EXPECT_TRUE(plain->is_special(1)) << "<s>";
  EXPECT_EQ(plain->label(1), "<s>");
  files["tokenizer_config.json"] = R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 3})";
  const auto t5 = tokenizer_from_files(files, "m");
  Ids with_end = ids;
  with_end.push_back(2);
  EXPECT_EQ(ids_of(t5->encode("the cat")), with_end);
  EXPECT_EQ(t5->vocabulary_size(), plain->vocabulary_size() + 3);
  EXPECT_EQ(t5->id_of("<extra_id_0>"), plain->vocabulary_size() + 2);
  EXPECT_EQ(t5->encode("<extra_id_2>")[0].id, plain->vocabulary_size());
  files["tokenizer_config.json"] =
      R"({"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "add_eos_token": true,
          "eos_token": "</s>"})";
  with_end.insert(with_end.begin(), 1);
  EXPECT_EQ(ids_of(tokenizer_from_files(files, "m")->encode("the cat")), with_end);
  files["tokenizer_config.json"] = R"({"tokenizer_class": "XLMRobertaTokenizer"})";
  EXPECT_NE(refusal(files).find("XLMRobertaTokenizer"), std::string::npos);
}

// The merges follow from the vocabulary. An added token must not yield a merge, because it would
// then match inside a word despite single_word.
TEST(SentencePieceModelFile, DoesNotMergeAddedTokens) {
  Files files{{"tokenizer.model", spm_file("spm-bpe", "tokenizer.model")}};
  const auto plain = tokenizer_from_files(files, "m");
  const Index size = plain->vocabulary_size();
  ASSERT_LT(plain->id_of("zq"), 0);
  files["tokenizer_config.json"] = R"({"added_tokens_decoder": {")" + std::to_string(size) +
                                   R"(": {"content": "zq", "single_word": true}}})";
  const auto added = tokenizer_from_files(files, "m");
  EXPECT_EQ(added->id_of("zq"), size);
  EXPECT_EQ(ids_of(added->encode("azqb")), ids_of(plain->encode("azqb")));
  const Ids alone = ids_of(added->encode("zq"));
  EXPECT_NE(std::ranges::find(alone, size), alone.end());
}

// Labels and bytes of tokens for every kind of file.
TEST(TokenizerFiles, LabelsMatchGolden) {
  std::string text;
  for (const std::string& name : testing::reference_names()) {
    const auto tokenizer = reference_tokenizer(name);
    text += name + ", " + tokenizer->kind() + ", " + std::to_string(tokenizer->vocabulary_size()) +
            " tokens, mask " + std::to_string(tokenizer->mask_token()) + "\n";
    const Index size = tokenizer->vocabulary_size(), step = std::max<Index>(1, size / 24);
    std::vector<std::string> entries;
    for (Index n = 0; n < size; n += n < 6 ? 1 : step) {
      const auto id = static_cast<std::int32_t>(n);
      const std::string label = escaped(tokenizer->label(id));
      const std::string bytes = escaped(tokenizer->bytes(id));
      entries.push_back(std::to_string(n) + " " + label + (bytes == label ? "" : " " + bytes) +
                        (tokenizer->is_special(id) ? " special" : ""));
    }
    text += testing::wrapped_entries(entries);
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/text/labels.txt"));
}

TEST(MarianFile, LoadsSourceAndTargetTokenizers) {
  const testing::TemporaryFolder folder, copy;
  for (const char* name : {"source.spm", "vocab.json"}) {
    std::filesystem::copy(testing::reference_folder("marian") / name, folder.path() / name);
  }
  EXPECT_EQ(load_target_tokenizer(folder.path()), nullptr);
  std::filesystem::copy(testing::reference_folder("spm-suffix") / "spiece.model",
                        folder.path() / "target.spm");
  const auto source = load_tokenizer(folder.path()), target = load_target_tokenizer(folder.path());
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(source->vocabulary_size(), target->vocabulary_size());
  EXPECT_EQ(source->encode("the cat").back().id, 0);
  EXPECT_TRUE(source->encode("the cat").back().special);
  EXPECT_NE(ids_of(source->encode("the cat")), ids_of(target->encode("the cat")));
  source->save(copy.path());
  target->save(copy.path());
  EXPECT_EQ(ids_of(load_target_tokenizer(copy.path())->encode("a cat")),
            ids_of(target->encode("a cat")));
  EXPECT_EQ(ids_of(load_tokenizer(copy.path())->encode("a cat")), ids_of(source->encode("a cat")));
}

TEST(TargetTokenizerFile, IsLoadedNextToSource) {
  const testing::TemporaryFolder folder, copy;
  std::filesystem::copy(testing::reference_folder("words") / "tokenizer.json",
                        folder.path() / "tokenizer.json");
  std::filesystem::copy(testing::reference_folder("characters") / "tokenizer.json",
                        folder.path() / "target_tokenizer.json");
  const auto source = load_tokenizer(folder.path()), target = load_target_tokenizer(folder.path());
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(source->encode("the cat").size(), 2u);
  EXPECT_EQ(target->encode("the cat").size(), 7u);
  source->save(copy.path());
  target->save(copy.path());
  EXPECT_EQ(read_file(copy.path() / "target_tokenizer.json"),
            read_file(testing::reference_folder("characters") / "tokenizer.json"));
  EXPECT_EQ(read_file(copy.path() / "tokenizer.json"),
            read_file(testing::reference_folder("words") / "tokenizer.json"));
}

// Damaged files are read or rejected, without a crash.
TEST(SentencePieceModelFile, SurvivesDamage) {
  std::mt19937 random(2);
  const std::string good = spm_file("spm-unigram");
  for (std::size_t n = 0; n < good.size(); n += 97) refusal({{"spiece.model", good.substr(0, n)}});
  EXPECT_NE(refusal({{"spiece.model", ""}}), "");
  EXPECT_NE(refusal({{"spiece.model", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}}), "");
  int loaded_count = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const auto tokenizer = tokenizer_from_files({{"spiece.model", bad}}, "m");
      tokenizer->decode(ids_of(tokenizer->encode("the cat \xff \u4e2d\u00e9 1")));
      ++loaded_count;
    } catch (const InputError&) {
      continue;
    }
  }
  EXPECT_GT(loaded_count, 0);
}

TEST(TokenizerKinds, EncodeAnyBytes) {
  std::mt19937 random(4);
  for (const char* name : {"gpt2", "llama3", "o200k", "kimi", "llama2", "gemma", "bert-uncased",
                           "unigram-bytes", "unigram-xlmr", "spm-bpe", "words", "clip"}) {
    const auto tokenizer = reference_tokenizer(name);
    for (int round = 0; round < 60; ++round) {
      std::string text;
      for (auto n = random() % 40; n > 0; --n) {
        text += random() % 4 ? "the 1\n\xc3\xa9"[random() % 8] : static_cast<char>(random());
      }
      for (const Token& token : tokenizer->encode(text)) {
        ASSERT_LE(token.begin, token.end) << name;
        ASSERT_LE(token.end, text.size()) << name;
        ASSERT_LT(token.id, tokenizer->vocabulary_size()) << name;
      }
    }
  }
}

// Loading time must not be quadratic in the file's size.
TEST(TokenizerKinds, LoadInLinearTime) {
  const auto seconds = [](int count) {
    Json root = Json::parse(R"({"added_tokens": [], "model": {"type": "BPE", "merges": []}})");
    Json vocabulary = Json::object(), merges = Json::array();
    for (const char* letter : {"a", "b", "c", "d"}) vocabulary[letter] = vocabulary.size();
    std::vector<std::string> tokens{"a", "b", "c", "d"};
    for (std::size_t n = 0; static_cast<int>(tokens.size()) < count; ++n) {
      for (const char* letter : {"a", "b", "c", "d"}) {
        tokens.push_back(tokens[n] + letter);
        vocabulary[tokens.back()] = tokens.size() - 1;
        merges.push_back(Json::array({tokens[n], letter}));
      }
    }
    root["model"]["vocab"] = std::move(vocabulary);
    root["model"]["merges"] = std::move(merges);
    const Files files{{"tokenizer.json", root.dump()}};
    const std::clock_t begin = std::clock();
    EXPECT_EQ(tokenizer_from_files(files, "m")->vocabulary_size() >= count, true);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double small = seconds(8000);
  EXPECT_LT(seconds(64000), 30 * small + 0.2);
}

TEST(TokenizerKinds, ReadManySmallValuesInLinearTime) {
  std::string text = "{\"model\": [{}";
  for (int n = 0; n < 100000; ++n) text += ",{}";
  const std::clock_t begin = std::clock();
  EXPECT_NE(refusal({{"tokenizer.json", text + "]}"}}), "");
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 2.0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
