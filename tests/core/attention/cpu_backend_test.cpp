// Compares the CPU kernels with the equations in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "core/attention/backend.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::named_parts;
using testing::random_tensor;
using testing::reference;
using testing::Reference;
using testing::to_tensor;

// Sets the thread count to `threads` during its lifetime.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int threads) : initial_count_(thread_count()) {
    set_thread_count(threads);
  }
  ~ThreadCountScope() { set_thread_count(initial_count_); }

 private:
  int initial_count_;
};

class CpuBackend : public ::testing::TestWithParam<Index> {};

TEST_P(CpuBackend, MatchesEquations) {
  const Index queries = GetParam();
  for (const auto& [name, part] : named_parts(queries, false)) {
    // Up to 65 queries test every ingredient. More queries test parts that use other kernel paths.
    const std::vector<std::string> long_parts{"plain", "strided", "memory", "causal feature ratio"};
    if (queries > 100 &&
        std::find(long_parts.begin(), long_parts.end(), name) == long_parts.end()) {
      continue;
    }
    SCOPED_TRACE(name);
    const Reference expected = reference(part);
    const Index pairs = part.batch * part.heads;
    const Shape map_shape{pairs, part.queries(), part.keys()}, row_shape{pairs, part.queries()};
    const Tensor output = to_tensor({pairs, part.queries(), part.v.dim(2)}, expected.output);

    for (const int threads : {1, 2}) {
      const ThreadCountScope scope(threads);
      ResultRequest wanted;
      wanted.log_sum_exp = true;
      const PartResult result = cpu_backend().run(part, wanted);
      EXPECT_TRUE(close(result.output, output));
      EXPECT_FALSE(result.attention.defined());
      if (part.normaliser != Normaliser::None) {
        EXPECT_TRUE(close(result.log_sum_exp, to_tensor(row_shape, expected.log_sum_exp)));
      }

      wanted.attention = wanted.scores = true;
      const PartResult maps_result = cpu_backend().run(part, wanted);
      EXPECT_TRUE(close(maps_result.output, output));
      EXPECT_TRUE(close(maps_result.attention, to_tensor(map_shape, expected.attention)));
      EXPECT_TRUE(close(maps_result.scores, to_tensor(map_shape, expected.scores)));
      for (Index i = 0; i < maps_result.attention.size(); ++i) {
        const bool is_allowed =
            part.pattern->allowed(i / (part.queries() * part.keys()) % part.heads,
                                  i / part.keys() % part.queries(), i % part.keys());
        ASSERT_TRUE(is_allowed || maps_result.attention[i] == 0) << "pair " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, CpuBackend, ::testing::Values(1, 2, 63, 65, 257, 1000));

Part random_two_head_part(Index queries, Index keys, double scale) {
  Part part;
  part.heads = 2;
  part.q = random_tensor({2, queries, 16}, 1, scale);
  part.k = random_tensor({2, keys, 16}, 2, scale);
  part.v = random_tensor({2, keys, 8}, 3);
  part.pattern = std::make_shared<const Pattern>(Pattern::all(queries, keys));
  return part;
}

TEST(CpuBackendExtremes, StayFiniteWithHugeScores) {
  for (const double scale : {1e3, 1e6, 1e15, 1e18, 1e20, 1e30}) {
    const Part part = random_two_head_part(65, 70, scale);
    ResultRequest wanted;
    wanted.attention = wanted.log_sum_exp = true;
    const PartResult result = cpu_backend().run(part, wanted);
    for (const float x : result.output) ASSERT_TRUE(std::isfinite(x)) << scale;
    for (Index row = 0; row < 2 * 65; ++row) {
      double sum = 0;
      for (Index c = 0; c < 70; ++c) sum += result.attention[row * 70 + c];
      ASSERT_TRUE(std::abs(sum - 1) <= 1e-5) << scale << " row " << row << " sum " << sum;
    }
  }
}

TEST(CpuBackendExtremes, ReturnZerosForEmptyRows) {
  Part part = random_two_head_part(130, 70, 1);
  PatternBuilder builder(1, 130, 70, {"even"});
  for (Index i = 0; i < 130; ++i) {
    if (i % 2 == 0 && i < 100) builder.add(0, 0, i);
    builder.next_row();
  }
  part.pattern = std::make_shared<const Pattern>(builder.finish());
  for (const bool attention : {false, true}) {
    ResultRequest wanted;
    wanted.attention = attention;
    wanted.log_sum_exp = true;
    const PartResult result = cpu_backend().run(part, wanted);
    for (Index a = 0; a < 2; ++a) {
      for (Index i = 0; i < 130; ++i) {
        const bool is_empty = i % 2 == 1 || i >= 100 || i == 0;
        EXPECT_EQ(std::isinf(result.log_sum_exp(a, i)), is_empty) << i;
        if (!is_empty) continue;
        for (Index t = 0; t < 8; ++t) ASSERT_EQ(result.output(a, i, t), 0) << i;
        for (Index c = 0; attention && c < 70; ++c) ASSERT_EQ(result.attention(a, i, c), 0);
      }
    }
  }
}

TEST(CpuBackendStop, StopsWithinFiftyMilliseconds) {
  const Part part = random_two_head_part(30000, 30000, 1);
  double shortest =
      1e9;  // shortest time of a round in ms; a shared machine may delay single rounds
  for (int round = 0; round < 5 && !(shortest <= 50); ++round) {
    const Stop stop;
    const StopScope scope(stop);
    std::chrono::steady_clock::time_point requested;
    std::thread requester([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      requested = std::chrono::steady_clock::now();
      stop.request();
    });
    EXPECT_THROW(cpu_backend().run(part, {}), Stopped);
    const auto stopped = std::chrono::steady_clock::now();
    requester.join();
    shortest =
        std::min(shortest, std::chrono::duration<double, std::milli>(stopped - requested).count());
  }
  EXPECT_LE(shortest, 50);
}

TEST(CpuBackendStop, StopsIfAlreadyRequested) {
  const Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(cpu_backend().run(random_two_head_part(64, 64, 1), {}), Stopped);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
