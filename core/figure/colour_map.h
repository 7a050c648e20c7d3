// Perceptually uniform, colour-blind safe colour maps, as tables of 256 colours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

struct ColourMap {
  std::string id;  // "viridis"
  std::string label;
  bool diverging = false;  // for signed data, the middle is zero
  std::array<Colour, 256> colours;
  Colour at(double t) const;  // t in 0..1, clamped; NaN: grey
};

const std::vector<ColourMap>& colour_maps();       // viridis, magma, cividis, grey, blue-red, ...
const ColourMap& colour_map(std::string_view id);  // InputError

}  // namespace attnscope
