// Accumulated gradients of a part's ingredients.
#pragma once

#include <vector>

#include "core/attention/cpu/prepared.h"

namespace attnscope::cpu {

// Gradient of one ingredient. Threads must not write to shared numbers, and sums must not depend on
// the order of threads. Each slice of the work therefore has an accumulator for each group (batch
// entry and head), and deliver() adds all accumulators in a fixed order.
class GradientSum {
 public:
  GradientSum() = default;
  GradientSum(const Var& var, Index slices, Index groups, Index heads);
  bool defined() const { return sum_.defined(); }
  float* at(Index slice, Index group) { return sum_.data() + (slice * groups_ + group) * size_; }
  void deliver() const;  // adds the sum to the gradient of the ingredient

 private:
  Var var_;
  Tensor sum_;  // [slices, groups, size]
  Index slices_ = 1, groups_ = 1, heads_ = 1, size_ = 0;
};

struct Gradients {
  Gradients(const Prepared& prepared, Index slices);
  void deliver();

  struct Product {
    GradientSum q, k;
  };
  const Prepared& prepared;
  GradientSum q, k, v, logits, span, sinks, additive_v;
  std::vector<Product> products;
  std::vector<GradientSum> query_rows, key_rows, value_rows, scaled_biases, bias, factor;
  Index slices = 1;
  // Additive scores: gradients of q·add_wq [B h, L_q, a] and of k·add_wk [slices, B h, L_k, a].
  Tensor projected_q, projected_k;

 private:
  void deliver_additive();
};

}  // namespace attnscope::cpu
