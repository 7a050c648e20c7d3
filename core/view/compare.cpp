// Two runs side by side: their maps, the difference, how far each row is apart, what each took.
#include <algorithm>
#include <cmath>

#include "core/analysis/cost.h"
#include "core/analysis/divergence.h"
#include "core/analysis/prediction.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/colour_bar.h"
#include "core/view/describe.h"
#include "core/view/fact_table.h"
#include "core/view/matrix_plot.h"
#include "core/view/range.h"
#include "core/view/row_bars.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMostAspect = 4;          // of a map
constexpr double kLargestCell = 5.5;       // em
constexpr double kLeastPlot = 4;           // em
constexpr double kHeading = 2.0;           // em above a map
constexpr double kBarGap = 0.6;            // em between a map and its colour bar
constexpr double kGap = 1.6;               // em between maps
constexpr double kRowBars = 5.0;           // em
constexpr double kRowBarsGap = 0.8;        // em
constexpr double kLeastDifference = 0.01;  // the colours of a difference end here at least

constexpr Index kMostPairs = Index{1} << 24;  // of a map

// A head that takes part in the comparison.
struct Side {
  const char* letter;
  Colour colour;
  const Trace* trace;
  const AttentionTap* tap;
  Index head;  // within the tap's group
  ViewSettings view;
  Tensor weights;  // [L_q, L_k]
  bool with_signs;
};

enum class Show { First, Second, Difference };

bool same_tokens(const Trace& a, const Trace& b) {
  return std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end(),
                    [](const TraceToken& x, const TraceToken& y) { return x.label == y.label; });
}

// Why the two maps have no difference; empty when they do.
std::string no_difference(const Side& a, const Side& b) {
  if (a.tap->queries() != b.tap->queries()) {
    return "No difference to show: A has " + std::to_string(a.tap->queries()) + " tokens, B has " +
           std::to_string(b.tap->queries()) + ".";
  }
  if (a.tap->keys() != b.tap->keys() || a.tap->result.columns != b.tap->result.columns) {
    return "No difference to show: the keys of A and B are not the same, " +
           std::to_string(a.tap->keys()) + " and " + std::to_string(b.tap->keys()) + " columns.";
  }
  return "";
}

std::string place_name(const Side& side) {
  return "layer " + std::to_string(side.view.layer) + ", head " + std::to_string(side.view.head);
}

// What tells a side from the other, in words; where nothing does, its layer and head.
std::string heading(const Side& side, const Side& other) {
  std::vector<std::string> parts;
  const auto add = [&parts](const std::string& own, const std::string& others) {
    if (own != others) parts.push_back(own);
  };
  add(side.trace->model, other.trace->model);
  add(describe_variant(*side.tap), describe_variant(*other.tap));
  add("position: " + describe_encoding(*side.tap), "position: " + describe_encoding(*other.tap));
  add(place_name(side), place_name(other));
  if (parts.empty() && !same_tokens(*side.trace, *other.trace)) parts.push_back("its own text");
  if (parts.empty()) return place_name(side);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " · ") + part;
  return text;
}

std::string bytes_text(std::size_t bytes) {
  const auto count = static_cast<double>(bytes);
  if (count < 1e6) return fixed(count / 1e3, 1) + " kB";
  return count < 1e9 ? fixed(count / 1e6, 1) + " MB" : fixed(count / 1e9, 2) + " GB";
}

std::string percent(Index part, Index whole) {
  if (part == whole || whole == 0) return "";
  return " (" + brief(100.0 * static_cast<double>(part) / static_cast<double>(whole), 2) + " %)";
}

