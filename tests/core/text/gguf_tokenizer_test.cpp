// Tests tokenizers of GGUF files with small vocabularies. gguf_references_test.cpp compares ids
// with other libraries.
#include "core/text/file/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Ids = std::vector<std::int32_t>;

constexpr int kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;

Ids ids_of(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  return ids;
}

Ids ids_of(const Json& metadata, std::string_view text) {
  return ids_of(*gguf_tokenizer(metadata, "m.gguf"), text);
}

std::string refusal(const Json& metadata) {
  try {
    gguf_tokenizer(metadata, "m.gguf");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// GGUF metadata of a vocabulary. `tokens` contains pairs of a token and its type.
Json vocabulary(const std::string& model, const std::vector<std::pair<std::string, int>>& tokens) {
  Json all = {{"general.architecture", "llama"}, {"tokenizer.ggml.model", model}};
  for (const auto& [token, type] : tokens) {
    all["tokenizer.ggml.tokens"].push_back(token);
    all["tokenizer.ggml.token_type"].push_back(type);
  }
  return all;
}

void add_token(Json& metadata, const std::string& token, int type, double score = 0) {
  metadata["tokenizer.ggml.tokens"].push_back(token);
  metadata["tokenizer.ggml.token_type"].push_back(type);
  if (metadata.contains("tokenizer.ggml.scores")) {
    metadata["tokenizer.ggml.scores"].push_back(score);
  }
}

// <s> 0, </s> 1, a 2, b 3, Ġ 4, ab 5, Ġab 6, 1 7, 11 8, <|im_end|> 9, <tool> 10
Json byte_level() {
  Json all = vocabulary("gpt2", {{"<s>", kControl},
                                 {"</s>", kControl},
                                 {"a", kNormal},
                                 {"b", kNormal},
                                 {"Ġ", kNormal},
                                 {"ab", kNormal},
                                 {"Ġab", kNormal},
                                 {"1", kNormal},
                                 {"11", kNormal},
                                 {"<|im_end|>", kNormal},
                                 {"<tool>", kUserDefined}});
  all["tokenizer.ggml.pre"] = "gpt-2";
  all["tokenizer.ggml.merges"] = {"a b", "Ġ ab", "1 1"};
  all["tokenizer.ggml.bos_token_id"] = 0;
  all["tokenizer.ggml.eos_token_id"] = 1;
  return all;
}

// <unk> 0, <s> 1, </s> 2, bytes 3 to 258, ▁ 259, a 260, b 261, ▁a 262, ab 263, ▁ab 264
Json sentencepiece() {
  Json all = vocabulary("llama", {{"<unk>", kUnknown}, {"<s>", kControl}, {"</s>", kControl}});
  all["tokenizer.ggml.scores"] = {0, 0, 0};
  for (int b = 0; b < 256; ++b) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
    add_token(all, name, kByte);
  }
  double score = 0;
  for (const char* token : {"▁", "a", "b", "▁a", "ab", "▁ab"}) {
    add_token(all, token, kNormal, --score);
  }
  return all;
}

// [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, un 5, ##able 6, the 7, "," 8, [unused0] 9
Json wordpiece() {
  Json all = vocabulary("bert", {{"[PAD]", kControl},
                                 {"[UNK]", kControl},
                                 {"[CLS]", kControl},
                                 {"[SEP]", kControl},
                                 {"[MASK]", kControl},
                                 {"▁un", kNormal},
                                 {"able", kNormal},
                                 {"▁the", kNormal},
                                 {"▁,", kNormal},
                                 {"[unused0]", kNormal}});
  all["tokenizer.ggml.bos_token_id"] = 2;
  all["tokenizer.ggml.seperator_token_id"] = 3;
  all["tokenizer.ggml.unknown_token_id"] = 1;
  all["tokenizer.ggml.mask_token_id"] = 4;
  return all;
}

// <pad> 0, </s> 1, <unk> 2, ▁ 3, ▁a 4, b 5, ▁ab 6, [PAD7] 7
Json unigram() {
  Json all = vocabulary("t5", {{"<pad>", kControl}, {"</s>", kControl}, {"<unk>", kUnknown}});
  all["tokenizer.ggml.scores"] = {0, 0, 0};
  double score = -2;
  for (const char* token : {"▁", "▁a", "b", "▁ab"}) add_token(all, token, kNormal, score -= 0.5);
  add_token(all, "[PAD7]", kUnused, -10000);
  all["tokenizer.ggml.add_space_prefix"] = true;
  all["tokenizer.ggml.remove_extra_whitespaces"] = true;
  return all;
}

// <s> 0, <pad> 1, </s> 2, <unk> 3, ▁a 4
Json xlm_roberta() {
  Json all = vocabulary(
      "t5", {{"<s>", kControl}, {"<pad>", kControl}, {"</s>", kControl}, {"<unk>", kUnknown}});
  all["tokenizer.ggml.scores"] = {0, 0, 0, 0};
  add_token(all, "▁a", kNormal, -1);
  all["tokenizer.ggml.add_space_prefix"] = all["tokenizer.ggml.add_bos_token"] = true;
  all["tokenizer.ggml.bos_token_id"] = 0;
  all["tokenizer.ggml.eos_token_id"] = 2;
  all["tokenizer.ggml.unknown_token_id"] = 3;
  return all;
}

TEST(GgufTokenizer, SavedFilesGiveTheSameIds) {
  for (const Json& metadata :
       {byte_level(), wordpiece(), sentencepiece(), unigram(), xlm_roberta()}) {
    const testing::TemporaryFolder folder;
    const auto tokenizer = gguf_tokenizer(metadata, "m.gguf");
    tokenizer->save(folder.path());
    const auto saved = load_tokenizer(folder.path());
    EXPECT_EQ(saved->kind(), tokenizer->kind());
    EXPECT_EQ(saved->mask_token(), tokenizer->mask_token());
    ASSERT_EQ(saved->vocabulary_size(), tokenizer->vocabulary_size());
    for (std::int32_t id = 0; id < saved->vocabulary_size(); ++id) {
      EXPECT_EQ(saved->label(id), tokenizer->label(id));
      EXPECT_EQ(saved->is_special(id), tokenizer->is_special(id));
    }
    for (const char* text : {"ab a b ab</s>", "", "un the, unable", "aab  <s>"}) {
      try {
        EXPECT_EQ(ids_of(*saved, text), ids_of(*tokenizer, text)) << text;
      } catch (const InputError&) {
        EXPECT_THROW(ids_of(*tokenizer, text), InputError) << text;
      }
    }
  }
}

TEST(GgufTokenizer, MergesBytePairs) {
  EXPECT_EQ(ids_of(byte_level(), "ab abb"), (Ids{5, 6, 3}));
  EXPECT_EQ(gguf_tokenizer(byte_level(), "m.gguf")->kind(), "byte-level BPE");
}

TEST(GgufTokenizer, PretokenizerSeparatesDigits) {
  Json metadata = byte_level();
  EXPECT_EQ(ids_of(metadata, "11"), (Ids{8}));
  metadata["tokenizer.ggml.pre"] = "smollm";
  EXPECT_EQ(ids_of(metadata, "11"), (Ids{7, 7}));
}

TEST(GgufTokenizer, IgnoresMergesOfWholeTokens) {
  Json metadata = byte_level();
  metadata["tokenizer.ggml.merges"] = {"a b"};  // no merge yields "Ġab"
  EXPECT_EQ(ids_of(metadata, " ab"), (Ids{4, 5}));
  metadata["tokenizer.ggml.pre"] = "llama-bpe";
  EXPECT_EQ(ids_of(metadata, " ab"), (Ids{0, 6}));  // begin token 0, then "Ġab"
}

TEST(GgufTokenizer, ComposesCharactersForQwen) {
  Json metadata = byte_level();
  add_token(metadata, "Ã", kNormal);
  add_token(metadata, "¡", kNormal);  // 0xC3 0xA1: á
  metadata["tokenizer.ggml.pre"] = "qwen2";
  EXPECT_EQ(ids_of(metadata, "a\u0301"), (Ids{11, 12}));
}

TEST(GgufTokenizer, RecognisesControlAndUserDefinedTokens) {
  const auto tokenizer = gguf_tokenizer(byte_level(), "m.gguf");
  EXPECT_EQ(ids_of(*tokenizer, "a</s>b<|im_end|><tool>"), (Ids{2, 1, 3, 9, 10}));
  EXPECT_TRUE(tokenizer->is_special(1));
  EXPECT_TRUE(tokenizer->is_special(9));  // special, although the file declares it normal
  EXPECT_FALSE(tokenizer->is_special(10));
}

TEST(GgufTokenizer, AddsBeginAndEndTokensAsTheFileStates) {
  Json metadata = byte_level();
  metadata["tokenizer.ggml.add_bos_token"] = true;
  metadata["tokenizer.ggml.add_eos_token"] = true;
  EXPECT_EQ(ids_of(metadata, "a"), (Ids{0, 2, 1}));
  metadata["tokenizer.ggml.pre"] = "llama-bpe";
  metadata["tokenizer.ggml.add_bos_token"] = false;
  metadata["tokenizer.ggml.add_eos_token"] = false;
  EXPECT_EQ(ids_of(metadata, "a"), (Ids{2}));
}

TEST(GgufTokenizer, AddsBeginAndEndTokensByModel) {
  EXPECT_EQ(ids_of(sentencepiece(), "a"), (Ids{1, 262}));
  EXPECT_EQ(ids_of(unigram(), "a"), (Ids{4, 1}));
  EXPECT_EQ(ids_of(wordpiece(), "the"), (Ids{2, 7, 3}));
}

TEST(GgufTokenizer, EncodesPairsForRoberta) {
  Json metadata = byte_level();
  metadata["tokenizer.ggml.pre"] = "roberta-bpe";
  metadata["tokenizer.ggml.add_bos_token"] = metadata["tokenizer.ggml.add_eos_token"] = true;
  metadata["tokenizer.ggml.seperator_token_id"] = 1;
  Ids ids, segments;
  for (const Token& token : gguf_tokenizer(metadata, "m.gguf")->encode_pair("a", "b")) {
    ids.push_back(token.id);
    segments.push_back(token.segment);
  }
  EXPECT_EQ(ids, (Ids{0, 2, 1, 1, 3, 1}));
  EXPECT_EQ(segments, Ids(6, 0));
}

TEST(GgufTokenizer, EncodesPairsForXlmRoberta) {
  Ids ids;
  for (const Token& token : gguf_tokenizer(xlm_roberta(), "m.gguf")->encode_pair("a", "a a")) {
    ids.push_back(token.id);
  }
  EXPECT_EQ(ids, (Ids{0, 4, 2, 2, 4, 4, 2}));
}

TEST(GgufTokenizer, SegmentsOfPairsForBert) {
  Ids ids, segments;
  for (const Token& token : gguf_tokenizer(wordpiece(), "m.gguf")->encode_pair("the", "unable")) {
    ids.push_back(token.id);
    segments.push_back(token.segment);
  }
  EXPECT_EQ(ids, (Ids{2, 7, 3, 5, 6, 3}));
  EXPECT_EQ(segments, (Ids{0, 0, 0, 1, 1, 1}));
}

TEST(GgufTokenizer, RestoresWordPieces) {
  const auto tokenizer = gguf_tokenizer(wordpiece(), "m.gguf");
  EXPECT_EQ(ids_of(*tokenizer, "The unable, [MASK] x"), (Ids{2, 7, 5, 6, 8, 4, 1, 3}));
  EXPECT_EQ(tokenizer->label(6), "##able");
  EXPECT_EQ(tokenizer->label(9), "[unused0]");
  EXPECT_EQ(tokenizer->mask_token(), 4);
}

TEST(GgufTokenizer, FallsBackToBytes) {
  EXPECT_EQ(ids_of(sentencepiece(), "ab\n"), (Ids{1, 264, 3 + '\n'}));
  EXPECT_EQ(gguf_tokenizer(sentencepiece(), "m.gguf")->decode({1, 264, 3 + '\n'}), "ab\n");
}

TEST(GgufTokenizer, SpacePrefixCanBeOff) {
  Json metadata = sentencepiece();
  metadata["tokenizer.ggml.add_space_prefix"] = false;
  EXPECT_EQ(ids_of(metadata, "ab ab"), (Ids{1, 263, 264}));
}

TEST(GgufTokenizer, FillersOfBpeVocabulariesAreNotText) {
  Json metadata = sentencepiece();
  add_token(metadata, "[PAD265]", kUnused, -10000);
  const auto tokenizer = gguf_tokenizer(metadata, "m.gguf");
  EXPECT_EQ(tokenizer->vocabulary_size(), 266);
  EXPECT_TRUE(tokenizer->is_special(265));
}

TEST(GgufTokenizer, MergesExtraSpacesForT5) {
  EXPECT_EQ(ids_of(unigram(), "  ab   a "), (Ids{6, 4, 1}));
  Json metadata = unigram();
  metadata["tokenizer.ggml.remove_extra_whitespaces"] = false;
  EXPECT_EQ(ids_of(metadata, "ab  a"), (Ids{6, 3, 4, 1}));
}

TEST(GgufTokenizer, MarksSpacesForGemma4) {
  Json metadata = vocabulary("gemma4", {{"<bos>", kControl},
                                        {"<unk>", kUnknown},
                                        {"<0x0A>", kByte},
                                        {"▁", kNormal},
                                        {"a", kNormal},
                                        {"▁a", kNormal}});
  metadata["tokenizer.ggml.merges"] = {"▁ a"};
  metadata["tokenizer.ggml.bos_token_id"] = 0;
  metadata["tokenizer.ggml.unknown_token_id"] = 1;
  EXPECT_EQ(ids_of(metadata, "a a\n"), (Ids{0, 4, 5, 2}));
}

TEST(GgufTokenizer, MaskIncludesTheSpaceBefore) {
  Json metadata = byte_level();
  add_token(metadata, "<mask>", kControl);
  metadata["tokenizer.ggml.mask_token_id"] = 11;
  const auto tokenizer = gguf_tokenizer(metadata, "m.gguf");
  EXPECT_EQ(ids_of(*tokenizer, "a <mask>b"), (Ids{2, 11, 3}));
  EXPECT_EQ(tokenizer->mask_token(), 11);
}

TEST(GgufTokenizer, Phi3MarkersIncludeTheSpaceAfter) {
  Json metadata = byte_level();
  metadata["general.name"] = "Phi-3 mini";
  EXPECT_EQ(ids_of(metadata, "a</s> b"), (Ids{2, 1, 3}));
}

TEST(GgufTokenizer, KeepsTheChatTemplate) {
  Json metadata = byte_level();
  metadata["tokenizer.chat_template"] = "{{ messages }}";
  const Json config =
      Json::parse(gguf_tokenizer_files(metadata, "m.gguf").at("tokenizer_config.json"));
  EXPECT_EQ(config["chat_template"].text(), "{{ messages }}");
  EXPECT_EQ(config["eos_token"].text(), "</s>");
}

TEST(GgufTokenizer, SpecialTokensOutsideOfTheVocabularyCountAsAbsent) {
  Json metadata = byte_level();
  metadata["tokenizer.ggml.padding_token_id"] = 4294967295u;
  EXPECT_EQ(ids_of(metadata, "a"), (Ids{2}));
  metadata["tokenizer.ggml.add_bos_token"] = true;
  metadata["tokenizer.ggml.bos_token_id"] = 99;
  EXPECT_EQ(refusal(metadata),
            "m.gguf: tokenizer.ggml.bos_token_id: expected the id of a token that is added to each "
            "text, found none");
}

TEST(GgufTokenizer, RejectsUnsupportedModels) {
  Json metadata = byte_level();
  for (const char* model : {"rwkv", "plamo2", "hybriddna", "no_vocab"}) {
    metadata["tokenizer.ggml.model"] = model;
    EXPECT_EQ(refusal(metadata),
              std::string("m.gguf: tokenizer.ggml.model: expected \"gpt2\", \"llama\", \"bert\", "
                          "\"t5\" or \"gemma4\", found \"") +
                  model + "\"");
  }
  metadata = byte_level();
  metadata["tokenizer.ggml.pre"] = "unheard-of";
  EXPECT_EQ(refusal(metadata),
            "m.gguf: tokenizer.ggml.pre: expected a known pre-tokenizer, found \"unheard-of\"");
}

TEST(GgufTokenizer, RejectsMissingMembers) {
  for (const char* key : {"model", "tokens", "merges"}) {
    Json metadata = byte_level();
    metadata.erase(std::string("tokenizer.ggml.") + key);
    EXPECT_TRUE(refusal(metadata).starts_with(std::string("m.gguf: tokenizer.ggml.") + key))
        << refusal(metadata);
  }
  Json metadata = sentencepiece();
  metadata.erase("tokenizer.ggml.scores");
  EXPECT_EQ(refusal(metadata), "m.gguf: tokenizer.ggml.scores: expected a list, found none");
}

TEST(GgufTokenizer, RejectsListsOfOtherLengths) {
  Json metadata = byte_level();
  metadata["tokenizer.ggml.token_type"].push_back(1);
  EXPECT_EQ(refusal(metadata),
            "m.gguf: tokenizer.ggml.token_type: expected 11 values, one per token, found 12");
  metadata = byte_level();
  metadata["tokenizer.ggml.tokens"] = Json::array();
  EXPECT_EQ(refusal(metadata),
            "m.gguf: tokenizer.ggml.tokens: expected 1 to 4194304 tokens, found 0");
}

TEST(GgufTokenizer, RejectsWrongTypes) {
  const std::vector<std::pair<const char*, Json>> wrong = {
      {"model", 1},
      {"pre", true},
      {"tokens", "a"},
      {"tokens", Json::array({1, 2})},
      {"token_type", Json::array({1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 1})},
      {"token_type", Json::array({1, 2, 3, 4, 5, 6, "1", 1, 1, 1, 1})},
      {"scores", Json::array({1, 2, 3, 4, 5, 6, "1", 1, 1, 1, 1})},
      {"merges", "a b"},
      {"merges", Json::array({1})},
      {"merges", Json::array({"ab"})},
      {"merges", Json::array({""})},
      {"merges", Json::array({"a x"})},
      {"bos_token_id", "0"},
      {"add_bos_token", 1},
  };
  for (const auto& [key, value] : wrong) {
    Json metadata = byte_level();
    metadata[std::string("tokenizer.ggml.") + key] = value;
    EXPECT_TRUE(refusal(metadata).starts_with(std::string("m.gguf: tokenizer.ggml.") + key))
        << key << ": " << refusal(metadata);
  }
  Json metadata = unigram();
  metadata["tokenizer.ggml.precompiled_charsmap"] = {0, 256};
  EXPECT_EQ(refusal(metadata),
            "m.gguf: tokenizer.ggml.precompiled_charsmap[1]: expected a byte, found 256");
}

TEST(GgufTokenizer, RejectsRepeatedTokensAndInvalidText) {
  Json metadata = byte_level();
  add_token(metadata, "a", kNormal);
  EXPECT_EQ(refusal(metadata), "m.gguf: tokenizer.ggml.tokens: token \"a\" has the ids 2 and 11");
  metadata = byte_level();
  add_token(metadata, "\xff", kNormal);
  EXPECT_EQ(refusal(metadata), "m.gguf: tokenizer.ggml.tokens[11]: expected UTF-8");
}

TEST(GgufTokenizer, NamesTokensThatNoTextYields) {
  Json metadata = byte_level();
  add_token(metadata, "", kNormal);
  add_token(metadata, "not a byte letter: 中", kUnused);
  const auto tokenizer = gguf_tokenizer(metadata, "m.gguf");
  EXPECT_EQ(tokenizer->label(11), "[EMPTY_11]");
  EXPECT_EQ(tokenizer->label(12), "not a byte letter: 中");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
