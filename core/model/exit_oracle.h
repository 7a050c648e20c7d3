// At which layer a token should have left: what exits are trained to foresee (Elbayad et al., 2020,
// arXiv:1910.10073).
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

class Pass;

struct OracleInput {
  IntTensor targets;         // [rows], -1: none
  Index length = 0;          // rows of a sequence
  bool by_sequence = false;  // one layer for all tokens of a sequence
  bool correctness = false;  // score 1 where the target is the likeliest, not its likelihood
  double lambda = 0;         // what a layer costs
  double sigma = 0;  // over how many neighbours scores are smoothed: their distance²; 0: none
  std::vector<std::vector<double>> scores{};  // of the layers so far, [N][rows]; 0 without a target

  // The next layer by its logits [rows, vocabulary], of which one number a row is kept.
  void add_layer(const Tensor& logits);
};

// arg max over n of score^n - lambda n, from 0; -1 where there is no target.  [rows]
IntTensor oracle_layers(const OracleInput& input);

// The likeliest entry of each row.
std::vector<std::int32_t> likeliest_rows(const Tensor& logits);

// Before their sigmoids: the geometric rule's chance to leave at layer n, and the classifier's
// confidence.  x: [rows, d] -> [rows]
Var chance_logits(Pass& pass, Index n, const Var& x);
Var classifier_logits(Pass& pass, const Var& x);

}  // namespace attnscope
