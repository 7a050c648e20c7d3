// Compares nearest-neighbour search with exhaustive search in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/stop.h"
#include "core/model/retrieval.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

TEST(NearestKeys, MatchExhaustiveSearch) {
  constexpr Index kKeys = 40, kSize = 7, kRows = 5;
  Store store;
  store.keys = random_tensor({kKeys, kSize}, 1);
  for (Index i = 0; i < kSize; ++i) store.keys(31, i) = store.keys(12, i);  // ties
  const Tensor x = random_tensor({kRows, kSize}, 2);
  for (const Index k : {Index{1}, Index{3}, kKeys}) {
    const Neighbours neighbours = nearest_keys(store, x, k);
    for (Index row = 0; row < kRows; ++row) {
      std::vector<std::pair<double, Index>> distances;
      for (Index n = 0; n < kKeys; ++n) {
        double sum = 0;
        for (Index i = 0; i < kSize; ++i) {
          sum +=
              std::pow(static_cast<double>(x(row, i)) - static_cast<double>(store.keys(n, i)), 2);
        }
        distances.emplace_back(sum, n);
      }
      std::ranges::sort(distances);
      for (Index n = 0; n < k; ++n) {
        const auto& [distance, index] = distances[static_cast<std::size_t>(n)];
        EXPECT_EQ(neighbours.index(row, n), index) << k << " nearest of row " << row;
        EXPECT_NEAR(neighbours.distance(row, n), distance, 1e-5);
      }
    }
  }
}

TEST(NearestKeys, StopOnRequest) {
  Store store;
  store.keys = random_tensor({3, 2}, 1);
  Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(nearest_keys(store, random_tensor({2, 2}, 2), 1), Stopped);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
