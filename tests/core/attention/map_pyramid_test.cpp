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

// Tiles of a synthetic map whose weights depend on the position. Counts requests; can block or
// fail.
class SyntheticTiles : public AttentionTiles {
 public:
  SyntheticTiles(Index rows, Index columns) : rows_(rows), columns_(columns) {}

  // Weights of both signs with few different magnitudes, so that neighbours are often equal.
  static float weight(Index row, Index column) {
    return static_cast<float>((row * 7919 + column * 104729) % 41 - 20) / 20;
  }
  // Number of larger magnitude; the positive one if equal.
  static float stronger(float a, float b) {
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
        cell = r.pooling == Pooling::Max ? stronger(cell, w) : cell + w;
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

MapCells look(MapPyramid& maps, const MapPlace& at) {
  maps.begin();
  MapCells cells = maps.look(at);
  maps.end();
  return cells;
}

template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 60000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

MapCells wait_until_exact(MapPyramid& maps, const MapPlace& at) {
  look(maps, at);
  EXPECT_TRUE(eventually([&] { return !maps.progress().busy; }));
  return look(maps, at);
}

// Cells computed pair by pair.
Tensor expected(const MapPlace& at, const MapCells& shown) {
  TileRequest r{.row = shown.row, .column = shown.column, .step = at.step(), .pooling = at.pooling};
  const auto end_of_cells = [&](Index first, Index extent, Index limit) {
    return std::min((first + extent + at.step() - 1) / at.step() * at.step(), limit);
  };
  r.height = end_of_cells(at.row, at.height, at.rows) - r.row;
  r.width = end_of_cells(at.column, at.width, at.columns) - r.column;
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
        MapPlace at = whole_map(tiles, rows, columns, level);
        at.pooling = pooling;
        at.row = row;
        at.column = column;
        at.height = height;
        at.width = width;
        const MapCells cells = wait_until_exact(maps, at);
        EXPECT_EQ(cells.exact, 1);
        EXPECT_LE(cells.row, row);
        EXPECT_EQ(cells.row % at.step(), 0);
        EXPECT_TRUE(close(cells.cells, expected(at, cells), 1e-5)) << level << " at " << row;
        const MapCells direct = exact_cells(at);
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
  const MapPlace at = whole_map(tiles, 2048, 2048, 2);
  const MapCells first = look(maps, at);
  EXPECT_EQ(first.exact, 0);
  EXPECT_TRUE(std::isnan(first.cells(0, 0)));
  ASSERT_TRUE(eventually([&] { return !std::isnan(look(maps, at).cells(511, 511)); }));
  const MapCells preview = look(maps, at);
  EXPECT_EQ(preview.exact, 0);
  TileRequest sampled{.height = 2048, .width = 2048, .step = 4, .sampled = true};
  EXPECT_TRUE(close(preview.cells, SyntheticTiles::pool_cells(sampled), 1e-6));
  EXPECT_EQ(maps.progress().exact, 0);
  EXPECT_EQ(maps.progress().visible, 4);
  EXPECT_TRUE(maps.progress().busy);
  tiles->is_blocked = false;
  ASSERT_TRUE(eventually([&] { return look(maps, at).exact == 1; }));
  EXPECT_TRUE(close(look(maps, at).cells, expected(at, first), 1e-6));
}

TEST(MapPyramid, CachesTiles) {
  const auto tiles = std::make_shared<SyntheticTiles>(3000, 3000);
  MapPyramid maps({});
  wait_until_exact(maps, whole_map(tiles, 3000, 3000, 0));
  const int requests = tiles->exact;
  EXPECT_EQ(requests, 144);  // 12 x 12 tiles; coarser levels are pooled from them
  MapPlace coarse = whole_map(tiles, 3000, 3000, 1);
  const MapCells cells = look(maps, coarse);
  EXPECT_EQ(cells.exact, 1);
  EXPECT_TRUE(close(cells.cells, expected(coarse, cells), 1e-6));
  EXPECT_EQ(tiles->exact, requests);
}

TEST(MapPyramid, ShowsCoarserLevelImmediately) {
  const auto tiles = std::make_shared<SyntheticTiles>(4096, 4096);
  MapPyramid maps({});
  wait_until_exact(maps, whole_map(tiles, 4096, 4096, 2));
  tiles->is_blocked = true;
  MapPlace fine = whole_map(tiles, 4096, 4096, 0);
  fine.row = fine.column = 1000;
  fine.height = fine.width = 100;
  const MapCells cells = look(maps, fine);
  EXPECT_EQ(cells.exact, 0);
  TileRequest four{.row = 1000, .column = 1000, .height = 4, .width = 4, .step = 4};
  EXPECT_EQ(cells.cells(0, 0), SyntheticTiles::pool_cells(four)[0]);
  EXPECT_EQ(cells.cells(3, 3), cells.cells(0, 0));
  tiles->is_blocked = false;
}

TEST(MapPyramid, DropsWorkForInvisiblePlaces) {
  const auto blocked = std::make_shared<SyntheticTiles>(1000, 1000);
  blocked->is_blocked = true;
  const auto other = std::make_shared<SyntheticTiles>(100, 100);
  MapPyramid maps({});
  double shortest =
      1e9;  // ms; the best of several rounds, since a shared machine may delay a thread
  for (int round = 0; round < 5 && !(shortest <= 50); ++round) {
    look(maps, whole_map(blocked, 1000, 1000, 0));
    ASSERT_TRUE(eventually([&] { return blocked->exact > round; }));
    MapPlace elsewhere = whole_map(other, 100, 100, 0);
    elsewhere.row = round;
    elsewhere.height = 1;
    elsewhere.pooling = round % 2 == 0 ? Pooling::Max : Pooling::Mean;
    const auto begin = std::chrono::steady_clock::now();
    look(maps, elsewhere);
    ASSERT_TRUE(eventually([&] { return look(maps, elsewhere).exact == 1; }));
    shortest =
        std::min(shortest,
                 std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                     .count());
  }
  EXPECT_LE(shortest, 50);
  look(maps, whole_map(blocked, 1000, 1000, 0));
  maps.cancel();
  EXPECT_TRUE(eventually([&] { return !maps.progress().busy; }));
  EXPECT_LT(look(maps, whole_map(blocked, 1000, 1000, 0)).exact, 1);
}

TEST(MapPyramid, ReportsErrors) {
  const auto tiles = std::make_shared<SyntheticTiles>(500, 500);
  tiles->fails = true;
  MapPyramid maps({});
  look(maps, whole_map(tiles, 500, 500, 0));
  ASSERT_TRUE(eventually([&] { return maps.progress().error != nullptr; }));
  EXPECT_THROW(std::rethrow_exception(maps.progress().error), WorkError);
  EXPECT_TRUE(eventually([&] { return !maps.progress().busy; }));
}

TEST(MapPyramid, CanBeDestroyedWhileBusy) {
  const auto tiles = std::make_shared<SyntheticTiles>(500, 500);
  tiles->is_blocked = true;
  MapPyramid maps({});
  look(maps, whole_map(tiles, 500, 500, 0));
  ASSERT_TRUE(eventually([&] { return tiles->exact > 0; }));
}  // the destructor must not hang

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
