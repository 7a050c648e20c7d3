#include "core/checkpoint/split.h"

#include <algorithm>

#include "core/base/error.h"

namespace attnscope {

void add_part(StoredTensors& tensors, const std::string& whole, const std::string& part,
              Index row_size, const RowRuns& runs, const Shape& shape, const std::string& place) {
  const auto found = tensors.find(whole);
  if (found == tensors.end()) {
    throw InputError(place + ": tensor " + whole + " is missing");
  }
  const StoredTensor& all = found->second;
  const Index last = runs.first + (runs.repeats - 1) * runs.stride + runs.count;
  if (element_count(all.shape) % row_size != 0 || element_count(all.shape) / row_size < last ||
      element_count(shape) != runs.repeats * runs.count * row_size) {
    throw InputError(place + ": tensor " + whole + ": expected at least " +
                     std::to_string(last * row_size) + " numbers, found " + to_string(all.shape));
  }
  if (row_size % block_size(all.dtype) != 0 || all.transposed || all.interleaved_rows > 0) {
    throw InputError(place + ": tensor " + whole + ": parts of " +
                     std::string(to_string(all.dtype)) + " blocks are not supported");
  }
  StoredTensor piece = all;
  piece.shape = shape;
  const Index bytes = byte_count(all.dtype, row_size);
  if (runs.repeats == 1) {
    piece.bytes = all.bytes + runs.first * bytes;
  } else {
    const auto buffer = std::make_shared<std::vector<std::uint8_t>>(
        static_cast<std::size_t>(runs.repeats * runs.count * bytes));
    std::uint8_t* to = buffer->data();
    for (Index n = 0; n < runs.repeats; ++n) {
      to = std::copy_n(all.bytes + (runs.first + n * runs.stride) * bytes, runs.count * bytes, to);
    }
    piece.bytes = buffer->data();
    piece.owner = buffer;
    piece.mapped = false;
  }
  tensors.insert_or_assign(part, std::move(piece));
}

}  // namespace attnscope
