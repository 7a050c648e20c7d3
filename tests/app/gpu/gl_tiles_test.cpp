// Compares map tiles of the compute shader with the CPU's.
#include "app/gpu/gl_tiles.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "app/gpu/compute_backend.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/stop.h"
#include "tests/app/gpu/part_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::PartSizes;

constexpr ResultRequest kTiles{.output = false, .tiles = true};

ComputeBackend& gpu() {
  static ComputeBackend backend(make_headless_context());
  return backend;
}

std::vector<TileRequest> make_requests(Index heads, Index queries, Index keys) {
  std::vector<TileRequest> result;
  for (const Index step : {1, 2, 5, 100}) {
    for (const Pooling pooling : {Pooling::Max, Pooling::Mean}) {
      for (const bool sampled : {false, true}) {
        TileRequest request{.head = heads - 1,
                            .height = queries,
                            .width = keys,
                            .step = step,
                            .pooling = pooling,
                            .sampled = sampled};
        result.push_back(request);
        request.row = queries / 3;
        request.height = queries - request.row;
        request.column = keys / 5;
        request.width = std::min<Index>(11, keys - request.column);
        result.push_back(request);
      }
    }
  }
  return result;
}

void expect_matches_cpu(const Part& part) {
  const PartResult expected = cpu_backend().run(part, kTiles);
  const PartResult actual = gpu().run(part, kTiles);
  ASSERT_NE(actual.tiles, nullptr);
  const Index heads = part.batch * part.heads;
  for (const TileRequest& request : make_requests(heads, part.queries(), part.keys())) {
    const std::int64_t dispatches = gpu().dispatch_count();
    EXPECT_TRUE(close(actual.tiles->tile(request), expected.tiles->tile(request), 2e-5))
        << "step " << request.step << " at " << request.row << ", " << request.column
        << (request.sampled ? ", sampled" : "");
    EXPECT_GT(gpu().dispatch_count(), dispatches) << "no shader ran";
  }
  EXPECT_EQ(actual.tiles->note(), "");
}

TEST(GlTiles, MatchCpuOnEveryPattern) {
  for (const auto& pattern : testing::pattern_cases()) {
    for (const PartSizes& sizes :
         {PartSizes{}, PartSizes{.queries = 1, .keys = 1}, PartSizes{.queries = 9, .keys = 70},
          PartSizes{.batch = 3, .heads = 4, .kv_heads = 2, .queries = 19, .keys = 19}}) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(sizes.queries) + " queries");
      expect_matches_cpu(testing::part_with_pattern(pattern, sizes));
    }
  }
}

TEST(GlTiles, MatchCpuOnEveryIngredient) {
  for (const auto& ingredient : testing::ingredient_cases()) {
    const PartSizes sizes{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 21, .keys = 26};
    SCOPED_TRACE(ingredient.name);
    Part part = testing::base_part(sizes);
    ingredient.add(part, sizes);
    expect_matches_cpu(part);
  }
}

TEST(GlTiles, StopWithinTimeLimit) {
  const Part part = testing::base_part(
      {.heads = 1, .kv_heads = 1, .queries = 4096, .keys = 4096, .key = 64, .value = 4});
  const auto gpu_tiles = gpu().run(part, kTiles).tiles;
  gpu_tiles->tile({.height = 8, .width = 8});  // uploads and compiles
  double min_milliseconds = 1e9;               // minimum of a few attempts
  for (int round = 0; round < 5 && !(min_milliseconds <= 50); ++round) {
    const Stop stop;
    const StopScope scope(stop);
    std::chrono::steady_clock::time_point request_time;
    std::thread requester([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      request_time = std::chrono::steady_clock::now();
      stop.request();
    });
    EXPECT_THROW(gpu_tiles->tile({.height = 4096, .width = 4096, .step = 16}), Stopped);
    const auto end_time = std::chrono::steady_clock::now();
    requester.join();
    min_milliseconds =
        std::min(min_milliseconds,
                 std::chrono::duration<double, std::milli>(end_time - request_time).count());
  }
  EXPECT_LE(min_milliseconds, 50);
}

TEST(GlTiles, OutliveBackend) {
  std::shared_ptr<const AttentionTiles> tiles;
  const Part part = testing::base_part({});
  {
    ComputeBackend backend(make_headless_context());
    tiles = backend.run(part, kTiles).tiles;
  }
  const TileRequest request{.height = part.queries(), .width = part.keys()};
  const auto expected = cpu_backend().run(part, kTiles).tiles->tile(request);
  EXPECT_TRUE(close(tiles->tile(request), expected, 2e-5));
}

// If a shader does not compile, the CPU computes the tiles and note() names the shader.
TEST(GlTiles, FallBackToCpu) {
  const testing::TemporaryFolder home;
  std::filesystem::copy(home_folder() / "shaders", home.path() / "shaders");
  write_file(home.path() / "shaders" / "pooled_tile.comp", "void main() { nonsense; }\n");
  const std::string old_home = home_folder().string();
  setenv("ATTNSCOPE_HOME", home.path().c_str(), 1);
  {
    ComputeBackend backend(make_headless_context());
    const Part part = testing::base_part({});
    const auto tiles = backend.run(part, kTiles).tiles;
    const TileRequest request{.height = part.queries(), .width = part.keys()};
    const auto expected = cpu_backend().run(part, kTiles).tiles->tile(request);
    EXPECT_TRUE(close(tiles->tile(request), expected, 1e-6));
    EXPECT_NE(tiles->note().find("pooled_tile.comp"), std::string::npos) << tiles->note();
    EXPECT_TRUE(close(tiles->tile(request), expected, 1e-6));
  }
  setenv("ATTNSCOPE_HOME", old_home.c_str(), 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
