// Rows and columns of boxes.
//
// A track is a row or column. fit() chooses the sizes, from which rows() and columns() make boxes.
// Sizes are multiples of a unit, such as the font size.
#pragma once

#include <limits>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

// A track whose maximum size is 0 is absent: it has no gap, and an empty box.
struct Track {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  double size = 0;     // minimum size; after fit(): the chosen size
  double most = size;  // maximum size
  double weight = 0;   // share of the remaining space; 0: grows last
  double gap = 0;      // space before the next present track

  bool is_present() const { return most > 0; }
};
using Tracks = std::vector<Track>;

// Grows the tracks to fill `space`: first tracks with a weight, in proportion to it; then the
// others, equally. Returns false if the minimum sizes do not fit.
bool fit(Tracks& tracks, double space);
// Size of all tracks and the gaps between them.
double extent(const Tracks& tracks);

// Boxes of tracks: rows from the top of `box`, columns from its left; sizes are multiples of
// `unit`.
std::vector<Box> rows(const Box& box, const Tracks& tracks, double unit);
std::vector<Box> columns(const Box& box, const Tracks& tracks, double unit);

}  // namespace attnscope
