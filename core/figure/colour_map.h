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
    Sequential,   // lightness rises or falls from end to end
    Diverging,    // for signed data, the middle is zero
    Categorical,  // with the range 0..255 the whole number n gets colour n; colours repeat
  };

  std::string id;  // "viridis"
  std::string label;
  Kind kind = Kind::Sequential;
  std::array<Colour, 256> colours;

  // The nearest of the 256 colours, without interpolation. t in 0..1, clamped; NaN: grey.
  Colour at(double t) const;
  bool diverging() const { return kind == Kind::Diverging; }
};

// The categorical map: for views that colour by kind, not among those that a person chooses from.
inline constexpr const char* kCategories = "categories";

const std::vector<ColourMap>& colour_maps();       // to choose from; "viridis" first
const ColourMap& colour_map(std::string_view id);  // also kCategories; InputError

// The diverging map whose middle stands out from this page, yet is quieter than its ends.
const char* diverging_colours(const Theme& theme);

}  // namespace attnscope
