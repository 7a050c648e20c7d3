// Gates: how much of what is new each token lets in, wherever the run has gates: GTrXL's joins
// (Parisotto et al., 2019), memorizing's mix of memory and segment (Wu et al., 2022), SPALM's mix
// of what was retrieved and the model's own state (Yogatama et al., 2021).
#include "core/analysis/gates.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/join.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/example.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/row_bars.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kLine = 1.6;         // em, of a line of text
constexpr double kTitle = 1.5;        // em, of a map's title
constexpr double kBarsHead = 1.4;     // em above a map: the title of its bars
constexpr double kFoot = 1.6;         // em below a map: its bars' range
constexpr double kLargestRow = 2.6;   // em
constexpr double kLeastRow = 0.45;    // em
constexpr double kLargestColumn = 7;  // em
constexpr double kLeastPlot = 4;      // em
constexpr double kBars = 6.5;         // em
constexpr double kChart = 0.32;       // of the height, for the shown row token by token
constexpr double kLeastChart = 7;     // em
constexpr double kMostChart = 15;     // em
constexpr double kNumberWidth = 2.5, kNumberHeight = 1.1;  // em: cells this large have numbers

Stack shown_stack(const ViewInput& input) {
  return shown_part(input).stack;
}

// Why there is nothing to show; headline and advice.
std::pair<std::string, std::string> refusal_of(const Trace& trace) {
  if (!trace.given && has_gates(trace)) return {};
  return {
      "This run has no gates",
      "Gates are in models with the gated join (GTrXL: Join, Gated), in the variant Memorizing, "
      "and in retrieval by SPALM. Choose one of them."};
}

std::string objection(const Trace& trace) {
  const std::string headline = refusal_of(trace).first;
  return headline.empty() ? "" : headline + ".";
}

const std::vector<TraceToken>& tokens_of(const ViewInput& input) {
  return shown_stack(input) == Stack::Encoder ? input.trace.tokens_of({kSourceStream, 0})
                                              : input.trace.tokens;
}

std::string number(double value) {
  return std::isnan(value) ? "none" : fixed(value, 2);
}

class Gates {
 public:
  Gates(const ViewInput& input, Page& page, std::vector<GateSet> sets)
      : input_(input), page_(page), sets_(std::move(sets)), tokens_(tokens_of(input)) {}

  ViewLayout lay_out(const Box& inside) {
    up_.most = largest();
    if (!place(inside)) return no_space(page_);
    draw_summary(inside);
    for (std::size_t n = 0; n < sets_.size(); ++n) draw_set(n);
    draw_tokens();
    return finish();
  }

 private:
  // What the chart must have space for.
  double largest() const {
    double most = 0;
    for (const GateSet& set : sets_) {
      for (Index n = 0; n < set.mean.size(); ++n) {
        const float high = set.mean[n] + (set.deviation.defined() ? set.deviation[n] : 0);
        if (!std::isnan(high)) most = std::max(most, static_cast<double>(high));
      }
    }
    return most > 0 ? std::min(1.05 * most, 1.0) : 1;
  }

  double em() const { return page_.em(); }
  Index length() const { return static_cast<Index>(tokens_.size()); }
  static Index rows_of(const GateSet& set) { return static_cast<Index>(set.rows.size()); }

  TokenAxis row_axis(const GateSet& set) const {
    TokenAxis axis;
    for (const GateSet::Row& row : set.rows) axis.labels.push_back(row.label());
    return axis;
  }

