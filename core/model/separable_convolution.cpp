#include "core/model/separable_convolution.h"

#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
#include "core/model/weights.h"

namespace attnscope {

bool has_separable_convolution(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  return values.has("transition") && values.choice("transition") == "separable_convolution";
}

Var depthwise_convolution(const Var& x, const Var& kernel, bool is_causal) {
  const Index length = x.dim(1), channels = x.dim(2), size = kernel.dim(0);
  const Index before = is_causal ? size - 1 : (size - 1) / 2, after = size - 1 - before;
  std::vector<Var> parts{x};
  const auto zeros = [&](Index rows) { return Var(Tensor::zeros({x.dim(0), rows, channels})); };
  if (before > 0) parts.insert(parts.begin(), zeros(before));
  if (after > 0) parts.push_back(zeros(after));
  const Var padded = parts.size() == 1 ? x : concat(parts, 1);  // [B, L + k - 1, c]
  Var sum;
  for (Index j = 0; j < size; ++j) {
    check_stop();
    const Var term =
        multiply(slice(padded, 1, j, length), reshape(slice(kernel, 0, j, 1), {channels}));
    sum = sum.defined() ? add(sum, term) : term;
  }
  return sum;
}

void add_kernels(WeightList& list, const std::string& prefix, Index hidden) {
  const auto kernel = [&](const char* name, Index size, Index channels) {
    list.random(prefix + name, {size, channels}, 1 / std::sqrt(static_cast<double>(size)));
  };
  kernel("in_kernel", kInKernel, list.config().width);
  kernel("out_kernel", kOutKernel, hidden);
}

}  // namespace attnscope
