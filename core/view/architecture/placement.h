// Layout of a model's diagram.
#pragma once

#include <optional>
#include <vector>

#include "core/view/architecture/diagram.h"
#include "core/view/parts/page.h"

namespace attnscope {

// Sizes shared by layout and drawing, in multiples of Placement::unit.
struct DiagramMeasures {
  double gap = 1.15;                         // between rows
  double frame_below = 1.0;                  // from a frame's edge to its first row
  double frame_above = 0.7;                  // from a frame's last row to its edge
  double between = 0.95;                     // gap between a frame and its neighbours
  double norm = 1.65;                        // height of a norm
  double note = 0.82;                        // font size of notes
  double part = 17;                          // width of a single part
  double label = 6.5;                        // width of "layers 0–11"
  double columns = 3.2;                      // gap between encoder and decoder
  static constexpr double note_line = 1.08;  // line height of notes
  static constexpr double skip = 1.2;        // from the boxes to a bypass path
  static constexpr double frame_left = 2.2, frame_right = 1.4, frame_streams = 2.2;
  static constexpr double aside = 1.3;  // from a frame to its label
  static constexpr double circle = 0.62;

  static DiagramMeasures compact() {
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
  // For boxes without notes, if titles would be illegible otherwise.
  static DiagramMeasures dense(bool is_narrow) {
    return {.gap = 0.55,
            .frame_below = 0.5,
            .frame_above = 0.35,
            .between = 0.55,
            .norm = 1.25,
            .note = 0.9,
            .part = is_narrow ? 9.6 : 13.5,
            .label = 5.7,
            .columns = is_narrow ? 1.6 : 2.6};
  }
};

struct PlacedColumn {
  double centre = 0;                         // x of the boxes' middle
  double left = 0, right = 0;                // x of the boxes' edges
  std::vector<std::vector<Box>> parts;       // boxes of each row
  std::vector<Box> left_parts, right_parts;  // parts next to each row; empty if absent
  std::vector<Box> frames;
  Point title;  // middle of the title
};

struct Placement {
  double unit = 0;  // font size of titles in pixels
  DiagramMeasures measures{};
  std::vector<PlacedColumn> columns;
  double bottom = 0;
};

// A diagram with its layout. If notes would be illegible, each box has a single, larger line of
// notes. If that line would be illegible, too, boxes have no notes; if titles would be, boxes are
// closer together.
struct PlacedDiagram {
  Diagram diagram;
  Placement placement;
};
// Returns nullopt if even titles would be illegible.
std::optional<PlacedDiagram> place_diagram(const Page& page, const Box& inside, Diagram diagram);

}  // namespace attnscope