  // Maps below each other, with the same columns; the first has the tokens above it. Below them,
  // where there is space, the chart.
  bool place(const Box& inside) {
    TokenAxis columns{{"token", ""}, {}, {}};
    for (const TraceToken& token : tokens_) columns.labels.push_back(token.label);
    columns = measured(page_, std::move(columns));
    Index rows = 0;
    double left = chart_left(page_, up_);
    for (const GateSet& set : sets_) {
      rows += rows_of(set);
      left = std::max(left, axis_depth_left(page_, row_axis(set), 12 * em()));
    }
    bars_ = inside.width > 36 * em() ? kBars * em() : 0;
    const double bar = colour_bar_width(page_);
    const auto all = static_cast<double>(length());
    const double width = std::min(inside.width - left - bar - bars_ - (bars_ > 0 ? 0.7 * em() : 0),
                                  all * kLargestColumn * em());
    if (width < kLeastPlot * em()) return false;
    const double most = std::min(9 * em(), 0.22 * inside.height);
    const double top = axis_depth_top(page_, columns, width, most);
    const auto count = static_cast<double>(sets_.size());
    const double foot = bars_ > 0 ? kFoot * em() : 0.5 * em();
    const double around = kLine * em() + top + count * (kTitle * em() + foot) +
                          (bars_ > 0 ? (count - 1) * kBarsHead * em() : 0);
    chart_height_ = std::clamp(kChart * inside.height, kLeastChart * em(), kMostChart * em());
    double space = inside.height - around - chart_height_ - kLine * em();
    if (space < static_cast<double>(rows) * em()) {
      chart_height_ = 0;
      space = inside.height - around - kLine * em();
    }
    const double row = std::min(space / static_cast<double>(rows), kLargestRow * em());
    if (row < kLeastRow * em()) return false;
    const double height = around + row * static_cast<double>(rows) + chart_height_ + kLine * em();
    y_ = inside.y + page_.spare_above(inside.height, height);
    const double x = inside.x + (inside.width - left - width - bars_ - bar) / 2 + left;
    double y = y_ + kLine * em();
    for (std::size_t n = 0; n < sets_.size(); ++n) {
      if (n > 0 && bars_ > 0) y += kBarsHead * em();
      MatrixPlot m;
      m.scale = input_.scale;
      m.rows = measured(page_, row_axis(sets_[n]));
      m.columns = columns;
      m.left = left;
      m.top = n == 0 ? top : 0;
      if (n > 0) m.columns = {};
      const double own = row * static_cast<double>(rows_of(sets_[n]));
      m.plot = {x, y + kTitle * em() + m.top, width, own};
      m.right = {x + width + (bars_ > 0 ? bars_ + 0.7 * em() : 0), m.plot.y, bar, own};
      const ViewSettings& view = input_.experiment.view;
      MatrixPlot whole = m;
      whole.columns = columns;
      set_visible(whole, {0, view.column, static_cast<double>(rows_of(sets_[n])), view.width});
      m.row = whole.row;
      m.column = whole.column;
      m.height = whole.height;
      m.width = whole.width;
      m.pinned_column = pinned_token();
      PairAt at = pair_at(m);
      at.columns = length();
      if (input_.pointer) std::tie(m.hovered_row, m.hovered_column) = at(*input_.pointer);
      pairs_.push_back(at);
      maps_.push_back(std::move(m));
      y += kTitle * em() + maps_.back().top + own + foot;
    }
    bottom_ = y;
    return true;
  }

  // The token that is pinned, by the rows of the shown segment.
  Index pinned_token() const {
    const ViewSettings& view = input_.experiment.view;
    const Found found = find_tap(input_.trace, view);
    if (found.tap == nullptr || view.pinned_query < 0) return -1;
    if (view.pinned_query >= found.tap->queries()) return -1;
    return input_.trace.token_index(found.tap->query_rows, found.tap->queries(), view.pinned_query);
  }

  // Set and row under the pointer; otherwise of each set the row of the layer (and head) that the
  // settings look at, else its first.
  Index shown_row(std::size_t n) const {
    if (maps_[n].hovered_row >= 0) return maps_[n].hovered_row;
    const ViewSettings& view = input_.experiment.view;
    const TracePart part = shown_part(input_);
    const auto found = std::ranges::find_if(sets_[n].rows, [&](const GateSet::Row& row) {
      return row.layer == view.layer && (row.head < 0 || row.head == view.head) &&
             (row.step < 0 || row.step == part.step);
    });
    return found == sets_[n].rows.end() ? 0 : found - sets_[n].rows.begin();
  }

  // Where a gate opens farthest, where there is a difference: ", at “?” in layer 0 up to 0.15".
  std::string widest(const GateSet& set) const {
    Index row = -1, token = -1;
    float least = 2, most = -1;
    for (Index r = 0; r < rows_of(set); ++r) {
      for (Index i = 0; i < length(); ++i) {
        const float value = set.mean(r, i);
        if (std::isnan(value)) continue;
        least = std::min(least, value);
        if (value <= most) continue;
        most = value;
        row = r;
        token = i;
      }
    }
    if (row < 0 || most - least < 0.005F) return "";
    const std::string place = set.rows[static_cast<std::size_t>(row)].label();
    return ", at “" + tokens_[static_cast<std::size_t>(token)].label + "”" +
           (place.empty() ? "" : " in " + place) + " " + number(static_cast<double>(most));
  }

