#include "core/attention/map_pyramid.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/attention/backend.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using std::chrono::milliseconds;
using testing::close;

// Tiles of a synthetic map whose weights are functions of row and column. Counts requests. Can
// block or fail.
class SyntheticTiles : public AttentionTiles {
 public:
  SyntheticTiles(Index rows, Index columns) : rows_(rows), columns_(columns) {}

  // Weights of both signs with few different magnitudes, so that neighbours are often equal.
  static float weight(Index row, Index column) {
    return static_cast<float>((row * 7919 + column * 104729) % 41 - 20) / 20;
  }
  // The number of larger magnitude; of two numbers of equal magnitude, the positive one.
  static float select_stronger(float a, float b) {
    if (std::abs(a) != std::abs(b)) return std::abs(a) > std::abs(b) ? a : b;
    return std::max(a, b);
  }

  Tensor tile(const TileRequest& r) const override {
    check(r, 1, rows_, columns_);
    ++(r.sampled ? sampled : exact);
    if (fails) throw WorkError("the device is gone");
    while (!r.sampled && is_blocked) {
      check_stop();
      std::this_thread::sleep_for(milliseconds(1));
    }
    return pool_cells(r);
  }

  static Tensor pool_cells(const TileRequest& r) {
    Tensor cells = Tensor::zeros({r.cell_rows(), r.cell_columns()});
    Tensor pairs = Tensor::zeros(cells.shape());
    for (Index i = 0; i < r.height; ++i) {
      const Index row = i / r.step, rows = std::min(r.step, r.height - row * r.step);
      if (r.sampled && i - row * r.step != rows / 2) continue;
      float* const line = &cells(row, 0);
      float* const counts = &pairs(row, 0);
      for (Index c = 0; c < r.width; ++c) {
        float& cell = line[c / r.step];
        const float w = weight(r.row + i, r.column + c);
        cell = r.pooling == Pooling::Max ? select_stronger(cell, w) : cell + w;
        counts[c / r.step] += 1;
      }
    }
    for (Index i = 0; i < cells.size() && r.pooling == Pooling::Mean; ++i) cells[i] /= pairs[i];
    return cells;
  }

  mutable std::atomic<int> sampled = 0, exact = 0;
  std::atomic<bool> is_blocked = false, fails = false;

 private:
  Index rows_, columns_;
};

MapPlace whole_map(const std::shared_ptr<SyntheticTiles>& tiles, Index rows, Index columns,
                   int level) {
  return {.tiles = tiles,
          .rows = rows,
          .columns = columns,
          .height = rows,
          .width = columns,
          .level = level};
}

MapCells look_once(MapPyramid& maps, const MapPlace& place) {
  maps.begin();
  MapCells cells = maps.look(place);
  maps.end();
  return cells;
}

