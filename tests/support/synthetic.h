// Traces made by hand, for tests of views: no model, no tokenizer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/head_table.h"
#include "core/figure/render.h"
#include "core/model/logit_lens.h"
#include "core/view/view.h"

namespace attnscope::testing {

// Tokens of some English, over and over.
std::vector<TraceToken> synthetic_tokens(Index count);

// One head group with all heads of a layer. Row i of head a prefers the keys near i - a, within
// the pattern; rows sum to 1.
AttentionTap synthetic_tap(Index layer, Index heads, Pattern pattern);

// A causal model's run over `length` tokens, with logits of 13 tokens.
Trace synthetic_trace(Index layers, Index heads, Index length);

// The same with this pattern in one layer; keys beyond the tokens come first, as memory.
Trace synthetic_trace(Pattern pattern);

// What the layers of such a trace would say.
LogitLens synthetic_lens(const Trace& trace);
// What was found in a trace: of those above what their layers would say; and the run beside it,
// where there is one, which must outlive it.
Findings found_in(const Trace& trace, const Trace* reference = nullptr);

// A row of window and global columns, as sparse variants make them.
Pattern window_and_global(Index length, Index window, Index globals);

// How to look at a trace.
struct Look {
  double width = 700, height = 720, font_size = 13;
  bool dark = false, framed = true, tight = false;
  ViewSettings settings;
  std::optional<Point> pointer;
  ViewCache* cache = nullptr;
  const Trace* reference = nullptr;  // what is compared with, where there is something
  Interventions interventions;
  bool flipped = false;
  const HeadTable* heads = nullptr;    // what was measured over texts, where it was
  const ErrorStudy* errors = nullptr;  // of the shown head, where they were measured
  bool knows_lens = true;
};
ViewLayout look_at(const Trace& trace, std::string_view view, const Look& look = {});

// What a view is handed for these settings, without a page.
struct InputOf {
  InputOf(const Trace& trace, const ViewSettings& settings);
  InputOf(const InputOf&) = delete;
  Experiment experiment;
  ViewInput input;
};

// The box that a text covers on the page, as its painter sets it.
Box extent(const Text& text);
std::vector<Text> texts(const DisplayList& list);
std::string all_text(const DisplayList& list);                 // a line each
bool says(const DisplayList& list, const std::string& words);  // in one of its texts
// How many boxes have an outline in the colour of what is marked.
int marked_boxes(const DisplayList& list, const Theme& theme = Theme::light());

// Why this list is not fit to be seen: texts that overlap, anything that leaves the page; empty
// when all is well.
std::string fault(const DisplayList& list);

}  // namespace attnscope::testing
