// Hiding tokens for a model that is to fill them in (Devlin et al., 2018, BERT, arXiv:1810.04805).
#pragma once

#include "core/base/random.h"
#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

struct Masking {
  double share = 0;       // of the positions that are to be filled in
  std::int32_t mask = 0;  // the id that stands for a hidden token
  Index vocabulary = 0;   // ids, the mask among them
};

Masking masking_of(const ModelConfig& config);  // of a model that fills_in()

// ids [L] in row `row` of the batch's ids and targets [B, L]: each position is a target with the
// chance `share`; 80 % of these show the mask, 10 % a random id, 10 % their own.
void hide(const std::int32_t* ids, const Masking& masking, Random& random, Index row, Batch& batch);

}  // namespace attnscope
