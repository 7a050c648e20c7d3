// Dense row-major arrays with shared storage.
//
// An Array is a small handle: copying it shares the numbers, copy() duplicates them. Do not write
// to an array after passing it on; traces and models rely on that. Storage is 64-byte aligned and
// comes from a cache of freed blocks (storage.h), so that a repeated forward pass reuses the memory
// of the previous one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "core/base/ensure.h"
#include "core/base/index.h"

namespace attnscope {

using Shape = std::vector<Index>;

Index element_count(const Shape& shape);    // 1 for {}, 0 if any dimension is 0
std::string to_string(const Shape& shape);  // "[4, 9, 16]"

template <class T>
class Array {
 public:
  Array() = default;            // no storage, rank 0, size 0, empty() true
  explicit Array(Shape shape);  // uninitialised numbers
  static Array full(Shape shape, T value);
  static Array zeros(Shape shape) { return full(std::move(shape), T{0}); }
  static Array from(Shape shape, const std::vector<T>& values);  // InputError on a wrong count

  const Shape& shape() const { return shape_; }
  Index rank() const { return static_cast<Index>(shape_.size()); }
  Index dim(Index axis) const {  // negative axes count from the end
    return shape_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool defined() const { return storage_ != nullptr; }
  bool unique() const { return storage_.use_count() == 1; }  // storage is not shared

  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](Index i) {
    ensure(i >= 0 && i < size_);
    return data_[i];
  }
  const T& operator[](Index i) const {
    ensure(i >= 0 && i < size_);
    return data_[i];
  }
  template <class... I>
  T& operator()(I... index) {
    return data_[offset(index...)];
  }
  template <class... I>
  const T& operator()(I... index) const {
    return data_[offset(index...)];
  }

  Array reshaped(Shape shape) const;            // same storage; element counts must agree
  Array slice(Index first, Index count) const;  // rows [first, first + count); same storage
  Array copy() const;

 private:
  template <class... I>
  Index offset(I... index) const {
    ensure(static_cast<Index>(sizeof...(I)) == rank());
    Index at = 0, axis = 0;
    ((ensure(index >= 0 && index < dim(axis)), at = at * dim(axis++) + static_cast<Index>(index)),
     ...);
    return at;
  }

  Shape shape_;
  Index size_ = 0;
  T* data_ = nullptr;
  std::shared_ptr<void> storage_;  // keeps data_ alive
};

using Tensor = Array<float>;
using ByteTensor = Array<std::uint8_t>;
using IntTensor = Array<std::int32_t>;

extern template class Array<float>;
extern template class Array<std::uint8_t>;
extern template class Array<std::int32_t>;

}  // namespace attnscope
