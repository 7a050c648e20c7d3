// Tokenizers of GGUF files.
//
// The metadata "tokenizer.ggml.*" describe a tokenizer by llama.cpp's names. These functions
// translate the models "gpt2" (byte-level BPE), "gemma4" (BPE), "bert" (WordPiece), "llama" and
// "t5" (SentencePiece's BPE and Unigram). Control and unknown tokens are matched in a text, as by
// llama_tokenize() with `parse_special`.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/base/json.h"
#include "core/text/tokenizer.h"

namespace attnscope {

// `metadata`: a flat object with the keys of the file. `place` (the file) begins the messages of
// InputErrors, which name an unsupported model, pre-tokenizer or value. The tokenizer's save()
// writes gguf_tokenizer_files().
std::shared_ptr<const Tokenizer> gguf_tokenizer(const Json& metadata, const std::string& place);

// Returns equivalent Hugging Face files for tokenizer_from_files(), contents by name:
// tokenizer_config.json (with the chat template) and one of tokenizer.json, spiece.model and
// tokenizer.model. Loading these files is slower than gguf_tokenizer().
std::map<std::string, std::string> gguf_tokenizer_files(const Json& metadata,
                                                        const std::string& place);

}  // namespace attnscope
