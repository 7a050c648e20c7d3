// Compares rows in the blocks of an Arrangement with the equations in double precision, for all
// ingredients and normalisers.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "core/attention/attention_operation.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "core/part/arrangement.h"
#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/pattern_cases.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::named_parts;
using testing::random_tensor;
using testing::reference;
using testing::to_tensor;

struct NamedPattern {
  const char* name;
  Pattern pattern;
};

// Patterns, from mostly arranged rows to mostly lone rows.
std::vector<NamedPattern> patterns(const Part& part) {
  const Index heads = part.heads, queries = part.queries(), keys = part.keys();
  return {{"strided", testing::strided_pattern(queries, keys, 5, 6)},
          {"hashed", testing::hashed_pattern(heads, queries, keys, 4)},
          {"hashed, for all heads", testing::hashed_pattern(1, queries, keys, 3)},
          {"any", testing::random_pattern(heads, queries, keys, 3)},
          {"any, for all heads", testing::random_pattern(1, queries, keys, 8)},
          {"scattered", testing::scattered_pattern(1, queries, keys, 3)}};
}

Part replace_pattern(const Part& part, const Pattern& pattern) {
  Part result = part;
  result.pattern = std::make_shared<const Pattern>(pattern);
  EXPECT_FALSE(pattern.arrangement()->all_in_order());
  return result;
}

TEST(ArrangedRows, MatchEquations) {
  for (const Index queries : {1, 20, 150}) {
    for (const auto& [name, part] : named_parts(queries, false)) {
      for (const auto& [pattern_name, pattern] : patterns(part)) {
        SCOPED_TRACE(name + ", " + pattern_name + ", " + std::to_string(queries));
        Part changed_part = part;
        changed_part.pattern = std::make_shared<const Pattern>(pattern);
        const testing::Reference expected = reference(changed_part);
        ResultRequest wanted;
        wanted.log_sum_exp = true;
        const PartResult result = cpu_backend().run(changed_part, wanted);
        const Index pairs = part.batch * part.heads;
        EXPECT_TRUE(
            close(result.output, to_tensor({pairs, queries, part.v.dim(2)}, expected.output)));
        if (part.normaliser != Normaliser::None) {
          EXPECT_TRUE(close(result.log_sum_exp, to_tensor({pairs, queries}, expected.log_sum_exp)));
        }
        wanted.output = false;
        const PartResult sums_result = cpu_backend().run(changed_part, wanted);
        if (part.normaliser != Normaliser::None) {
          EXPECT_TRUE(close(sums_result.log_sum_exp, result.log_sum_exp));
        }
      }
    }
    if (HasFailure()) return;
  }
}

void check_gradients(const Part& part) {
  for (Var ingredient : ingredients(part))
    ingredient.clear_gradient();  // other parts share ingredients
  const Var result = attention(part, cpu_backend(), {}, nullptr);
  const Tensor weights = random_tensor(result.shape(), 99);
  backward(sum(multiply(result, weights)));
  const auto reference_sum = [&] {
    const std::vector<double> output = reference(part).output;
    return std::inner_product(output.begin(), output.end(), weights.begin(), 0.0);
  };
  std::size_t number = 0;
  for (const Var& ingredient : ingredients(part)) {
    EXPECT_TRUE(testing::is_gradient(ingredient.gradient(), ingredient.value(), reference_sum,
                                     {{1e-3F, 1e-4F}, 2e-4, 2}))
        << "ingredient " << number << " " << to_string(ingredient.shape());
    ++number;
  }
}

TEST(ArrangedRows, MatchFiniteDifferences) {
  for (const auto& [name, part] : named_parts(41, true)) {
    for (const auto& [pattern_name, pattern] : patterns(part)) {
      // Skips redundant cases: strided patterns with a memory, other patterns shared by all heads.
      const bool is_covered =
          part.keys() != part.queries() && pattern_name == std::string("strided");
      if (is_covered || (pattern.heads() == 1 && pattern_name != std::string("strided"))) continue;
      SCOPED_TRACE(name + ", " + pattern_name);
      check_gradients(replace_pattern(part, pattern));
    }
  }
}

