// Reads the sections of tokenizer.json into pipeline steps. InputError names unsupported features.
#pragma once

#include "core/text/file/entry.h"
#include "core/text/pipeline.h"

namespace attnscope {

// Steps of a section of tokenizer.json. A section is one step or absent. A step of type "Sequence"
// contains further steps, possibly sequences, in its member `list`.
std::vector<Entry> section_steps(const Entry& root, const char* section, const char* list);

// Reads "pattern": {"String": ...} or {"Regex": ...}.
Expression read_pattern(const Entry& step);

void read_normalizers(const Entry& root, PipelineSteps& steps);
void read_splitters(const Entry& root, PipelineSteps& steps);
void read_added_tokens(const Entry& list, PipelineSteps& steps);
void read_model(const Entry& root, PipelineSteps& steps);  // includes the added tokens
// Set steps.model. `steps` must contain the vocabulary and added tokens; `root` is tokenizer.json.
void set_bpe_model(const Entry& root, Merges merges, PipelineSteps& steps);
void set_wordpiece_model(const Entry& root, PipelineSteps& steps);
void read_processors(const Entry& root, PipelineSteps& steps);
void read_decoders(const Entry& root, PipelineSteps& steps);

bool works_on_bytes(const Entry& root);  // true if the vocabulary uses GPT-2's byte alphabet
// Throws InputError if a token is not in the byte alphabet. Added tokens are exempt.
void check_byte_alphabet(const PipelineSteps& steps, const std::string& where);
// Adds the merge of two tokens. The merged token omits the first `prefix` bytes of `right`. Throws
// InputError if a token is not in the vocabulary.
void add_merge(const Vocabulary& vocabulary, const std::string& left, const std::string& right,
               std::size_t prefix, Merges& merges, const std::string& where);
// Adds a merge written as "a b".
void add_merge(const Vocabulary& vocabulary, const std::string& pair, std::size_t prefix,
               Merges& merges, const std::string& where);
// Reads {"token": id, ...}.
void read_vocabulary(const Entry& object, Vocabulary& vocabulary);

}  // namespace attnscope
