#include "core/analysis/flow.h"

#include <cstddef>
#include <string>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace attnscope {
namespace {

void check_square(const Tensor& layer, Index size) {
  if (layer.rank() != 2 || layer.dim(0) != size || layer.dim(1) != size) {
    throw InputError("rollout: expected " + to_string(Shape{size, size}) + ", found " +
                     to_string(layer.shape()));
  }
}

// (A + I) / 2, each row scaled to sum one: a fully masked row leaves the residual alone.
Tensor with_residual(const Tensor& attention) {
  const Index size = attention.dim(0);
  Tensor mixed = attention.copy();  // [L, L]
  for (Index i = 0; i < size; ++i) {
    float* row = mixed.data() + i * size;
    double sum = 1;
    row[i] += 1;
    for (Index j = 0; j < size; ++j) sum += static_cast<double>(attention[i * size + j]);
    for (Index j = 0; j < size; ++j) row[j] = static_cast<float>(static_cast<double>(row[j]) / sum);
  }
  return mixed;
}

Tensor product(const Tensor& a, const Tensor& b) {
  const Index size = a.dim(0);
  Tensor c = Tensor::zeros({size, size});
  parallel_for(size, 8, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      for (Index k = 0; k < size; ++k) {
        const float weight = a[i * size + k];
        if (weight == 0) continue;
        for (Index j = 0; j < size; ++j) c[i * size + j] += weight * b[k * size + j];
      }
    }
  });
  return c;
}

}  // namespace

Tensor attention_rollout(const std::vector<Tensor>& layers) {
  if (layers.empty()) throw InputError("rollout: no layers");
  const Index size = layers.front().dim(0);
  for (const Tensor& layer : layers) check_square(layer, size);
  Tensor flow = with_residual(layers.front());  // [L, L]
  for (std::size_t l = 1; l < layers.size(); ++l) flow = product(with_residual(layers[l]), flow);
  return flow;
}

IntTensor reachability(const std::vector<std::vector<const Pattern*>>& layers) {
  if (layers.empty() || layers.front().empty()) throw InputError("reachability: no layers");
  const Index size = layers.front().front()->queries();
  IntTensor first_heard = IntTensor::full({size, size}, -1);
  for (Index i = 0; i < size; ++i) first_heard(i, i) = 0;
  std::int32_t depth = 0;
  for (const auto& layer : layers) {
    ++depth;
    const IntTensor before = first_heard.copy();  // [L, L]
    for (const Pattern* pattern : layer) {
      if (pattern->queries() != size || pattern->keys() != size) {
        throw InputError("reachability: a pattern with other sizes than " + std::to_string(size));
      }
      parallel_for(size, 8, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) {
          std::int32_t* row = first_heard.data() + i * size;
          for (Index head = 0; head < pattern->heads(); ++head) {
            for (const Run& run : pattern->row(head, i)) {
              for (Index k = run.begin; k < run.end; k += run.step) {
                const std::int32_t* through = before.data() + k * size;
                for (Index j = 0; j < size; ++j) {
                  if (row[j] < 0 && through[j] >= 0) row[j] = depth;
                }
              }
            }
          }
        }
      });
    }
  }
  return first_heard;
}

}  // namespace attnscope
