#include "core/view/export/picture_preset.h"

#include <cmath>

#include "core/base/find_by_id.h"

namespace attnscope {
namespace {

constexpr double kPointsPerInch = 72;

double font_units(const PicturePreset& preset) {
  return preset.points * PictureOptions::kUnitsPerInch / kPointsPerInch;
}

}  // namespace

const std::vector<PicturePreset>& picture_presets() {
  static const std::vector<PicturePreset> list{
      {"column", "One column",
       "3.5 inches wide, 8-point text, 300 dpi; no title or caption, which the paper provides.",
       3.5, 0, 8, 300, false, false},
      {"columns", "Two columns",
       "7 inches wide, 8-point text, 300 dpi; no title or caption, which the paper provides.", 7, 0,
       8, 300, false, false},
      {"slide", "Slide",
       "13.33 by 7.5 inches, 16-point text, 144 dpi; with title, without caption.", 40.0 / 3, 7.5,
       16, 144, true, false},
      {"poster", "Poster", "20 inches wide, 24-point text, 200 dpi; with title and caption.", 20, 0,
       24, 200, true, true}};
  return list;
}

const PicturePreset& picture_preset(std::string_view id) {
  return find_by_id(picture_presets(), id, "for");
}

void apply(const PicturePreset& preset, PictureOptions& options) {
  options.set_inches(preset.inches_wide, preset.inches_high);
  options.set_dots_per_inch(preset.dots_per_inch);
  options.font_size = font_units(preset);
  options.parts.title = preset.title;
  options.parts.caption = preset.caption;
}

bool matches_preset(const PicturePreset& preset, const PictureOptions& options) {
  PictureOptions target = options;
  apply(preset, target);
  const auto are_close = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); };
  return are_close(options.width, target.width) && are_close(options.height, target.height) &&
         are_close(options.font_size, target.font_size) && are_close(options.scale, target.scale) &&
         options.parts.title == preset.title && options.parts.caption == preset.caption;
}

}  // namespace attnscope
