// Oracle for early exits: the layer at which each token should exit, used as the training target
// of exit rules (Elbayad et al., 2020, arXiv:1910.10073).
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

class Pass;

struct OracleInput {
  IntTensor targets;                // [rows], -1: none
  Index length = 0;                 // rows per sequence
  bool is_per_sequence = false;     // one layer for all tokens of a sequence
  bool scores_correctness = false;  // score: 1 if correct, else 0; false: log-likelihood
  double lambda = 0;                // cost per layer, subtracted from the score
  double sigma = 0;                 // smoothing weights exp(-distance^2 / sigma); 0: no smoothing
  std::vector<std::vector<double>> scores{};  // [layers][rows]; 0 without a target

  // Adds the scores of the next layer, one per row of its logits [rows, vocabulary].
  void add_layer(const Tensor& logits);
};

// Exit layer n of each row, from 0, with the largest score_n - lambda n; -1: no target.  [rows]
IntTensor oracle_layers(const OracleInput& input);

std::vector<std::int32_t> row_argmax(const Tensor& logits);

// Logits of the geometric rule's exit probability at layer n (from 1).  [rows, d] -> [rows]
Var exit_probability_logits(Pass& pass, Index n, const Var& x);
// Logits of the classifier's confidence.  [rows, d] -> [rows]
Var classifier_logits(Pass& pass, const Var& x);

}  // namespace attnscope
