#include "core/view/gates/gate_layout.h"

#include <algorithm>
#include <cmath>

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/tracks.h"

namespace attnscope {
namespace {

using M = GateMeasures;

constexpr double kBarsHead = 1.4;     // em above a map: the title of its bars
constexpr double kFoot = 1.6;         // em below a map: its bars' range
constexpr double kLargestRow = 2.6;   // em
constexpr double kMinRow = 0.45;      // em
constexpr double kLargestColumn = 7;  // em
constexpr double kMinPlot = 4;        // em
constexpr double kBars = 6.5;         // em
constexpr double kChart = 0.32;       // fraction of the height for the chart
constexpr double kMinChart = 7;       // em
constexpr double kMaxChart = 15;      // em

// Upper limit of the chart's y axis.
double largest_gate(const GateSets& sets) {
  double maximum = 0;
  for (const GateSet& set : sets) {
    for (Index n = 0; n < set.mean.size(); ++n) {
      const float high = set.mean[n] + (set.deviation.defined() ? set.deviation[n] : 0);
      if (!std::isnan(high)) maximum = std::max(maximum, static_cast<double>(high));
    }
  }
  return maximum > 0 ? std::min(1.05 * maximum, 1.0) : 1;
}

TokenAxis row_axis(const GateSet& set) {
  TokenAxis axis;
  for (const GateSet::Row& row : set.rows) axis.labels.push_back(row.label());
  return axis;
}

// Index of the pinned token in the selected segment; -1 if none.
Index pinned_token(const ViewInput& input) {
  const ViewSettings& view = input.session.view;
  const SelectedTap found = find_tap(input.trace, view);
  if (found.tap == nullptr || view.pinned_query < 0) return -1;
  if (view.pinned_query >= found.tap->queries()) return -1;
  return input.trace.token_index(found.tap->query_rows, found.tap->queries(), view.pinned_query);
}

class GatePlacer {
 public:
  GatePlacer(const Page& page, GatePlaces& places) : page_(page), places_(places) {}

  bool place(const Box& inside) {
    columns_ = {{"token", ""}, {}, {}};
    for (const TraceToken& token : places_.tokens) columns_.labels.push_back(token.label);
    columns_ = measured(page_, std::move(columns_));
    left_ = y_axis_width(page_, places_.gate_axis);
    for (const GateSet& set : places_.sets) {
      left_ = std::max(left_, axis_depth_left(page_, row_axis(set), 12 * em()));
    }
    const bool has_bars = inside.width > 36 * em();
    places_.bars = has_bars ? kBars * em() : 0;
    bar_ = colour_bar_width(page_);
    width_ = std::min(inside.width - left_ - bar_ - places_.bars - (has_bars ? 0.7 * em() : 0),
                      static_cast<double>(places_.length()) * kLargestColumn * em());
    if (width_ < kMinPlot * em()) return false;
    top_ = axis_depth_top(page_, columns_, width_, std::min(9 * em(), 0.22 * inside.height));
    const Tracks tracks = choose_rows(inside.height / em());
    if (tracks.empty()) return false;
    places_.top = inside.y + page_.top_margin(inside.height, extent(tracks) * em());
    const double x = inside.x + (inside.width - left_ - width_ - places_.bars - bar_) / 2 + left_;
    place_maps(rows({x, places_.top, width_, 0}, tracks, em()));
    return true;
  }

 private:
  double em() const { return page_.em(); }

  // Heights in em of summary, maps, space below the last map, chart, and a line of text. All map
  // rows have equal height. Omits the chart if space is short; empty if the maps do not fit.
  Tracks choose_rows(double height) const {
    const bool has_bars = places_.bars > 0;
    const double chart = std::clamp(kChart * height, kMinChart, kMaxChart);
    for (const auto& [min_row, chart_height] : {std::pair(1.0, chart), {kMinRow, 0.0}}) {
      Tracks tracks{{.size = M::line, .gap = M::title + top_ / em()}};
      for (const GateSet& set : places_.sets) {
        const auto rows = static_cast<double>(gate_rows(set));
        tracks.push_back({.size = min_row * rows,
                          .most = kLargestRow * rows,
                          .weight = rows,
                          .gap = foot() + (has_bars ? kBarsHead : 0) + M::title});
      }
      tracks.back().gap = 0;
      tracks.push_back({.size = foot()});
      tracks.push_back({.size = chart_height});
      tracks.push_back({.size = M::line});
      if (fit(tracks, height)) return tracks;
    }
    return {};
  }
  double foot() const { return places_.bars > 0 ? kFoot : 0.5; }  // em