std::vector<Fact> facts(const Side& a, const Side& b) {
  std::vector<Fact> list;
  const auto add = [&](const std::string& name, const auto& text_of) {
    list.push_back({name, text_of(a), text_of(b)});
  };
  const bool same = same_tokens(*a.trace, *b.trace);
  const auto bits = [](const Side& side, const auto& text_of) -> std::string {
    const auto known = prediction(*side.trace);
    return known ? text_of(*known) : "–";
  };
  add("Perplexity", [&](const Side& side) {
    return bits(side, [](const Prediction& p) { return brief(p.perplexity, 4); });
  });
  add("Bits per token", [&](const Side& side) {
    return bits(side, [](const Prediction& p) { return fixed(p.bits_per_token, 3); });
  });
  if (!same) {
    add("Bits per byte", [&](const Side& side) {
      return bits(side, [](const Prediction& p) {
        return std::isnan(p.bits_per_byte) ? std::string("–") : fixed(p.bits_per_byte, 3);
      });
    });
    add("Tokens", [](const Side& side) {
      return grouped(static_cast<long long>(side.trace->tokens.size()));
    });
  }
  add("Time", [](const Side& side) { return brief(side.trace->milliseconds, 3) + " ms"; });
  add("Pairs", [](const Side& side) {
    const RunCost cost = run_cost(*side.trace);
    return grouped(cost.pairs) + percent(cost.pairs, cost.all_pairs);
  });
  add("Memory", [](const Side& side) { return bytes_text(run_cost(*side.trace).bytes); });
  return list;
}

// How the maps stand on the page: some beside each other, the table in a place of its own.
struct Arrangement {
  Index columns = 1, rows = 1;
  double map_width = 0, map_height = 0;
  bool table_in_slot = false;  // in the place of a map, else below all
  bool table = true;
};

// A map and its place.
struct Panel {
  Show show;
  MatrixPlot matrix;
};

class Comparison {
 public:
  explicit Comparison(const ViewInput& input) : input_(input), page_(input) {}

  ViewLayout lay_out() {
    if (auto refusal = find_sides()) return std::move(*refusal);
    choose_maps();
    const Box inside = page_.frame(title(), caption_text());
    facts_ = facts(a_, b_);
    Arrangement best = arrange(inside);
    if (best.map_width < kLeastPlot * em() && shown_.size() > 2) {
      shown_ = {Show::First, Show::Second};  // a small picture of both rather than none of all
      best = arrange(inside);
    }
    if (best.map_width < kLeastPlot * em() || best.map_height <= 0) return no_space(page_);
    place(inside, best);
    hover();
    for (Panel& panel : panels_) draw(panel);
    if (!refusal_.empty() && refusal_box_.width > 0) draw_refusal();
    if (best.table) draw_fact_table(page_, table_box_, "A", "B", facts_);
    return finish();
  }

 private:
  double em() const { return page_.em(); }

  std::optional<ViewLayout> find_sides() {
    const std::vector<Experiment>& others = input_.experiment.others;
    const Found a = find_tap(input_.trace, input_.experiment.view);
    if (a.tap == nullptr) return page_.message(a.headline, a.advice);
    if (others.empty()) {
      return page_.message(
          "Nothing to compare with yet",
          "“Compare with this” keeps what is set now as B. Then change the variant, the encoding, "
          "the model, the layer or the text, and see here what that does.");
    }
    if (input_.reference == nullptr) {
      return page_.message("One moment", "The run to compare with is being computed.");
    }
    const Found b = find_tap(*input_.reference, others.front().view);
    if (b.tap == nullptr) return page_.message("B: " + b.headline, b.advice);
    for (const AttentionTap* tap : {a.tap, b.tap}) {
      if (tap->keys() <= kMostPairs / tap->queries()) continue;
      return page_.message("Too many pairs to compare",
                           "Maps of up to " + grouped(kMostPairs) +
                               " pairs can be compared cell by cell. Choose a shorter text.");
    }
    a_ = side("A", first_colour(), input_.trace, a, input_.experiment.view);
    b_ = side("B", second_colour(), *input_.reference, b, others.front().view);
    refusal_ = no_difference(a_, b_);
    return std::nullopt;
  }

  Side side(const char* letter, Colour colour, const Trace& trace, const Found& found,
            const ViewSettings& view) const {
    const auto make = [&] { return found.tap->attention(found.head); };
    const std::string name = std::string("weights of ") + letter + ", layer " +
                             std::to_string(view.layer) + ", head " + std::to_string(view.head);
    const Tensor weights = input_.cache == nullptr
                               ? make()
                               : input_.cache->matrix(found.tap->result.pattern, name, make);
    return {letter,     colour, &trace,  found.tap,
            found.head, view,   weights, is_signed(*found.tap, found.head)};
  }

