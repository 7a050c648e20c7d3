#include "core/attention/variants/shared/picture.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

Index picture_width(Index pixels) {
  pixels = std::max<Index>(1, pixels);
  Index height = std::max<Index>(1, static_cast<Index>(std::sqrt(static_cast<double>(pixels))));
  while (pixels % height != 0) --height;
  return pixels / height;
}

Index picture_height(Index pixels) {
  return std::max<Index>(1, pixels) / picture_width(pixels);
}

Parameter picture_width_parameter() {
  return {.key = "width",
          .symbol = "W",
          .label = "Image width",
          .help = "Pixels in a row; width times height is L.",
          .required = true,
          .scope = {.image = "width"},
          .initial = Index{8},
          .illustrative_default = [](Index length) -> Value { return picture_width(length); },
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 32}};
}

Parameter picture_height_parameter() {
  return {.key = "height",
          .symbol = "H",
          .label = "Image height",
          .help = "Rows; width times height is L.",
          .required = true,
          .scope = {.image = "height"},
          .initial = Index{8},
          .illustrative_default = [](Index length) -> Value { return picture_height(length); },
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 32}};
}

std::string picture_objection(const Values& values, const Situation& situation) {
  const Index pixels = values.integer("width") * values.integer("height");
  if (situation.keys == 0 || pixels == situation.keys) return {};
  return "width: expected width times height to be the length " + std::to_string(situation.keys) +
         ", found " + to_text(values.integer("width")) + " times " +
         to_text(values.integer("height"));
}

Index whole_picture(Index length) {
  while (picture_width(length) > 2 * picture_height(length)) --length;
  return length;
}

}  // namespace attnscope
