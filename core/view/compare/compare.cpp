// Compare view: two runs side by side, their difference, the divergence of each row, and their
// costs.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/compare/compare_layout.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/row_bars.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kMaps = "maps";     // value of "show": two maps and one number
constexpr double kMinDifference = 0.01;   // minimum range of the difference colours
constexpr double kMinDivergence = 0.001;  // bits: minimum range of the row bars

std::vector<Show> selected_maps(const ViewInput& input, const Sides& sides) {
  const std::string show = view_values(input.session.view, "compare").choice("show");
  std::vector<Show> shown;
  const bool wants_both = show == "all" || show == kMaps;
  if (wants_both || show == "A") shown.push_back(Show::First);
  if (wants_both || show == "B") shown.push_back(Show::Second);
  const bool wants_difference = show == "all" || show == "difference";
  if (wants_difference && sides.has_difference()) shown.push_back(Show::Difference);
  // Shows both maps if no difference is available.
  if (shown.empty()) shown = {Show::First, Show::Second};
  return shown;
}

// Divergence of rows, with its name in the picture.
struct Measure {
  Divergence divergence;
  std::string name;
  std::string from, to;  // infinite if only `from` attends to some key; empty: always finite
};
Measure measure_of(const ViewInput& input) {
  const std::string kind = view_values(input.session.view, "compare").choice("rows");
  if (kind == "reverse") return {Divergence::Reverse, "KL(B, A)", "B", "A"};
  if (kind == "JS") return {Divergence::JensenShannon, "JS", "", ""};
  return {Divergence::KullbackLeibler, "KL(A, B)", "A", "B"};
}

class Comparison {
 public:
  Comparison(const ViewInput& input, Page& page, const Sides& sides)
      : input_(input), page_(page), sides_(sides) {}

  ViewLayout lay_out() {
    const Box inside = page_.frame(title(), caption_text());
    const std::vector<Fact> list = shows_maps_only() ? std::vector<Fact>() : facts(sides_);
    std::optional<ComparisonPlaces> places =
        place_comparison(page_, inside, sides_, selected_maps(input_, sides_), list, note());
    if (!places) return no_space(page_);
    panels_ = std::move(places->panels);
    hover();
    for (const ComparisonPanel& panel : panels_) draw(panel);
    if (places->table) draw_fact_table(page_, *places->table, "A", "B", places->facts);
    draw_notes(*places);
    return finish(places->bottom);
  }

 private:
  double em() const { return page_.em(); }

  std::string title() const {
    const std::string &a = sides_.a.trace->model, &b = sides_.b.trace->model;
    std::string text = a == b ? a : a + " and " + b;
    const TracePart part = part_of(sides_.a.tap->address);
    const std::string words = describe_part(sides_.a.trace->parts, part);
    const bool same = words == describe_part(sides_.b.trace->parts, part_of(sides_.b.tap->address));
    if (same && !words.empty()) text += " · " + words;
    return text + " · A against B";
  }

  std::string caption_text() const {
    const auto subject = [](const Side& s) {
      return std::string(s.letter) + ": " + (s.trace->is_imported ? s.trace->model + ", " : "") +
             place_name(s) + ", " + describe(*s.trace, *s.tap) + ".";
    };
    const Side &a = sides_.a, &b = sides_.b;
    std::string text = caption(*a.trace, subject(a)) + " " + caption(*b.trace, subject(b));
    if (!sides_.has_difference()) return text + " " + sides_.no_difference;
    if (!sides_.have_same_labels) text += " The tokens of A and B differ.";
    return text + measurement_text();
  }

  bool shows_maps_only() const {
    return view_values(input_.session.view, "compare").choice("show") == kMaps;
  }

  // Explains the numbers of the table.
  std::string measurement_text() const {
    if (shows_maps_only()) return "";
    const Index runs = std::min(sides_.a.trace->warm_runs, sides_.b.trace->warm_runs);
    return std::string(runs > 0 ? " Times are medians of at least " + std::to_string(runs) +
                                      " runs after a warm-up; bytes"
                                : " Bytes") +
           " count queries, keys, values, output and one number per pair.";
  }

  // Marks the hovered pair in its map; in all maps if A and B have the same pairs.
  void hover() {
    if (!input_.interaction.pointer) return;
    for (const ComparisonPanel& panel : panels_) {
      const auto [row, column] = pair_at(panel.matrix)(*input_.interaction.pointer);
      if (row < 0) continue;
      for (ComparisonPanel& other : panels_) {
        if (!sides_.has_difference() && &other != &panel) continue;
        other.matrix.hovered_row = row;
        other.matrix.hovered_column = column;
      }
      return;
    }
  }

  ColourRange difference_range(const HeatMap& cells) const {
    ColourRange range;
    range.colour_map = diverging_colours(input_.canvas.theme);
    range.most = std::max(kMinDifference, largest_visible_magnitude(cells));
    range.least = -range.most;
    return range;
  }

