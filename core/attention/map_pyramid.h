// Attention maps at every resolution, computed in the background and cached.
//
// A map is a pyramid: a cell of level l pools 2^l x 2^l pairs, and a tile has tile_side x tile_side
// cells. A visible tile is first shown as a sample (one row of pairs per cell) or as an enlarged
// coarser tile, then exactly. Coarser levels follow, so that zooming out is fast.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "core/attention/tiles.h"

namespace attnscope {

// A visible rectangle of a map.
struct MapPlace {
  std::shared_ptr<const AttentionTiles> tiles;
  Index head = 0;
  Index rows = 0, columns = 0;                       // size of the map
  Index row = 0, column = 0, height = 0, width = 0;  // visible pairs, within the map
  int level = 0;
  Pooling pooling = Pooling::Max;

  Index step() const { return Index{1} << level; }
  bool operator==(const MapPlace&) const = default;
};

// Coarsest level with at least one cell per pixel along both axes, so that no detail is lost.
int map_level(double height, double width, double pixels_down, double pixels_across);

struct MapCells {
  Tensor cells;               // all cells that overlap the visible rectangle; unknown cells are NaN
  Index row = 0, column = 0;  // first pair of the first cell, multiples of `step`
  Index step = 1;
  double exact = 0;  // fraction of the visible tiles that are exact
};

// Exact cells, computed on the calling thread. Throws Stopped, WorkError.
MapCells exact_cells(const MapPlace& place);

class MapPyramid {
 public:
  static constexpr Index tile_side = 256;
  static constexpr Index max_cached = Index{1} << 26;  // floats, 256 MiB

  // The worker thread calls `wake` when look() has new cells: at most every 30 ms, and at the end.
  explicit MapPyramid(std::function<void()> wake);
  ~MapPyramid();  // cancels and joins the worker
  MapPyramid(const MapPyramid&) = delete;
  MapPyramid& operator=(const MapPyramid&) = delete;

  // A frame calls begin(), look() for each visible place, and end(); none of these calls blocks.
  // After end(), the worker computes missing tiles of these places in the order of look() calls.
  void begin();
  MapCells look(const MapPlace& place);
  void end();

  // Changes whenever look() would return new cells.
  std::uint64_t version() const;

  struct Progress {
    Index exact = 0, visible = 0;  // number of exact visible tiles, number of visible tiles
    bool busy = false;             // the worker computes tiles, possibly of invisible levels
    std::exception_ptr error;      // null unless the worker failed
    std::string note;              // see AttentionTiles::note
  };
  Progress progress() const;
  void cancel();  // stops the worker until the visible places change

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
