// What a model's layers remember, as a run shows it (SPEC-MODELS section 4).
#pragma once

#include "core/model/model.h"

namespace attnscope {

class Pass;

// Taps "memory.layer=N", "compressed.layer=N" (".group=G" where a layer has several), and of stored
// keys and values "memory.layer=N.keys", ".values"; what is empty is left out.
void record_memory(Pass& pass, const State& state);

}  // namespace attnscope