  void place_maps(const std::vector<Box>& boxes) {
    const ViewInput& input = page_.input();
    const ViewSettings& view = input.session.view;
    const Index pinned = pinned_token(input);
    for (std::size_t n = 0; n < places_.sets.size(); ++n) {
      const GateSet& set = places_.sets[n];
      MatrixPlot m;
      m.scale = input.canvas.scale;
      m.rows = measured(page_, row_axis(set));
      m.left = left_;
      m.columns = columns_;
      set_visible(m, {0, view.column, static_cast<double>(gate_rows(set)), view.width});
      m.top = n == 0 ? top_ : 0;
      if (n > 0) m.columns = {};
      m.plot = boxes[n + 1];
      const double gap = places_.bars > 0 ? places_.bars + 0.7 * em() : 0;
      m.right = {m.plot.right() + gap, m.plot.y, bar_, m.plot.height};
      m.pinned_column = pinned;
      PairAt pairs = pair_at(m);
      pairs.columns = places_.length();
      if (input.interaction.pointer) {
        std::tie(m.hovered_row, m.hovered_column) = pairs(*input.interaction.pointer);
      }
      places_.pairs.push_back(pairs);
      places_.maps.push_back(std::move(m));
    }
    const std::size_t foot = places_.sets.size() + 1;
    places_.bottom = boxes[foot].bottom();
    places_.chart_height = boxes[foot + 1].height;
  }

  const Page& page_;
  GatePlaces& places_;
  TokenAxis columns_;
  double left_ = 0, width_ = 0, top_ = 0, bar_ = 0;
};

}  // namespace

Index GatePlaces::shown_row(const ViewInput& input, std::size_t set) const {
  if (maps[set].hovered_row >= 0) return maps[set].hovered_row;
  const ViewSettings& view = input.session.view;
  const TracePart part = input.part();
  const std::vector<GateSet::Row>& rows = sets[set].rows;
  const auto found = std::ranges::find_if(rows, [&](const GateSet::Row& row) {
    return row.layer == view.layer && (row.head < 0 || row.head == view.head) &&
           (row.step < 0 || row.step == part.step);
  });
  return found == rows.end() ? 0 : found - rows.begin();
}

std::optional<GatePlaces> place_gates(const Page& page, const Box& inside, const GateSets& sets,
                                      const std::vector<TraceToken>& tokens) {
  GatePlaces places{.sets = sets, .tokens = tokens};
  places.gate_axis = {.least = 0, .most = largest_gate(sets), .titles = {"gate", ""}};
  if (!GatePlacer(page, places).place(inside)) return std::nullopt;
  return places;
}

std::function<std::optional<Hit>(Point)> gate_hits(const ViewInput& input,
                                                   const GatePlaces& places) {
  const ViewSettings& view = input.session.view;
  const SelectedTap found = find_tap(input.trace, view);
  std::vector<Index> rows(places.tokens.size(), -1);
  if (found.tap != nullptr) {
    for (Index i = 0; i < found.tap->queries(); ++i) {
      const Index n = input.trace.token_index(found.tap->query_rows, found.tap->queries(), i);
      if (n >= 0 && n < places.length()) rows[static_cast<std::size_t>(n)] = i;
    }
  }
  std::vector<std::vector<GateSet::Row>> set_rows;
  for (const GateSet& set : places.sets) set_rows.push_back(set.rows);
  return [pairs = places.pairs, rows, set_rows, layer = view.layer,
          head = view.head](Point p) -> std::optional<Hit> {
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      const auto [row, token] = pairs[n](p);
      if (row < 0 || token < 0) continue;
      const GateSet::Row& gate_row = set_rows[n][static_cast<std::size_t>(row)];
      const Index query = rows[static_cast<std::size_t>(token)];
      if (query < 0) return std::nullopt;
      return Hit{gate_row.layer >= 0 ? gate_row.layer : layer,
                 gate_row.head >= 0 ? gate_row.head : head, query, -1};
    }
    return std::nullopt;
  };
}

std::vector<Handle> gate_handles(const GatePlaces& places) {
  std::vector<Handle> handles;
  for (std::size_t n = 0; n < places.sets.size(); ++n) {
    const MatrixPlot& m = places.maps[n];
    const std::vector<GateSet::Row>& rows = places.sets[n].rows;
    const double row_height = m.plot.height / static_cast<double>(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const GateSet::Row& gate_row = rows[r];
      if (gate_row.layer < 0) continue;
      handles.push_back({.area = {m.plot.x - m.left, m.plot.y + static_cast<double>(r) * row_height,
                                  m.left, row_height},
                         .help = "Show " + gate_row.label() + " below, and in other views.",
                         .click = [gate_row](Session& session) {
                           session.view.layer = gate_row.layer;
                           if (gate_row.head >= 0) session.view.head = gate_row.head;
                           if (gate_row.step >= 0) session.view.part.step = gate_row.step;
                         }});
    }
  }
  return handles;
}

}  // namespace attnscope
