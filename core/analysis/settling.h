// Hopfield retrieval: iterates a query over stored patterns (Ramsauer et al., 2020, eq. 2 and 3):
//   ξ_0 = q,   ξ_{t+1} = Σ_j softmax_j(β ξ_t·k_j) k_j
//   E(ξ) = −log Σ_j exp(β k_j·ξ) / β + |ξ|² / 2, up to a constant
// The sums run over the allowed keys of the query. E never increases.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Reason why a head has no Hopfield iteration; empty if it has one.
std::string settling_refusal(const AttentionTap& tap);

struct Settling {
  std::vector<Index> keys;     // the n allowed keys of the query
  Tensor patterns;             // [n, d_k]
  Tensor states;               // ξ_0 ... ξ_s after each step  [s + 1, d_k]
  Tensor weights;              // attention of each step  [s, L_k]; 0 for forbidden keys
  std::vector<double> energy;  // E of each state; empty unless β > 0 and a key is allowed
  Index nearest = -1;          // key with the largest weight in the last step; -1 without steps
  double beta = 0;
  Index steps() const { return weights.dim(0); }
};
// Throws std::logic_error if the head has no iteration. `head`: within the tap's group.
Settling settling_of(const AttentionTap& tap, Index head, Index query);

// Projection onto the first two principal components.
class Plane {
 public:
  explicit Plane(const Tensor& rows);                                        // [n, d], n >= 1
  std::vector<std::pair<double, double>> project(const Tensor& rows) const;  // [m, d]
  double explained_fraction() const { return explained_; }  // fraction of the variance, in [0, 1]

 private:
  std::vector<double> mean_, first_, second_;
  double explained_ = 0;
};

}  // namespace attnscope
