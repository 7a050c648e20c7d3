// Where the parts of the view of trajectories stand, and what is pointed at.
#pragma once

#include <optional>

#include "core/view/trajectory/walk_numbers.h"

namespace attnscope {

struct WalkPlaces {
  Box words;
  WalkGrid grid{};
  Box chart, actions, attention;  // no width or height: no space
  double bar = 0;                 // of the attention's colours; 0: no space
  double bottom = 0;
};

struct WalkMeasures {                   // em
  static constexpr double line = 1.5;   // of words
  static constexpr double title = 1.7;  // of a part
  static constexpr double words = 2;    // below the attention: clear of the colour bar's numbers
};

// Nothing where there is no space.
std::optional<WalkPlaces> place_walk(const Page& page, const Box& inside, const ShownWalk& shown);

struct WalkFocus {
  Index row = 0;   // step
  Index key = -1;  // token under the pointer
  Index cell = -1;
};
WalkFocus walk_focus(const ViewInput& input, const WalkPlaces& places, const ShownWalk& shown);

}  // namespace attnscope
