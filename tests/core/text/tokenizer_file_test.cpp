#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory_budget.h"
#include "core/base/stop.h"
#include "core/text/file/tokenizer_files.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Ids = std::vector<std::int32_t>;
using Files = std::map<std::string, std::string>;

Ids ids_of(const std::vector<Token>& tokens) {
  Ids ids;
  for (const Token& t : tokens) ids.push_back(t.id);
  return ids;
}

// A tokenizer like GPT-2's, with a vocabulary of a few letters.
Json byte_level() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 9, "content": "<|endoftext|>", "single_word": false, "lstrip": false,
                      "rstrip": false, "normalized": true, "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
    "post_processor": {"type": "ByteLevel", "trim_offsets": false},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "dropout": null, "unk_token": null,
      "vocab": {"a": 0, "b": 1, "Ġ": 2, "Ċ": 3, "ab": 4, "Ġab": 5, "aba": 6, "c": 7},
      "merges": ["a b", "Ġ ab", "ab a"]}})");
}

// A tokenizer like Llama's, with a vocabulary of a few letters and all bytes.
Json sentencepiece() {
  Json root = Json::parse(R"({
    "added_tokens": [
      {"id": 0, "content": "<unk>", "special": true},
      {"id": 1, "content": "<s>", "special": true},
      {"id": 2, "content": "</s>", "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "▁"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "pre_tokenizer": null,
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                 {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
      "vocab": {"<unk>": 0, "<s>": 1, "</s>": 2}, "merges": ["▁ a", "b ▁", "a b"]}})");
  Json& vocabulary = root["model"]["vocab"];
  for (int b = 0; b < 256; ++b) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
    vocabulary[name] = 3 + b;
  }
  int id = 259;
  for (const char* token : {"▁", "a", "b", "▁a", "b▁", "ab"}) vocabulary[token] = id++;
  return root;
}

