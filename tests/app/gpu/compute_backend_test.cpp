// Compares GPU and CPU results for every kind of part and every output.
#include "app/gpu/compute_backend.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>

#include "app/gpu/part_upload.h"
#include "app/gpu/tile_layout.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "tests/app/gpu/part_cases.h"
#include "tests/support/compare.h"
#include "tests/support/pattern_cases.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::PartSizes;

// Shared by all tests, so that shaders compile once.
ComputeBackend& gpu() {
  static ComputeBackend backend(make_headless_context());
  return backend;
}

constexpr ResultRequest kEverything{.output = true,
                                    .attention = true,
                                    .device_attention = true,
                                    .scores = true,
                                    .log_sum_exp = true};

void expect_matches_cpu(const Part& part, double tolerance = 2e-5) {
  const ResultRequest wanted = kEverything;
  ASSERT_EQ(gpu().refusal(part, wanted), "");
  ResultRequest host_wanted = wanted;
  host_wanted.device_attention = false;
  const PartResult expected = cpu_backend().run(part, host_wanted);
  const std::int64_t dispatches = gpu().dispatch_count();
  const PartResult actual = gpu().run(part, wanted);
  EXPECT_GT(gpu().dispatch_count(), dispatches) << "no shader ran";
  EXPECT_TRUE(close(actual.scores, expected.scores, tolerance)) << "scores";
  EXPECT_TRUE(close(actual.attention, expected.attention, tolerance)) << "attention";
  EXPECT_TRUE(close(actual.output, expected.output, tolerance)) << "output";
  EXPECT_EQ(actual.log_sum_exp.defined(), part.normaliser != Normaliser::None);
  if (actual.log_sum_exp.defined()) {
    EXPECT_TRUE(close(actual.log_sum_exp, expected.log_sum_exp, tolerance)) << "log-sum-exp";
  }
  ASSERT_NE(actual.device, nullptr);
  EXPECT_EQ(actual.device->shape(), actual.attention.shape());
  EXPECT_TRUE(close(actual.device->download(), actual.attention, 0)) << "on the device";
  // Without stored maps, outputs of rows in several tiles are accumulated in a single pass.
  const PartResult streamed_result = gpu().run(part, {.output = true, .log_sum_exp = true});
  EXPECT_TRUE(close(streamed_result.output, expected.output, tolerance)) << "streamed";
  if (actual.log_sum_exp.defined()) {
    EXPECT_TRUE(close(streamed_result.log_sum_exp, expected.log_sum_exp, tolerance)) << "streamed";
  }
}

TEST(ComputeBackend, ReportsDeviceName) {
  EXPECT_NE(gpu().name().find("OpenGL 4."), std::string::npos) << gpu().name();
}

TEST(ComputeBackend, MatchesCpuOnEveryPattern) {
  for (const auto& pattern : testing::pattern_cases()) {
    for (const PartSizes& sizes :
         {PartSizes{}, PartSizes{.queries = 1, .keys = 1}, PartSizes{.queries = 9, .keys = 70},
          PartSizes{.heads = 3, .kv_heads = 3, .queries = 64, .keys = 64, .key = 16, .value = 16},
          PartSizes{.batch = 3, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 19},
          PartSizes{.batch = 2, .heads = 3, .kv_heads = 1, .queries = 201, .keys = 150},
          PartSizes{.queries = 300, .keys = 3}, PartSizes{.queries = 3, .keys = 700}}) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(sizes.queries) + " queries");
      expect_matches_cpu(testing::part_with_pattern(pattern, sizes));
    }
  }
}

Part named_part(const std::string& pattern, const std::string& ingredient, const PartSizes& sizes) {
  Part part;
  for (const auto& pattern_case : testing::pattern_cases()) {
    if (pattern_case.name == pattern) part = testing::part_with_pattern(pattern_case, sizes);
  }
  for (const auto& ingredient_case : testing::ingredient_cases()) {
    if (ingredient_case.name == ingredient) ingredient_case.add(part, sizes);
  }
  return part;
}

// Patterns that cover all kinds of tiles: contiguous rows, grouped rows, rows in several tiles,
// single rows.
constexpr std::array kPatternNames{"causal",      "scattered_by_head_with_empty_rows",
                                   "strided",     "class_and_lone_keys",
                                   "any_by_head", "scattered"};

TEST(ComputeBackend, MatchesCpuOnEveryIngredient) {
  for (const auto& ingredient : testing::ingredient_cases()) {
    for (const char* pattern : kPatternNames) {
      for (const PartSizes& sizes :
           {PartSizes{},
            PartSizes{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 21, .keys = 26},
            PartSizes{.queries = 140, .keys = 130}}) {
        SCOPED_TRACE(ingredient.name + ", " + pattern);
        expect_matches_cpu(named_part(pattern, ingredient.name, sizes));
      }
    }
  }
}

