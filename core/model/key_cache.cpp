#include "core/model/key_cache.h"

#include <algorithm>

namespace attnscope {
namespace {

// Copies the first `count` rows of each head to `to`, from row `to_first` on.
void copy_rows(const Tensor& from, Index count, Tensor& to, Index to_first) {
  const Index size = from.dim(2);
  for (Index head = 0; head < from.dim(0); ++head) {
    std::copy_n(from.data() + head * from.dim(1) * size, count * size,
                to.data() + (head * to.dim(1) + to_first) * size);
  }
}

}  // namespace

void GrowingRows::append(Index kept, const Tensor& rows, Index limit) {
  ensure(kept >= 0 && kept <= count_);
  const Index added = rows.dim(1), needed = kept + added;
  if (kept == 0) {
    rows_ = rows;
    count_ = added;
    return;
  }
  if (needed > rows_.dim(1) || !rows_.unique()) {
    const Index room = std::max(needed, std::min(2 * needed, limit));
    Tensor moved({rows_.dim(0), room, rows_.dim(2)});
    copy_rows(rows_, kept, moved, 0);
    rows_ = std::move(moved);
  }
  copy_rows(rows, added, rows_, kept);
  count_ = needed;
}

Tensor GrowingRows::rows() const {
  if (!rows_.defined() || rows_.dim(1) == count_) return rows_;
  Tensor result({rows_.dim(0), count_, rows_.dim(2)});
  copy_rows(rows_, count_, result, 0);
  return result;
}

}  // namespace attnscope