std::shared_ptr<const Tokenizer> load(const Json& root, const std::string& config = "{}") {
  return tokenizer_from_files({{"tokenizer.json", root.dump()}, {"tokenizer_config.json", config}},
                              "m");
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::string refusal(const Json& root, const std::string& config = "{}") {
  return refusal([&] { load(root, config); });
}

TEST(ByteLevelFile, Encodes) {
  const auto tokenizer = load(byte_level());
  EXPECT_EQ(tokenizer->kind(), "byte-level BPE");
  EXPECT_EQ(tokenizer->vocabulary_size(), 10);
  EXPECT_EQ(ids_of(tokenizer->encode("aba ab\nc")), (Ids{6, 5, 3, 7}));
  EXPECT_EQ(tokenizer->bytes(5), " ab");
  EXPECT_EQ(tokenizer->bytes(8), "") << "an unused id";
  EXPECT_EQ(ids_of(tokenizer->encode("abz")), (Ids{4})) << "z is dropped, as in the library";
}

TEST(ByteLevelFile, MatchesAddedTokensFirst) {
  const auto tokenizer = load(byte_level());
  const auto tokens = tokenizer->encode("ab<|endoftext|>ab");
  EXPECT_EQ(ids_of(tokens), (Ids{4, 9, 4}));
  EXPECT_EQ(tokens[1].begin, 2u);
  EXPECT_EQ(tokens[1].end, 15u);
  EXPECT_EQ(tokens[2].begin, 15u);
  EXPECT_TRUE(tokenizer->is_special(9));
  EXPECT_FALSE(tokenizer->is_special(4));
  EXPECT_EQ(tokenizer->bytes(9), "<|endoftext|>");
  EXPECT_EQ(tokenizer->decode({4, 9, 7}), "abc");
}

TEST(ByteLevelFile, ReadsMergesAsPairs) {
  Json root = byte_level();
  root["model"]["merges"] = Json::parse(R"([["a", "b"], ["Ġ", "ab"], ["ab", "a"]])");
  EXPECT_EQ(ids_of(load(root)->encode("aba ab")), (Ids{6, 5}));
}

TEST(ByteLevelFile, SplitsByExpression) {
  const Json bare = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const auto with = [&](const Json& step) {
    Json root = byte_level();
    root["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {step, bare}}};
    return root;
  };
  const auto split = [](const std::string& expression) -> Json {
    return {{"type", "Split"},
            {"pattern", {{"Regex", expression}}},
            {"behavior", "Isolated"},
            {"invert", false}};
  };
  const std::string llama3 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
      R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_EQ(ids_of(load(with(split(llama3)))->encode("ab ab\nab")), (Ids{4, 5, 3, 4}));
  EXPECT_EQ(ids_of(load(with(split("b")))->encode("ab ab")), (Ids{0, 1, 2, 0, 1}));
  EXPECT_NE(refusal(with(split("[a-z"))).find("[a-z"), std::string::npos);
  EXPECT_EQ(ids_of(load(with({{"type", "Digits"}, {"individual_digits", true}}))->encode("ab ab")),
            (Ids{4, 5}));
}

TEST(ByteLevelFile, AppliesOptions) {
  Json root = byte_level();
  root["pre_tokenizer"]["add_prefix_space"] = true;
  const auto tokens = load(root)->encode("ab ab");
  EXPECT_EQ(ids_of(tokens), (Ids{5, 5}));
  EXPECT_EQ(tokens[0].begin, 0u);
  EXPECT_EQ(tokens[0].end, 2u) << "the added space is not part of the text";
  EXPECT_EQ(tokens[1].begin, 2u);
  EXPECT_EQ(tokens[1].end, 5u);
  EXPECT_EQ(ids_of(load(root)->encode("\nab")), (Ids{2, 3, 4}));  // the added space precedes "\n"
  EXPECT_EQ(ids_of(load(root)->encode(" ab")), (Ids{5}));

  root = byte_level();
  root["model"]["vocab"]["cc"] = 8;
  EXPECT_EQ(ids_of(load(root)->encode("cc")), (Ids{7, 7}));
  root["model"]["ignore_merges"] = true;
  EXPECT_EQ(ids_of(load(root)->encode("cc")), (Ids{8}));
}

TEST(ByteLevelFile, ReadsVocabularyAndMerges) {
  Files files{{"vocab.json", byte_level()["model"]["vocab"].dump()},
              {"merges.txt", "#version: 0.2\na b\nĠ ab\r\n\nab a"},
              {"tokenizer_config.json",
               R"({"bos_token": {"content": "c"}, "add_bos_token": true, "eos_token": "none"})"}};
  const auto tokenizer = tokenizer_from_files(files, "m");
  const auto tokens = tokenizer->encode("aba ab");
  EXPECT_EQ(ids_of(tokens), (Ids{7, 6, 5}));
  EXPECT_TRUE(tokens[0].special);
  files["merges.txt"] = "a b\nab c d";
  EXPECT_TRUE(
      refusal([&] { tokenizer_from_files(files, "m"); }).starts_with("m/merges.txt line 2"));
  files.erase("merges.txt");
  EXPECT_EQ(refusal([&] { tokenizer_from_files(files, "m"); }),
            "m: expected tokenizer.json, vocab.json with merges.txt, vocab.txt, spiece.model or "
            "tokenizer.model, found none");
}

TEST(SentencePieceFile, Encodes) {
  const auto tokenizer = load(sentencepiece());
  EXPECT_EQ(tokenizer->kind(), "SentencePiece-style BPE with byte fallback");
  const auto tokens = tokenizer->encode("ab é");
  // "▁ab▁é": the merge "▁ a" comes first, then "b ▁", so that "a b" cannot be merged.
  EXPECT_EQ(ids_of(tokens), (Ids{1, 262, 263, 3 + 0xc3, 3 + 0xa9}));
  EXPECT_TRUE(tokens[0].special);
  EXPECT_EQ(tokens[1].begin, 0u);
  EXPECT_EQ(tokens[1].end, 1u);
  EXPECT_EQ(tokens[2].end, 3u);
  EXPECT_EQ(tokens[3].begin, 3u);
  EXPECT_EQ(tokens[4].end, 5u);
  EXPECT_EQ(tokenizer->bytes(262), " a");
  EXPECT_EQ(tokenizer->bytes(3 + 0xc3), "\xc3");
  EXPECT_EQ(tokenizer->bytes(1), "<s>");
  EXPECT_EQ(ids_of(tokenizer->encode("")), (Ids{1}));
}

TEST(SentencePieceFile, CoversAnyBytesExactly) {
  const auto tokenizer = load(sentencepiece());
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto n = random() % 30; n > 0; --n) {
      text += random() % 4 ? "ab \xc3\xa9"[random() % 5] : static_cast<char>(random());
    }
    const auto tokens = tokenizer->encode(text);
    EXPECT_EQ(tokenizer->decode(ids_of(tokens)), text);
    std::size_t at = 0;
    for (const Token& t : tokens) {
      EXPECT_EQ(t.begin, at);
      at = t.end;
    }
    EXPECT_EQ(at, text.size());
  }
}

