// Synthetic traces for tests of views, without model and tokenizer.
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

// Tokens of an English sentence, repeated.
std::vector<TraceToken> synthetic_tokens(Index count);

// One head group with all heads of a layer. Query i of head a attends most to the allowed keys near
// position i - a and to key 0. Rows sum to 1.
AttentionTap synthetic_tap(Index layer, Index heads, Pattern pattern);

// Run of a causal model for `length` tokens, with logits over a vocabulary of 13 tokens.
Trace synthetic_trace(Index layers, Index heads, Index length);

// Run with one layer of this pattern. If the pattern has more keys than queries, its first keys are
// memory columns.
Trace synthetic_trace(Pattern pattern);

// Logit lens of a synthetic trace.
LogitLens synthetic_lens(const Trace& trace);
// Findings of a trace: its logit lens if the trace is synthetic, and the run `reference` unless
// null. `reference` must outlive the result.
Findings findings_of(const Trace& trace, const Trace* reference = nullptr);

// Pattern with a window of `window` tokens per side, and with `globals` first tokens that attend to
// all tokens and are visible to all.
Pattern window_and_global(Index length, Index window, Index globals);

// Options of lay_out_view().
struct LayoutOptions {
  double width = 700, height = 720, font_size = 13;
  bool dark = false, framed = true, tight = false;
  ViewSettings settings;
  std::optional<Point> pointer;
  ViewCache* cache = nullptr;
  const Trace* reference = nullptr;  // run B; null: none
  Interventions interventions;
  bool flipped = false, adds = false, extends = false;
  const HeadTable* heads = nullptr;    // statistics over texts of a file; null: none
  const ErrorStudy* errors = nullptr;  // error study of the shown head; null: none
  bool knows_lens = true;
  std::function<std::string(HintAction)> key_of{};
};
ViewLayout lay_out_view(const Trace& trace, std::string_view view,
                        const LayoutOptions& options = {});

// Input of a view for these settings, with a page size of 0.
struct ViewInputFixture {
  ViewInputFixture(const Trace& trace, const ViewSettings& settings);
  ViewInputFixture(const ViewInputFixture&) = delete;
  Session session;
  ViewInput input;
};

// Bounding box of a drawn text on the page.
Box extent(const Text& text);
std::vector<Text> texts(const DisplayList& list);
std::string all_text(const DisplayList& list);  // one line per text
bool shows_text(const DisplayList& list,
                const std::string& substring);  // true if a text contains the substring
// Number of boxes outlined in the highlight colour.
int count_highlighted_boxes(const DisplayList& list, const Theme& theme = Theme::light());

// First layout error of a display list, such as overlapping texts or items outside the page; empty
// if there is none.
std::string layout_error(const DisplayList& list);

}  // namespace attnscope::testing