// Confirms that the cases above cover rows in several tiles.
TEST(ComputeBackend, PlacesRowsInSeveralTiles) {
  for (const char* pattern : {"strided", "class_and_lone_keys"}) {
    const Part part = named_part(pattern, "product", {.queries = 140, .keys = 130});
    const TileLayout layout(*part.pattern);
    EXPECT_TRUE(layout.has_several_visits()) << pattern;
    EXPECT_EQ(layout.lists().size(), 2U) << pattern;
    EXPECT_EQ(layout.lists().back().height == 1, pattern != std::string("strided")) << pattern;
  }
}

// A bias can also mask pairs: all pairs of a row, or only its pairs in the first or last tile.
TEST(ComputeBackend, MatchesCpuOnPairsMaskedByBias) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const char* pattern : kPatternNames) {
    Part part = named_part(pattern, "product", {.queries = 140, .keys = 130});
    auto index = std::make_shared<OffsetIndex>();
    index->min = -130;
    for (std::int32_t offset = -130; offset <= 140; ++offset) {
      index->column.push_back(offset % 7 == 0 || offset > 20 ? 1 : 0);
    }
    const auto bias = [&](float unmasked) {
      Tensor table({1, 2});
      table[0] = unmasked;
      table[1] = -infinity;
      return OffsetTable{table, index, Term::Bias};
    };
    part.bias = bias(0.5F);
    SCOPED_TRACE(pattern);
    expect_matches_cpu(part);
    part.bias = bias(-infinity);
    expect_matches_cpu(part);
  }
}

// A NaN key reaches only the rows that attend to it.
TEST(ComputeBackend, PropagatesNaNToAttendingRowsOnly) {
  for (const bool uses_shared_memory : {false, true}) {
    gpu().use_shared_memory(uses_shared_memory);
    for (const char* pattern : kPatternNames) {
      Part part = named_part(pattern, "product", {.queries = 140, .keys = 130});
      Tensor k = part.k.value().copy();
      k(1, 70, 3) = std::numeric_limits<float>::quiet_NaN();
      part.k = k;
      const Tensor output = gpu().run(part, {.output = true}).output;
      for (Index i = 0; i < part.queries(); ++i) {
        EXPECT_FALSE(std::isnan(output(0, i, 0))) << pattern << ", " << i;
        EXPECT_EQ(std::isnan(output(1, i, 0)), part.pattern->allowed(1, i, 70))
            << pattern << ", " << i;
      }
    }
  }
  gpu().use_shared_memory(false);
}

TEST(ComputeBackend, MatchesCpuOnHugeLogits) {
  expect_matches_cpu(testing::base_part({.spread = 100}), 2e-4);  // scores around 10,000
}

TEST(ComputeBackend, MatchesCpuOnWideRange) {
  Part part = testing::base_part({});
  Tensor q = part.q.value().copy();
  for (Index i = 0; i < q.size(); ++i) q[i] *= static_cast<float>(std::pow(10.0, i % 9 - 6));
  part.q = q;
  expect_matches_cpu(part);
}

TEST(ComputeBackend, MatchesCpuInManySmallChunks) {
  const std::int64_t default_scores = 8 * 1024 * 1024;
  for (const std::int64_t scores : {std::int64_t{1}, std::int64_t{300}, std::int64_t{1500}}) {
    gpu().set_max_scores(scores);
    for (const auto& pattern : testing::pattern_cases()) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(scores));
      const PartSizes sizes{.batch = 2, .heads = 2, .kv_heads = 2};
      Part part = testing::base_part(sizes);
      part.pattern =
          std::make_shared<Pattern>(pattern.make(sizes.heads, sizes.queries, sizes.keys));
      expect_matches_cpu(part);
    }
  }
  gpu().set_max_scores(default_scores);
}

TEST(ComputeBackend, MatchesCpuWithSharedMemory) {
  gpu().use_shared_memory(true);
  for (const auto& pattern : testing::pattern_cases()) {
    for (const PartSizes& sizes :
         {PartSizes{}, PartSizes{.queries = 9, .keys = 150},
          PartSizes{.heads = 3, .kv_heads = 3, .queries = 64, .keys = 64, .key = 40, .value = 36},
          PartSizes{.batch = 3, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 19},
          PartSizes{.batch = 2, .heads = 3, .kv_heads = 1, .queries = 201, .keys = 150}}) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(sizes.queries) + " queries");
      expect_matches_cpu(testing::part_with_pattern(pattern, sizes));
    }
  }
  for (const auto& ingredient : testing::ingredient_cases()) {
    for (const char* pattern : {"all", "class_and_lone_keys"}) {
      SCOPED_TRACE(ingredient.name + ", " + pattern);
      expect_matches_cpu(
          named_part(pattern, ingredient.name,
                     {.batch = 2, .heads = 4, .kv_heads = 2, .queries = 21, .keys = 26}));
    }
  }
  gpu().use_shared_memory(false);
}

