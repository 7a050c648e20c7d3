#include "core/view/lines/line_set.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxLines = 2500;  // more lines are illegible and slow

// Heads of the layer whose maps have the tap's shape.
std::vector<Index> same_shape_heads(const ViewInput& input, const AttentionTap& tap) {
  std::vector<Index> heads;
  const HeadRef selected = head_ref(input.trace, input.session.view);
  for (Index head = 0; head < input.trace.head_count(selected.part, selected.layer); ++head) {
    const AttentionTap* head_tap = input.trace.find({selected.layer, head, selected.part});
    if (head_tap && head_tap->queries() == tap.queries() && head_tap->keys() == tap.keys()) {
      heads.push_back(head);
    }
  }
  return heads;
}

std::vector<Index> shown_heads(const ViewInput& input, const Values& values,
                               const std::vector<Index>& available) {
  if (values.flag("all")) return available;
  std::vector<Index> heads{input.session.view.head};
  if (values.has("heads")) {
    const std::vector<Index>& requested = values.get<std::vector<Index>>("heads");
    for (const Index head : requested) {
      if (std::find(available.begin(), available.end(), head) == available.end()) {
        throw InputError("lines.heads: expected heads of this layer, 0 to " +
                         std::to_string(available.back()) + ", found " + std::to_string(head));
      }
    }
    if (!requested.empty()) heads = requested;
    std::ranges::sort(heads);
  }
  return heads;
}

// Colour of a head. The palette suits light pages, so it is lightened on dark ones.
Colour page_colour(const Page& page, Index head) {
  const Colour colour = head_colour(head);
  return page.theme().is_dark() ? blend(colour, {255, 255, 255, 255}, 0.25) : colour;
}

std::vector<LegendEntry> legend_entries(const Page& page, const LineSet& set) {
  std::vector<LegendEntry> entries;
  for (const Index head : set.all_heads) {
    const bool is_shown = std::binary_search(set.heads.begin(), set.heads.end(), head);
    entries.push_back({page_colour(page, head), "head " + std::to_string(head), !is_shown});
  }
  return entries;
}

}  // namespace

CellSpan visible_span(double first, double extent, Index count) {
  const auto cell_count = static_cast<double>(count);
  if (!(extent > 0)) return {0, cell_count};
  extent = std::clamp(extent, 1.0, std::max(1.0, cell_count));
  return {std::clamp(first, 0.0, cell_count - extent), extent};
}

LineSet line_set(const ViewInput& input, const AttentionTap& tap, const Values& values,
                 const CellSpan& queries, const CellSpan& keys) {
  LineSet set;
  set.all_heads = same_shape_heads(input, tap);
  set.heads = shown_heads(input, values, set.all_heads);
  const auto min_weight = static_cast<float>(values.real("least"));
  float largest = 1;
  for (const Index head : set.heads) {
    Index group_head = 0;
    const AttentionTap* head_tap =
        input.trace.find({input.session.view.layer, head, input.part()}, &group_head);
    const Tensor weights = head_tap->attention(group_head);
    for (Index i = 0; i < weights.dim(0); ++i) {
      const float* row = weights.data() + i * weights.dim(1);
      for (Index k = 0; k < weights.dim(1); ++k) {
        const float weight = std::abs(row[k]);
        if (!(weight >= min_weight) || weight == 0) continue;
        if (!queries.contains(i) && !keys.contains(k)) continue;
        largest = std::max(largest, weight);
        set.pairs.push_back({head, i, k, static_cast<double>(weight)});
      }
    }
  }
  set.largest = static_cast<double>(largest);
  const auto is_weaker = [](const WeightedPair& a, const WeightedPair& b) {
    return a.weight < b.weight;
  };
  if (set.pairs.size() > kMaxLines) {
    set.omitted_count = static_cast<Index>(set.pairs.size() - kMaxLines);
    const auto first_drawn = set.pairs.begin() + set.omitted_count;
    std::nth_element(set.pairs.begin(), first_drawn, set.pairs.end(), is_weaker);
    set.pairs.erase(set.pairs.begin(), first_drawn);
  }
  std::stable_sort(set.pairs.begin(), set.pairs.end(), is_weaker);
  for (WeightedPair& pair : set.pairs) pair.weight /= set.largest;
  return set;
}

