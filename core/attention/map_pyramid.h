// Maps at every resolution, computed in the background where somebody looks, and kept.
//
// A map is a pyramid: on level l a cell pools 2^l x 2^l pairs, and cells come in tiles of
// tile_side x tile_side. What is in sight is first shown sampled (one row of each cell), or from a
// coarser level that is there already, then exactly; after that the coarser levels around it are
// filled in, so that zooming out finds them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/attention/tiles.h"

namespace attnscope {

// What somebody looks at.
struct MapPlace {
  std::shared_ptr<const AttentionTiles> tiles;  // whose map
  Index head = 0;
  Index rows = 0, columns = 0;                       // of the map
  Index row = 0, column = 0, height = 0, width = 0;  // the pairs in sight, within the map
  int level = 0;
  Pooling pooling = Pooling::Max;

  Index step() const { return Index{1} << level; }
  bool operator==(const MapPlace&) const = default;
};

// The coarsest level that has a cell for every pixel along both axes: nothing that a pixel could
// show is lost.
int map_level(double height, double width, double pixels_down, double pixels_across);

struct MapCells {
  Tensor cells;               // whole cells, NaN where nothing is known yet
  Index row = 0, column = 0;  // of the first cell, in pairs: multiples of `step`
  Index step = 1;
  double exact = 0;  // share of the tiles in sight that are exact
};

// The same at once, on the calling thread. Throws Stopped, WorkError.
MapCells exact_cells(const MapPlace& place, const Stop& stop);

class MapPyramid {
 public:
  static constexpr Index tile_side = 256;
  static constexpr Index most_kept = Index{1} << 26;  // numbers: 256 MiB

  // `wake` is called from the worker when there is more to see: at most every 30 ms, and at the
  // end.
  explicit MapPyramid(std::function<void()> wake);
  ~MapPyramid();  // cancels and joins
  MapPyramid(const MapPyramid&) = delete;
  MapPyramid& operator=(const MapPyramid&) = delete;

  // A picture that is drawn looks at one or more places between begin() and end(). From end() on
  // the worker computes what they lack, in their order, and leaves off what nobody looks at any
  // more. None of these waits for it.
  void begin();
  MapCells look(const MapPlace& place);
  void end();

  // Changes when look() would see more.
  std::uint64_t version() const;

  struct Progress {
    Index exact = 0, in_sight = 0;  // tiles of the places looked at last
    bool busy = false;              // also with levels that nobody sees yet
    std::string error;              // why the worker gave up; empty: it did not
    std::string note;               // see AttentionTiles::note
  };
  Progress progress() const;
  void cancel();  // leaves off until somebody looks at another place

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnscope
