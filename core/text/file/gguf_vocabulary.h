// Checked tokens, types and special tokens of a GGUF file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/text/file/entry.h"

namespace attnscope {

// Values of "tokenizer.ggml.token_type".
enum class GgufTokenType : std::int8_t {
  Normal = 1,
  Unknown,
  Control,      // a marker, not text
  UserDefined,  // matched before the text is split
  Unused,       // fills up the vocabulary
  Byte          // "<0x0A>"
};

bool is_matched_in_text(GgufTokenType type);  // before the text is normalized and split

// Ids of special tokens; -1: no such token.
struct GgufSpecialTokens {
  std::int32_t begin = -1, end = -1, unknown = -1, separator = -1, padding = -1, mask = -1;
};

struct GgufVocabulary {
  std::string place;                 // begins the messages of InputErrors
  std::string model;                 // "gpt2", "llama", "bert", "t5" or "gemma4"
  std::string pre;                   // pre-tokenizer of a byte-pair encoding
  std::vector<std::string> tokens;   // non-empty UTF-8 in the notation of Hugging Face files; by id
  std::vector<float> scores;         // by id
  std::vector<GgufTokenType> types;  // by id
  GgufSpecialTokens special;
  bool add_begin = false, add_end = false, add_separator = false;

  const std::string& token(std::int32_t id) const { return tokens[static_cast<std::size_t>(id)]; }
  GgufTokenType type(std::int32_t id) const { return types[static_cast<std::size_t>(id)]; }
  // "FILE.gguf: tokenizer.ggml.KEY"
  std::string where(const char* key) const { return place + ": tokenizer.ggml." + key; }
};

// Reads "tokenizer.ggml.*" with llama.cpp's defaults. As in llama.cpp, a special token outside of
// the vocabulary counts as absent, and tokens such as "<|im_end|>" are control tokens regardless of
// their stored type. InputError names an unsupported model or pre-tokenizer.
GgufVocabulary read_gguf_vocabulary(const Json& metadata, const std::string& place);

// Member "tokenizer.ggml.KEY"; null if absent.
const Json* find_gguf_value(const Json& metadata, const char* key);
bool gguf_flag_or(const Json& metadata, const std::string& place, const char* key, bool fallback);

}  // namespace attnscope
