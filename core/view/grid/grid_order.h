// Selection and order of the heads in the grid.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/head_name.h"
#include "core/experiment/head_table.h"
#include "core/view/view.h"

namespace attnscope {

struct Thumbnail {
  Index layer, head;
  const AttentionTap* tap;
  Index head_in_group;
  double measure = 0;  // sort key; NaN: unknown
  HeadName name{};     // empty: not measured
};

// All heads of the part that have nonempty maps.
std::vector<Thumbnail> thumbnails(const Trace& trace, const TracePart& part);

// Order of the heads, and a note that describes it.
struct GridOrder {
  const HeadMeasure* measure = nullptr;  // null: by layer and head
  std::string source;                    // text that heads are measured on: "this text"
  std::size_t total = 0;                 // number of heads before filtering
  std::vector<std::string> notes;        // one-line descriptions, longest first
};

// Names the heads by their behaviour on this text; does nothing for long texts.
void name_heads(const ViewInput& input, std::vector<Thumbnail>& list);

// Sorts and filters the list by the view's parameters. Throws InputError if the text is too long to
// measure heads.
GridOrder sort_thumbnails(const ViewInput& input, std::vector<Thumbnail>& list);

}  // namespace attnscope