  void draw_summary(const Box& inside) {
    std::string all, few;
    for (const GateSet& set : sets_) {
      const std::string mean = number(set.all_mean());
      all += (all.empty() ? "" : "; ") + set.short_title + " " + mean + widest(set);
      few += (few.empty() ? "" : ", ") + set.short_title + " " + mean;
    }
    page_.text({inside.x, y_ + 0.7 * em()},
               page_.fitting({"How far the gates are open on average: " + all + ".",
                              "Gates on average: " + few + ".", few},
                             em(), inside.width),
               em());
  }

  ColourRange range() const {
    ColourRange range;
    range.colour_map = input_.experiment.view.colour_map;
    if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
    range.most = 0;
    range.least = 1;
    for (const GateSet& set : sets_) {
      for (const float value : set.mean) {
        if (std::isnan(value)) continue;
        range.most = std::max(range.most, static_cast<double>(value));
        range.least = std::min(range.least, static_cast<double>(value));
      }
    }
    if (!(range.most > 0)) range.most = 1;
    const bool apart = range.most - range.least > 1e-3;
    if (!input_.experiment.view.normalise || !apart) range.least = 0;
    return range;
  }

  void draw_set(std::size_t n) {
    const GateSet& set = sets_[n];
    MatrixPlot& m = maps_[n];
    const ColourRange colours = range();
    const double title = m.plot.y - m.top - (kTitle - 0.6) * em();
    const double width = m.left + m.plot.width + (bars_ > 0 ? bars_ : 0);
    page_.add(Text{{m.plot.x - m.left, title},
                   page_.fitting({set.title, set.short_title}, em(), width / 1.08),
                   page_.theme().text,
                   em(),
                   Align::Start,
                   0,
                   true});
    if (bars_ > 0) {
      page_.faint_text({m.plot.x - m.left, m.plot.bottom() + 0.9 * em()},
                       page_.fitting({set.closed + " · " + set.open, set.open}, page_.small(),
                                     m.left + m.plot.width),
                       page_.small());
    }
    HeatMap cells = matrix_cells(m);
    cells.values = set.mean;
    cells.missing = blend(page_.theme().background, page_.theme().line, 0.35);
    cells.least = colours.least;
    cells.most = colours.most;
    cells.colour_map = colours.colour_map;
    page_.add(cells);
    draw_numbers(set, m, colours);
    draw_frame(m);
    if (bars_ > 0) {
      RowBars bars;
      for (Index row = 0; row < rows_of(set); ++row) {
        bars.values.push_back(set.row_mean(row));
        bars.numbers.push_back(number(bars.values.back()));
      }
      bars.titles = {"mean"};
      bars.least_range = colours.most;
      MatrixPlot by_rows = m;
      draw_row_bars(page_,
                    {m.plot.right() + 0.7 * em(), m.plot.y, bars_ - 0.7 * em(), m.plot.height},
                    by_rows, bars);
    }
    // Low bars have no space for numbers.
    if (m.plot.height >= 3 * em()) {
      draw_colour_bar(page_, m.right, colours, {"gate", ""});
    }
  }

  // Frame and axes; the tokens stand above the first map alone.
  void draw_frame(MatrixPlot& m) {
    MatrixPlot shown = m;
    shown.pinned_column = -1;
    const Index hovered = m.hovered_column;
    if (m.columns.count() == 0) shown.hovered_column = -1;
    draw_matrix_frame(page_, shown, {});
    const double column = m.plot.width / m.width;
    page_.add(Clip{m.plot});
    for (const Index token : {m.pinned_column, hovered_token()}) {
      if (token < 0) continue;
      page_.add(OutlinedBox{{m.plot.x + (static_cast<double>(token) - m.column) * column, m.plot.y,
                             column, m.plot.height},
                            translucent(page_.theme().accent, token == hovered ? 0.6 : 1),
                            token == m.pinned_column ? 2.0 : 1.0});
    }
    page_.add(Clip{});
  }

