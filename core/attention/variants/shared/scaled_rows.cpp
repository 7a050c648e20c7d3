#include "core/attention/variants/shared/scaled_rows.h"

#include <algorithm>

namespace attnscope {

ScaledRows::ScaledRows(const Features& features) : exponents_(features.exact_exponents) {
  if (features.exact_mantissa) {
    mantissa_ = features.exact_mantissa();
  } else if (features.mantissa.defined()) {
    mantissa_.assign(features.mantissa.value().begin(), features.mantissa.value().end());
  }
  const Var& shape = features.mantissa.defined() ? features.mantissa : features.exponents;
  pairs = shape.dim(0);
  rows = shape.dim(1);
  size = shape.dim(2);
  if (exponents_.empty() && features.exponents.defined()) {
    exponents_.assign(features.exponents.value().begin(), features.exponents.value().end());
  }
  exponents_per_row = static_cast<Index>(exponents_.size()) / std::max<Index>(1, pairs * rows);
}

}  // namespace attnscope