  void choose_maps() {
    const std::string& show = view_values(input_.experiment.view, "compare").choice("show");
    if (show == "all" || show == "A") shown_.push_back(Show::First);
    if (show == "all" || show == "B") shown_.push_back(Show::Second);
    const bool wants_difference = show == "all" || show == "difference";
    if (wants_difference && refusal_.empty()) shown_.push_back(Show::Difference);
    // Without a difference both are shown in its place.
    if (shown_.empty()) shown_ = {Show::First, Show::Second};
    shares_rows_ = refusal_.empty() && same_tokens(*a_.trace, *b_.trace);
  }

  std::string title() const {
    const std::string models = a_.trace->model == b_.trace->model
                                   ? a_.trace->model
                                   : a_.trace->model + " and " + b_.trace->model;
    return models + " · A against B";
  }

  std::string caption_text() const {
    const auto about = [](const Side& s) {
      return std::string(s.letter) + ": " + place_name(s) + ", " + describe(*s.tap) + ".";
    };
    std::string text = caption(*a_.trace, about(a_)) + " " + caption(*b_.trace, about(b_));
    if (!refusal_.empty()) return text + " " + refusal_;
    if (!same_tokens(*a_.trace, *b_.trace)) text += " The tokens of A and B differ.";
    return text;
  }

  // The map in whose place this one stands.
  const Side& of(Show show) const {
    const bool first = (show != Show::Second) != (input_.flipped && show != Show::Difference);
    return first ? a_ : b_;
  }

  bool has_row_labels(std::size_t n, Index columns) const {
    return !shares_rows_ || static_cast<Index>(n) % columns == 0;
  }

  double most_labels(const Box& inside) const {
    return std::min(10 * em(), 0.16 * std::min(inside.width, inside.height));
  }

  double row_bars_width(Show show) const {
    const bool shown = show == Show::Difference && has_divergence();
    return shown ? (kRowBars + kRowBarsGap) * em() : 0;
  }

  bool has_divergence() const { return !a_.with_signs && !b_.with_signs; }

  double aspect() const {
    return std::clamp(static_cast<double>(a_.tap->keys()) / static_cast<double>(a_.tap->queries()),
                      1 / kMostAspect, kMostAspect);
  }

  TokenAxis rows(Show show) const { return query_axis(*of(show).trace, *of(show).tap); }
  TokenAxis columns(Show show) const { return key_axis(*of(show).trace, *of(show).tap); }

  // The space left and right of the maps in one column of the arrangement.
  std::pair<double, double> sides_of_column(const Box& inside, Index column, Index columns) const {
    double left = 0, right = 0;
    for (std::size_t n = 0; n < shown_.size(); ++n) {
      if (static_cast<Index>(n) % columns != column) continue;
      if (has_row_labels(n, columns)) {
        left = std::max(left, axis_depth_left(page_, rows(shown_[n]), most_labels(inside)));
      }
      right = std::max(right, row_bars_width(shown_[n]));
    }
    return {left, right};
  }

  double top_of(Show show, double width, const Box& inside) const {
    return axis_depth_top(page_, columns(show), width, most_labels(inside));
  }

  // What a row of maps needs above and below them.
  double overhead(double width, const Box& inside) const {
    double top = 0;
    for (const Show show : shown_) top = std::max(top, top_of(show, width, inside));
    return kHeading * em() + top + kBarGap * em() + level_colour_bar_height(page_);
  }

  // The largest maps in so many columns.
  Arrangement in_columns(const Box& inside, Index columns, bool with_table) const {
    Arrangement a;
    a.columns = columns;
    const auto maps = static_cast<Index>(shown_.size());
    a.rows = (maps + columns - 1) / columns;
    a.table = with_table;
    a.table_in_slot = with_table && maps < a.columns * a.rows;
    double width = inside.width - static_cast<double>(columns - 1) * kGap * em();
    for (Index c = 0; c < columns; ++c) {
      const auto [left, right] = sides_of_column(inside, c, columns);
      width -= left + right;
    }
    const auto keys = static_cast<double>(std::max(a_.tap->keys(), b_.tap->keys()));
    width = std::min(width / static_cast<double>(columns), keys * kLargestCell * em());
    const double table =
        a.table_in_slot
            ? 0
            : (with_table ? fact_table_height(page_, facts_.size()) + em() : 0) + refusal_height();
    const auto count = static_cast<double>(a.rows);
    const double height = (inside.height - table - (count - 1) * em()) / count -
                          overhead(std::max(width, em()), inside);
    a.map_width = std::max(0.0, std::min(width, height * aspect()));
    a.map_height = a.map_width / aspect();
    return a;
  }