TEST(SentencePieceFile, UsesUnknownToken) {
  Json root = sentencepiece();
  root["model"]["byte_fallback"] = false;
  EXPECT_EQ(ids_of(load(root)->encode("éüa")), (Ids{1, 259, 0, 260}));
  root["model"]["fuse_unk"] = false;
  EXPECT_EQ(ids_of(load(root)->encode("éüa")), (Ids{1, 259, 0, 0, 260}));
  root["model"]["unk_token"] = nullptr;
  EXPECT_EQ(ids_of(load(root)->encode("aé")), (Ids{1, 262})) << "dropped, as in the library";
}

TEST(SentencePieceFile, ReadsMetaspace) {
  Json root = sentencepiece();
  root["normalizer"] = nullptr;
  root["pre_tokenizer"] =
      Json::parse(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"})");
  // Merges do not cross the beginning of a word, so that "b▁" is not formed.
  EXPECT_EQ(ids_of(load(root)->encode("ab a")), (Ids{1, 262, 261, 262}));
  EXPECT_EQ(ids_of(load(root)->encode(" a")), (Ids{1, 262})) << "begins with a space already";
  root["pre_tokenizer"]["split"] = false;
  EXPECT_EQ(ids_of(load(root)->encode("ab b")), (Ids{1, 262, 263, 261}));
  root["pre_tokenizer"]["prepend_scheme"] = "never";
  EXPECT_EQ(ids_of(load(root)->encode("ab")), (Ids{1, 264}));
  root["pre_tokenizer"]["prepend_scheme"] = "first";
  EXPECT_EQ(ids_of(load(root)->encode("ab</s>ab")), (Ids{1, 262, 261, 2, 264}));
}

// As in transformers 5.24, also for the classes of Llama and Gemma.
TEST(TokenizerFile, IgnoresAddBosToken) {
  Json root = sentencepiece();
  root["post_processor"] = nullptr;
  for (const std::string flag : {"true", "false"}) {
    const std::string config = R"({"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": )" +
                               flag + R"(, "add_eos_token": )" + flag + "}";
    EXPECT_EQ(ids_of(load(sentencepiece(), config)->encode("a")), (Ids{1, 262})) << flag;
    EXPECT_EQ(ids_of(load(root, config)->encode("a")), (Ids{262})) << flag;
  }
}