Colour line_colour(const Page& page, const WeightedPair& pair, bool in_focus) {
  constexpr double kMinOpacity = 0.07, kExponent = 0.75, kUnfocused = 0.16, kMaxUnfocused = 0.06;
  const double opacity = kMinOpacity + (1 - kMinOpacity) * std::pow(pair.weight, kExponent);
  // Lines out of focus are fainter than the faintest line in focus.
  return translucent(page_colour(page, pair.head),
                     in_focus ? opacity : std::min(kUnfocused * opacity, kMaxUnfocused));
}

double line_thickness(const Page& page, const WeightedPair& pair, double cell) {
  constexpr double kMinThickness = 0.05, kMaxThickness = 0.27;  // em
  const double max_thickness = std::clamp(cell / page.em(), kMinThickness, kMaxThickness);
  return (kMinThickness + (max_thickness - kMinThickness) * pair.weight) * page.em();
}

std::string explain_missing_lines(const LineSet& set, const CellSpan& rows, double min_weight,
                                  const std::string& noun) {
  const auto first = std::max<Index>(0, static_cast<Index>(std::floor(rows.first)));
  const auto end = static_cast<Index>(std::ceil(rows.first + rows.extent));
  std::vector<bool> has_line(static_cast<std::size_t>(end - first), false);
  for (const WeightedPair& pair : set.pairs) {
    if (pair.query >= first && pair.query < end) {
      has_line[static_cast<std::size_t>(pair.query - first)] = true;
    }
  }
  const auto missing = std::ranges::count(has_line, false);
  if (missing == 0) return "";
  const auto drawn = static_cast<Index>(set.pairs.size());
  return grouped(missing) + " of " + grouped(end - first) + " queries have no " + noun + ": " +
         (set.omitted_count > 0
              ? "only the strongest " + grouped(drawn) + " of " +
                    grouped(drawn + set.omitted_count) + " " + noun + "s are drawn"
              : "all their weights are below " + brief(min_weight));
}

LineFocus pinned_focus(const ViewInput& input, const AttentionTap& tap) {
  const ViewSettings& settings = input.session.view;
  LineFocus focus;
  if (settings.pinned_query < tap.queries()) focus.query = settings.pinned_query;
  if (settings.pinned_key < tap.keys()) focus.key = settings.pinned_key;
  return focus;
}

double head_legend_height(const Page& page, const LineSet& set, double width) {
  return legend_height(page, legend_entries(page, set), width);
}

double draw_head_legend(Page& page, const LineSet& set, const Box& box,
                        std::vector<Handle>& handles) {
  const std::vector<LegendEntry> entries = legend_entries(page, set);
  const std::vector<Box> boxes = draw_legend(page, entries, box);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!(boxes[i].width > 0)) continue;
    const Index head = set.all_heads[i];
    handles.push_back({.area = boxes[i],
                       .help = "Show or hide the lines of head " + std::to_string(head) + ".",
                       .click = [head, current_heads = set.heads](Session& session) {
                         std::vector<Index> heads = current_heads;
                         if (std::erase(heads, head) == 0) heads.push_back(head);
                         std::sort(heads.begin(), heads.end());
                         Values values = view_values(session.view, "lines");
                         values.set("all", false);
                         values.erase("heads");
                         if (!heads.empty()) values.set("heads", heads);
                         set_view_values(session.view, "lines", values);
                       }});
  }
  return legend_height(page, entries, box.width);
}

void toggle_pinned_query(Session& session, Index query) {
  ViewSettings& view = session.view;
  view.pinned_query = view.pinned_query == query && view.pinned_key < 0 ? -1 : query;
  view.pinned_key = -1;
}

void toggle_pinned_key(Session& session, Index key) {
  ViewSettings& view = session.view;
  view.pinned_key = view.pinned_key == key && view.pinned_query < 0 ? -1 : key;
  view.pinned_query = -1;
}

}  // namespace attnscope
