// How a query settles among keys as stored patterns (Ramsauer et al., 2020, equations 2 and 3):
//   ξ_0 = q,   ξ_{t+1} = Σ_j softmax_j(β ξ_t·k_j) k_j
//   E(ξ) = −log Σ_j exp(β k_j·ξ) / β + |ξ|² / 2, up to what no step changes
// over the keys that the query may see. No step raises E.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Why a head has no such path; empty: it has.
std::string no_settling(const AttentionTap& tap);

struct Settling {
  std::vector<Index> keys;     // that the query sees, n of them
  Tensor patterns;             // [n, d_k]
  Tensor states;               // ξ_0 ... ξ_s, after the steps made  [s + 1, d_k]
  Tensor weights;              // that led from each state to the next  [s, L_k], 0 elsewhere
  std::vector<double> energy;  // of each state; empty where β is not above 0
  Index nearest = -1;          // the key that the last step weighs most
  double beta = 0;
  Index steps() const { return weights.dim(0); }
};
// std::logic_error where there is none. `head`: within the tap's group.
Settling settling_of(const AttentionTap& tap, Index head, Index query);

// The two directions in which rows differ most, and where points lie along them.
class Plane {
 public:
  explicit Plane(const Tensor& rows);                                       // [n, d], n >= 1
  std::vector<std::pair<double, double>> places(const Tensor& rows) const;  // of [m, d]
  double share() const { return share_; }  // of the rows' variance that it keeps, 0..1

 private:
  std::vector<double> mean_, first_, second_;
  double share_ = 0;
};

}  // namespace attnscope
