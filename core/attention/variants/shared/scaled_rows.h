// Factorised features in double precision.
#pragma once

#include <vector>

#include "core/attention/variants/shared/features.h"

namespace attnscope {

// Mantissas and exponents of the features of queries or keys.
class ScaledRows {
 public:
  explicit ScaledRows(const Features& features);

  // Index of the exponent of feature t; `row` counts the rows of all pairs.
  Index exponent_index(Index row, Index t) const {
    return row * exponents_per_row + (exponents_per_row == 1 ? 0 : t);
  }
  double exponent(Index row, Index t) const {
    if (!has_exponents()) return 0;
    const Index index = exponent_index(row, t);
    if (exact_exponents_.empty()) return static_cast<double>(exponents_[index]);
    return exact_exponents_[static_cast<std::size_t>(index)];
  }
  double mantissa(Index row, Index t) const {
    if (!has_mantissas()) return 1;
    const Index index = row * size + t;
    if (exact_mantissa_.empty()) return static_cast<double>(mantissa_[index]);
    return exact_mantissa_[static_cast<std::size_t>(index)];
  }
  bool has_mantissas() const { return !exact_mantissa_.empty() || mantissa_.defined(); }
  // Σ_t mantissa(row, t) * other.mantissa(other_row, t).
  double product(Index row, const ScaledRows& other, Index other_row) const;
  bool shares_exponent() const { return exponents_per_row <= 1; }

  Index pairs = 0, rows = 0, size = 0, exponents_per_row = 0;

 private:
  bool has_exponents() const { return !exact_exponents_.empty() || exponents_.defined(); }

  // Numbers before rounding. If empty, the tensors below are used.
  Doubles exact_mantissa_, exact_exponents_;
  Tensor mantissa_, exponents_;
};

}  // namespace attnscope
