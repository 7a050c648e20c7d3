// What a model's layers remember, as a run shows it (SPEC-MODELS section 4).
#pragma once

#include "core/model/model.h"

namespace attnscope {

class Pass;

// Taps "memory.layer=N", "compressed.layer=N" (".group=G" where a layer has several), and of stored
// keys and values "memory.layer=N.keys", ".values"; what is empty is left out.
void record_memory(Pass& pass, const State& state);

// How many keys a row has at most: those of the text, of models that read in segments those of a
// segment and of what is remembered (and up to a window that is still to be compressed).
Index most_keys(const ModelConfig& config, Index length);

}  // namespace attnscope
