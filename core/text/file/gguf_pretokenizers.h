// Pre-tokenizers of byte-pair encodings in GGUF files, by the names of "tokenizer.ggml.pre".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

namespace attnscope {

enum class GgufAlphabet {
  Bytes,        // GPT-2's byte alphabet
  MarkedSpaces  // UTF-8 with "▁" for spaces and "<0x..>" for unknown bytes
};

struct GgufPretokenizer {
  std::vector<std::string_view> names;
  // Applied in order: expressions whose matches become pieces, and JSON steps of tokenizer.json.
  std::vector<std::string> steps;
  GgufAlphabet alphabet = GgufAlphabet::Bytes;
  bool composes = false;        // normalizes the text to NFC
  bool ignores_merges = false;  // a piece that is a token becomes that token without merges
  bool adds_begin = false;      // default of "add_bos_token"
  bool adds_separator = false;  // default of "add_sep_token"
};

// Null for an unknown name. Files without "tokenizer.ggml.pre" have the name "".
const GgufPretokenizer* find_gguf_pretokenizer(std::string_view name);
const std::vector<GgufPretokenizer>& gguf_pretokenizers();

// "pre_tokenizer" of tokenizer.json.
Json pretokenizer_json(const GgufPretokenizer& pretokenizer);

}  // namespace attnscope
