#include "app/window/panels/stage_pair.h"

#include <algorithm>

#include "core/analysis/words.h"
#include "core/figure/plain_text.h"
#include "core/text/tokenizer.h"
#include "core/view/parts/focus.h"

namespace attnscope::window {
namespace {

constexpr double kPairPadding = 8, kPairGap = 9;   // units: padding in a chip; gap between items
constexpr double kPointerGap = 22, kCellGap = 10;  // units from the pointer; from the cell
constexpr float kMaxPlotWidths = 1.4F;     // maximum width of a pinned label / width of plot
constexpr float kMaxChipFraction = 0.34F;  // maximum fraction of the width for a chip
constexpr int kPairDigits = 3;

const Tensor& cached_row(const std::shared_ptr<const Trace>& trace, const HeadRef& ref,
                         const AttentionTap& tap, Index head, Index query, StagePairs::Row& cache) {
  if (cache.trace != trace || !(cache.ref == ref) || cache.query != query) {
    cache = {trace, ref, query, tap.rows(head, query, 1)};
  }
  return cache.weights;
}

// A line of chips and text; the drawing functions advance `position`.
class PairLine {
 public:
  PairLine(const Ui& ui, ImFont* font, float max_width)
      : ui_(ui), font_(font), max_width_(max_width) {}

  ImVec2 extent(const PairLabels& pair) const {
    const float chips = chip_width(pair.query) + chip_width(pair.key);
    return {chips + width(kArrow) + width(pair.amount) + 3 * ui_.px(kPairGap),
            baked_size(font_) + 2 * ui_.px(kPairPadding) / 2};
  }

  void draw(ImDrawList& draw, ImVec2 position, const PairLabels& pair) const {
    draw_chip(draw, position, pair.query, ui_.look->query);
    draw_text(draw, position, kArrow, ui_.look->faint);
    draw_chip(draw, position, pair.key, ui_.look->key);
    draw_text(draw, position, pair.amount, ui_.look->text);
  }

 private:
  static constexpr const char* kArrow = "→";

  float width(const std::string& text) const {
    return font_->CalcTextSizeA(baked_size(font_), FLT_MAX, 0, text.c_str()).x;
  }
  std::string label(const std::string& text) const {
    ImGui::PushFont(font_);
    std::string shortened = elide(on_screen(text), max_width_ * kMaxChipFraction);
    ImGui::PopFont();
    return shortened;
  }
  float chip_width(const std::string& text) const {
    return width(label(text)) + 2 * ui_.px(kPairPadding);
  }
  void draw_chip(ImDrawList& draw, ImVec2& position, const std::string& text,
                 const ImVec4& background) const {
    const float extent = chip_width(text), height = baked_size(font_) + ui_.px(kPairPadding);
    draw.AddRectFilled(position, {position.x + extent, position.y + height}, packed(background),
                       ui_.px(6));
    draw.AddText(font_, baked_size(font_),
                 {position.x + ui_.px(kPairPadding), position.y + ui_.px(kPairPadding) / 2},
                 packed(ui_.look->on_accent), label(text).c_str());
    position.x += extent + ui_.px(kPairGap);
  }
  void draw_text(ImDrawList& draw, ImVec2& position, const std::string& text,
                 const ImVec4& colour) const {
    draw.AddText(font_, baked_size(font_), {position.x, position.y + ui_.px(kPairPadding) / 2},
                 packed(colour), text.c_str());
    position.x += width(text) + ui_.px(kPairGap);
  }

