#include "core/checkpoint/format.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Numbers or bytes between two cancellation checks.
constexpr Index kPiece = Index{1} << 20;

bool all_finite(const StoredTensor& tensor) {
  const Index all = element_count(tensor.shape);
  for (Index first = 0; first < all; first += kPiece) {
    check_stop();
    const std::uint8_t* from = tensor.bytes + byte_count(tensor.dtype, first);
    if (!has_finite_numbers(tensor.dtype, from, std::min(kPiece, all - first))) return false;
  }
  return true;
}

Tensor transpose_of(const Tensor& matrix) {
  Tensor result({matrix.dim(1), matrix.dim(0)});
  for (Index r = 0; r < matrix.dim(0); ++r) {
    for (Index c = 0; c < matrix.dim(1); ++c) result(c, r) = matrix(r, c);
  }
  return result;
}

}  // namespace

const std::vector<CheckpointFormat>& checkpoint_formats() {
  static const std::vector<CheckpointFormat> formats = [] {
    std::vector<CheckpointFormat> all{native_format()};
    for (const auto& family :
         {decoder_formats(),
          std::vector{gpt2_format(), modernbert_format(), nomic_bert_format(), xlnet_format(),
                      reformer_format(), transformer_xl_format(), decision_transformer_format()},
          encoder_formats(), t5_formats(), bart_formats(), vision_formats(),
          text_tower_formats()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return formats;
}

TensorReader::TensorReader(const StoredTensors& tensors, std::string place,
                           const ModelConfig& config)
    : tensors_(tensors),
      place_(std::move(place)),
      keeps_narrow_(parameter_count(config) >= kMinNarrowWeights) {}

void TensorReader::fail(const std::string& message) const {
  throw InputError(place_ + ": " + message);
}

const StoredTensor& TensorReader::stored(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail("tensor " + name + " is missing");
  return found->second;
}

void TensorReader::expect_shape(const std::string& name, const Shape& shape) const {
  const Shape& found = stored(name).shape;
  if (found == shape) return;
  fail("tensor " + name + ": expected shape " + to_string(shape) + ", found " + to_string(found));
}

void TensorReader::expect_rows(const std::string& name, Index rows) const {
  const Shape& found = stored(name).shape;
  if (!found.empty() && found[0] == rows) return;
  fail("tensor " + name + ": expected " + std::to_string(rows) + " rows, found shape " +
       to_string(found));
}

Index TensorReader::rows_of(const std::string& name) const {
  const Shape& found = stored(name).shape;
  if (found.empty()) fail("tensor " + name + ": expected an array, found a number");
  return found[0];
}

Index TensorReader::columns_of(const std::string& name) const {
  const Shape& found = stored(name).shape;
  if (found.size() != 2) {
    fail("tensor " + name + ": expected a matrix, found shape " + to_string(found));
  }
  return found[1];
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
  constexpr DType kFloats[] = {DType::F32, DType::F16, DType::BF16, DType::F64};
  if (!is_quantised(found->second.dtype) &&
      std::ranges::find(kFloats, found->second.dtype) == std::end(kFloats)) {
    fail("tensor " + name + ": expected dtype F32, F16, BF16 or F64, found " +
         std::string(to_string(found->second.dtype)));
  }
  read_names_.push_back(name);
  return found->second;
}

bool are_equal_or_missing(const StoredTensors& tensors, const std::string& a,
                          const std::string& b) {
  const auto x = tensors.find(a), y = tensors.find(b);
  if (x == tensors.end() || y == tensors.end()) return true;
  const StoredTensor &one = x->second, &other = y->second;
  if (one.dtype != other.dtype || one.shape != other.shape) return false;
  const Index bytes = byte_count(one.dtype, element_count(one.shape));
  for (Index first = 0; first < bytes; first += kPiece) {
    check_stop();
    const Index count = std::min(kPiece, bytes - first);
    if (!std::equal(one.bytes + first, one.bytes + first + count, other.bytes + first)) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> TensorReader::names_with_prefix(const std::string& prefix) const {
  std::vector<std::string> names;
  for (auto at = tensors_.lower_bound(prefix);
       at != tensors_.end() && at->first.starts_with(prefix); ++at) {
    names.push_back(at->first);
  }
  return names;
}

Tensor TensorReader::checked(const StoredTensor& stored, const std::string& name) const {
  Tensor values = stored.floats();
  check_finite(values.data(), values.size(), name);
  return values;
}

void TensorReader::check_finite(const float* values, Index count, const std::string& name) const {
  for (Index first = 0; first < count; first += kPiece) {
    check_stop();
    const float* piece = values + first;
    const bool finite = std::all_of(piece, piece + std::min(kPiece, count - first),
                                    [](float x) { return std::isfinite(x); });
    if (!finite) fail_not_finite(name);
  }
}

void TensorReader::fail_not_finite(const std::string& name) const {
  fail("tensor " + name + " contains NaN or infinity");
}

Tensor TensorReader::take(const std::string& name, const Shape& shape) {
  const StoredTensor& stored = find(name, shape);
  if (!stored.transposed) return checked(stored, name);
  StoredTensor transpose = stored;
  transpose.shape = {shape[1], shape[0]};
  return transpose_of(checked(transpose, name));
}

Tensor TensorReader::take_transposed(const std::string& name, Index in, Index out) {
  const StoredTensor& stored = find(name, {out, in});
  if (stored.transposed) {
    StoredTensor transpose = stored;
    transpose.shape = {in, out};
    return checked(transpose, name);
  }
  Tensor result({in, out});
  // Transposes block by block: blocks fit the cache, and the whole matrix is not copied twice.
  constexpr Index kBlock = 32;
  const Index block = stored.interleaved_rows > 0 ? stored.interleaved_rows : kBlock;
  for (Index row = 0; row < out; row += block) {
    StoredTensor rows = stored;
    rows.shape = {std::min(block, out - row), in};
    rows.bytes = stored.bytes + byte_count(stored.dtype, row * in);
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

std::optional<NarrowMatrix> TensorReader::take_narrow(const std::string& name, Index rows,
                                                      Index columns) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return std::nullopt;
  const DType dtype = found->second.dtype;
  const bool is_16_bit = dtype == DType::F16 || dtype == DType::BF16;
  if (!is_quantised(dtype) && !(is_16_bit && keeps_narrow_)) return std::nullopt;
  // Copies 16-bit numbers. Quantised numbers remain in the mapped file.
  const StoredTensor& stored = find(name, {rows, columns});
  const StoredTensor numbers = is_16_bit ? stored.copy() : stored;
  if (!all_finite(numbers)) fail_not_finite(name);
  const Index lines = numbers.transposed ? columns : rows;
  const Index stride = numbers.transposed ? rows : columns;
  const NarrowMatrix matrix{.dtype = dtype,
                            .rows = lines,
                            .columns = stride,
                            .stride = stride,
                            .bytes = numbers.bytes,
                            .owner = numbers.owner,
                            .interleaved_rows = numbers.interleaved_rows};
  return numbers.transposed ? matrix.transpose() : matrix;
}

void TensorReader::load(const std::string& name, Index in, Index out, bool transposed, Model& model,
                        const std::string& weight) {
  const auto narrow = transposed ? take_narrow(name, out, in) : take_narrow(name, in, out);
  if (narrow) {
    model.narrow.emplace(weight, transposed ? narrow->transpose() : *narrow);
  } else {
    model.weights.emplace(weight,
                          Var(transposed ? take_transposed(name, in, out) : take(name, {in, out})));
  }
}

void TensorReader::finish() const {
  std::vector<std::string> read_names = read_names_;
  std::ranges::sort(read_names);
  for (const auto& [name, tensor] : tensors_) {
    if (!std::ranges::binary_search(read_names, name)) {
      fail("tensor " + name + " " + to_string(tensor.shape) +
           " is not part of the model that config.json describes");
    }
  }
}

}  // namespace attnscope
