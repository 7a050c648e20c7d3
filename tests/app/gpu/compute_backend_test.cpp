// GPU against CPU: the same parts on both, everything that a caller can want.
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
#include "tests/app/gpu/part_cases.h"
#include "tests/support/compare.h"
#include "tests/support/pattern_cases.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::PartSizes;

// One for all tests: shaders compile once.
ComputeBackend& gpu() {
  static ComputeBackend backend(make_headless_context());
  return backend;
}

constexpr Wanted kEverything{.output = true,
                             .attention = true,
                             .device_attention = true,
                             .scores = true,
                             .log_sum_exp = true};

void expect_same(const Part& part, double tolerance = 2e-5) {
  const Wanted wanted = kEverything;
  ASSERT_EQ(gpu().refusal(part, wanted), "");
  Wanted on_host = wanted;
  on_host.device_attention = false;
  const PartResult expected = cpu_backend().run(part, on_host, Stop());
  const std::int64_t before = gpu().dispatch_count();
  const PartResult got = gpu().run(part, wanted, Stop());
  EXPECT_GT(gpu().dispatch_count(), before) << "no shader ran";
  EXPECT_TRUE(close(got.scores, expected.scores, tolerance)) << "scores";
  EXPECT_TRUE(close(got.attention, expected.attention, tolerance)) << "attention";
  EXPECT_TRUE(close(got.output, expected.output, tolerance)) << "output";
  EXPECT_EQ(got.log_sum_exp.defined(), part.normaliser != Normaliser::None);
  if (got.log_sum_exp.defined()) {
    EXPECT_TRUE(close(got.log_sum_exp, expected.log_sum_exp, tolerance)) << "log-sum-exp";
  }
  ASSERT_NE(got.device, nullptr);
  EXPECT_EQ(got.device->shape(), got.attention.shape());
  EXPECT_TRUE(close(got.device->download(), got.attention, 0)) << "on the device";
  // Without maps, rows that are in several tiles are computed once.
  const PartResult streamed = gpu().run(part, {.output = true, .log_sum_exp = true}, Stop());
  EXPECT_TRUE(close(streamed.output, expected.output, tolerance)) << "streamed";
  if (got.log_sum_exp.defined()) {
    EXPECT_TRUE(close(streamed.log_sum_exp, expected.log_sum_exp, tolerance)) << "streamed";
  }
}

TEST(ComputeBackend, NamesTheDevice) {
  EXPECT_NE(gpu().name().find("OpenGL 4."), std::string::npos) << gpu().name();
}

TEST(ComputeBackend, EveryPattern) {
  for (const auto& pattern : testing::pattern_cases()) {
    for (const PartSizes& sizes :
         {PartSizes{}, PartSizes{.queries = 1, .keys = 1}, PartSizes{.queries = 9, .keys = 70},
          PartSizes{.heads = 3, .kv_heads = 3, .queries = 64, .keys = 64, .key = 16, .value = 16},
          PartSizes{.batch = 3, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 19},
          PartSizes{.batch = 2, .heads = 3, .kv_heads = 1, .queries = 201, .keys = 150},
          PartSizes{.queries = 300, .keys = 3}, PartSizes{.queries = 3, .keys = 700}}) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(sizes.queries) + " queries");
      expect_same(testing::part_with(pattern, sizes));
    }
  }
}

Part named_part(const std::string& pattern, const std::string& ingredient, const PartSizes& sizes) {
  Part part;
  for (const auto& p : testing::pattern_cases()) {
    if (p.name == pattern) part = testing::part_with(p, sizes);
  }
  for (const auto& i : testing::ingredient_cases()) {
    if (i.name == ingredient) i.add(part, sizes);
  }
  return part;
}

// In the order of tiles: neighbours, rows put together, rows in several tiles, rows alone.
constexpr std::array kPatternNames{"causal",      "scattered_by_head_with_empty_rows",
                                   "strided",     "class_and_lone_keys",
                                   "any_by_head", "scattered"};

TEST(ComputeBackend, EveryIngredient) {
  for (const auto& ingredient : testing::ingredient_cases()) {
    for (const char* pattern : kPatternNames) {
      for (const PartSizes& sizes :
           {PartSizes{},
            PartSizes{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 21, .keys = 26},
            PartSizes{.queries = 140, .keys = 130}}) {
        SCOPED_TRACE(ingredient.name + ", " + pattern);
        expect_same(named_part(pattern, ingredient.name, sizes));
      }
    }
  }
}