  const Ui& ui_;
  ImFont* font_;
  float max_width_;  // maximum width in pixels
};

// Centre of a cell in the picture; empty if the cell is not visible.
std::optional<Point> cell_centre(const ViewLayout& layout, Index row, Index column) {
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
  State::PointedHead pointed = state.pointed_at(hit);
  if (pointed.tap == nullptr) return std::nullopt;
  Index query = hit.query, key = hit.key;
  if (hit.words != nullptr) {
    pointed.trace = {hit.words, &hit.words->trace};
    pointed.tap = pointed.trace->find(pointed.ref, &pointed.head);
    query = hit.word_query;
    key = hit.word_key;
  }
  if (pointed.tap == nullptr || query < 0 || query >= pointed.tap->queries() || key < 0 ||
      key >= pointed.tap->keys()) {
    return std::nullopt;
  }
  PairLabels labels{query_label(*pointed.trace, *pointed.tap, query),
                    key_label(*pointed.trace, *pointed.tap, key), hit.shown};
  if (!state.session->view.space_markers) {
    for (std::string* label : {&labels.query, &labels.key}) *label = without_space_markers(*label);
  }
  if (!labels.amount.empty()) return labels;
  try {
    const Tensor& row =
        cached_row(pointed.trace, pointed.ref, *pointed.tap, pointed.head, query, cache);
    const Pattern& pattern = *pointed.tap->result.pattern;
    const bool is_allowed =
        row[key] != 0 || pattern.allowed(pattern.heads() > 1 ? pointed.head : 0, query, key);
    labels.amount =
        is_allowed ? brief(static_cast<double>(row[key]), kPairDigits) : std::string("not allowed");
  } catch (const std::exception&) {  // the Explain panel states the reason
    labels.amount = "not available";
  }
  return labels;
}

std::optional<PinnedPair> pinned_pair(const State& state, const ViewLayout& layout) {
  const ViewSettings& view = state.session->view;
  const AttentionTap* tap = state.tap();
  const bool is_pinned = tap != nullptr && view.pinned_query >= 0 && view.pinned_key >= 0 &&
                         view.pinned_query < tap->queries() && view.pinned_key < tap->keys();
  if (!is_pinned || !state.controls().head || !layout.hit) return std::nullopt;
  const Index row = layout.words ? layout.words->queries.of(view.pinned_query) : view.pinned_query;
  const Index column = layout.words ? layout.words->keys.of(view.pinned_key) : view.pinned_key;
  const std::optional<Point> centre = cell_centre(layout, row, column);
  const std::optional<Hit> hit = centre ? layout.hit(*centre) : std::nullopt;
  if (!hit) return std::nullopt;
  const bool shows_pair = layout.words ? hit->word_query == row && hit->word_key == column
                                       : hit->query == row && hit->key == column;
  return shows_pair ? std::optional(PinnedPair{*hit, *centre}) : std::nullopt;
}

void draw_stage_pair(Ui& ui, const State& state, const ViewLayout& layout, ImVec2 origin,
                     StagePairs& cache) {
  if (state.presentation.is_black || state.dialogs.open()) return;
  auto labels = state.view.hit ? pair_labels(state, *state.view.hit, cache.pointed) : std::nullopt;
  ImVec2 position = ImGui::GetIO().MousePos;
  float gap = ui.px(kPointerGap);
  const bool is_pinned = !labels;
  if (is_pinned) {
    const std::optional<PinnedPair> pinned = pinned_pair(state, layout);
    labels = pinned ? pair_labels(state, pinned->hit, cache.pinned) : std::nullopt;
    if (!labels) return;
    position = {origin.x + ui.px(pinned->centre.x), origin.y + ui.px(pinned->centre.y)};
    gap = ui.px(kCellGap);
  }
  const ImVec2 layout_size(ui.px(layout.list.width), ui.px(layout.list.height));
  const PairLine line(ui, ui.fonts.title, layout_size.x);
  const ImVec2 extent = line.extent(*labels);
  const float padding = ui.px(kPairPadding);
  const ImVec2 size(extent.x + 2 * padding, extent.y + 2 * padding);
  // A pinned label is permanent, so it must not cover most of the picture.
  if (is_pinned && size.x > kMaxPlotWidths * ui.px(layout.plot.width)) return;
  // At the upper right, where causal maps are empty, or below the cell to keep labels free.
  const float right = origin.x + layout_size.x - size.x;
  const float top = origin.y + (layout.width > 0 ? ui.px(layout.plot.y) : 0);
  ImVec2 corner(std::max(origin.x, std::min(position.x + gap, right)), position.y - gap - size.y);
  if (corner.y < top) corner.y = corner.x > position.x ? top : position.y + gap;
  const ImVec2 end(corner.x + size.x, corner.y + size.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(corner, end, packed(ui.look->panel), ui.px(8));
  draw.AddRect(corner, end, packed(ui.look->line), ui.px(8), 0, ui.px(1.5));
  line.draw(draw, {corner.x + padding, corner.y + padding}, *labels);
  ui.report.box(is_pinned ? "stage.pinned" : "stage.pair", {corner.x, corner.y, size.x, size.y});
}

}  // namespace attnscope::window
