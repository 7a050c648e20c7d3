// Layout of the Trajectory view, and its hovered element.
#pragma once

#include <optional>

#include "core/view/trajectory/walk_numbers.h"

namespace attnscope {

struct WalkPlaces {
  Box summary;  // sentences above the grid
  WalkGrid grid{};
  Box chart, actions, attention;  // zero size if omitted
  double bar = 0;                 // width of the colour bar; 0 if omitted
  double bottom = 0;
};

struct WalkMeasures {                   // in em
  static constexpr double line = 1.5;   // line height
  static constexpr double title = 1.7;  // title of a panel
  static constexpr double words = 2;    // height of the text below the attention
};

// Returns nullopt if the grid does not fit.
std::optional<WalkPlaces> place_walk(const Page& page, const Box& inside, const WalkPart& part);

struct WalkFocus {
  Index row = 0;    // hovered step, else the last drawn step
  Index key = -1;   // hovered token; -1: none
  Index cell = -1;  // hovered cell; -1: none
};
WalkFocus walk_focus(const ViewInput& input, const WalkPlaces& places, const WalkPart& part);

}  // namespace attnscope
