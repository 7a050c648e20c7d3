// Recording of the memory that layers keep across segments (spec-models.md, section 4).
#pragma once

#include "core/model/model.h"

namespace attnscope {

class Pass;

// Adds the taps "memory.layer=N", "compressed.layer=N" (".group=G" for layers with several groups)
// and, for stored keys and values, "memory.layer=N.keys", ".values"; skips empty memories.
void record_memory(Pass& pass, const State& state);

// Maximum number of keys of a row: the text length or, for models with segments, the segment plus
// its memory (including rows that are not compressed yet).
Index max_keys(const ModelConfig& config, Index length);

}  // namespace attnscope
