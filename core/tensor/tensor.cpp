#include "core/tensor/tensor.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/tensor/storage.h"

namespace attnscope {

Index element_count(const Shape& shape) {
  Index count = 1;
  bool has_zero = false, overflow = false;
  for (const Index n : shape) {
    if (n < 0) throw InputError("shape " + to_string(shape) + ": a dimension is negative");
    has_zero = has_zero || n == 0;
    overflow = overflow || __builtin_mul_overflow(count, n, &count);
  }
  if (has_zero) return 0;
  if (overflow) throw InputError("shape " + to_string(shape) + ": too large");
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Index n : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(n);
  }
  return text + "]";
}

template <class T>
Array<T>::Array(Shape shape) : shape_(std::move(shape)), size_(element_count(shape_)) {
  if (size_ > std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T))) {
    throw InputError("shape " + to_string(shape_) + ": too large");
  }
  storage_ = allocate_block(static_cast<std::size_t>(size_) * sizeof(T));
  data_ = static_cast<T*>(storage_.get());
}

template <class T>
Array<T> Array<T>::full(Shape shape, T value) {
  constexpr Index kFillChunk = Index{1} << 22;  // first access to fresh pages is slow
  Array result(std::move(shape));
  for (Index first = 0; first < result.size(); first += kFillChunk) {
    check_stop();
    std::fill_n(result.data() + first, std::min(kFillChunk, result.size() - first), value);
  }
  return result;
}

template <class T>
Array<T> Array<T>::from(Shape shape, const std::vector<T>& values) {
  Array result(std::move(shape));
  if (result.size() != static_cast<Index>(values.size())) {
    throw InputError("shape " + to_string(result.shape()) + ": expected " +
                     std::to_string(result.size()) + " values, found " +
                     std::to_string(values.size()));
  }
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

template <class T>
Array<T> Array<T>::reshaped(Shape shape) const {
  if (element_count(shape) != size_ || !defined()) {
    throw InputError("an array of shape " + to_string(shape_) + " cannot be reshaped to " +
                     to_string(shape));
  }
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

template <class T>
Array<T> Array<T>::slice(Index first, Index count) const {
  if (rank() == 0 || first < 0 || count < 0 || first > dim(0) - count) {
    throw InputError("rows " + std::to_string(first) + " to " + std::to_string(first + count) +
                     " of an array of shape " + to_string(shape_));
  }
  Array result = *this;
  result.shape_[0] = count;
  result.size_ = element_count(result.shape_);
  if (result.size_ > 0) result.data_ += first * (size_ / dim(0));
  return result;
}

template <class T>
Array<T> Array<T>::copy() const {
  if (!defined()) return {};
  Array result(shape_);
  std::copy(begin(), end(), result.begin());
  return result;
}

template class Array<float>;
template class Array<std::uint8_t>;
template class Array<std::int32_t>;

}  // namespace attnscope
