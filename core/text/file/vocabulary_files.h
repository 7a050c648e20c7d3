// Tokenizers without a tokenizer.json: the class named in tokenizer_config.json determines the pre-
// and post-processing.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/text/file/entry.h"
#include "core/text/pipeline.h"

namespace attnscope {

// tokenizer_config.json, complemented by special_tokens_map.json and added_tokens.json.
class TokenizerConfig {
 public:
  // `files`: contents by name. Throws InputError if a file does not contain a JSON object.
  TokenizerConfig(const std::map<std::string, std::string>& files, std::string_view folder);

  Entry entry() const { return {config_, where_}; }
  // "BertTokenizer", also for "BertTokenizerFast"; "" if the files name no class.
  std::string class_name() const;
  // Content of a special token such as "mask_token"; `fallback` if the files do not define it.
  std::string special(const char* key, const char* fallback = "") const;
  // Adds the files' added tokens, and the special tokens that the vocabulary contains.
  void add_tokens(PipelineSteps& steps) const;
  // Id of a special token. InputError if the vocabulary lacks the token.
  std::int32_t special_id(const PipelineSteps& steps, const char* key, const char* fallback) const;
  // Applies "add_bos_token" and "add_eos_token" to the template.
  void apply_flags(PipelineSteps& steps) const;
  void find_mask(PipelineSteps& steps) const;  // sets steps.mask

 private:
  Json config_, specials_, added_;
  std::string where_;
};

// `where`: path of the vocabulary file.
void read_wordpiece_vocabulary(const std::string& text, const std::string& where,
                               const TokenizerConfig& config, PipelineSteps& steps);
void read_bpe_files(const Entry& vocabulary, const std::string& merges,
                    const std::string& merges_where, const TokenizerConfig& config,
                    PipelineSteps& steps);
// Marian: tokens of a SentencePiece model, with the ids of vocab.json.
void read_marian(const Entry& vocabulary, const std::string& bytes, const std::string& where,
                 const TokenizerConfig& config, PipelineSteps& steps);
void read_sentencepiece(const std::string& bytes, const std::string& where,
                        const TokenizerConfig& config, PipelineSteps& steps);

}  // namespace attnscope
