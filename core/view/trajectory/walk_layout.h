// Layout of the Trajectory view, and its hovered element.
#pragma once

#include <optional>

#include "core/view/trajectory/walk_numbers.h"

namespace attnscope {

struct WalkPlaces {
  Box words;
  WalkGrid grid{};
  Box chart, actions, attention;  // zero size: no space
  double bar = 0;                 // colour bar of the attention; 0: no space
  double bottom = 0;
};

struct WalkMeasures {                   // em
  static constexpr double line = 1.5;   // line height
  static constexpr double title = 1.7;  // of a part
  static constexpr double words = 2;    // below the attention, clear of the colour bar
};

// Returns nullopt if there is no space.
std::optional<WalkPlaces> place_walk(const Page& page, const Box& inside, const ShownWalk& shown);

struct WalkFocus {
  Index row = 0;   // step
  Index key = -1;  // hovered token
  Index cell = -1;
};
WalkFocus walk_focus(const ViewInput& input, const WalkPlaces& places, const ShownWalk& shown);

}  // namespace attnscope
