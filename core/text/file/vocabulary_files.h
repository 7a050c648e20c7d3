// Tokenizers from vocabularies without a tokenizer.json: what is done before and after is known by
// the class that tokenizer_config.json names.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/text/file/entry.h"
#include "core/text/pipeline.h"

namespace attnscope {

// tokenizer_config.json, with what special_tokens_map.json and added_tokens.json say besides.
class TokenizerConfig {
 public:
  // The texts of the files that are there, by name. InputError on what is no object.
  TokenizerConfig(const std::map<std::string, std::string>& files, std::string_view folder);

  Entry entry() const { return {config_, where_}; }
  // "BertTokenizer", also of "BertTokenizerFast"; "" where none is named.
  std::string class_name() const;
  // What stands under mask_token and the like: a text, or an object with the text.
  std::string special(const char* key, const char* otherwise = "") const;
  // Adds what the files name: added tokens with their ids, special ones that the vocabulary knows.
  void add_tokens(PipelineSteps& steps) const;
  // The special token's id. InputError when the vocabulary lacks it.
  std::int32_t special_id(const PipelineSteps& steps, const char* key, const char* otherwise) const;
  // What "add_bos_token" and "add_eos_token" say overrules the template.
  void apply_flags(PipelineSteps& steps) const;
  void find_mask(PipelineSteps& steps) const;

 private:
  Json config_, specials_, added_;
  std::string where_;
};

// `where` is the vocabulary's file.
void read_wordpiece_vocabulary(const std::string& text, const std::string& where,
                               const TokenizerConfig& config, PipelineSteps& steps);
void read_bpe_files(const Entry& vocabulary, const std::string& merges,
                    const std::string& merges_where, const TokenizerConfig& config,
                    PipelineSteps& steps);
// Marian's: SentencePiece's tokens by the ids of another vocabulary.
void read_marian(const Entry& vocabulary, const std::string& bytes, const std::string& where,
                 const TokenizerConfig& config, PipelineSteps& steps);
void read_sentencepiece(const std::string& bytes, const std::string& where,
                        const TokenizerConfig& config, PipelineSteps& steps);

}  // namespace attnscope
