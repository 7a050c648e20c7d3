// A tensor that is kept in memory, or whose rows are computed when they are read.
//
// Rows are the entries of the first axis. Both kinds give the same numbers. Thread-safe if the row
// function is thread-safe.
#pragma once

#include <functional>

#include "core/tensor/tensor.h"

namespace attnscope {

class LazyTensor {
 public:
  // Computes rows [first, first + count): a tensor [count, ...].
  using Rows = std::function<Tensor(Index first, Index count)>;

  LazyTensor() = default;  // defined() is false
  LazyTensor(Tensor kept) : shape_(kept.shape()), kept_(std::move(kept)) {}
  LazyTensor(Shape shape, Rows rows);

  bool defined() const { return kept_.defined() || rows_ != nullptr; }
  const Tensor& kept() const { return kept_; }  // undefined if the rows are computed
  const Shape& shape() const { return shape_; }
  Index rank() const { return static_cast<Index>(shape_.size()); }
  Index dim(Index axis) const {  // negative axes count from the end
    return shape_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }

  Tensor rows(Index first, Index count) const;  // [count, ...]
  Tensor row(Index index) const;                // without the first axis
  Tensor value() const;                         // all rows
  operator Tensor() const { return value(); }

 private:
  Shape shape_;
  Tensor kept_;
  Rows rows_;
};

}  // namespace attnscope