// Classes of the libraries prefer flags of tokenizer_config.json; the general class ignores them.
TEST(TokenizerFile, FollowsFlagsOfItsClass) {
  const Json root = byte_level();
  for (const auto& [name, has_space] :
       {std::pair{"GPT2Tokenizer", true}, {"PreTrainedTokenizerFast", false}}) {
    const std::string config =
        std::string(R"({"add_prefix_space": true, "tokenizer_class": ")") + name + "\"}";
    EXPECT_EQ(ids_of(load(root, config)->encode("ab")), (has_space ? Ids{5} : Ids{4})) << name;
  }
  Json words = Json::parse(R"({"added_tokens": [], "decoder": null, "post_processor": null,
    "normalizer": {"type": "BertNormalizer", "lowercase": false},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0, "a": 1, "A": 2}}})");
  EXPECT_EQ(ids_of(load(words)->encode("A")), (Ids{2}));
  EXPECT_EQ(ids_of(load(words, R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})")
                       ->encode("A")),
            (Ids{1}));
}

// Added tokens are matched in the text beforehand: the model does not know them.
TEST(TokenizerFile, ModelsLackAddedTokens) {
  Json root = Json::parse(R"({"normalizer": null, "decoder": null, "post_processor": null,
    "added_tokens": [{"id": 3, "content": "fo", "single_word": true, "normalized": false}],
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0, "##o": 1, "b": 2}}})");
  EXPECT_EQ(ids_of(load(root)->encode("fo foo b")), (Ids{3, 0, 2}));
  root["model"] =
      Json::parse(R"({"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0, "b": 2}})");
  root["added_tokens"][0]["content"] = "b.fo";
  EXPECT_EQ(ids_of(load(root)->encode("b")), (Ids{2}));
}

TEST(TokenizerFile, PrependsSpaceAtBeginningOfOriginalTextOnly) {
  Json root = sentencepiece();
  root["pre_tokenizer"] =
      Json::parse(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"})");
  root["normalizer"] = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}};
  EXPECT_EQ(ids_of(load(root)->encode("a")), (Ids{1, 262}));
  EXPECT_EQ(ids_of(load(root)->encode(" a")), (Ids{1, 260})) << "the library's rule";
}

TEST(TokenizerFile, LastOfEqualUnigramTokensCounts) {
  const Json root = Json::parse(R"({"normalizer": null, "decoder": null, "post_processor": null,
    "added_tokens": [], "pre_tokenizer": null, "model": {"type": "Unigram", "unk_id": 0,
    "vocab": [["u", 0], ["a", -1.0], ["b", -1.0], ["ab", -1.0], ["ab", -5.0]]}})");
  EXPECT_EQ(ids_of(load(root)->encode("ab")), (Ids{1, 2}));
}

TEST(TokenizerFile, AppendsTokensOfTemplate) {
  Json root = sentencepiece();
  root["post_processor"]["single"].push_back(Json::parse(R"({"SpecialToken": {"id": "</s>"}})"));
  root["post_processor"]["special_tokens"]["</s>"] =
      Json::parse(R"({"id": "</s>", "ids": [2], "tokens": ["</s>"]})");
  const auto tokens = load(root, R"({"add_eos_token": false})")->encode("a");
  EXPECT_EQ(ids_of(tokens), (Ids{1, 262, 2}));
  EXPECT_TRUE(tokens[2].special);
}

TEST(TokenizerFile, AddsTokensAfterText) {
  Json root = sentencepiece();
  root["post_processor"]["single"].push_back(Json::parse(R"({"SpecialToken": {"id": "<s>"}})"));
  const auto tokens = load(root)->encode("a");
  EXPECT_EQ(ids_of(tokens), (Ids{1, 262, 1}));
  EXPECT_EQ(tokens[2].begin, 1u);
}

TEST(TokenizerFile, AcceptsBase64WithoutPadding) {
  const std::string file = "tests/core/text/references/unigram-albert/tokenizer.json";
  Json root = Json::parse(read_file(testing::source_folder() / file));
  const Ids ids = ids_of(load(root)->encode("ﬁ ①"));
  Json& table = root.at_pointer("/normalizer/normalizers/5/precompiled_charsmap");
  const std::string padded = table.text();
  ASSERT_TRUE(padded.ends_with('='));
  table = padded.substr(0, padded.find('='));
  EXPECT_EQ(ids_of(load(root)->encode("ﬁ ①")), ids);
}

