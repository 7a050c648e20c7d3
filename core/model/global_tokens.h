// Auxiliary global tokens (ETC, Ainslie et al., 2020): ids without text that precede every text.
#pragma once

#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

// Number of global tokens of a model; 0 unless its input is "global_text". Their ids are the last
// ones of the vocabulary.
Index global_tokens(const ModelConfig& config);
// Id of the first global token: the number of all other ids.
std::int32_t first_global_id(const ModelConfig& config);

// The batch with the global tokens before each row of ids [B, L], without targets.
Batch with_global_tokens(const Batch& batch, const ModelConfig& config);

}  // namespace attnscope
