#include "app/window/panels/stage_pair.h"

#include <algorithm>

#include "core/analysis/words.h"
#include "core/figure/plain_text.h"
#include "core/text/tokenizer.h"
#include "core/view/parts/focus.h"

namespace attnscope::window {
namespace {

constexpr double kPairPadding = 8, kPairGap = 9;     // inside a chip; between items
constexpr double kFromPointer = 22, kFromCell = 10;  // distances to the pointer and the cell
constexpr float kMaxOfPlot = 1.4F;                   // maximum width of a pinned pair, in plots
constexpr float kMaxChip = 0.34F;                    // maximum share of a chip in the width
constexpr int kPairDigits = 3;

const Tensor& row_of(const std::shared_ptr<const Trace>& trace, const HeadRef& at,
                     const AttentionTap& tap, Index head, Index query, StagePairs::Row& cache) {
  if (cache.trace != trace || !(cache.at == at) || cache.query != query) {
    cache = {trace, at, query, tap.rows(head, query, 1)};
  }
  return cache.weights;
}

// A line of chips and text; the drawing functions advance `at`.
class PairLine {
 public:
  PairLine(const Ui& ui, ImFont* font, float max_width)
      : ui_(ui), font_(font), max_width_(max_width) {}

  ImVec2 extent(const PairLabels& pair) const {
    const float chips = chip_width(pair.query) + chip_width(pair.key);
    return {chips + width(kArrow) + width(pair.amount) + 3 * ui_.px(kPairGap),
            baked_size(font_) + 2 * ui_.px(kPairPadding) / 2};
  }

  void draw(ImDrawList& draw, ImVec2 at, const PairLabels& pair) const {
    draw_chip(draw, at, pair.query, ui_.look->query);
    draw_text(draw, at, kArrow, ui_.look->faint);
    draw_chip(draw, at, pair.key, ui_.look->key);
    draw_text(draw, at, pair.amount, ui_.look->text);
  }

 private:
  static constexpr const char* kArrow = "→";

  float width(const std::string& text) const {
    return font_->CalcTextSizeA(baked_size(font_), FLT_MAX, 0, text.c_str()).x;
  }
  std::string label(const std::string& text) const {
    ImGui::PushFont(font_);
    std::string shown = elided(on_screen(text), max_width_ * kMaxChip);
    ImGui::PopFont();
    return shown;
  }
  float chip_width(const std::string& text) const {
    return width(label(text)) + 2 * ui_.px(kPairPadding);
  }
  void draw_chip(ImDrawList& draw, ImVec2& at, const std::string& text,
                 const ImVec4& ground) const {
    const float wide = chip_width(text), high = baked_size(font_) + ui_.px(kPairPadding);
    draw.AddRectFilled(at, {at.x + wide, at.y + high}, packed(ground), ui_.px(6));
    draw.AddText(font_, baked_size(font_),
                 {at.x + ui_.px(kPairPadding), at.y + ui_.px(kPairPadding) / 2},
                 packed(ui_.look->on_accent), label(text).c_str());
    at.x += wide + ui_.px(kPairGap);
  }
  void draw_text(ImDrawList& draw, ImVec2& at, const std::string& text,
                 const ImVec4& colour) const {
    draw.AddText(font_, baked_size(font_), {at.x, at.y + ui_.px(kPairPadding) / 2}, packed(colour),
                 text.c_str());
    at.x += width(text) + ui_.px(kPairGap);
  }

