#include "core/model/key_cache.h"

#include <gtest/gtest.h>

#include "core/autodiff/operations_shape.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kHeads = 3, kSize = 2, kLimit = 20;

Tensor new_rows(Index count, std::uint64_t seed) {
  return testing::random_tensor({kHeads, count, kSize}, seed, 1);
}

Tensor joined(const Tensor& a, const Tensor& b) {
  return concat({Var(a), Var(b)}, 1).value();
}

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::equal(a.begin(), a.end(), b.begin());
}

TEST(GrowingRows, AppendRowsInPlace) {
  GrowingRows rows;
  Tensor expected = new_rows(5, 1);
  rows.append(0, expected, kLimit);
  EXPECT_EQ(rows.with_room().dim(1), 5);
  int moves = 0;
  for (Index count = 5; count < kLimit; ++count) {
    const float* memory = rows.with_room().data();
    const Tensor row = new_rows(1, static_cast<std::uint64_t>(count));
    rows.append(count, row, kLimit);
    expected = joined(expected, row);
    EXPECT_EQ(rows.count(), count + 1);
    EXPECT_TRUE(are_equal(rows.rows(), expected)) << count;
    moves += rows.with_room().data() != memory ? 1 : 0;
  }
  EXPECT_EQ(moves, 2);  // from 5 to 12 rows, and to the limit
  EXPECT_EQ(rows.with_room().dim(1), kLimit);
  EXPECT_EQ(rows.rows().data(), rows.with_room().data());  // no room, no copy
  rows.append(kLimit, new_rows(1, 99), kLimit);            // the limit only bounds the room
  EXPECT_EQ(rows.with_room().dim(1), kLimit + 1);
}

TEST(GrowingRows, ReplaceRowsAfterTheKeptOnes) {
  GrowingRows rows;
  const Tensor first = new_rows(4, 1), dropped = new_rows(3, 2), last = new_rows(2, 3);
  rows.append(0, first, kLimit);
  rows.append(4, dropped, kLimit);
  rows.append(4, last, kLimit);
  EXPECT_TRUE(are_equal(rows.rows(), joined(first, last)));
  rows.append(0, dropped, kLimit);
  EXPECT_TRUE(are_equal(rows.rows(), dropped));
}

TEST(GrowingRows, LeaveSharedMemoryUnchanged) {
  GrowingRows rows;
  const Tensor first = new_rows(4, 1), mine = new_rows(1, 2), yours = new_rows(1, 3);
  rows.append(0, first, kLimit);
  rows.append(4, mine, kLimit);
  GrowingRows copy = rows;
  copy.append(4, yours, kLimit);
  EXPECT_TRUE(are_equal(rows.rows(), joined(first, mine)));
  EXPECT_TRUE(are_equal(copy.rows(), joined(first, yours)));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
