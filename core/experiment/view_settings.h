// Settings of a view as plain values; views define their meaning (core/view/view_values.h).
#pragma once

#include <map>
#include <string>

#include "core/base/parameter.h"
#include "core/trace/trace.h"

namespace attnscope {

// Upper end of the colour scale in views of weights: the 99th percentile of the visible pairs,
// their maximum, or 1.
enum class ColourEnd { Percentile, Largest, One };

struct ViewSettings {
  std::string id = "map";  // View::id
  Index layer = 0, head = 0;
  PartChoice part;  // stack, kind, step and segment
  std::string colour_map = "viridis";
  ColourEnd colour_end = ColourEnd::Percentile;
  bool words = false;          // merge word pieces into words (views with ViewCells::merge_words)
  bool hides_special = false;  // omit special tokens ("[CLS]") in the views that merge words
  bool space_markers = false;  // show "␣" at the ends of tokens that begin or end with a space
  // Visible part of a map, in cells; zero width: the whole map.
  double row = 0, column = 0, height = 0, width = 0;
  Index pinned_query = -1, pinned_key = -1;  // permanently highlighted pair; -1: none
  // Pair that the program has found and pinned. If it is the pinned pair, the user has pinned none.
  Index found_query = -1, found_key = -1;
  // File of texts for head statistics (head_table.h); empty: the run's own text.
  std::string statistics_file;
  // Parameters (View::parameters) by view id; a missing view has defaults. See view_values().
  std::map<std::string, Values, std::less<>> options;
  bool shows_found_pair() const {
    return pinned_query >= 0 && pinned_query == found_query && pinned_key == found_key;
  }
  bool operator==(const ViewSettings&) const = default;
};

// Head of the trace that the settings select.
inline HeadRef head_ref(const Trace& trace, const ViewSettings& view) {
  return {view.layer, view.head, trace.part(view.part)};
}

}  // namespace attnscope
