// Token masking for masked language modelling (Devlin et al., 2018, BERT, arXiv:1810.04805).
#pragma once

#include "core/base/random.h"
#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

struct Masking {
  double fraction = 0;    // fraction of positions that are predicted
  std::int32_t mask = 0;  // id of the mask token
  Index vocabulary = 0;   // number of ids, including the mask token, but not global tokens
};

Masking model_masking(const ModelConfig& config);  // InputError if there is no mask token

// Writes masked `ids` [L] to row `row` of the batch's ids and targets [B, L]. Positions are targets
// with probability `fraction`; 80 % of targets become the mask, 10 % a random id, 10 % stay.
void mask_tokens(const std::int32_t* ids, const Masking& masking, Random& random, Index row,
                 Batch& batch);

}  // namespace attnscope
