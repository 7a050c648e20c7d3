#include "core/position/t5_bucket.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Returns the bucket, computed from the definition in long double. Scaled logarithms within 1e-12
// of an integer are rounded to it.
Index defined_bucket(Index buckets, Index max_distance, bool bidirectional, Index offset) {
  Index first = 0, n = std::max<Index>(-offset, 0);
  if (bidirectional) {
    buckets /= 2;
    n = std::abs(offset);
    if (offset > 0) first = buckets;
  }
  const Index e = buckets / 2;
  if (n < e) return first + n;
  const long double x =
      std::log(static_cast<long double>(n) / static_cast<long double>(e)) /
      std::log(static_cast<long double>(max_distance) / static_cast<long double>(e)) *
      static_cast<long double>(buckets - e);
  const long double nearest = std::round(x);
  const auto step = static_cast<Index>(std::abs(x - nearest) < 1e-12L ? nearest : std::floor(x));
  return first + std::min(buckets - 1, e + step);
}

TEST(T5Bucket, MatchesTheDefinition) {
  for (const Index buckets : {4, 8, 10, 32, 64, 100}) {
    for (const Index max_distance : {51, 64, 81, 128, 200, 1000, 1024, 4096}) {
      for (const bool bidirectional : {true, false}) {
        for (Index offset = -1200; offset <= 1200; ++offset) {
          ASSERT_EQ(t5_bucket({buckets, max_distance, bidirectional}, offset),
                    defined_bucket(buckets, max_distance, bidirectional, offset))
              << buckets << " buckets, max_distance " << max_distance
              << (bidirectional ? ", bidirectional, offset " : ", offset ") << offset;
        }
      }
    }
  }
}

// If 16 of 32 buckets are exact and the maximum distance is 4096, distance 16 · 2^t has bucket 16 +
// 2 t, because log(32 / 16) / log(4096 / 16) · 16 = 2.
TEST(T5Bucket, KeepsExactLogarithms) {
  for (Index t = 0; t <= 7; ++t) {
    const Index distance = Index{16} << t;
    EXPECT_EQ(t5_bucket({32, 4096, false}, -distance), 16 + 2 * t);
    EXPECT_EQ(t5_bucket({32, 4096, false}, -distance + 1), 16 + 2 * t - 1);
  }
  // In these cases, logarithms in double precision are slightly too small.
  struct Exact {
    Index buckets, most, distance, bucket;
  };
  for (const Exact& e :
       {Exact{9, 128, 8, 5}, Exact{9, 128, 16, 6}, Exact{9, 128, 64, 8}, Exact{10, 160, 10, 6},
        Exact{10, 160, 20, 7}, Exact{10, 160, 80, 9}, Exact{19, 16, 12, 14}, Exact{19, 288, 18, 11},
        Exact{19, 288, 36, 13}, Exact{19, 288, 144, 17}, Exact{19, 676, 78, 14}}) {
    EXPECT_EQ(t5_bucket({e.buckets, e.most, false}, -e.distance), e.bucket)
        << e.buckets << " buckets, max_distance " << e.most << ", distance " << e.distance;
    EXPECT_EQ(t5_bucket({2 * e.buckets, e.most, true}, e.distance), e.buckets + e.bucket);
  }
  EXPECT_EQ(t5_bucket({32, 4096, false}, -4096), 31);
  EXPECT_EQ(t5_bucket({32, 4096, false}, -1000000), 31);
  EXPECT_EQ(t5_bucket({32, 4096, false}, 5), 0);
  EXPECT_EQ(t5_bucket({32, 128, true}, 1000), 31);
  EXPECT_EQ(t5_bucket({32, 128, true}, -1000), 15);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
