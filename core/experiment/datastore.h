// Builds a datastore of contexts from texts (spec-models.md, section 6).
#pragma once

#include <functional>
#include <vector>

#include "core/model/model.h"
#include "core/model/retrieval.h"

namespace attnscope {

using StoreProgress = std::function<void(Index done, Index total)>;  // in tokens

// Creates a key for every token but the last of each text. Texts longer than the model's context
// are read in windows that overlap by half, so that half a context precedes each key, except at a
// text's start. Models with segments read whole texts. Throws InputError if the model lacks
// retrieval or no text has two tokens.
Store make_store(const Model& model, const std::vector<std::vector<std::int32_t>>& texts,
                 Backend& backend, const StoreProgress& progress);

}  // namespace attnscope