// What the cases above are for.
TEST(ComputeBackend, RowsAreInSeveralTiles) {
  for (const char* pattern : {"strided", "class_and_lone_keys"}) {
    const Part part = named_part(pattern, "product", {.queries = 140, .keys = 130});
    const TileLayout layout(*part.pattern, {});
    EXPECT_TRUE(layout.has_several_turns()) << pattern;
    EXPECT_EQ(layout.lists().size(), 2U) << pattern;
    EXPECT_EQ(layout.lists().back().height == 1, pattern != std::string("strided")) << pattern;
  }
}

// A bias may forbid pairs, too: of some rows all that the pattern allows, of some only those of the
// first tile or of the last.
TEST(ComputeBackend, PairsHiddenByTheirScores) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const char* pattern : kPatternNames) {
    Part part = named_part(pattern, "product", {.queries = 140, .keys = 130});
    auto index = std::make_shared<OffsetIndex>();
    index->least = -130;
    for (std::int32_t offset = -130; offset <= 140; ++offset) {
      index->column.push_back(offset % 7 == 0 || offset > 20 ? 1 : 0);
    }
    const auto bias = [&](float of_others) {
      Tensor table({1, 2});
      table[0] = of_others;
      table[1] = -infinity;
      return OffsetTable{table, index, Term::Bias};
    };
    part.bias = bias(0.5F);
    SCOPED_TRACE(pattern);
    expect_same(part);
    part.bias = bias(-infinity);
    expect_same(part);
  }
}

// A key that is not a number reaches the rows that are allowed to see it, and no other.
TEST(ComputeBackend, NotANumber) {
  for (const bool shared : {false, true}) {
    gpu().use_shared_memory(shared);
    for (const char* pattern : kPatternNames) {
      Part part = named_part(pattern, "product", {.queries = 140, .keys = 130});
      Tensor k = part.k.value().copy();
      k(1, 70, 3) = std::numeric_limits<float>::quiet_NaN();
      part.k = k;
      const Tensor output = gpu().run(part, {.output = true}, Stop()).output;
      for (Index i = 0; i < part.queries(); ++i) {
        EXPECT_FALSE(std::isnan(output(0, i, 0))) << pattern << ", " << i;
        EXPECT_EQ(std::isnan(output(1, i, 0)), part.pattern->allowed(1, i, 70))
            << pattern << ", " << i;
      }
    }
  }
  gpu().use_shared_memory(false);
}

TEST(ComputeBackend, HugeLogits) {
  expect_same(testing::plain_part({.spread = 100}), 2e-4);  // scores of about 10,000
}

TEST(ComputeBackend, WideRange) {
  Part part = testing::plain_part({});
  Tensor q = part.q.value().copy();
  for (Index i = 0; i < q.size(); ++i) q[i] *= static_cast<float>(std::pow(10.0, i % 9 - 6));
  part.q = q;
  expect_same(part);
}

TEST(ComputeBackend, ManySmallChunks) {
  const std::int64_t most = 8 * 1024 * 1024;
  for (const std::int64_t scores : {std::int64_t{1}, std::int64_t{300}, std::int64_t{1500}}) {
    gpu().set_most_scores(scores);
    for (const auto& pattern : testing::pattern_cases()) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(scores));
      const PartSizes sizes{.batch = 2, .heads = 2, .kv_heads = 2};
      Part part = testing::plain_part(sizes);
      part.pattern =
          std::make_shared<Pattern>(pattern.make(sizes.heads, sizes.queries, sizes.keys));
      expect_same(part);
    }
  }
  gpu().set_most_scores(most);
}

// The kind of shaders that graphics processors are fast with.
TEST(ComputeBackend, SharedMemory) {
  gpu().use_shared_memory(true);
  for (const auto& pattern : testing::pattern_cases()) {
    for (const PartSizes& sizes :
         {PartSizes{}, PartSizes{.queries = 9, .keys = 150},
          PartSizes{.heads = 3, .kv_heads = 3, .queries = 64, .keys = 64, .key = 40, .value = 36},
          PartSizes{.batch = 3, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 19},
          PartSizes{.batch = 2, .heads = 3, .kv_heads = 1, .queries = 201, .keys = 150}}) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(sizes.queries) + " queries");
      expect_same(testing::part_with(pattern, sizes));
    }
  }
  for (const auto& ingredient : testing::ingredient_cases()) {
    for (const char* pattern : {"all", "class_and_lone_keys"}) {
      SCOPED_TRACE(ingredient.name + ", " + pattern);
      expect_same(named_part(pattern, ingredient.name,
                             {.batch = 2, .heads = 4, .kv_heads = 2, .queries = 21, .keys = 26}));
    }
  }
  gpu().use_shared_memory(false);
}