  Arrangement arrange(const Box& inside) const {
    Arrangement best;
    for (const bool with_table : {true, false}) {
      for (Index columns = 1; columns <= static_cast<Index>(shown_.size()); ++columns) {
        const Arrangement a = in_columns(inside, columns, with_table);
        // The table goes where it makes the maps unreadable.
        const bool readable = best.map_width >= 2 * kLeastPlot * em();
        if (a.map_width > best.map_width && !(readable && !with_table)) best = a;
      }
    }
    return best;
  }

  void place(const Box& inside, const Arrangement& a) {
    std::vector<double> left, x;
    double all = -kGap * em();
    for (Index c = 0; c < a.columns; ++c) {
      const auto [before, after] = sides_of_column(inside, c, a.columns);
      left.push_back(before);
      x.push_back(all + kGap * em());
      all += kGap * em() + before + a.map_width + after;
    }
    const double above =
        overhead(a.map_width, inside) - kBarGap * em() - level_colour_bar_height(page_);
    const double row_height = overhead(a.map_width, inside) + a.map_height + em();
    const double table_height = fact_table_height(page_, facts_.size());
    double content = static_cast<double>(a.rows) * row_height - em();
    if (!a.table_in_slot) content += refusal_height();
    if (a.table && !a.table_in_slot) content += em() + table_height;
    const double first_x = inside.x + std::max(0.0, (inside.width - all) / 2);
    const double first_y = inside.y + page_.spare_above(inside.height, content);
    const auto slot = [&](Index n) {
      const auto c = static_cast<std::size_t>(n % a.columns);
      return Point{first_x + x[c] + left[c],
                   first_y + static_cast<double>(n / a.columns) * row_height + above};
    };
    for (std::size_t n = 0; n < shown_.size(); ++n) {
      const Point at = slot(static_cast<Index>(n));
      panels_.push_back({shown_[n], plot(shown_[n], at, a, left[n % left.size()])});
      panels_.back().matrix.row_labels = has_row_labels(n, a.columns);
      panels_.back().matrix.top = top_of(shown_[n], a.map_width, inside);
    }
    bottom_ = first_y + content;
    const Point last = slot(static_cast<Index>(shown_.size()));
    if (a.table_in_slot) {
      const auto c = shown_.size() % static_cast<std::size_t>(a.columns);
      const double from = last.x - left[c] * (a.table ? 0.8 : 0);
      table_box_ = {from, last.y, inside.right() - from, std::max(0.0, bottom_ - last.y)};
      table_box_.width = std::min(table_box_.width, 1.1 * fact_table_width(page_, facts_));
      table_box_.width = std::max(table_box_.width, std::min(a.map_width, inside.right() - from));
    } else {
      table_box_ = {inside.x, bottom_ - table_height, inside.width, table_height};
      table_box_.width = std::min(table_box_.width, 1.2 * fact_table_width(page_, facts_));
      table_box_.x = inside.x + (inside.width - table_box_.width) / 2;
    }
    if (refusal_.empty()) return;
    refusal_box_ = table_box_;
    if (a.table_in_slot) {
      refusal_box_.y += table_height + em();
      refusal_box_.height -= table_height + em();
    } else {
      const double below = a.table ? em() + table_height : 0;
      refusal_box_ = {inside.x, bottom_ - below - 1.5 * em(), inside.width, 1.5 * em()};
    }
  }

  // Below the maps, where the table has no place among them.
  double refusal_height() const { return refusal_.empty() ? 0 : 2.5 * em(); }

  MatrixPlot plot(Show show, Point at, const Arrangement& a, double left) const {
    MatrixPlot m;
    m.scale = input_.scale;
    m.rows = rows(show);
    m.columns = columns(show);
    m.left = left;
    m.plot = {at.x, at.y, a.map_width, a.map_height};
    // The same part of the text in both, however many tokens it has in each.
    const double down =
        static_cast<double>(m.rows.count()) / static_cast<double>(a_.tap->queries());
    const double right =
        static_cast<double>(m.columns.count()) / static_cast<double>(a_.tap->keys());
    const CellWindow asked = cell_window(input_.experiment.view);
    set_visible(m,
                {asked.row * down, asked.column * right, asked.height * down, asked.width * right});
    return m;
  }