  ColourRange weights_range() const {
    constexpr double kTolerance = 1e-4;  // relative
    ColourRange range{0, 0, ""};
    double largest = 0;
    for (const Side* s : {&sides_.a, &sides_.b}) {
      HeatMap cells;
      cells.values = s->weights;
      cells.height = static_cast<double>(s->weights.dim(0));
      cells.width = static_cast<double>(s->weights.dim(1));
      const ColourRange side_range = colour_range(input_, cells, *s->tap, s->head, s->with_signs);
      if (range.colour_map.empty() || s->with_signs) range.colour_map = side_range.colour_map;
      range.most = std::max(range.most, side_range.most);
      range.least = std::min(range.least, side_range.least);
      largest = std::max(largest, largest_visible_magnitude(cells));
    }
    range.passed = largest > (1 + kTolerance) * range.most;
    return range;
  }

  void draw_heading(const ComparisonPanel& panel) {
    const double gap = 0.3 * em();
    double x = panel.matrix.plot.x, y = panel.heading_y;
    if (panel.show == Show::Difference) {
      x += draw_badge(page_, {x, y}, "A", first_colour()) + gap;
      page_.text({x, y}, "−", em());
      x += page_.width_of("−", em()) + gap;
      draw_badge(page_, {x, y}, "B", second_colour());
      return;
    }
    const Side& s = sides_.of(panel.show);
    draw_badge(page_, {x, y}, s.letter, s.colour);
    x += heading_indent(page_, s.letter);
    for (const std::string& line : panel.heading) {
      page_.text({x, y}, line, em());
      y += heading_line_height(page_);
    }
  }

  void draw(const ComparisonPanel& panel) {
    const MatrixPlot& m = panel.matrix;
    HeatMap cells = matrix_cells(m);
    const bool is_difference = panel.show == Show::Difference;
    cells.values =
        is_difference ? difference_of(sides_, input_.cache) : sides_.of(panel.show).weights;
    cells.missing = excluded_colour(input_.canvas.theme);  // pairs that neither side allows
    const ColourRange range = is_difference ? difference_range(cells) : weights_range();
    cells.least = range.least;
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page_.add(cells);
    if (!is_difference) {
      const Side& side = sides_.of(panel.show);
      cover_excluded(page_, matrix_cells(m), *side.tap, side.head);
    }
    draw_matrix_frame(page_, m, {});
    if (m.row_labels) draw_axis_titles(page_, {m.plot.x, m.plot.y}, m.plot.x - m.left);
    draw_heading(panel);
    std::vector<std::string> names =
        is_difference ? std::vector<std::string>{"weight in A − weight in B", "difference"}
                      : std::vector<std::string>{"attention weight", "weight"};
    if (m.pooled()) {
      names = {names[0] + ", max-pooled", names[0] + ", max-pooled", names[1]};
    }
    if (panel.colour_bar && panel.is_bar_below) {
      const Box& bar = *panel.colour_bar;
      draw_horizontal_colour_bar(page_, {bar.x, bar.y}, bar.width, range, names);
    } else if (panel.colour_bar) {
      draw_colour_bar(page_, *panel.colour_bar, range, names);
    }
    if (is_difference && sides_.has_divergence()) draw_divergence(panel);
  }

  void draw_divergence(const ComparisonPanel& panel) {
    const Measure measure = measure_of(input_);
    const Tensor rows = divergence_of(sides_, measure.divergence, input_.cache);
    draw_row_bars(page_, panel.row_bars, panel.matrix,
                  {std::vector<double>(rows.begin(), rows.end()),
                   {measure.name + ", bits", measure.name},
                   kMinDivergence,
                   {},
                   "bits"});
  }

  // Note below the maps: reason for a missing difference or an infinite divergence.
  std::string note() const {
    if (!sides_.has_difference()) return sides_.no_difference;
    if (shows_maps_only()) return number_text();
    const std::vector<Show> shown = selected_maps(input_, sides_);
    const bool has_rows = std::find(shown.begin(), shown.end(), Show::Difference) != shown.end();
    if (!has_rows || !sides_.has_divergence()) return "";
    const Measure measure = measure_of(input_);
    const Tensor rows = divergence_of(sides_, measure.divergence, input_.cache);
    const bool is_infinite =
        std::any_of(rows.begin(), rows.end(), [](float v) { return std::isinf(v); });
    return is_infinite ? "Coloured rows: " + measure.name + " = ∞, because " + measure.from +
                             " gives weight to keys that " + measure.to + " excludes."
                       : "";
  }

  // The comparison as one number: "KL(A, B): 0.12 bits per row on average (0: identical)".
  std::string number_text() const {
    if (!sides_.has_divergence()) {
      HeatMap cells;
      cells.values = difference_of(sides_, input_.cache);
      cells.height = static_cast<double>(cells.values.dim(0));
      cells.width = static_cast<double>(cells.values.dim(1));
      return "Largest difference of weights: " + brief(largest_visible_magnitude(cells), 2);
    }
    const Measure measure = measure_of(input_);
    const Tensor rows = divergence_of(sides_, measure.divergence, input_.cache);
    double sum = 0;
    Index compared = 0;  // rows that attend in both runs
    for (const float row : rows) {
      if (std::isnan(row)) continue;
      sum += static_cast<double>(row);
      ++compared;
    }
    if (compared == 0) return measure.name + ": no row attends in both runs";
    if (std::isinf(sum)) {
      return measure.name + " = ∞: " + measure.from + " gives weight to keys that " + measure.to +
             " excludes";
    }
    return measure.name + ": " + brief(sum / static_cast<double>(compared), 2) +
           " bits per row on average (0: identical)";
  }

