// Notes on a trace that are needed to interpret its pictures: Trace::notes.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/model/retrieval.h"
#include "core/trace/trace.h"

namespace attnscope {

// The checkpoint's notes, followed by notes on weights that it lacks, "untrained: the span of each
// head (span.z)", and on choices that differ from training, "the model was trained with ..., not
// ...".
std::vector<std::string> notes_on_model(const Model& stored, const Model& used);

// Note on a text that is mostly split into bytes because the vocabulary is for another language;
// else empty.
std::string note_on_bytes(const Trace& trace);

// Note on tokens that replace unknown words or characters of the text; empty without such tokens.
std::string note_on_unknown_tokens(const Trace& trace);

// Notes on rows that leak future tokens despite a causal mask, on attention sinks, on empty
// memories and on omitted data.
std::vector<std::string> notes_on_attention(const Trace& trace);

// Note on the mixture of predictions with retrieved tokens.
std::string note_on_retrieval(const RetrievalChoice& choice, const Store& store);

// Notes on masks without effect at the text's length, and on rows without allowed keys.
std::vector<std::string> notes_on_patterns(const Trace& trace);

}  // namespace attnscope