  // The pair under the pointer is marked in all maps that have it.
  void hover() {
    if (!input_.pointer) return;
    for (const Panel& panel : panels_) {
      const auto [row, column] = pair_at(panel.matrix)(*input_.pointer);
      if (row < 0) continue;
      for (Panel& other : panels_) {
        if (!refusal_.empty() && &other != &panel) continue;
        other.matrix.hovered_row = row;
        other.matrix.hovered_column = column;
      }
      return;
    }
  }

  Tensor difference_of_both() const {
    const auto make = [&] { return difference(a_.weights, b_.weights); };
    if (input_.cache == nullptr) return make();
    const std::string name = "A - B, " + place_name(a_) + "; " + place_name(b_);
    return input_.cache->matrix(a_.tap->result.pattern, b_.tap->result.pattern, name, make);
  }

  ColourRange difference_range(const HeatMap& cells) const {
    const bool dark = input_.theme.background.r < 128;
    ColourRange range;
    range.colour_map = dark ? "berlin" : "vik";
    range.most = std::max(kLeastDifference, largest_visible(cells));
    range.least = -range.most;
    return range;
  }

  // Both maps on one scale.
  ColourRange weights_range() const {
    ColourRange range{0, 0, ""};
    for (const Side* s : {&a_, &b_}) {
      HeatMap cells;
      cells.values = s->weights;
      cells.height = static_cast<double>(s->weights.dim(0));
      cells.width = static_cast<double>(s->weights.dim(1));
      const ColourRange own = colour_range(input_, cells, s->with_signs);
      if (range.colour_map.empty() || s->with_signs) range.colour_map = own.colour_map;
      range.most = std::max(range.most, own.most);
      range.least = std::min(range.least, own.least);
    }
    return range;
  }

  void draw_heading(const Panel& panel) {
    const Box& plot = panel.matrix.plot;
    const double y = plot.y - panel.matrix.top - 0.45 * kHeading * em();
    double x = plot.x;
    const double right = plot.right();
    if (panel.show == Show::Difference) {
      x += draw_badge(page_, {x, y}, "A", first_colour()) + 0.3 * em();
      page_.text({x, y}, "−", em());
      x += page_.width_of("−", em()) + 0.3 * em();
      draw_badge(page_, {x, y}, "B", second_colour());
      return;
    }
    const Side& s = of(panel.show);
    const Side& other = &s == &a_ ? b_ : a_;
    x += draw_badge(page_, {x, y}, s.letter, s.colour) + 0.5 * em();
    page_.text({x, y}, page_.ellipsised(heading(s, other), em(), right - x), em());
  }

  void draw(Panel& panel) {
    MatrixPlot& m = panel.matrix;
    HeatMap cells = matrix_cells(m);
    const bool is_difference = panel.show == Show::Difference;
    cells.values = is_difference ? difference_of_both() : of(panel.show).weights;
    const ColourRange range = is_difference ? difference_range(cells) : weights_range();
    cells.least = range.least;
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page_.add(cells);
    draw_matrix_frame(page_, m, {});
    draw_heading(panel);
    std::vector<std::string> names =
        is_difference ? std::vector<std::string>{"difference of weights", "difference"}
                      : std::vector<std::string>{"attention weight", "weight"};
    if (m.pooled()) {
      names = {names[0] + ", each pixel its largest", names[0] + ", max-pooled", names[1]};
    }
    draw_level_colour_bar(page_, {m.plot.x, m.plot.bottom() + kBarGap * em()}, m.plot.width, range,
                          names);
    if (is_difference && has_divergence()) draw_divergence(m);
  }