TEST(ComputeBackend, MatchesCpuInSeveralTilesAndChunks) {
  expect_matches_cpu(testing::base_part({.queries = 515, .keys = 1030, .key = 64, .value = 64}));
}

TEST(ComputeBackend, ComputesRequestedOutputsOnly) {
  const Part part = testing::base_part({});
  const PartResult output = gpu().run(part, {.output = true});
  EXPECT_TRUE(output.output.defined());
  EXPECT_FALSE(output.attention.defined());
  EXPECT_FALSE(output.scores.defined());
  EXPECT_FALSE(output.log_sum_exp.defined());
  EXPECT_EQ(output.device, nullptr);
  const PartResult sums = gpu().run(part, {.output = false, .log_sum_exp = true});
  EXPECT_FALSE(sums.output.defined());
  EXPECT_TRUE(sums.log_sum_exp.defined());
}

// Seconds from the stop request to the end of the run.
double seconds_to_stop(const Part& part) {
  const Stop stop;
  const StopScope scope(stop);
  std::chrono::steady_clock::time_point request_time;
  std::thread requester([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    request_time = std::chrono::steady_clock::now();
    stop.request();
  });
  EXPECT_THROW(gpu().run(part, {.output = true}), Stopped);
  const auto end_time = std::chrono::steady_clock::now();
  requester.join();
  return std::chrono::duration<double>(end_time - request_time).count();
}

TEST(ComputeBackend, StopsWithinTimeLimit) {
  const PartSizes sizes{
      .heads = 4, .kv_heads = 4, .queries = 4096, .keys = 4096, .key = 64, .value = 64};
  Part part = testing::base_part(sizes);
  // The limit is 50 ms on an idle machine; a busy machine may wake threads late.
  EXPECT_LT(seconds_to_stop(part), 1.0);
  part.pattern = std::make_shared<const Pattern>(
      testing::scattered_pattern(1, sizes.queries, sizes.keys, 512));
  EXPECT_LT(seconds_to_stop(part), 1.0);
  expect_matches_cpu(testing::base_part({}));  // the device is free again
}

TEST(ComputeBackend, StopsBeforeStart) {
  const Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(gpu().run(testing::base_part({}), {.output = true}), Stopped);
}

TEST(ComputeBackend, RejectsPartsBeyondTextureLimits) {
  // One row of queries, but more keys than any texture can hold.
  Part part = testing::base_part(
      {.heads = 1, .kv_heads = 1, .queries = 1, .keys = 70000, .key = 4, .value = 4});
  EXPECT_EQ(gpu().refusal(part, {.output = true}), "");
  const std::string reason = gpu().refusal(part, {.output = true, .device_attention = true});
  EXPECT_NE(reason.find("[1, 1, 70000]"), std::string::npos) << reason;
  EXPECT_THROW(gpu().run(part, {.device_attention = true}), WorkError);
}

TEST(ComputeBackend, RejectsPartsBeyondBufferLimits) {
  const Part part = testing::base_part({.heads = 2, .kv_heads = 2, .queries = 100, .keys = 100});
  EXPECT_EQ(upload_refusal(part, std::int64_t{128} << 20), "");
  const std::string reason = upload_refusal(part, 4000);
  EXPECT_NE(reason.find("expected at most 1000 numbers"), std::string::npos) << reason;
  EXPECT_EQ(integers_refusal(1000, 4000), "");
  EXPECT_EQ(integers_refusal(1001, 4000),
            "GPU: pattern: expected at most 1000 numbers in a buffer, found 1001");
}

TEST(ComputeBackend, ResultsOutliveBackend) {
  PartResult result;
  const Part part = testing::base_part({});
  {
    ComputeBackend backend(make_headless_context());
    result = backend.run(part, kEverything);
  }
  EXPECT_TRUE(close(result.device->download(), result.attention, 0));
}

TEST(ComputeBackend, DownloadsFromAnyThread) {
  const PartResult result = gpu().run(testing::base_part({}), kEverything);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back(
        [&] { EXPECT_TRUE(close(result.device->download(), result.attention, 0)); });
  }
  for (auto& t : threads) t.join();
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
