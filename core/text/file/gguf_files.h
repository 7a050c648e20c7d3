// Files of a Hugging Face tokenizer, written from a GGUF file's vocabulary.
#pragma once

#include <map>
#include <string>

#include "core/text/file/gguf_vocabulary.h"

namespace attnscope {

// tokenizer.json of a BPE or WordPiece tokenizer, with empty "vocab" and "merges".
Json gguf_tokenizer_frame(const GgufVocabulary& vocabulary, const Json& metadata);

// "added_tokens" of tokenizer.json: the tokens that are matched in a text.
Json gguf_added_tokens(const GgufVocabulary& vocabulary, const Json& metadata);

// tokenizer_config.json: special tokens and chat template.
Json gguf_tokenizer_config(const GgufVocabulary& vocabulary, const Json& metadata);

// SentencePiece model of a "llama" or "t5" vocabulary, and its tokenizer_config.json.
std::map<std::string, std::string> gguf_sentencepiece_files(const GgufVocabulary& vocabulary,
                                                            const Json& metadata);

}  // namespace attnscope
