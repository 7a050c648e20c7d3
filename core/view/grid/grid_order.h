// Which heads the grid of thumbnails shows, in which order.
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
  double measure = 0;  // what it is sorted by; NaN: unknown
  HeadName name{};     // empty: not measured
};

// All heads of the part that have a map.
std::vector<Thumbnail> thumbnails(const Trace& trace, const TracePart& part);

// Which heads are shown, in which order, and what is to be said of it.
struct GridOrder {
  const HeadMeasure* measure = nullptr;  // null: by layer and head
  std::string over;                      // "this text"
  std::size_t all = 0;                   // heads there are
  std::vector<std::string> notes;        // one line: many words, then fewer
};

// Names the heads by what they do on this text, where that takes no time to speak of.
void name_heads(const ViewInput& input, std::vector<Thumbnail>& list);

// Sorts and filters the list as the options say. InputError where the heads of a text this long
// cannot be measured.
GridOrder ordered(const ViewInput& input, std::vector<Thumbnail>& list);

}  // namespace attnscope
