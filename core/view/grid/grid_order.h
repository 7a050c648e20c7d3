// Selection and order of the heads in the grid.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/head_name.h"
#include "core/experiment/head_table.h"
#include "core/view/parts/first_token.h"
#include "core/view/view.h"

namespace attnscope {

struct Thumbnail {
  Index layer, head;
  const AttentionTap* tap;
  Index head_in_group;
  double measure = 0;                                             // sort key; NaN: unknown
  double first_token = std::numeric_limits<double>::quiet_NaN();  // mean weight on it
  HeadName name{};                                                // empty: not measured
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

// Behaviour of the run's heads on this text.
struct HeadSurvey {
  std::map<std::pair<Index, Index>, HeadName> names;      // by {layer, head}, without signed heads
  std::map<std::pair<Index, Index>, double> first_token;  // weight on the first token, by head
  FirstTokenShare mean;                                   // over heads
};
// Null if the maps are not stored, or too large to measure all heads at once.
std::shared_ptr<const HeadSurvey> survey_heads(const ViewInput& input,
                                               const std::vector<Thumbnail>& list);

// False if the picture hides special tokens, which the survey includes.
bool surveys_shown_tokens(const ViewInput& input);

// Visibility of the first token's column.
struct FirstToken {
  bool is_hidden = false;
  std::string reason{};  // reason for hiding the column automatically; else empty
};
// The user's choice if it is set. Otherwise hides the column of a sink (first_token.h), because all
// other weights would have nearly the same colour. `survey` can be null.
FirstToken first_token_of(const ViewInput& input, const HeadSurvey* survey);

// Heads that the user has selected, as {layer, head}, in the order of their selection.
// selected_heads() throws InputError if the setting is malformed.
using HeadList = std::vector<std::pair<Index, Index>>;
HeadList selected_heads(const ViewSettings& settings);
void select_heads(ViewSettings& settings, const HeadList& heads);
// with_added() adds `head` to the selection, or removes it if it is selected. with_range() adds all
// heads of `list` from the last selected head to `head`.
HeadList with_added(HeadList selected, std::pair<Index, Index> head);
HeadList with_range(HeadList selected, std::pair<Index, Index> head,
                    const std::vector<Thumbnail>& list);

// Sorts and filters the list by the view's parameters. Throws InputError if the order requires
// statistics of this text and its maps are not stored.
GridOrder sort_thumbnails(const ViewInput& input, std::vector<Thumbnail>& list);

}  // namespace attnscope
