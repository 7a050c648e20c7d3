// swin: windows of an image, shifted in every other layer. Liu et al., 2021.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/picture.h"
#include "core/attention/variants/shared/rows.h"
#include "core/attention/variants/shared/shifted_windows.h"

namespace attnscope {
namespace {

// The window that contains position `at` of a side.
ShiftedWindows::Range window_of(Index at, Index side, Index window, Index shift) {
  const Index begin = at < shift ? shift - window : shift + (at - shift) / window * window;
  return {std::max<Index>(0, begin), std::min(side, begin + window)};
}

Pattern swin_pattern(const PatternInput& in) {
  const ShiftedWindows windows = shifted_windows(in.values, in.layer);
  const std::string side = std::to_string(windows.window);
  std::string rule = "window of " + side + " × " + side;
  if (windows.is_shifted()) {
    rule += ", shifted by " + std::to_string(std::max(windows.row_shift, windows.column_shift));
  }
  return build_rows(in, 1, {rule}, [&](PatternBuilder& rows, Index, Index i) {
    const auto [first_row, end_row] = windows.rows_of(i / windows.width);
    const auto [first_column, end_column] = windows.columns_of(i % windows.width);
    for (Index row = first_row; row < end_row; ++row) {
      rows.add(0, row * windows.width + first_column, row * windows.width + end_column);
    }
  });
}

// Side of a window that divides both sides, near a quarter of the height; at least 2.
Index even_window(Index width, Index height) {
  const Index quarter = std::max<Index>(2, fraction_of_length(height, 4));
  const Index common = std::gcd(width, height);
  Index best = 0;
  for (Index side = 2; side <= common; ++side) {
    const bool is_nearer = best == 0 || std::abs(side - quarter) < std::abs(best - quarter);
    if (common % side == 0 && is_nearer) best = side;
  }
  return best > 0 ? best : quarter;
}

// Largest length up to `length` of a picture that whole windows cover.
Index covered_picture(Index length) {
  Index covered = whole_picture(length);
  while (covered > 4 && std::gcd(picture_width(covered), picture_height(covered)) < 2) {
    covered = whole_picture(covered - 1);
  }
  return covered;
}

std::vector<Parameter> swin_parameters() {
  return {picture_width_parameter(),
          picture_height_parameter(),
          {.key = "window",
           .symbol = "M",
           .label = "Window",
           .help = "Rows and columns of a window.",
           .required = true,
           .initial = Index{4},
           .illustrative_default = [](Index length) -> Value {
             return even_window(picture_width(length), picture_height(length));
           },
           .limits = {.min = 1},
           .slider = {.min = 1, .max = 16}},
          {.key = "mode",
           .symbol = "",
           .label = "Mode",
           .help = "Windows of a layer: shifted by half a window in every other layer (the second, "
                   "fourth, ...), in none or in all.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("alternating"),
           .choices = {
               {"alternating", "Alternating"}, {"regular", "Regular"}, {"shifted", "Shifted"}}}};
}

}  // namespace

ShiftedWindows::Range ShiftedWindows::rows_of(Index row) const {
  return window_of(row, height, window, row_shift);
}

ShiftedWindows::Range ShiftedWindows::columns_of(Index column) const {
  return window_of(column, width, window, column_shift);
}

ShiftedWindows shifted_windows(const Values& values, Index layer) {
  ShiftedWindows windows{.width = values.integer("width"),
                         .height = values.integer("height"),
                         .window = values.integer("window")};
  const std::string& mode = values.choice("mode");
  const bool shifts = mode == "shifted" || (mode == "alternating" && layer % 2 == 1);
  if (shifts && windows.height > windows.window) windows.row_shift = windows.window / 2;
  if (shifts && windows.width > windows.window) windows.column_shift = windows.window / 2;
  return windows;
}

Variant swin_variant() {
  Variant v;
  v.id = "swin";
  v.label = "Shifted windows";
  v.group = "Fixed patterns";
  v.equation =
      "Sᵢ = { j : ⌊(rowᵢ − s)/M⌋ = ⌊(rowⱼ − s)/M⌋ and ⌊(colᵢ − s)/M⌋ = ⌊(colⱼ − s)/M⌋ },\n"
      "s = 0 or ⌊M/2⌋ by layer";
  v.summary =
      "The sequence is an image read row by row, cut into windows of M × M pixels that attend "
      "within themselves: the cost grows with the number of pixels, not with its square. Every "
      "other layer moves the windows by half their size, so that neighbouring windows exchange "
      "information. The partial windows at the border are computed as one window of the cyclically "
      "shifted image, with a mask between pixels that are not adjacent.";
  v.source = "Liu et al., 2021, Swin Transformer, arXiv:2103.14030";
  v.complexity = "O(L·M²·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("width", picture_width(length));
                     values.set("height", picture_height(length));
                     values.set("window", Index{7});
                   }};
  v.cost.bytes = [](const MemoryInput& in) {
    const Index side = std::min(in.values.integer("window"), in.values.integer("height"));
    return static_cast<double>(in.queries) * static_cast<double>(side) * kBytesOfRun;
  };
  v.parameters = swin_parameters();
  v.defaults.length = covered_picture;
  v.objection = picture_objection;
  v.pattern = swin_pattern;
  return v;
}

}  // namespace attnscope
