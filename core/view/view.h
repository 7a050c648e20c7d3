// Views: what a trace looks like. One file each; views() is their ordered list. A view lays
// itself out as a display list, the same for screen and file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/experiment/trace.h"
#include "core/figure/display_list.h"

namespace attnscope {

struct ViewInput {
  const Trace& trace;
  const Experiment& experiment;  // what was run, and view: what to look at
  double width = 0, height = 0;  // the space there is, in pixels
  double font_size = 13;
  const Theme& theme;
  const TextMeasure& measure;
  bool framed = true;            // with title and caption (files); the window has its own
  std::optional<Point> pointer;  // where the mouse is, for cross-hairs
};

// What lies under the pointer.
struct Hit {
  Index layer = 0, head = 0;
  Index query = -1, key = -1;  // -1: no pair
};

struct ViewLayout {
  DisplayList list;
  Box plot;  // where the cells are; pan and zoom act there
  // Cells shown in `plot`, for pan and zoom; zero width when the view has none.
  double row = 0, column = 0, height = 0, width = 0;
  std::function<std::optional<Hit>(Point)> hit;
};

struct View {
  std::string id;       // "map": on the command line and in file names
  std::string label;    // "Map"
  std::string summary;  // one sentence, for tooltips
  bool zooms = false;
  std::function<ViewLayout(const ViewInput&)> lay_out;
};

const std::vector<View>& views();       // in the order of the keys 1..9
const View& view(std::string_view id);  // InputError

}  // namespace attnscope