  Index hovered_token() const {
    for (const MatrixPlot& m : maps_) {
      if (m.hovered_column >= 0) return m.hovered_column;
    }
    if (input_.pointer && !chart_.empty() && chart_.plot.contains(*input_.pointer)) {
      const double at = std::round(chart_.value_x(input_.pointer->x));
      if (at >= 0 && at < static_cast<double>(length())) return static_cast<Index>(at);
    }
    return -1;
  }

  void draw_numbers(const GateSet& set, const MatrixPlot& m, const ColourRange& colours) {
    const double width = m.plot.width / m.width;
    const double height = m.plot.height / static_cast<double>(rows_of(set));
    if (width < kNumberWidth * em() || height < kNumberHeight * em()) return;
    page_.add(Clip{m.plot});
    for (Index row = 0; row < rows_of(set); ++row) {
      for (Index i = 0; i < length(); ++i) {
        const auto value = static_cast<double>(set.mean(row, i));
        const double x = m.plot.x + (static_cast<double>(i) + 0.5 - m.column) * width;
        if (std::isnan(value) || x < m.plot.x || x > m.plot.right()) continue;
        page_.add(Text{{x, m.plot.y + (static_cast<double>(row) + 0.5) * height},
                       fixed(value, 2),
                       ink_on(colour_map(colours.colour_map).at(colours.position(value))),
                       page_.small(),
                       Align::Middle});
      }
    }
    page_.add(Clip{});
  }

  // The shown row of each set, token by token, with its spread over components.
  void draw_tokens() {
    if (chart_height_ == 0) {
      draw_hovered(bottom_ + 0.8 * em());
      return;
    }
    const MatrixPlot& m = maps_.front();
    std::vector<LegendEntry> entries;
    bool spread = false;
    for (std::size_t n = 0; n < sets_.size(); ++n) {
      const std::string row = sets_[n].rows[static_cast<std::size_t>(shown_row(n))].label();
      entries.push_back({head_colour(static_cast<Index>(n)),
                         sets_[n].short_title + (row.empty() ? "" : ", " + row)});
      spread |= sets_[n].deviation.defined();
    }
    const double x = m.plot.x - m.left, width = m.left + m.plot.width + bars_;
    const std::string title = "Token by token";
    const std::string more =
        ": mean over " + std::to_string(sets_.front().components) + " components ± one deviation";
    page_.add(Text{{x, bottom_ + 0.7 * em()},
                   page_.fitting({title + (spread ? more : ""), title}, em(), width / 1.08),
                   page_.theme().text,
                   em(),
                   Align::Start,
                   0,
                   true});
    const double legend = legend_height(page_, entries, width);
    draw_legend(page_, entries, {x, bottom_ + kLine * em(), width, legend});
    const double top = bottom_ + kLine * em() + legend;
    chart_ =
        place_chart(page_, {x, top, m.left + m.plot.width, chart_height_ - kLine * em() - legend},
                    {.least = m.column - 0.5,
                     .most = m.column + m.width - 0.5,
                     .titles = {"token number", ""},
                     .whole = true},
                    up_, m.left, 0);
    if (chart_.empty()) return;
    draw_chart(page_, chart_);
    for (std::size_t n = 0; n < sets_.size(); ++n) draw_row(n);
    bottom_ += chart_height_;
    draw_hovered(bottom_ + 0.7 * em());
  }