template <class Condition>
bool wait_until(const Condition& condition) {
  for (int i = 0; i < 60000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

MapCells wait_until_exact(MapPyramid& maps, const MapPlace& place) {
  look_once(maps, place);
  EXPECT_TRUE(wait_until([&] { return !maps.progress().busy; }));
  return look_once(maps, place);
}

// Cells of `shown`, computed pair by pair.
Tensor expected_cells(const MapPlace& place, const MapCells& shown) {
  TileRequest r{
      .row = shown.row, .column = shown.column, .step = place.step(), .pooling = place.pooling};
  const auto end_of_cells = [&](Index first, Index extent, Index limit) {
    return std::min((first + extent + place.step() - 1) / place.step() * place.step(), limit);
  };
  r.height = end_of_cells(place.row, place.height, place.rows) - r.row;
  r.width = end_of_cells(place.column, place.width, place.columns) - r.column;
  return SyntheticTiles::pool_cells(r);
}

TEST(MapLevel, ProvidesCellForEveryPixel) {
  EXPECT_EQ(map_level(100, 100, 200, 200), 0);
  EXPECT_EQ(map_level(399, 399, 200, 200), 0);
  EXPECT_EQ(map_level(400, 400, 200, 200), 1);
  EXPECT_EQ(map_level(65536, 65536, 1024, 1024), 6);
  EXPECT_EQ(map_level(65536, 100, 1024, 1024), 0);
}

TEST(MapPyramid, BecomesExactAtEveryPlaceAndLevel) {
  constexpr Index rows = 1500, columns = 1111;
  const auto tiles = std::make_shared<SyntheticTiles>(rows, columns);
  std::atomic<int> wakes = 0;
  MapPyramid maps([&] { ++wakes; });
  for (const Pooling pooling : {Pooling::Max, Pooling::Mean}) {
    for (const int level : {0, 1, 2, 5}) {
      for (const auto& [row, column, height, width] : {std::array<Index, 4>{0, 0, rows, columns},
                                                       {1499, 1110, 1, 1},
                                                       {255, 250, 12, 300},
                                                       {700, 3, 513, 40}}) {
        MapPlace place = whole_map(tiles, rows, columns, level);
        place.pooling = pooling;
        place.row = row;
        place.column = column;
        place.height = height;
        place.width = width;
        const MapCells cells = wait_until_exact(maps, place);
        EXPECT_EQ(cells.exact, 1);
        EXPECT_LE(cells.row, row);
        EXPECT_EQ(cells.row % place.step(), 0);
        EXPECT_TRUE(close(cells.cells, expected_cells(place, cells), 1e-5))
            << level << " at " << row;
        const MapCells direct = exact_cells(place);
        EXPECT_EQ(direct.row, cells.row);
        EXPECT_TRUE(close(cells.cells, direct.cells, 1e-5));
      }
    }
  }
  EXPECT_GT(wakes, 0);
}

TEST(MapPyramid, ShowsSampleUntilExact) {
  const auto tiles = std::make_shared<SyntheticTiles>(2048, 2048);
  tiles->is_blocked = true;
  MapPyramid maps({});
  const MapPlace place = whole_map(tiles, 2048, 2048, 2);
  const MapCells unknown_cells = look_once(maps, place);
  EXPECT_EQ(unknown_cells.exact, 0);
  EXPECT_TRUE(std::isnan(unknown_cells.cells(0, 0)));
  ASSERT_TRUE(wait_until([&] { return !std::isnan(look_once(maps, place).cells(511, 511)); }));
  const MapCells preview = look_once(maps, place);
  EXPECT_EQ(preview.exact, 0);
  TileRequest sample_request{.height = 2048, .width = 2048, .step = 4, .sampled = true};
  EXPECT_TRUE(close(preview.cells, SyntheticTiles::pool_cells(sample_request), 1e-6));
  EXPECT_EQ(maps.progress().exact, 0);
  EXPECT_EQ(maps.progress().visible, 4);
  EXPECT_TRUE(maps.progress().busy);
  tiles->is_blocked = false;
  ASSERT_TRUE(wait_until([&] { return look_once(maps, place).exact == 1; }));
  EXPECT_TRUE(close(look_once(maps, place).cells, expected_cells(place, unknown_cells), 1e-6));
}

TEST(MapPyramid, CachesTiles) {
  const auto tiles = std::make_shared<SyntheticTiles>(3000, 3000);
  MapPyramid maps({});
  wait_until_exact(maps, whole_map(tiles, 3000, 3000, 0));
  const int requests = tiles->exact;
  EXPECT_EQ(requests, 144);  // 12 x 12 tiles; coarser levels are pooled from them
  MapPlace coarse_place = whole_map(tiles, 3000, 3000, 1);
  const MapCells cells = look_once(maps, coarse_place);
  EXPECT_EQ(cells.exact, 1);
  EXPECT_TRUE(close(cells.cells, expected_cells(coarse_place, cells), 1e-6));
  EXPECT_EQ(tiles->exact, requests);
}

TEST(MapPyramid, ShowsCoarserLevelImmediately) {
  const auto tiles = std::make_shared<SyntheticTiles>(4096, 4096);
  MapPyramid maps({});
  wait_until_exact(maps, whole_map(tiles, 4096, 4096, 2));
  tiles->is_blocked = true;
  MapPlace fine_place = whole_map(tiles, 4096, 4096, 0);
  fine_place.row = fine_place.column = 1000;
  fine_place.height = fine_place.width = 100;
  const MapCells cells = look_once(maps, fine_place);
  EXPECT_EQ(cells.exact, 0);
  TileRequest cell_request{.row = 1000, .column = 1000, .height = 4, .width = 4, .step = 4};
  EXPECT_EQ(cells.cells(0, 0), SyntheticTiles::pool_cells(cell_request)[0]);
  EXPECT_EQ(cells.cells(3, 3), cells.cells(0, 0));
  tiles->is_blocked = false;
}

TEST(MapPyramid, DropsWorkForInvisiblePlaces) {
  const auto blocked_tiles = std::make_shared<SyntheticTiles>(1000, 1000);
  blocked_tiles->is_blocked = true;
  const auto free_tiles = std::make_shared<SyntheticTiles>(100, 100);
  MapPyramid maps({});
  double shortest =
      1e9;  // shortest time of a round in ms; a shared machine may delay single rounds
  for (int round = 0; round < 5 && !(shortest <= 50); ++round) {
    look_once(maps, whole_map(blocked_tiles, 1000, 1000, 0));
    ASSERT_TRUE(wait_until([&] { return blocked_tiles->exact > round; }));
    MapPlace free_place = whole_map(free_tiles, 100, 100, 0);
    free_place.row = round;
    free_place.height = 1;
    free_place.pooling = round % 2 == 0 ? Pooling::Max : Pooling::Mean;
    const auto begin = std::chrono::steady_clock::now();
    look_once(maps, free_place);
    ASSERT_TRUE(wait_until([&] { return look_once(maps, free_place).exact == 1; }));
    shortest =
        std::min(shortest,
                 std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                     .count());
  }
  EXPECT_LE(shortest, 50);
  look_once(maps, whole_map(blocked_tiles, 1000, 1000, 0));
  maps.cancel();
  EXPECT_TRUE(wait_until([&] { return !maps.progress().busy; }));
  EXPECT_LT(look_once(maps, whole_map(blocked_tiles, 1000, 1000, 0)).exact, 1);
}

TEST(MapPyramid, ReportsErrors) {
  const auto tiles = std::make_shared<SyntheticTiles>(500, 500);
  tiles->fails = true;
  MapPyramid maps({});
  look_once(maps, whole_map(tiles, 500, 500, 0));
  ASSERT_TRUE(wait_until([&] { return maps.progress().error != nullptr; }));
  EXPECT_THROW(std::rethrow_exception(maps.progress().error), WorkError);
  EXPECT_TRUE(wait_until([&] { return !maps.progress().busy; }));
}

TEST(MapPyramid, CanBeDestroyedWhileBusy) {
  const auto tiles = std::make_shared<SyntheticTiles>(500, 500);
  tiles->is_blocked = true;
  MapPyramid maps({});
  look_once(maps, whole_map(tiles, 500, 500, 0));
  ASSERT_TRUE(wait_until([&] { return tiles->exact > 0; }));
}  // the destructor must not hang

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