TEST(ComputeBackend, SeveralTilesAndChunks) {
  expect_same(testing::plain_part({.queries = 515, .keys = 1030, .key = 64, .value = 64}));
}

TEST(ComputeBackend, OnlyWhatIsWanted) {
  const Part part = testing::plain_part({});
  const PartResult output = gpu().run(part, {.output = true}, Stop());
  EXPECT_TRUE(output.output.defined());
  EXPECT_FALSE(output.attention.defined());
  EXPECT_FALSE(output.scores.defined());
  EXPECT_FALSE(output.log_sum_exp.defined());
  EXPECT_EQ(output.device, nullptr);
  const PartResult sums = gpu().run(part, {.output = false, .log_sum_exp = true}, Stop());
  EXPECT_FALSE(sums.output.defined());
  EXPECT_TRUE(sums.log_sum_exp.defined());
}

// How long after it is asked to stop a run ends.
double seconds_to_stop(const Part& part) {
  const Stop stop;
  std::chrono::steady_clock::time_point asked;
  std::thread asker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    asked = std::chrono::steady_clock::now();
    stop.request();
  });
  EXPECT_THROW(gpu().run(part, {.output = true}, stop), Stopped);
  const auto ended = std::chrono::steady_clock::now();
  asker.join();
  return std::chrono::duration<double>(ended - asked).count();
}

TEST(ComputeBackend, StopsSoon) {
  const PartSizes sizes{
      .heads = 4, .kv_heads = 4, .queries = 4096, .keys = 4096, .key = 64, .value = 64};
  Part part = testing::plain_part(sizes);
  // The limit is 50 ms on a machine of its own; a busy one may wake threads late.
  EXPECT_LT(seconds_to_stop(part), 1.0);
  part.pattern = std::make_shared<const Pattern>(
      testing::scattered_pattern(1, sizes.queries, sizes.keys, 512));
  EXPECT_LT(seconds_to_stop(part), 1.0);
  expect_same(testing::plain_part({}));  // and the device is free again
}

TEST(ComputeBackend, StoppedBeforeItBegins) {
  const Stop stop;
  stop.request();
  EXPECT_THROW(gpu().run(testing::plain_part({}), {.output = true}, stop), Stopped);
}

TEST(ComputeBackend, RefusesWhatItCannotHold) {
  // One row of queries, but keys beyond any texture.
  Part part = testing::plain_part(
      {.heads = 1, .kv_heads = 1, .queries = 1, .keys = 70000, .key = 4, .value = 4});
  EXPECT_EQ(gpu().refusal(part, {.output = true}), "");
  const std::string reason = gpu().refusal(part, {.output = true, .device_attention = true});
  EXPECT_NE(reason.find("[1, 1, 70000]"), std::string::npos) << reason;
  EXPECT_THROW(gpu().run(part, {.device_attention = true}, Stop()), WorkError);
}

TEST(ComputeBackend, RefusesBuffersBeyondTheLimit) {
  const Part part = testing::plain_part({.heads = 2, .kv_heads = 2, .queries = 100, .keys = 100});
  EXPECT_EQ(upload_refusal(part, std::int64_t{128} << 20), "");
  const std::string reason = upload_refusal(part, 4000);
  EXPECT_NE(reason.find("expected at most 1000 numbers"), std::string::npos) << reason;
  EXPECT_EQ(integers_refusal(1000, 4000), "");
  EXPECT_EQ(integers_refusal(1001, 4000),
            "GPU: pattern: expected at most 1000 numbers in a buffer, found 1001");
}

TEST(ComputeBackend, AttentionOutlivesItsBackend) {
  PartResult result;
  const Part part = testing::plain_part({});
  {
    ComputeBackend backend(make_headless_context());
    result = backend.run(part, kEverything, Stop());
  }
  EXPECT_TRUE(close(result.device->download(), result.attention, 0));
}

TEST(ComputeBackend, DownloadsFromAnyThread) {
  const PartResult result = gpu().run(testing::plain_part({}), kEverything, Stop());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back(
        [&] { EXPECT_TRUE(close(result.device->download(), result.attention, 0)); });
  }
  for (auto& t : threads) t.join();
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