  void draw_row(std::size_t n) {
    const GateSet& set = sets_[n];
    const Index row = shown_row(n);
    const Colour colour = head_colour(static_cast<Index>(n));
    const double column = chart_.plot.width / (chart_.x.most - chart_.x.least);
    std::vector<Point> points;
    page_.add(Clip{chart_.plot});
    for (Index i = 0; i < length(); ++i) {
      const auto mean = static_cast<double>(set.mean(row, i));
      const auto at = static_cast<double>(i);
      points.push_back({at, mean});
      if (!set.deviation.defined() || std::isnan(mean)) continue;
      const auto deviation = static_cast<double>(set.deviation(row, i));
      const double high = chart_.at_y(std::min(1.0, mean + deviation));
      const double low = chart_.at_y(std::max(0.0, mean - deviation));
      page_.add(FilledBox{{chart_.at_x(at) - column / 2, high, std::max(column, 1.0), low - high},
                          translucent(colour, 0.22)});
    }
    page_.add(Clip{});
    draw_curve(page_, chart_, points, colour, 2);
    if (column < 0.6 * em()) return;
    for (const Point& p : points) {
      const bool seen = p.x >= chart_.x.least && p.x <= chart_.x.most && !std::isnan(p.y);
      if (!seen) continue;
      const double side = 0.36 * em();
      page_.add(FilledBox{{chart_.at_x(p.x) - side / 2, chart_.at_y(p.y) - side / 2, side, side},
                          colour,
                          side / 2});
    }
  }

  // The numbers of the token under the pointer, or of the pinned one.
  void draw_hovered(double y) {
    Index token = hovered_token();
    if (token < 0) token = maps_.front().pinned_column;
    std::vector<std::string> candidates;
    if (token >= 0) {
      std::string words = "“" + tokens_[static_cast<std::size_t>(token)].label + "”";
      for (std::size_t n = 0; n < sets_.size(); ++n)
        words += (n == 0 ? ": " : "; ") + value(n, token);
      candidates = {words};
    } else if (sets_.front().id == "memory" && !input_.framed) {
      candidates = {"grey: nothing is stored yet"};
    }
    if (candidates.empty()) return;
    const MatrixPlot& m = maps_.front();
    page_.faint_text({m.plot.x - m.left, y},
                     page_.fitting(candidates, page_.small(), m.left + m.plot.width + bars_),
                     page_.small());
  }

  std::string value(std::size_t n, Index token) const {
    const GateSet& set = sets_[n];
    const Index row = shown_row(n);
    const std::string place = set.rows[static_cast<std::size_t>(row)].label();
    std::string words = set.short_title + (place.empty() ? " " : ", " + place + ", ");
    const auto mean = static_cast<double>(set.mean(row, token));
    if (std::isnan(mean)) return words + "no gate";
    words += number(mean);
    if (!set.deviation.defined()) return words;
    return words + " ± " + number(static_cast<double>(set.deviation(row, token))) + " (" +
           number(static_cast<double>(set.least(row, token))) + " to " +
           number(static_cast<double>(set.most(row, token))) + ")";
  }

  ViewLayout finish() {
    const MatrixPlot& first = maps_.front();
    ViewLayout layout;
    layout.plot = {first.plot.x, first.plot.y, first.plot.width,
                   maps_.back().plot.bottom() - first.plot.y};
    layout.column = first.column;
    layout.width = first.width;
    layout.height = 1;
    layout.rows = 1;
    layout.columns = length();
    layout.hit = hits();
    for (std::size_t n = 0; n < sets_.size(); ++n) add_handles(n, layout);
    layout.list = page_.take(bottom_ + kLine * em());
    return layout;
  }

  // A click on a row's name looks at its layer and head.
  void add_handles(std::size_t n, ViewLayout& layout) const {
    const MatrixPlot& m = maps_[n];
    const double row = m.plot.height / static_cast<double>(rows_of(sets_[n]));
    for (Index r = 0; r < rows_of(sets_[n]); ++r) {
      const GateSet::Row& of = sets_[n].rows[static_cast<std::size_t>(r)];
      if (of.layer < 0) continue;
      layout.handles.push_back(
          {.area = {m.plot.x - m.left, m.plot.y + static_cast<double>(r) * row, m.left, row},
           .help = "Show " + of.label() + " below, and in other views.",
           .click = [of](Experiment& e) {
             e.view.layer = of.layer;
             if (of.head >= 0) e.view.head = of.head;
             if (of.step >= 0) e.view.part.step = of.step;
           }});
    }
  }