// Whole maps are computed row by row, in order.
TEST(ArrangedRows, SkipArrangementForMaps) {
  const Part part =
      replace_pattern(named_parts(150, false)[0].part, testing::scattered_pattern(1, 150, 150, 3));
  Part copy = part;
  copy.pattern = std::make_shared<const Pattern>(testing::scattered_pattern(1, 150, 150, 3));
  const PartResult maps_result = cpu_backend().run(copy, {.attention = true});
  {
    const Stop stop;
    stop.request();
    const StopScope scope(stop);
    EXPECT_THROW(copy.pattern->arrangement(), Stopped);  // the pattern has no arrangement yet
  }
  const PartResult output_only = cpu_backend().run(copy, {});
  EXPECT_NO_THROW(copy.pattern->arrangement());
  EXPECT_TRUE(close(maps_result.output, output_only.output));
}

TEST(ArrangedRows, AreIndependentOfThreadCount) {
  const int initial_thread_count = thread_count();
  const Part pattern_part = named_parts(300, true)[12].part;  // a part with all ingredients
  for (const auto& [name, pattern] : patterns(pattern_part)) {
    SCOPED_TRACE(name);
    std::vector<std::vector<Tensor>> results;
    for (const int threads : {1, 2, 5}) {
      set_thread_count(threads);
      const Part part = replace_pattern(named_parts(300, true)[12].part, pattern);
      const Var result = attention(part, cpu_backend(), {}, nullptr);
      backward(sum(multiply(result, random_tensor(result.shape(), 99))));
      results.push_back({result.value()});
      for (const Var& v : ingredients(part)) results.back().push_back(v.gradient());
    }
    for (std::size_t run = 1; run < results.size(); ++run) {
      for (std::size_t n = 0; n < results[0].size(); ++n) {
        EXPECT_TRUE(std::equal(results[0][n].begin(), results[0][n].end(), results[run][n].begin()))
            << "tensor " << n << ", run " << run;
      }
    }
  }
  set_thread_count(initial_thread_count);
}

Part random_two_head_part(Pattern pattern, double scale) {
  Part part;
  part.heads = 2;
  part.q = random_tensor({2, pattern.queries(), 16}, 1, scale);
  part.k = random_tensor({2, pattern.keys(), 16}, 2, scale);
  part.v = random_tensor({2, pattern.keys(), 8}, 3);
  part.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return part;
}

// The weighted mean of values 1 is 1 for scores of any size.
TEST(ArrangedRows, StayFiniteWithHugeScores) {
  for (const double scale : {1e3, 1e15, 1e20, 1e30}) {
    for (Pattern pattern :
         {testing::strided_pattern(200, 200, 7, 9), testing::hashed_pattern(2, 200, 200, 5),
          testing::scattered_pattern(1, 200, 200, 3)}) {
      Part part = random_two_head_part(std::move(pattern), scale);
      Tensor ones({2, 200, 8});
      std::fill(ones.begin(), ones.end(), 1.0F);
      part.v = ones;
      const PartResult result = cpu_backend().run(part, {});
      for (Index a = 0; a < 2; ++a) {
        for (Index i = 0; i < 200; ++i) {
          if (part.pattern->row(a, i).empty()) continue;
          ASSERT_TRUE(std::abs(result.output(a, i, 0) - 1) <= 1e-5F) << scale << ", row " << i;
        }
      }
    }
  }
}

TEST(ArrangedRows, PropagateNanOnlyToRowsThatSeeIt) {
  Part part = random_two_head_part(testing::strided_pattern(200, 200, 7, 9), 1);
  Tensor k = part.k.value();
  k(1, 70, 3) = std::numeric_limits<float>::quiet_NaN();
  part.k = k;
  const PartResult result = cpu_backend().run(part, {});
  for (Index i = 0; i < 200; ++i) {
    EXPECT_FALSE(std::isnan(result.output(0, i, 0))) << i;
    EXPECT_EQ(std::isnan(result.output(1, i, 0)), part.pattern->allowed(1, i, 70)) << i;
  }
}

TEST(ArrangedRows, StopWithinAHundredMilliseconds) {
  constexpr Index length = 20000;
  const Part part = random_two_head_part(testing::scattered_pattern(1, length, length, 400), 1);
  double shortest =
      1e9;  // shortest time of a round in ms; a shared machine may delay single rounds
  for (int round = 0; round < 5 && !(shortest <= 100); ++round) {
    const Stop stop;
    const StopScope scope(stop);
    std::chrono::steady_clock::time_point requested;
    std::thread requester([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      requested = std::chrono::steady_clock::now();
      stop.request();
    });
    EXPECT_THROW(for (;;) cpu_backend().run(part, {}), Stopped);
    const auto stopped = std::chrono::steady_clock::now();
    requester.join();
    shortest =
        std::min(shortest, std::chrono::duration<double, std::milli>(stopped - requested).count());
  }
  EXPECT_LE(shortest, 100);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
