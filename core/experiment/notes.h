// What a viewer must know to trust a picture: Trace::notes.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/model/retrieval.h"
#include "core/trace/trace.h"

namespace attnscope {

// "untrained: the span of each head (span.z)" for weights that the checkpoint lacks; "trained with
// ..., not ..." where a person chose something else than the checkpoint.
std::vector<std::string> notes_on_model(const Model& stored, const Model& used);

// Where a text falls apart into bytes that are no letters, since the vocabulary was made of other
// languages; empty: it does not.
std::string note_on_bytes(const Trace& trace);

// Rows that hang on later tokens in spite of a causal mask, memories that are empty, what was left
// out.
std::vector<std::string> notes_on_attention(const Trace& trace);

// What the predictions are mixed with.
std::string note_on_retrieval(const RetrievalChoice& choice, const Store& store);

// Masks without effect at this length, rows in which nothing is allowed.
std::vector<std::string> notes_on_patterns(const Trace& trace);

}  // namespace attnscope