// Each change makes the file unsupported. The error message starts with the name of the file.
TEST(TokenizerFile, ReportsUnsupportedFeatures) {
  const std::vector<std::pair<std::string, std::string>> changes{
      {"/model/type", R"("Unigram")"},
      {"/model/type", R"("Viterbi")"},
      {"/model/dropout", "0.1"},
      {"/model/continuing_subword_prefix", R"("##")"},
      {"/model/vocab", "[]"},
      {"/model/vocab", "{}"},
      {"/model/vocab/a", "-1"},
      {"/model/vocab/a", "4194304"},
      {"/model/vocab/a", "1.5"},
      {"/model/vocab/a", R"("0")"},
      {"/model/vocab/a", "1"},
      {"/model/merges", R"(["a"])"},
      {"/model/merges", R"(["a b c"])"},
      {"/model/merges", R"(["a z"])"},
      {"/model/merges", R"(["a c"])"},
      {"/model/merges", R"([["a", "b", "c"]])"},
      {"/model/merges", "[1]"},
      {"/model/merges", "{}"},
      {"/added_tokens", "{}"},
      {"/added_tokens/0/content", R"("")"},
      {"/added_tokens/0/id", "5"},
      {"/added_tokens/0/lstrip", "1"},
      {"/added_tokens/0/special", "1"},
      {"/pre_tokenizer", R"({"type": "UnicodeScripts"})"},
      {"/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AQ=="})"},
      {"/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "%"})"},
      {"/normalizer", R"({"type": "Replace", "pattern": {"Regex": "(?<a"}, "content": ""})"},
      {"/normalizer", R"({"type": "Replace", "pattern": {"String": ""}, "content": ""})"},
      {"/decoder", R"({"type": "CTC"})"},
      {"/pre_tokenizer", "3"},
      {"/post_processor", R"({"type": "RobertaProcessing"})"},
      {"/post_processor", R"({"type": "TemplateProcessing", "single": []})"}};
  for (Json base : {byte_level(), sentencepiece()}) {
    for (const auto& [pointer, value] : changes) {
      Json root = base;
      root.at_pointer(pointer) = Json::parse(value);
      EXPECT_TRUE(refusal(root).starts_with("m/tokenizer.json: ")) << pointer << " " << value;
    }
  }
  Json root = byte_level();
  root["model"]["vocab"]["é e"] = 8;
  EXPECT_NE(refusal(root).find("é e"), std::string::npos);
  root = byte_level();
  root["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "x"}}, {"type": "ByteLevel"}]})");
  EXPECT_NE(refusal(root).find("Split"), std::string::npos);
  for (const char* section : {"normalizer", "decoder", "pre_tokenizer"}) {
    root = sentencepiece();
    root[section] = Json::parse(R"({"type": "Unheard"})");
    EXPECT_NE(refusal(root).find("Unheard"), std::string::npos) << section;
  }
}

// Truncated files are rejected. Damaged files are read or rejected, without a crash.
TEST(TokenizerFile, SurvivesDamage) {
  std::mt19937 random(1);
  for (const std::string& good : {byte_level().dump(), sentencepiece().dump()}) {
    for (std::size_t n = 0; n < good.size(); n += 7) {
      EXPECT_NE(refusal([&] {
                  tokenizer_from_files({{"tokenizer.json", good.substr(0, n)}}, "m");
                }),
                "");
    }
    for (int i = 0; i < 1500; ++i) {
      std::string bad = good;
      for (int k = 0; k < 3; ++k) {
        const std::size_t at = random() % bad.size();
        if (random() % 2) {
          bad[at] = "\"{}[]:,0a\xff"[random() % 10];
        } else {
          bad.erase(at, 1 + random() % 5);
        }
      }
      try {
        const auto tokenizer = tokenizer_from_files({{"tokenizer.json", bad}}, "m");
        tokenizer->decode(ids_of(tokenizer->encode("aba b\xff<s>c")));
      } catch (const InputError&) {
        continue;
      }
    }
  }
}

// Replaces each value and each section by values of wrong types.
TEST(TokenizerFile, SurvivesWrongTypes) {
  for (const Json& base : {byte_level(), sentencepiece()}) {
    for (const auto& [path, old] : base.flatten()) {
      for (const char* value : {"null", "-3", "1e300", "\"x\"", "[]", "{}", "[[1]]", "true"}) {
        Json root = base;
        root.at_pointer(path) = Json::parse(value);
        try {
          load(root)->encode("ab a");
        } catch (const InputError&) {
          continue;
        }
      }
    }
    for (std::string path : {"/model", "/added_tokens", "/normalizer", "/pre_tokenizer",
                             "/post_processor", "/decoder", "/model/vocab", "/model/merges"}) {
      for (const char* value : {"null", "-3", "\"x\"", "[]", "{}", "[[1]]", "[3]", "true"}) {
        Json root = base;
        root.at_pointer(path) = Json::parse(value);
        try {
          load(root)->encode("ab a");
        } catch (const InputError&) {
          continue;
        }
      }
    }
  }
}

TEST(TokenizerFile, RoundTrips) {
  const testing::TemporaryFolder from, to;
  const std::string text = sentencepiece().dump();
  write_file(from.path() / "tokenizer.json", text);
  write_file(from.path() / "tokenizer_config.json", "{\"add_bos_token\": false}");
  load_tokenizer(from.path())->save(to.path());
  EXPECT_EQ(read_file(to.path() / "tokenizer.json"), text);
  EXPECT_EQ(read_file(to.path() / "tokenizer_config.json"), "{\"add_bos_token\": false}");
  EXPECT_THROW(load_tokenizer(to.path() / "missing"), InputError);
}

// Tests conditions on word boundaries, the white space that lstrip and rstrip include, and the
// precedence of added tokens.
TEST(AddedTokens, MatchByTheirConditions) {
  Json root = sentencepiece();
  root["normalizer"] = nullptr;
  const auto add = [&](int id, const char* content, const char* flags) {
    Json token = Json::parse(flags);
    token["id"] = id;
    token["content"] = content;
    root["added_tokens"].push_back(token);
  };
  add(265, "ax", R"({"single_word": true})");
  add(266, "<l>", R"({"lstrip": true})");
  add(267, "<r>", R"({"rstrip": true})");
  add(268, "<lr>", R"({"lstrip": true, "rstrip": true, "single_word": true})");
  add(269, "axb", R"({})");
  const auto tokenizer = load(root);
  // Ids and byte spans of the added tokens in `text`.
  const auto added = [&](const std::string& text) {
    std::string all;
    for (const Token& t : tokenizer->encode(text)) {
      if (t.id < 265) continue;
      all += (all.empty() ? "" : " ") + std::to_string(t.id) + "[" + std::to_string(t.begin) + "," +
             std::to_string(t.end) + ")";
    }
    return all;
  };
  EXPECT_EQ(added("ax"), "265[0,2)");
  EXPECT_EQ(added(" ax!"), "265[1,3)");
  EXPECT_EQ(added("aax"), "");
  EXPECT_EQ(added("axa"), "");
  EXPECT_EQ(added("ax_"), "");
  EXPECT_EQ(added("axb"), "269[0,3)") << "the longest token";
  EXPECT_EQ(added("axaxb"), "269[2,5)");
  for (const std::string letter : {"z", "\u00e9", "\u4e2d", "\U00020000"}) {
    EXPECT_EQ(added(letter + "ax"), "") << letter;
    EXPECT_EQ(added("ax" + letter), "") << letter;
  }
  EXPECT_EQ(added("\u3000ax\u3000"), "265[3,5)");
  EXPECT_EQ(added("\x80\xffx ax"), "265[4,6)");
  EXPECT_EQ(added("\xff"
                  "ax"),
            "265[1,3)");
  EXPECT_EQ(added("a \t<l> a"), "266[1,6)");
  EXPECT_EQ(added("a\u3000\u00a0<l>"), "266[1,9)");
  EXPECT_EQ(added("  <l>"), "266[0,5)");
  EXPECT_EQ(added("<r> \u3000a"), "267[0,7)");
  EXPECT_EQ(added("<r>  "), "267[0,5)");
  EXPECT_EQ(added("<r>  <l>"), "267[0,5) 266[5,8)") << "white space belongs to the first token";
  EXPECT_EQ(added("a <lr> a"), "268[1,7)");
  EXPECT_EQ(added("a<lr>a"), "");
}

TEST(TokenizerFile, ReportsIdRange) {
  const auto tokenizer = load(byte_level());
  for (const std::int32_t id : {-1, 10}) {
    EXPECT_EQ(refusal([&] { tokenizer->bytes(id); }),
              "token id " + std::to_string(id) + ": expected 0 to 9");
  }
  EXPECT_EQ(tokenizer->bytes(9), "<|endoftext|>");
  EXPECT_EQ(tokenizer->bytes(0), "a");
}

// At most 16 nested sequences and at most 64 steps are accepted.
TEST(TokenizerFile, LimitsSteps) {
  const auto nested = [](int depth) {
    Json step = Json::parse(R"({"type": "NFC"})");
    for (int n = 0; n < depth; ++n) {
      Json outer = Json::parse(R"({"type": "Sequence", "normalizers": []})");
      outer["normalizers"].push_back(step);
      step = outer;
    }
    Json root = byte_level();
    root["normalizer"] = step;
    return root;
  };
  EXPECT_EQ(refusal(nested(16)), "");
  EXPECT_NE(refusal(nested(17)), "");
  const auto many = [](int count) {
    Json root = byte_level();
    root["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": []})");
    for (int n = 0; n < count; ++n) {
      root["normalizer"]["normalizers"].push_back(Json::parse(R"({"type": "NFC"})"));
    }
    return root;
  };
  EXPECT_EQ(refusal(many(64)), "");
  EXPECT_NE(refusal(many(65)).find("more than 64"), std::string::npos);
}

