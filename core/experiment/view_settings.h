// What to look at: plain values that views give a meaning to (core/view/view_values.h).
#pragma once

#include <map>
#include <string>

#include "core/base/parameter.h"
#include "core/trace/trace.h"

namespace attnscope {

// Where colours end, in views of weights: at the number that one pair in a hundred of those in
// sight passes, at the largest in sight, or at 1.
enum class ColourEnd { Percentile, Largest, One };

struct ViewSettings {
  std::string id = "map";  // of a view
  Index layer = 0, head = 0;
  PartChoice part;  // of which stack and kind, in which step and segment
  std::string colour_map = "viridis";
  ColourEnd colour_end = ColourEnd::Percentile;
  bool words = false;  // word pieces are merged into words, in views that can (View::merges_words)
  bool hides_special = false;  // what a tokenizer puts in ("[CLS]") is left out, in these views
  // The visible part of a map, in cells; empty width: all of it.
  double row = 0, column = 0, height = 0, width = 0;
  Index pinned_query = -1, pinned_key = -1;  // stay highlighted when the pointer leaves; -1: none
  // A file of texts over which heads are measured (head_table.h); empty: the experiment's own text.
  std::string statistics_file;
  // By view id, what its parameters (View::parameters) are set to; a view that is not named here
  // has its defaults. See view_values().
  std::map<std::string, Values, std::less<>> options;
  bool operator==(const ViewSettings&) const = default;
};

// The head of this run that the settings look at.
inline HeadRef head_ref(const Trace& trace, const ViewSettings& view) {
  return {view.layer, view.head, trace.part(view.part)};
}

}  // namespace attnscope
