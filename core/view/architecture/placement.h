// Where the boxes of a model's figure stand.
#pragma once

#include <optional>
#include <vector>

#include "core/view/architecture/diagram.h"
#include "core/view/parts/page.h"

namespace attnscope {

struct PlacedColumn {
  double centre = 0;                         // of the boxes, along x
  double left = 0, right = 0;                // of the boxes
  std::vector<std::vector<Box>> parts;       // by row
  std::vector<Box> left_parts, right_parts;  // by row; empty where there is none
  std::vector<Box> frames;
  Point title;  // its middle
};

struct Placement {
  double unit = 0;  // pixels: the size of a title's letters
  std::vector<PlacedColumn> columns;
  double bottom = 0;
};

// Nothing where letters would be too small to be read.
std::optional<Placement> place_diagram(const Page& page, const Box& inside, const Diagram& diagram);

// Measures that placing and drawing share, in units.
struct DiagramMeasures {
  static constexpr double gap = 1.15;         // between rows
  static constexpr double frame_below = 1.0;  // from a frame's edge to its first row, ...
  static constexpr double frame_above = 0.7;  // ... and from its last row
  static constexpr double between = 0.95;     // from a frame to what is before and behind it
  static constexpr double skip = 1.2;         // from the boxes to the path around them
  static constexpr double frame_left = 2.2, frame_right = 1.4, frame_streams = 2.2;
  static constexpr double aside = 1.3;  // from a frame to what stands beside it
  static constexpr double circle = 0.62;
  static constexpr double note = 0.82;       // size of notes
  static constexpr double note_line = 1.08;  // height of a line of them
};

}  // namespace attnscope
