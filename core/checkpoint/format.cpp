#include "core/checkpoint/format.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace attnscope {

const std::vector<CheckpointFormat>& checkpoint_formats() {
  static const std::vector<CheckpointFormat> formats = {own_format(), llama_format(),
                                                        gpt2_format()};
  return formats;
}

void TensorReader::fail(const std::string& message) const {
  throw InputError(folder_.string() + ": " + message);
}

const StoredTensor& TensorReader::find(const std::string& name, const Shape& shape) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    fail("tensor " + name + " is missing, expected shape " + to_string(shape));
  }
  if (found->second.shape != shape) {
    fail("tensor " + name + ": expected shape " + to_string(shape) + ", found " +
         to_string(found->second.shape));
  }
  taken_.push_back(name);
  return found->second;
}

Tensor TensorReader::checked(const StoredTensor& stored, const std::string& name) const {
  Tensor values = stored.floats();
  for (const float x : values) {
    if (!std::isfinite(x)) fail("tensor " + name + " holds NaN or infinity");
  }
  return values;
}

Tensor TensorReader::take(const std::string& name, const Shape& shape) {
  return checked(find(name, shape), name);
}

Tensor TensorReader::take_transposed(const std::string& name, Index in, Index out) {
  const StoredTensor& stored = find(name, {out, in});
  Tensor result({in, out});
  // Some rows at a time, so that the matrix is never there twice; both sides of a block stay in
  // the cache.
  constexpr Index kBlock = 32;
  for (Index row = 0; row < out; row += kBlock) {
    StoredTensor rows = stored;
    rows.shape = {std::min(kBlock, out - row), in};
    rows.bytes = stored.bytes + row * in * byte_size(stored.dtype);
    const Tensor values = checked(rows, name);
    for (Index column = 0; column < in; column += kBlock) {
      for (Index r = 0; r < rows.shape[0]; ++r) {
        for (Index c = column; c < std::min(column + kBlock, in); ++c) {
          result[c * out + row + r] = values(r, c);
        }
      }
    }
  }
  return result;
}

void TensorReader::finish() const {
  std::vector<std::string> taken = taken_;
  std::ranges::sort(taken);
  for (const auto& [name, tensor] : tensors_) {
    if (!std::ranges::binary_search(taken, name)) {
      fail("tensor " + name + " " + to_string(tensor.shape) +
           " belongs to nothing that config.json describes");
    }
  }
}

}  // namespace attnscope