  void draw_notes(const ComparisonPlaces& places) {
    double y = places.notes_start.y + kLineHeight * em() / 2;
    for (const std::string& line : places.notes) {
      page_.faint_text({places.notes_start.x, y}, line, em());
      y += kLineHeight * em();
    }
  }

  // Pan and zoom refer to cells of A, even if the pointer is over B.
  ViewLayout finish(double bottom) {
    std::size_t current = 0;
    std::vector<HitMatrix> hits;
    for (std::size_t n = 0; n < panels_.size(); ++n) {
      const MatrixPlot& m = panels_[n].matrix;
      if (input_.interaction.pointer && m.plot.contains(*input_.interaction.pointer)) current = n;
      const Side& side = sides_.of(panels_[n].show);
      hits.push_back({pair_at(m), side.view.layer, side.view.head, &side == &sides_.b});
    }
    ViewLayout layout;
    const MatrixPlot& m = panels_[current].matrix;
    const double row_scale =
        static_cast<double>(sides_.a.tap->queries()) / static_cast<double>(m.rows.count());
    const double column_scale =
        static_cast<double>(sides_.a.tap->keys()) / static_cast<double>(m.columns.count());
    layout.plot = m.plot;
    layout.row = m.row * row_scale;
    layout.column = m.column * column_scale;
    layout.height = m.height * row_scale;
    layout.width = m.width * column_scale;
    layout.hit = hit_test(std::move(hits));
    layout.list = page_.take(bottom);
    return layout;
  }

  const ViewInput& input_;
  Page& page_;
  const Sides& sides_;
  std::vector<ComparisonPanel> panels_;
};

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const FoundSides found = find_sides(input);
  if (!found.sides) return page.message(found.headline, found.advice);
  return Comparison(input, page, *found.sides).lay_out();
}

// Exported numbers: the selected maps.
ViewData data(const ViewInput& input) {
  const FoundSides found = find_sides(input);
  if (!found.sides) throw InputError(found.headline + ". " + found.advice);
  const Sides& sides = *found.sides;
  ViewData data;
  const auto add = [&](const char* name, const Side& side, const Tensor& values) {
    data.matrices.push_back({name, values, query_axis(*side.trace, *side.tap).labels,
                             key_axis(*side.trace, *side.tap).labels});
  };
  for (const Show show : selected_maps(input, sides)) {
    if (show == Show::First) add("A", sides.a, sides.a.weights);
    if (show == Show::Second) add("B", sides.b, sides.b.weights);
    if (show == Show::Difference) add("A - B", sides.a, difference_of(sides, input.cache));
  }
  return data;
}

// Example of a run B: run A without positional encoding.
void set_example(Session& session) {
  if (session.b) return;
  session.b = session;
  session.b->run.encoding = default_encoding();
}

std::vector<Parameter> parameters() {
  return {{.key = "show",
           .label = "Show",
           .help = "Both maps, their difference and a table of facts; both maps and one number; or "
                   "one of the three maps, enlarged.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("all"),
           .choices = {{"all", "all"},
                       {kMaps, "both maps"},
                       {"A", "A"},
                       {"B", "B"},
                       {"difference", "difference"}}},
          {.key = "rows",
           .label = "Row divergence",
           .help = "Divergence of the rows of A and B, in bits: Kullback-Leibler from A to B, from "
                   "B to A, or the symmetric Jensen-Shannon divergence.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("KL"),
           .choices = {"KL", "reverse", "JS"}}};
}

}  // namespace

View compare_view() {
  return {
      .id = "compare",
      .label = "Compare",
      .group = "Model",
      .summary = "Two runs side by side, and their difference.",
      .lay_out = lay_out,
      .reading =
          fixed_reading("Two runs, A and B, and the difference of their weights: positive where "
                        "A attends more, negative where B does.",
                        {{"KL, JS", "divergence of two rows, in bits; 0: identical."}}),
      .data = data,
      .findings = {{Findings::reference.id}},
      .options = {.parameters = parameters(),
                  .restrict_controls =
                      [](const ViewSettings& settings, const Trace*, ViewControls& controls) {
                        const std::string show = view_values(settings, "compare").choice("show");
                        if (show == "A" || show == "B") {
                          controls.idle["rows"] = "Only applies to the difference of both maps.";
                        }
                        if (show == "difference") {
                          controls.hide_colours();
                        }
                      }},
      .content = {.example = set_example},
      .cells = {.zoom = true}};
}

}  // namespace attnscope
