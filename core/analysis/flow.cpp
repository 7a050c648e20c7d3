#include "core/analysis/flow.h"

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
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

// (A + I) / 2, rows normalised to sum 1; a fully masked row becomes the residual alone. A itself if
// the model has no residual connections.
Tensor with_residual(const Tensor& attention, bool has_residual) {
  const Index size = attention.dim(0);
  Tensor result = attention.copy();  // [L, L]
  if (!has_residual) return result;
  for (Index i = 0; i < size; ++i) {
    float* row = result.data() + i * size;
    double sum = 1;
    row[i] += 1;
    for (Index j = 0; j < size; ++j) sum += static_cast<double>(attention[i * size + j]);
    for (Index j = 0; j < size; ++j) row[j] = static_cast<float>(static_cast<double>(row[j]) / sum);
  }
  return result;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Index size = a.dim(0);
  Tensor c({size, size});
  const Eigen::Map<const Matrix> left(a.data(), size, size), right(b.data(), size, size);
  Eigen::Map<Matrix> result(c.data(), size, size);
  parallel_for(size, 32, [&](Index first, Index last) {
    const Index rows = last - first;
    result.middleRows(first, rows).noalias() = left.middleRows(first, rows) * right;
  });
  return c;
}

}  // namespace

Tensor attention_rollout(const std::vector<Tensor>& layers, bool has_residual) {
  if (layers.empty()) throw InputError("rollout: no layers");
  const Index size = layers.front().dim(0);
  for (const Tensor& layer : layers) check_square(layer, size);
  Tensor flow = with_residual(layers.front(), has_residual);  // [L, L]
  for (std::size_t l = 1; l < layers.size(); ++l) {
    flow = matmul(with_residual(layers[l], has_residual), flow);
  }
  return flow;
}

namespace {

// Sets of positions as bit masks: row i contains the positions that position i can reach.
class BitRows {
 public:
  explicit BitRows(Index size)
      : words_((size + kBits - 1) / kBits), bits_(static_cast<std::size_t>(size * words_)) {}
  void set(Index row, Index column) {
    bits_[static_cast<std::size_t>(row * words_ + column / kBits)] |= std::uint64_t{1}
                                                                      << (column % kBits);
  }
  // Adds row `from` of `others` to row `to`.
  void add(Index to, const BitRows& others, Index from) {
    std::uint64_t* target = bits_.data() + to * words_;
    const std::uint64_t* source = others.bits_.data() + from * words_;
    for (Index w = 0; w < words_; ++w) target[w] |= source[w];
  }
  bool has(Index row, Index column) const {
    return (bits_[static_cast<std::size_t>(row * words_ + column / kBits)] >> (column % kBits) &
            1) != 0;
  }

 private:
  static constexpr Index kBits = 64;
  Index words_;
  std::vector<std::uint64_t> bits_;
};

// Extends the sets by one more layer.
void add_layer(const Pattern& pattern, const BitRows& reached, BitRows& extended) {
  parallel_for(pattern.queries(), 8, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      for (Index head = 0; head < pattern.heads(); ++head) {
        for (const Run& run : pattern.row(head, i)) {
          for (Index k = run.begin; k < run.end; k += run.step) extended.add(i, reached, k);
        }
      }
    }
  });
}

}  // namespace

IntTensor reachability(const std::vector<std::vector<const Pattern*>>& layers) {
  if (layers.empty() || layers.front().empty()) throw InputError("reachability: no layers");
  const Index size = layers.front().front()->queries();
  IntTensor first_reached = IntTensor::full({size, size}, -1);
  BitRows reachable(size);
  for (Index i = 0; i < size; ++i) {
    first_reached(i, i) = 0;
    reachable.set(i, i);
  }
  std::int32_t depth = 0;
  for (const auto& layer : layers) {
    ++depth;
    BitRows extended = reachable;
    for (const Pattern* pattern : layer) {
      if (pattern->queries() != size || pattern->keys() != size) {
        throw InputError("reachability: expected patterns of size " + std::to_string(size));
      }
      add_layer(*pattern, reachable, extended);
    }
    reachable = std::move(extended);
    parallel_for(size, 8, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        for (Index j = 0; j < size; ++j) {
          if (first_reached(i, j) < 0 && reachable.has(i, j)) first_reached(i, j) = depth;
        }
      }
    });
  }
  return first_reached;
}

}  // namespace attnscope