  // Tokens of the shown segment are rows of its maps.
  std::function<std::optional<Hit>(Point)> hits() const {
    const ViewSettings& view = input_.experiment.view;
    const Found found = find_tap(input_.trace, view);
    std::vector<Index> rows(tokens_.size(), -1);
    if (found.tap != nullptr) {
      for (Index i = 0; i < found.tap->queries(); ++i) {
        const Index at = input_.trace.token_index(found.tap->query_rows, found.tap->queries(), i);
        if (at >= 0 && at < length()) rows[static_cast<std::size_t>(at)] = i;
      }
    }
    std::vector<std::vector<GateSet::Row>> places;
    for (const GateSet& set : sets_) places.push_back(set.rows);
    return [pairs = pairs_, rows, places, layer = view.layer,
            head = view.head](Point p) -> std::optional<Hit> {
      for (std::size_t n = 0; n < pairs.size(); ++n) {
        const auto [row, token] = pairs[n](p);
        if (row < 0 || token < 0) continue;
        const GateSet::Row& of = places[n][static_cast<std::size_t>(row)];
        const Index query = rows[static_cast<std::size_t>(token)];
        if (query < 0) return std::nullopt;
        return Hit{of.layer >= 0 ? of.layer : layer, of.head >= 0 ? of.head : head, query, -1};
      }
      return std::nullopt;
    };
  }

  const ViewInput& input_;
  Page& page_;
  const std::vector<GateSet> sets_;
  const std::vector<TraceToken>& tokens_;
  ChartAxis up_{.least = 0, .most = 1, .titles = {"gate", ""}};
  std::vector<MatrixPlot> maps_;
  std::vector<PairAt> pairs_;
  Chart chart_;
  double bars_ = 0, chart_height_ = 0, y_ = 0, bottom_ = 0;
};

// The sets of the shown stack; where it has none, those of the decoder.
std::vector<GateSet> shown_gates(const ViewInput& input) {
  return gates_of(input.trace, shown_stack(input));
}

std::string about(const std::vector<GateSet>& sets) {
  std::string words;
  for (const GateSet& set : sets) {
    words +=
        (words.empty() ? "Gates: " : "; ") + set.title + " (" + set.closed + ", " + set.open + ")";
  }
  return words + ".";
}

ViewLayout lay_out_gates(const ViewInput& input) {
  Page page(input);
  if (input.trace.tokens.empty() || input.trace.attention.empty()) {
    const Found found = find_tap(input);
    return page.message(found.headline.empty() ? "Nothing to show" : found.headline, found.advice);
  }
  if (const auto [headline, advice] = refusal_of(input.trace); !headline.empty()) {
    return page.message(headline, advice);
  }
  std::vector<GateSet> sets = shown_gates(input);
  if (sets.empty()) return page.message("No gates here", "Choose the decoder.");
  const Box inside = page.frame(input.trace.model + " · gates", caption(input.trace, about(sets)));
  return Gates(input, page, std::move(sets)).lay_out(inside);
}

ViewData gates_data(const ViewInput& input) {
  if (const auto [headline, advice] = refusal_of(input.trace); !headline.empty()) {
    throw InputError(headline + ". " + advice);
  }
  const std::vector<GateSet> sets = shown_gates(input);
  if (sets.empty()) throw InputError("No gates here. Choose the decoder.");
  std::vector<std::string> tokens;
  for (const TraceToken& token : tokens_of(input)) tokens.push_back(token.label);
  ViewData data;
  for (const GateSet& set : sets) {
    std::vector<std::string> rows;
    for (const GateSet::Row& row : set.rows) rows.push_back(row.label());
    data.matrices.push_back({set.id + " mean", set.mean, rows, tokens});
    if (!set.deviation.defined()) continue;
    data.matrices.push_back({set.id + " deviation", set.deviation, rows, tokens});
    data.matrices.push_back({set.id + " least", set.least, rows, tokens});
    data.matrices.push_back({set.id + " most", set.most, rows, tokens});
  }
  return data;
}

void show_example(Experiment& experiment) {
  use_bundled(experiment, "recall-gated");
}

}  // namespace

View gates_view() {
  View view{"gates", "Gates",
            "How far gates are open, token by token: GTrXL's joins, memorizing's mix of memory and "
            "segment, SPALM's of retrieved tokens and the model.",
            true, lay_out_gates};
  view.data = gates_data;
  view.example = show_example;
  view.objection = objection;
  view.restrict_controls = [](const ViewSettings&, const Trace*, ViewControls& controls) {
    controls.colours = ViewControls::Colours::Sequential;
  };
  view.group = "Memory";
  return view;
}

}  // namespace attnscope
