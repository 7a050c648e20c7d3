#include "core/attention/variants/shared/scaled_rows.h"

#include <algorithm>

#include "core/attention/variants/shared/exact.h"

namespace attnscope {

ScaledRows::ScaledRows(const Features& features) : exact_exponents_(features.exact_exponents) {
  if (features.exact_mantissa) {
    exact_mantissa_ = features.exact_mantissa();
  } else if (features.mantissa.defined()) {
    mantissa_ = features.mantissa.value();
  }
  const Var& shape = features.mantissa.defined() ? features.mantissa : features.exponents;
  pairs = shape.dim(0);
  rows = shape.dim(1);
  size = shape.dim(2);
  if (exact_exponents_.empty() && features.exponents.defined()) {
    exponents_ = features.exponents.value();
  }
  const Index count =
      exponents_.defined() ? exponents_.size() : static_cast<Index>(exact_exponents_.size());
  exponents_per_row = count / std::max<Index>(1, pairs * rows);
}

double ScaledRows::product(Index row, const ScaledRows& other, Index other_row) const {
  const Index offset = row * size, other_offset = other_row * size;
  const Doubles &a = exact_mantissa_, &b = other.exact_mantissa_;
  const Tensor &x = mantissa_, &y = other.mantissa_;
  if (a.empty() && b.empty()) return exact_dot(x.data() + offset, y.data() + other_offset, size);
  if (a.empty()) return exact_dot(b.data() + other_offset, x.data() + offset, size);
  if (b.empty()) return exact_dot(a.data() + offset, y.data() + other_offset, size);
  return exact_dot(a.data() + offset, b.data() + other_offset, size);
}

}  // namespace attnscope