  void draw_divergence(const MatrixPlot& m) {
    const std::string& kind = view_values(input_.experiment.view, "compare").choice("rows");
    RowBars bars;
    Divergence divergence = Divergence::KullbackLeibler;
    bars.titles = {"KL(A, B), bits", "KL(A, B)"};
    if (kind == "reverse") {
      divergence = Divergence::Reverse;
      bars.titles = {"KL(B, A), bits", "KL(B, A)"};
    } else if (kind == "JS") {
      divergence = Divergence::JensenShannon;
      bars.titles = {"JS, bits", "JS"};
    }
    const auto make = [&] {
      const std::vector<double> rows = row_divergences(a_.weights, b_.weights, divergence);
      Tensor result({static_cast<Index>(rows.size())});
      std::transform(rows.begin(), rows.end(), result.begin(),
                     [](double v) { return static_cast<float>(v); });
      return result;
    };
    const std::string name = kind + ", " + place_name(a_) + "; " + place_name(b_);
    const Tensor rows =
        input_.cache == nullptr
            ? make()
            : input_.cache->matrix(a_.tap->result.pattern, b_.tap->result.pattern, name, make);
    bars.values.assign(rows.begin(), rows.end());
    const double x = m.plot.right() + kRowBarsGap * em();
    draw_row_bars(page_, {x, m.plot.y, kRowBars * em(), m.plot.height}, m, bars);
  }

  void draw_refusal() {
    double y = refusal_box_.y + 0.7 * em();
    for (const std::string& line : page_.wrapped(refusal_, em(), refusal_box_.width)) {
      if (y + 0.7 * em() > refusal_box_.bottom()) break;
      page_.faint_text({refusal_box_.x, y}, line, em());
      y += kLineHeight * em();
    }
  }

  // Pan and zoom go by A's cells, wherever the pointer is.
  ViewLayout finish() {
    std::size_t at = 0;
    std::vector<PairAt> hits;
    for (std::size_t n = 0; n < panels_.size(); ++n) {
      const MatrixPlot& m = panels_[n].matrix;
      if (input_.pointer && m.plot.contains(*input_.pointer)) at = n;
      const bool pairs_of_a = refusal_.empty() || &of(panels_[n].show) == &a_;
      if (pairs_of_a) hits.push_back(pair_at(m));
    }
    ViewLayout layout;
    const MatrixPlot& m = panels_[at].matrix;
    const double down =
        static_cast<double>(a_.tap->queries()) / static_cast<double>(m.rows.count());
    const double right =
        static_cast<double>(a_.tap->keys()) / static_cast<double>(m.columns.count());
    layout.plot = m.plot;
    layout.row = m.row * down;
    layout.column = m.column * right;
    layout.height = m.height * down;
    layout.width = m.width * right;
    layout.hit = [hits, layer = a_.view.layer, head = a_.view.head](Point p) {
      for (const PairAt& pair : hits) {
        const auto [query, key] = pair(p);
        if (query >= 0 && key >= 0) return std::optional(Hit{layer, head, query, key});
      }
      return std::optional<Hit>();
    };
    layout.list = page_.take(bottom_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  Side a_{}, b_{};
  std::string refusal_;  // why there is no difference
  std::vector<Show> shown_;
  bool shares_rows_ = false;  // the labels of the first map in a row hold for all of it
  std::vector<Fact> facts_;
  std::vector<Panel> panels_;
  Box table_box_, refusal_box_;
  double bottom_ = 0;
};

// The same head without what tells it where its tokens stand.
void show_example(Experiment& experiment) {
  if (!experiment.others.empty()) return;
  Experiment other = experiment;
  other.encoding = default_encoding();
  experiment.others.push_back(std::move(other));
}

}  // namespace

View compare_view() {
  View view{"compare", "Compare",
            "Two settings side by side on the same text, and their difference; Shift flips.", true,
            [](const ViewInput& input) { return Comparison(input).lay_out(); }};
  view.parameters = {
      {.key = "show",
       .label = "Show",
       .help = "Both maps and their difference, or one of them, larger.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("all"),
       .choices = {"all", "A", "B", "difference"}},
      {.key = "rows",
       .label = "Rows apart by",
       .help =
           "How far the rows of A and B are apart, in bits: the Kullback-Leibler divergence, the "
           "same from B to A, or the symmetric Jensen-Shannon divergence.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("KL"),
       .choices = {"KL", "reverse", "JS"}}};
  view.example = show_example;
  return view;
}

}  // namespace attnscope
