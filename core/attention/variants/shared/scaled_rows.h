// Features as mantissa and exponent, in double precision.
#pragma once

#include <vector>

#include "core/attention/variants/shared/features.h"

namespace attnscope {

// The features of queries or keys in double precision.
class ScaledRows {
 public:
  explicit ScaledRows(const Features& features);

  // Numbers of the arrays: t counts features, `row` all rows of all pairs.
  Index exponent_at(Index row, Index t) const {
    return row * exponents_per_row + (exponents_per_row == 1 ? 0 : t);
  }
  double exponent(Index row, Index t) const {
    return exponents_.empty() ? 0 : exponents_[static_cast<std::size_t>(exponent_at(row, t))];
  }
  double mantissa(Index row, Index t) const {
    return mantissa_.empty() ? 1 : mantissa_[static_cast<std::size_t>(row * size + t)];
  }
  const double* mantissas(Index row) const { return mantissa_.data() + row * size; }
  bool has_mantissas() const { return !mantissa_.empty(); }
  bool same_exponents() const { return exponents_per_row <= 1; }

  Index pairs = 0, rows = 0, size = 0, exponents_per_row = 0;

 private:
  std::vector<double> mantissa_, exponents_;
};

}  // namespace attnscope
