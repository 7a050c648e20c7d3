// Perceptually uniform, colour-blind safe colour maps, as tables of 256 colours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

struct ColourMap {
  enum class Kind {
    Sequential,   // monotone lightness
    Diverging,    // for signed data; zero in the middle
    Categorical,  // with the range 0..255, integer n has colour n; colours repeat
  };

  std::string id;  // "viridis"
  std::string label;
  Kind kind = Kind::Sequential;
  std::array<Colour, 256> colours;

  // Nearest of the 256 colours, without interpolation. Clamps t to [0, 1]; grey for NaN.
  Colour at(double t) const;
  bool diverging() const { return kind == Kind::Diverging; }
};

// The categorical map, for views that colour by kind; not offered to the user.
inline constexpr const char* kCategories = "categories";

const std::vector<ColourMap>& colour_maps();  // user-selectable; "viridis" first
// Also accepts kCategories; throws InputError if unknown.
const ColourMap& colour_map(std::string_view id);

// Id of the diverging map whose middle contrasts with the background, but less than the map's ends.
const char* diverging_colours(const Theme& theme);

}  // namespace attnscope
