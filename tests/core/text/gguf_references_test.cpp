// Compares tokenizers of GGUF files with reference ids (gguf/), and with tokenizers of Hugging Face
// and SentencePiece files (references/). Those files are converted to GGUF metadata as llama.cpp's
// convert_hf_to_gguf.py does.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/byte_alphabet.h"
#include "core/text/file/gguf_pretokenizers.h"
#include "core/text/file/gguf_tokenizer.h"
#include "core/text/file/protobuf.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t kMaxFile = std::size_t{1} << 24;
constexpr int kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4;

fs::path text_folder() {
  return testing::source_folder() / "tests/core/text";
}

std::vector<std::string> lines_of(const std::string& file) {
  std::istringstream text(read_file(text_folder() / file, kMaxFile));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> texts_of(const std::string& file) {
  std::vector<std::string> texts;
  for (const std::string& line : lines_of(file)) texts.push_back(Json::parse(line).text());
  return texts;
}

Ids ids_of(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  return ids;
}

std::string written(const Ids& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

Json empty_vocabulary(const std::string& model) {
  return {{"tokenizer.ggml.model", model},
          {"tokenizer.ggml.tokens", Json::array()},
          {"tokenizer.ggml.token_type", Json::array()}};
}

void add_token(Json& metadata, const std::string& token, int type) {
  metadata["tokenizer.ggml.tokens"].push_back(token);
  metadata["tokenizer.ggml.token_type"].push_back(type);
}

// Metadata with the vocabulary that gguf/pretokenizers.txt describes and the merges of
// gguf/merges.txt.
Json reference_vocabulary() {
  Json all = empty_vocabulary("gpt2");
  std::set<std::string> known;
  const auto add = [&](const std::string& token, int type) {
    if (known.insert(token).second) add_token(all, token, type);
  };
  for (int b = 0; b < 256; ++b) add(byte_letter(static_cast<char>(b)), kNormal);
  for (const std::string& merge : lines_of("gguf/merges.txt")) {
    all["tokenizer.ggml.merges"].push_back(merge);
    const std::size_t space = merge.find(' ');
    add(merge.substr(0, space) + merge.substr(space + 1), kNormal);
  }
  const auto first = static_cast<std::int32_t>(known.size());
  add("<s>", kControl);
  add("</s>", kControl);
  add("<unk>", kUnknown);
  add("<|im_end|>", kNormal);
  all["tokenizer.ggml.bos_token_id"] = first;
  all["tokenizer.ggml.eos_token_id"] = first + 1;
  return all;
}

TEST(GgufReferences, MatchesReferenceIdsOfAllPretokenizers) {
  const std::vector<std::string> texts = texts_of("gguf/texts.txt");
  Json metadata = reference_vocabulary();
  std::set<std::string> tested;
  std::vector<std::string> lines = lines_of("gguf/pretokenizers.txt");
  std::erase_if(lines, [](const auto& line) { return line.empty() || line.starts_with('#'); });
  ASSERT_EQ(lines.size() % (texts.size() + 1), 0u);
  for (std::size_t at = 0; at < lines.size(); at += texts.size() + 1) {
    std::istringstream names(lines[at]);
    for (std::string name; names >> name;) {
      if (name == "none") {
        metadata.erase("tokenizer.ggml.pre");
      } else {
        metadata["tokenizer.ggml.pre"] = name;
      }
      tested.insert(name == "none" ? "" : name);
      const auto tokenizer = gguf_tokenizer(metadata, "m.gguf");
      for (std::size_t n = 0; n < texts.size(); ++n) {
        EXPECT_EQ(written(ids_of(*tokenizer, texts[n])), lines[at + 1 + n])
            << name << ": " << texts[n];
      }
    }
  }
  for (const GgufPretokenizer& pretokenizer : gguf_pretokenizers()) {
    if (pretokenizer.alphabet != GgufAlphabet::Bytes) continue;
    for (const std::string_view name : pretokenizer.names) {
      EXPECT_TRUE(tested.contains(std::string(name))) << name;
    }
  }
}

void expect_same_tokens(const Tokenizer& tokenizer, const Tokenizer& original) {
  for (const std::string& text : texts_of("references/strings.txt")) {
    EXPECT_EQ(ids_of(tokenizer, text), ids_of(original, text)) << text;
  }
}

// GGUF metadata converted from the tokenizer.json of a BPE model.
Json converted_bpe(const Json& root, const char* pre) {
  std::map<std::int32_t, std::pair<std::string, int>> by_id;
  for (const auto& [token, id] : root["model"]["vocab"].items()) {
    by_id[id.get<std::int32_t>()] = {token, kNormal};
  }
  for (const Json& token : root["added_tokens"]) {
    by_id[token["id"].get<std::int32_t>()] = {token["content"].text(),
                                              token["special"] == true ? kControl : kUserDefined};
  }
  Json all = empty_vocabulary("gpt2");
  for (const auto& [id, token] : by_id) add_token(all, token.first, token.second);
  all["tokenizer.ggml.merges"] = Json::array();
  for (const Json& merge : root["model"]["merges"]) {
    all["tokenizer.ggml.merges"].push_back(
        merge.is_string() ? merge : Json(merge[0].text() + " " + merge[1].text()));
  }
  all["tokenizer.ggml.pre"] = pre;
  return all;
}

TEST(GgufReferences, MatchesHuggingFaceByteLevelTokenizers) {
  for (const auto& [name, pre] :
       {std::pair("gpt2", "gpt-2"), std::pair("starcoder", "starcoder"),
        std::pair("falcon", "falcon"), std::pair("bloom", "bloom"),
        std::pair("llama3", "llama-bpe"), std::pair("qwen2", "qwen2"), std::pair("o200k", "gpt-4o"),
        std::pair("deepseek-v3", "deepseek-v3"), std::pair("kimi", "kimi-k2")}) {
    SCOPED_TRACE(name);
    const fs::path folder = text_folder() / "references" / name;
    const Json root = Json::parse(read_file(folder / "tokenizer.json", kMaxFile));
    Json metadata = converted_bpe(root, pre);
    metadata["tokenizer.ggml.bos_token_id"] = metadata["tokenizer.ggml.eos_token_id"] = 0;
    expect_same_tokens(*gguf_tokenizer(metadata, "m.gguf"), *load_tokenizer(folder));
  }
}

TEST(GgufReferences, MatchesHuggingFaceWordPiece) {
  for (const char* name : {"bert-uncased", "bert-accents"}) {
    SCOPED_TRACE(name);
    const fs::path folder = text_folder() / "references" / name;
    const Json root = Json::parse(read_file(folder / "tokenizer.json", kMaxFile));
    Json metadata = empty_vocabulary("bert");
    std::map<std::int32_t, std::string> by_id;
    for (const auto& [token, id] : root["model"]["vocab"].items()) {
      by_id[id.get<std::int32_t>()] = token;
    }
    for (const auto& [id, token] : by_id) {
      const bool special = token.starts_with('[') && token.size() > 2;
      const bool inside = token.starts_with("##");
      add_token(metadata,
                special  ? token
                : inside ? token.substr(2)
                         : "▁" + token,
                special ? kControl : kNormal);
      if (token == "[CLS]") metadata["tokenizer.ggml.bos_token_id"] = id;
      if (token == "[SEP]") metadata["tokenizer.ggml.seperator_token_id"] = id;
      if (token == "[UNK]") metadata["tokenizer.ggml.unknown_token_id"] = id;
    }
    for (const char* key : {"lowercase", "strip_accents"}) {
      const Json& value = root["normalizer"][key];
      if (value.is_boolean()) metadata[std::string("tokenizer.ggml.normalizer.") + key] = value;
    }
    expect_same_tokens(*gguf_tokenizer(metadata, "m.gguf"), *load_tokenizer(folder));
  }
}

// GGUF metadata converted from a SentencePiece model.
Json converted_sentencepiece(const fs::path& file, const char* model) {
  const std::string bytes = read_file(file, kMaxFile);
  Json all = empty_vocabulary(model);
  all["tokenizer.ggml.scores"] = Json::array();
  ProtobufMessage message(bytes, "model");
  ProtobufMessage::Field field, part;
  while (message.next(field)) {
    ProtobufMessage inner(field.bytes, "part");
    std::string token;
    double score = 0;
    int type = kNormal;
    while (inner.next(part)) {
      if (field.number == 1 && part.number == 1) token = part.bytes;
      if (field.number == 1 && part.number == 2) score = part.real();
      if (field.number == 1 && part.number == 3) type = static_cast<int>(part.value);
      if (field.number == 3 && part.number == 2 && !part.bytes.empty()) {
        for (const char c : part.bytes) {
          all["tokenizer.ggml.precompiled_charsmap"].push_back(static_cast<int>(c));
        }
      }
      if (field.number == 3 && part.number == 3) {
        all["tokenizer.ggml.add_space_prefix"] = part.value != 0;
      }
      if (field.number == 3 && part.number == 4) {
        all["tokenizer.ggml.remove_extra_whitespaces"] = part.value != 0;
      }
    }
    if (field.number == 1) {
      add_token(all, token, type);
      all["tokenizer.ggml.scores"].push_back(score);
    }
    if (field.number == 1 && type == kUnknown) {
      all["tokenizer.ggml.unknown_token_id"] = all["tokenizer.ggml.tokens"].size() - 1;
    }
  }
  all["tokenizer.ggml.add_bos_token"] = all["tokenizer.ggml.add_eos_token"] = false;
  return all;
}

TEST(GgufReferences, MatchesSentencePiece) {
  for (const auto& [file, model] :
       {std::pair("spm-bpe/tokenizer.model", "llama"), std::pair("spm-unigram/spiece.model", "t5"),
        std::pair("spm-nmt-nfkc/spiece.model", "t5")}) {
    SCOPED_TRACE(file);
    const fs::path path = text_folder() / "references" / file;
    Json metadata = converted_sentencepiece(path, model);
    if (!metadata.contains("tokenizer.ggml.add_space_prefix")) {  // SentencePiece's default
      metadata["tokenizer.ggml.add_space_prefix"] = true;
    }
    if (!metadata.contains("tokenizer.ggml.remove_extra_whitespaces")) {
      metadata["tokenizer.ggml.remove_extra_whitespaces"] = true;
    }
    const auto tokenizer = gguf_tokenizer(metadata, "m.gguf");
    const auto original = load_tokenizer(path.parent_path());
    for (const std::string& text : texts_of("references/strings.txt")) {
      if (text.find("</s>") != text.npos) continue;  // SentencePiece ignores control tokens
      EXPECT_EQ(ids_of(*tokenizer, text), ids_of(*original, text)) << text;
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
