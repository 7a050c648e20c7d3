// Reads the sections of tokenizer.json into pipeline steps. InputError names unsupported features.
#pragma once

#include "core/text/file/entry.h"
#include "core/text/pipeline.h"

namespace attnscope {

// A section's steps: none, one object with a "type", or a (possibly nested) "Sequence" of them
// under `list`.
std::vector<Entry> steps_of(const Entry& root, const char* section, const char* list);

// Reads "pattern": {"String": ...} or {"Regex": ...}.
Expression pattern_of(const Entry& step);

void read_normalizers(const Entry& root, PipelineSteps& steps);
void read_splitters(const Entry& root, PipelineSteps& steps);
void read_added_tokens(const Entry& list, PipelineSteps& steps);
void read_model(const Entry& root, PipelineSteps& steps);  // reads the added tokens, too
void read_processors(const Entry& root, PipelineSteps& steps);
void read_decoders(const Entry& root, PipelineSteps& steps);

bool works_on_bytes(const Entry& root);  // true if the vocabulary uses GPT-2's byte alphabet
// InputError if a vocabulary token, except for added tokens, is not written in the byte alphabet.
void check_byte_alphabet(const PipelineSteps& steps, const std::string& where);
// Adds a merge. InputError if a token is not in the vocabulary.
void add_merge(const Vocabulary& vocabulary, const std::string& left, const std::string& right,
               std::size_t prefix, Merges& merges, const std::string& where);
// Adds a merge written as "a b".
void add_merge(const Vocabulary& vocabulary, const std::string& pair, std::size_t prefix,
               Merges& merges, const std::string& where);
// Reads {"token": id, ...}.
void read_vocabulary(const Entry& object, Vocabulary& vocabulary);

}  // namespace attnscope
