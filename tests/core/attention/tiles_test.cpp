#include "core/attention/tiles.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "core/attention/backend.h"
#include "core/base/stop.h"
#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::named_parts;

// Pools the requested rectangle of an attention map pair by pair.
Tensor pool_cells(const Tensor& attention, const TileRequest& r) {
  Tensor cells = Tensor::zeros({r.cell_rows(), r.cell_columns()});
  for (Index y = 0; y < cells.dim(0); ++y) {
    for (Index x = 0; x < cells.dim(1); ++x) {
      const Index rows = std::min(r.step, r.height - y * r.step);
      const Index columns = std::min(r.step, r.width - x * r.step);
      const Index first = r.sampled ? rows / 2 : 0, count = r.sampled ? 1 : rows;
      double mean = 0;
      float strongest = 0;
      for (Index i = first; i < first + count; ++i) {
        for (Index c = 0; c < columns; ++c) {
          const float w = attention(r.head, r.row + y * r.step + i, r.column + x * r.step + c);
          mean += w;
          if (std::abs(w) > std::abs(strongest) ||
              (std::abs(w) == std::abs(strongest) && w > strongest))
            strongest = w;
        }
      }
      cells(y, x) = r.pooling == Pooling::Max
                        ? strongest
                        : static_cast<float>(mean / static_cast<double>(count * columns));
    }
  }
  return cells;
}

TEST(AttentionTiles, PoolEveryPairOfEveryPart) {
  const TileRequest rectangles[] = {
      {.head = 0, .row = 0, .column = 0, .height = 150, .width = 150},
      {.head = 5, .row = 17, .column = 33, .height = 1, .width = 1},
      {.head = 7, .row = 60, .column = 3, .height = 80, .width = 140},
      {.head = 3, .row = 149, .column = 0, .height = 1, .width = 150},
      {.head = 2, .row = 5, .column = 13, .height = 141, .width = 130},
      {.head = 1, .row = 9, .column = 149, .height = 70, .width = 1}};
  for (const auto& [name, part] : named_parts(150, false)) {
    SCOPED_TRACE(name);
    ResultRequest wanted;
    wanted.attention = wanted.tiles = true;
    const PartResult result = cpu_backend().run(part, wanted);
    ASSERT_NE(result.tiles, nullptr);
    for (TileRequest request : rectangles) {
      for (const Index step : {1, 2, 3, 4, 64, 70, 200}) {
        for (const Pooling pooling : {Pooling::Max, Pooling::Mean}) {
          for (const bool sampled : {false, true}) {
            request.step = step;
            request.pooling = pooling;
            request.sampled = sampled;
            EXPECT_TRUE(
                close(result.tiles->tile(request), pool_cells(result.attention, request), 1e-5))
                << "head " << request.head << " step " << step << " pooling "
                << static_cast<int>(pooling) << " sampled " << sampled;
          }
        }
      }
    }
  }
}

Part band_part(Index length, Index window) {
  Part part;
  part.heads = 2;
  part.q = testing::random_tensor({2, length, 16}, 1);
  part.k = testing::random_tensor({2, length, 16}, 2);
  part.v = testing::random_tensor({2, length, 4}, 3);
  PatternBuilder builder(1, length, length, {"window", "stride"});
  for (Index i = 0; i < length; ++i) {
    builder.set_causal_limit(i + 1);
    builder.add(0, i - window, i + 1);
    builder.add(1, i % 256, length, 256);
    builder.next_row();
  }
  part.pattern = std::make_shared<const Pattern>(builder.finish());
  return part;
}

// A tile computes only the pairs of its rectangle, not all 2.7 * 10^8 pairs of the map.
TEST(AttentionTiles, ComputeAnyPlaceOfAHugeSparseMap) {
  constexpr Index length = 16384;
  ResultRequest wanted;
  wanted.output = false;
  wanted.tiles = true;
  const Part part = band_part(length, 8);
  const PartResult result = cpu_backend().run(part, wanted);
  const TileRequest map_request{.head = 1, .height = length, .width = length, .step = 32};
  const Tensor cells = result.tiles->tile(map_request);
  ASSERT_EQ(cells.shape(), (Shape{512, 512}));
  for (const Index n : {Index{0}, Index{200}, Index{511}}) {
    EXPECT_GT(cells(n, n), 0.02) << n;  // in the window
    TileRequest pair_request = map_request;
    pair_request.row = pair_request.column = n * 32;
    pair_request.height = pair_request.width = 32;
    pair_request.step = 1;
    float maximum = 0;
    for (const float w : result.tiles->tile(pair_request)) maximum = std::max(maximum, w);
    EXPECT_TRUE(std::abs(cells(n, n) - maximum) <= 1e-6) << n;
  }
  EXPECT_EQ(cells(3, 100), 0);  // the keys follow the queries
  EXPECT_GT(cells(100, 4), 0);  // rows 3200 to 3231 attend to columns c with c % 256 in [128, 159]
  EXPECT_EQ(cells(100, 2), 0);
}

TEST(AttentionTiles, StopWithinFiftyMilliseconds) {
  constexpr Index length = 40000;
  Part part;
  part.q = testing::random_tensor({1, length, 32}, 1);
  part.k = testing::random_tensor({1, length, 32}, 2);
  part.pattern = std::make_shared<const Pattern>(Pattern::all(length, length));
  const auto tiles = cpu_tiles(part, Tensor::full({1, length}, 12));
  const TileRequest map_request{.height = length, .width = length, .step = 64};
  // Shortest time in ms from the request to the stop. Other processes may delay single rounds.
  double shortest = 1e9;
  for (int round = 0; round < 5 && !(shortest <= 50); ++round) {
    const Stop stop;
    const StopScope scope(stop);
    std::chrono::steady_clock::time_point requested;
    std::thread requester([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      requested = std::chrono::steady_clock::now();
      stop.request();
    });
    EXPECT_THROW(tiles->tile(map_request), Stopped);
    const auto stopped = std::chrono::steady_clock::now();
    requester.join();
    shortest =
        std::min(shortest, std::chrono::duration<double, std::milli>(stopped - requested).count());
  }
  EXPECT_LE(shortest, 50);
}

TEST(AttentionTiles, RejectRequestsBeyondTheMap) {
  const auto tiles = cpu_tiles(band_part(10, 2), Tensor::zeros({2, 10}));
  const TileRequest valid_request{.height = 10, .width = 10};
  EXPECT_NO_THROW(tiles->tile(valid_request));
  for (const auto& invalidate : std::vector<std::function<void(TileRequest&)>>{
           [](TileRequest& r) { r.head = 2; }, [](TileRequest& r) { r.row = 1; },
           [](TileRequest& r) { r.column = -1; }, [](TileRequest& r) { r.width = 11; },
           [](TileRequest& r) { r.height = -1; }, [](TileRequest& r) { r.step = 0; }}) {
    TileRequest request = valid_request;
    invalidate(request);
    EXPECT_THROW(tiles->tile(request), std::logic_error);
  }
  TileRequest empty_request = valid_request;
  empty_request.height = 0;
  EXPECT_EQ(tiles->tile(empty_request).shape(), (Shape{0, 10}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
