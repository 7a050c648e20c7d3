// Writes sentencepiece_model.proto (https://protobuf.dev/programming-guides/encoding).
#include <bit>

#include "core/text/file/gguf_files.h"

namespace attnscope {
namespace {

constexpr int kUnigramModel = 1, kBpeModel = 2;

void append_varint(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void append_number(std::string& message, unsigned field, std::uint64_t value) {
  append_varint(message, field << 3);
  append_varint(message, value);
}

void append_real(std::string& message, unsigned field, float value) {
  append_varint(message, field << 3 | 5);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) message += static_cast<char>(bits >> shift & 0xff);
}

void append_bytes(std::string& message, unsigned field, std::string_view bytes) {
  append_varint(message, field << 3 | 2);
  append_varint(message, bytes.size());
  message += bytes;
}

// Bytes of the normalization table, stored as a list of numbers from -128 to 255.
std::string character_map(const Json& metadata, const GgufVocabulary& vocabulary) {
  const Json* values = find_gguf_value(metadata, "precompiled_charsmap");
  if (values == nullptr) return "";
  const Entry list{*values, vocabulary.where("precompiled_charsmap")};
  list.check_list();
  std::string bytes;
  bytes.reserve(values->size());
  for (const Json& value : *values) {
    if (!value.is_number_integer() || value < -128 || value > 255) {
      list.member(bytes.size()).fail("a byte");
    }
    bytes += static_cast<char>(value.get<int>());
  }
  return bytes;
}

// Token type in the file. BPE models have no type for unused tokens, which become control tokens.
GgufTokenType piece_type(GgufTokenType type, bool unigram) {
  return type == GgufTokenType::Unused && !unigram ? GgufTokenType::Control : type;
}

std::string sentencepiece_model(const GgufVocabulary& vocabulary, const Json& metadata) {
  const bool unigram = vocabulary.model == "t5";
  const auto flag = [&](const char* key, bool fallback) {
    return gguf_flag_or(metadata, vocabulary.place, key, fallback);
  };
  std::string model, part;
  bool has_bytes = false;
  for (std::size_t n = 0; n < vocabulary.tokens.size(); ++n) {
    const GgufTokenType type = piece_type(vocabulary.types[n], unigram);
    part.clear();
    append_bytes(part, 1, vocabulary.tokens[n]);
    append_real(part, 2, vocabulary.scores[n]);
    append_number(part, 3, static_cast<std::uint64_t>(type));
    append_bytes(model, 1, part);
    has_bytes = has_bytes || type == GgufTokenType::Byte;
  }
  part.clear();
  append_number(part, 3, unigram ? kUnigramModel : kBpeModel);
  append_number(part, 35, has_bytes);
  append_bytes(model, 2, part);
  part.clear();
  append_bytes(part, 1, "identity");
  if (unigram) append_bytes(part, 2, character_map(metadata, vocabulary));
  append_number(part, 3, flag("add_space_prefix", !unigram));
  append_number(part, 4, unigram && flag("remove_extra_whitespaces", false));
  append_number(part, 5, true);  // spaces as "▁"
  append_bytes(model, 3, part);
  return model;
}

// Tokenizer class; "": plain SentencePiece.
const char* class_name(const GgufVocabulary& vocabulary) {
  if (vocabulary.model == "llama") return "LlamaTokenizer";
  if (!vocabulary.add_begin) return "T5Tokenizer";
  const bool is_xlm_roberta = vocabulary.special.begin == 0 && vocabulary.token(0) == "<s>";
  return is_xlm_roberta && vocabulary.add_end ? "XLMRobertaTokenizer" : "";
}

}  // namespace

std::map<std::string, std::string> gguf_sentencepiece_files(const GgufVocabulary& vocabulary,
                                                            const Json& metadata) {
  Json config = gguf_tokenizer_config(vocabulary, metadata);
  config["tokenizer_class"] = class_name(vocabulary);
  if (config["tokenizer_class"] == "") config.erase("tokenizer_class");
  config["add_bos_token"] = vocabulary.add_begin;
  config["add_eos_token"] = vocabulary.add_end;
  Json added = Json::object();
  for (const Json& token : gguf_added_tokens(vocabulary, metadata)) {
    Json& entry = added[std::to_string(token["id"].get<std::int32_t>())] = token;
    entry.erase("id");
  }
  config["added_tokens_decoder"] = std::move(added);
  if (vocabulary.model == "t5") config["extra_ids"] = 0;  // the vocabulary contains the extra ids
  const char* file = vocabulary.model == "t5" ? "spiece.model" : "tokenizer.model";
  return {{file, sentencepiece_model(vocabulary, metadata)},
          {"tokenizer_config.json", config.dump(1)}};
}

}  // namespace attnscope
