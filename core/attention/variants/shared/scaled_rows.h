// Factorised features in double precision.
#pragma once

#include <vector>

#include "core/attention/variants/shared/features.h"

namespace attnscope {

// Mantissas and exponents of the features of queries or keys.
class ScaledRows {
 public:
  explicit ScaledRows(const Features& features);

  // Index of an exponent; t counts features, `row` the rows of all pairs.
  Index exponent_at(Index row, Index t) const {
    return row * exponents_per_row + (exponents_per_row == 1 ? 0 : t);
  }
  double exponent(Index row, Index t) const {
    if (!has_exponents()) return 0;
    const Index at = exponent_at(row, t);
    if (exact_exponents_.empty()) return static_cast<double>(exponents_[at]);
    return exact_exponents_[static_cast<std::size_t>(at)];
  }
  double mantissa(Index row, Index t) const {
    if (!has_mantissas()) return 1;
    const Index at = row * size + t;
    if (exact_mantissa_.empty()) return static_cast<double>(mantissa_[at]);
    return exact_mantissa_[static_cast<std::size_t>(at)];
  }
  bool has_mantissas() const { return !exact_mantissa_.empty() || mantissa_.defined(); }
  // Σ_t mantissa(row, t) * other.mantissa(other_row, t).
  double product(Index row, const ScaledRows& other, Index other_row) const;
  bool same_exponents() const { return exponents_per_row <= 1; }

  Index pairs = 0, rows = 0, size = 0, exponents_per_row = 0;

 private:
  bool has_exponents() const { return !exact_exponents_.empty() || exponents_.defined(); }

  // Non-empty if the features have exact numbers; otherwise the tensors below are used.
  Doubles exact_mantissa_, exact_exponents_;
  Tensor mantissa_, exponents_;
};

}  // namespace attnscope
