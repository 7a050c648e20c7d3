// Making a store of contexts from texts (SPEC-MODELS section 6).
#pragma once

#include <functional>
#include <vector>

#include "core/model/model.h"
#include "core/model/retrieval.h"

namespace attnscope {

// A key for every token of every text but its last. Texts longer than the model's context are read
// in windows that overlap by half, so that a key has at least half a context before it.
// InputError where the model can have none, or where no text has two tokens.
using StoreProgress = std::function<void(Index done, Index all)>;  // tokens
Store make_store(const Model& model, const std::vector<std::vector<std::int32_t>>& texts,
                 Backend& backend, const StoreProgress& progress, const Stop& stop);

}  // namespace attnscope
