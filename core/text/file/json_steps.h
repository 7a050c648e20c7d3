// The sections of tokenizer.json, each as steps of a pipeline. InputError names what is not
// understood.
#pragma once

#include "core/text/file/entry.h"
#include "core/text/pipeline.h"

namespace attnscope {

// A section's steps: nothing, one object with a "type", or a "Sequence" of them under `list`, also
// within one another.
std::vector<Entry> steps_of(const Entry& root, const char* section, const char* list);

// "pattern": {"String": ...} or {"Regex": ...}
Expression pattern_of(const Entry& step);

void read_normalizers(const Entry& root, PipelineSteps& steps);
void read_splitters(const Entry& root, PipelineSteps& steps);
void read_added_tokens(const Entry& list, PipelineSteps& steps);
void read_model(const Entry& root, PipelineSteps& steps);  // after the added tokens
void read_processors(const Entry& root, PipelineSteps& steps);
void read_decoders(const Entry& root, PipelineSteps& steps);

bool works_on_bytes(const Entry& root);  // in GPT-2's alphabet of them
// Refuses tokens of the vocabulary that are not written in that alphabet, and were not added.
void check_byte_alphabet(const PipelineSteps& steps, const std::string& where);
// Adds a merge. InputError when a token is not in the vocabulary.
void add_merge(const Vocabulary& vocabulary, const std::string& left, const std::string& right,
               std::size_t prefix, Merges& merges, const std::string& where);
// "a b"
void add_merge(const Vocabulary& vocabulary, const std::string& pair, std::size_t prefix,
               Merges& merges, const std::string& where);
// {"token": id, ...}
void read_vocabulary(const Entry& object, Vocabulary& vocabulary);

}  // namespace attnscope
