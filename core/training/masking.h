// Token masking for masked language modelling (Devlin et al., 2018, BERT, arXiv:1810.04805).
#pragma once

#include "core/base/random.h"
#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

struct Masking {
  double share = 0;       // of positions that are predicted
  std::int32_t mask = 0;  // id of the mask token
  Index vocabulary = 0;   // number of ids, including the mask
};

Masking model_masking(const ModelConfig& config);  // InputError if there is no mask token

// Masks ids [L] in row `row` of the batch's ids and targets [B, L]. Each position is a target with
// probability `share`; of these 80 % become the mask, 10 % a random id, 10 % are unchanged.
void mask_tokens(const std::int32_t* ids, const Masking& masking, Random& random, Index row,
                 Batch& batch);

}  // namespace attnscope