// An empty text would be found without end.
TEST(TokenizerFile, RejectsEmptySearchedTexts) {
  for (const auto& [type, key] :
       {std::pair{"Metaspace", "replacement"}, {"BPEDecoder", "suffix"}}) {
    Json root = byte_level();
    root["decoder"] = {{"type", type}, {key, ""}};
    EXPECT_NE(refusal([&] { load(root); }).find(std::string(key) + ": expected a non-empty string"),
              std::string::npos);
  }
  Json root = sentencepiece();
  root["decoder"] = nullptr;
  root["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", ""}};
  EXPECT_NE(refusal([&] { load(root); }).find("non-empty"), std::string::npos);
}

// 40 steps that double each "a" would need 2^40 bytes.
TEST(TokenizerFile, LimitsGrowthOfTexts) {
  Json steps = Json::array();
  for (int n = 0; n < 40; ++n) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  }
  Json root = byte_level();
  root["decoder"] = {{"type", "Sequence"}, {"decoders", steps}};
  EXPECT_NE(refusal([&] { load(root); }).find("expected tokens of at most"), std::string::npos);
  root = byte_level();
  root["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  const std::size_t budget = memory_budget();
  set_memory_budget(kMinMemoryBudget);
  EXPECT_NE(refusal([&] { load(root)->encode("a"); }).find("the tokenizer makes it longer"),
            std::string::npos);
  set_memory_budget(budget);
  const Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(load(root)->encode("a"), Stopped);
}

TEST(TokenizerFile, LimitsTokenIds) {
  Json root = byte_level();
  root["model"]["vocab"]["cc"] = (1 << 22) - 1;
  EXPECT_EQ(load(root)->vocabulary_size(), 1 << 22);
  root["model"]["vocab"]["cc"] = 1 << 22;
  EXPECT_NE(refusal(root).find("from 0 to 4194303"), std::string::npos) << refusal(root);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
