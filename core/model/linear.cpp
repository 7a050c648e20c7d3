#include "core/model/linear.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"

namespace attnscope {

namespace {

// Multiplications between two looks at `stop`: some milliseconds on one core. Fewer rows than
// kLeastRows at a time would spend more on reading w than on arithmetic.
constexpr Index kMultiplicationsPerBlock = 200'000'000;
constexpr Index kLeastRows = 16;

template <class Product>
Var in_blocks(const Var& x, const Var& w, Index out, const Stop& stop, const Product& product) {
  stop.check();
  const Index rows = x.dim(0);
  const Index block =
      std::max(kLeastRows, kMultiplicationsPerBlock / std::max<Index>(1, x.dim(1) * out));
  if (rows <= block || x.wants_gradient() || w.wants_gradient()) return product(x);
  Tensor result({rows, out});
  for (Index first = 0; first < rows; first += block) {
    const Tensor part = product(x.value().slice(first, std::min(block, rows - first))).value();
    std::copy_n(part.data(), part.size(), result.data() + first * out);
    stop.check();
  }
  return result;
}

}  // namespace

Var linear(const Var& x, const Var& w, const Var& bias, const Stop& stop) {
  const Var product = in_blocks(x, w, w.dim(1), stop,
                                [&](const Var& rows) { return matmul(rows, w); });  // [n, out]
  return bias.defined() ? add(product, bias) : product;
}

Var linear_transposed(const Var& x, const Var& w, const Stop& stop) {
  return in_blocks(x, w, w.dim(0), stop,
                   [&](const Var& rows) { return matmul_transposed(rows, w); });  // [n, out]
}

}  // namespace attnscope