  const Ui& ui_;
  ImFont* font_;
  float max_width_;  // maximum width in pixels
};

// Centre of a cell in the picture; empty if it is not visible.
std::optional<Point> middle_of(const ViewLayout& layout, Index row, Index column) {
  if (!(layout.width > 0) || !(layout.height > 0) || row < 0 || column < 0) return std::nullopt;
  const double down = (static_cast<double>(row) + 0.5 - layout.row) / layout.height;
  const double across = (static_cast<double>(column) + 0.5 - layout.column) / layout.width;
  const Box& plot = layout.plot;
  const Point p{plot.x + plot.width * (layout.columns_run_across ? across : down),
                plot.y + plot.height * (layout.rows_run_down ? down : across)};
  return plot.contains(p) ? std::optional(p) : std::nullopt;
}

}  // namespace

std::optional<PairLabels> pair_labels(const State& state, const Hit& hit, StagePairs::Row& cache) {
  State::PointedHead at = state.pointed_at(hit);
  if (at.tap == nullptr) return std::nullopt;
  Index query = hit.query, key = hit.key;
  if (hit.words != nullptr) {
    at.trace = {hit.words, &hit.words->trace};
    at.tap = at.trace->find(at.at, &at.head);
    query = hit.word_query;
    key = hit.word_key;
  }
  if (at.tap == nullptr || query < 0 || query >= at.tap->queries() || key < 0 ||
      key >= at.tap->keys()) {
    return std::nullopt;
  }
  PairLabels words{query_label(*at.trace, *at.tap, query), key_label(*at.trace, *at.tap, key),
                   hit.shown};
  if (!state.session->view.space_markers) {
    for (std::string* label : {&words.query, &words.key}) *label = without_space_markers(*label);
  }
  if (!words.amount.empty()) return words;
  try {
    const Tensor& row = row_of(at.trace, at.at, *at.tap, at.head, query, cache);
    const Pattern& pattern = *at.tap->result.pattern;
    const bool allowed =
        row[key] != 0 || pattern.allowed(pattern.heads() > 1 ? at.head : 0, query, key);
    words.amount =
        allowed ? brief(static_cast<double>(row[key]), kPairDigits) : std::string("not allowed");
  } catch (const std::exception&) {  // the Explain panel states the reason
    words.amount = "not available";
  }
  return words;
}

std::optional<PinnedPair> pinned_pair(const State& state, const ViewLayout& layout) {
  const ViewSettings& view = state.session->view;
  const AttentionTap* tap = state.tap();
  const bool pinned = tap != nullptr && view.pinned_query >= 0 && view.pinned_key >= 0 &&
                      view.pinned_query < tap->queries() && view.pinned_key < tap->keys();
  if (!pinned || !state.controls().head || !layout.hit) return std::nullopt;
  const Index row = layout.words ? layout.words->queries.of(view.pinned_query) : view.pinned_query;
  const Index column = layout.words ? layout.words->keys.of(view.pinned_key) : view.pinned_key;
  const std::optional<Point> middle = middle_of(layout, row, column);
  const std::optional<Hit> hit = middle ? layout.hit(*middle) : std::nullopt;
  if (!hit) return std::nullopt;
  const bool is_it = layout.words ? hit->word_query == row && hit->word_key == column
                                  : hit->query == row && hit->key == column;
  return is_it ? std::optional(PinnedPair{*hit, *middle}) : std::nullopt;
}

void draw_stage_pair(Ui& ui, const State& state, const ViewLayout& layout, ImVec2 origin,
                     StagePairs& cache) {
  if (state.presentation.black || state.dialogs.open()) return;
  auto words = state.view.hit ? pair_labels(state, *state.view.hit, cache.pointed) : std::nullopt;
  ImVec2 at = ImGui::GetIO().MousePos;
  float away = ui.px(kFromPointer);
  const bool is_pinned = !words;
  if (is_pinned) {
    const std::optional<PinnedPair> pinned = pinned_pair(state, layout);
    words = pinned ? pair_labels(state, pinned->hit, cache.pinned) : std::nullopt;
    if (!words) return;
    at = {origin.x + ui.px(pinned->at.x), origin.y + ui.px(pinned->at.y)};
    away = ui.px(kFromCell);
  }
  const ImVec2 size_of_all(ui.px(layout.list.width), ui.px(layout.list.height));
  const PairLine line(ui, ui.fonts.title, size_of_all.x);
  const ImVec2 extent = line.extent(*words);
  const float around = ui.px(kPairPadding);
  const ImVec2 size(extent.x + 2 * around, extent.y + 2 * around);
  // A permanent label must not hide more than it shows.
  if (is_pinned && size.x > kMaxOfPlot * ui.px(layout.plot.width)) return;
  // To the upper right, since later tokens there have no weights, but not over the labels; else
  // below.
  const float right = origin.x + size_of_all.x - size.x;
  const float top = origin.y + (layout.width > 0 ? ui.px(layout.plot.y) : 0);
  ImVec2 corner(std::max(origin.x, std::min(at.x + away, right)), at.y - away - size.y);
  if (corner.y < top) corner.y = corner.x > at.x ? top : at.y + away;
  const ImVec2 end(corner.x + size.x, corner.y + size.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(corner, end, packed(ui.look->panel), ui.px(8));
  draw.AddRect(corner, end, packed(ui.look->line), ui.px(8), 0, ui.px(1.5));
  line.draw(draw, {corner.x + around, corner.y + around}, *words);
  ui.report.box(is_pinned ? "stage.pinned" : "stage.pair", {corner.x, corner.y, size.x, size.y});
}

}  // namespace attnscope::window
