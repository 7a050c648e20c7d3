// Keys and values of the processed tokens of a head group.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// Rows of several heads with room for later rows. Appending writes the new rows only, as long as
// there is room and no copy shares the memory.
class GrowingRows {
 public:
  // Keeps the first `kept` rows of each head, at most count(), and appends rows [heads, n, size].
  // Without room, moves to memory for twice as many rows, but for at most `limit` if these suffice.
  void append(Index kept, const Tensor& rows, Index limit);

  Index count() const { return count_; }
  // [heads, count + room, size]; the numbers of the room are undefined.
  const Tensor& with_room() const { return rows_; }
  Tensor rows() const;  // [heads, count, size]; a copy if there is room

 private:
  Tensor rows_;
  Index count_ = 0;
};

struct KeyCache {
  GrowingRows keys, values;  // [B h_kv, L, d_k] as projected
  GrowingRows rotated_keys;  // empty unless the encoding only rotates
};

}  // namespace attnscope
