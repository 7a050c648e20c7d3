// Where the boxes of a model's figure stand.
#pragma once

#include <optional>
#include <vector>

#include "core/view/architecture/diagram.h"
#include "core/view/parts/page.h"

namespace attnscope {

// Measures that placing and drawing share, in units.
struct DiagramMeasures {
  double gap = 1.15;                         // between rows
  double frame_below = 1.0;                  // from a frame's edge to its first row, ...
  double frame_above = 0.7;                  // ... and from its last row
  double between = 0.95;                     // from a frame to what is before and behind it
  double norm = 1.65;                        // height of a norm
  double note = 0.82;                        // size of notes
  double part = 17;                          // width of a part that stands alone
  double label = 6.5;                        // width of "layers 0–11"
  double columns = 3.2;                      // between encoder and decoder
  static constexpr double note_line = 1.08;  // height of a line of them
  static constexpr double skip = 1.2;        // from the boxes to the path around them
  static constexpr double frame_left = 2.2, frame_right = 1.4, frame_streams = 2.2;
  static constexpr double aside = 1.3;  // from a frame to what stands beside it
  static constexpr double circle = 0.62;

  static DiagramMeasures close() {
    return {.gap = 0.85,
            .frame_below = 0.75,
            .frame_above = 0.5,
            .between = 0.8,
            .norm = 1.4,
            .note = 0.9,
            .part = 13.5,
            .label = 5.7,
            .columns = 2.6};
  }
};

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
  DiagramMeasures measures{};
  std::vector<PlacedColumn> columns;
  double bottom = 0;
};

// A diagram with its place. Where all notes would be too small to be read it has them in a line a
// box, where these would be it has none.
struct PlacedDiagram {
  Diagram diagram;
  Placement placement;
};
// Nothing where titles would be too small, too.
std::optional<PlacedDiagram> place_diagram(const Page& page, const Box& inside, Diagram diagram);

}  // namespace attnscope
