// Pattern view: allowed pairs, coloured by the rule that admits them.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/reading.h"
#include "core/view/pattern/paint.h"
#include "core/view/pattern/reach.h"
#include "core/view/pattern/rule_cells.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kLegendGap = 1.2;           // em between plot and legend
constexpr double kSwatch = 1.0;              // em
constexpr double kLegendLine = 1.5;          // em
constexpr double kMaxLegend = 16;            // em: width
constexpr double kMaxLegendFraction = 0.36;  // fraction of the picture's width

struct LegendLine {
  std::optional<Colour> colour;
  std::string text;
  bool is_faint = false;
};

std::string percent_of(double part, double whole) {
  constexpr int kDigits = 3;
  return whole > 0 ? percent(part / whole, kDigits) : "0%";
}
std::string percent_of(Index part, Index whole) {
  return percent_of(static_cast<double>(part), static_cast<double>(whole));
}

std::vector<LegendLine> rule_lines(const Theme& theme, const Pattern& pattern,
                                   const PatternCounts& counts) {
  std::vector<LegendLine> lines;
  for (std::size_t rule = 0; rule < counts.by_rule.size(); ++rule) {
    if (counts.by_rule[rule] == 0) continue;
    const std::string name = rule < pattern.rules().size() ? pattern.rules()[rule] : "allowed";
    lines.push_back(
        {rule_colour(rule), name + "  " + percent_of(counts.by_rule[rule], counts.allowed)});
  }
  if (counts.allowed < counts.all) lines.push_back({excluded_colour(theme), "not allowed"});
  return lines;
}

std::vector<LegendLine> count_lines(const PatternCounts& counts, bool hides_later_keys) {
  const std::string full = counts.causal ? "full causal attention" : "full attention";
  std::vector<LegendLine> lines{
      {std::nullopt, grouped(counts.allowed) + (counts.allowed == 1 ? " pair" : " pairs")},
      {std::nullopt, "density " + percent_of(counts.allowed, counts.all), true},
      {std::nullopt, "of " + grouped(counts.all) + " pairs", true},
      {std::nullopt, percent_of(counts.cost, counts.full) + " of the cost of", true},
      {std::nullopt, full, true}};
  if (hides_later_keys) {  // painting later keys has no effect
    lines.push_back({std::nullopt, "causal: later keys", true});
    lines.push_back({std::nullopt, "stay hidden", true});
  }
  return lines;
}

double legend_width(const Page& page, const std::vector<LegendLine>& lines) {
  double widest = 6 * page.em();
  for (const LegendLine& line : lines) {
    const double swatch_width = line.colour ? (kSwatch + 0.5) * page.em() : 0;
    widest = std::max(widest, swatch_width + page.width_of(line.text, page.em()));
  }
  const double max_width =
      std::min(kMaxLegend * page.em(), kMaxLegendFraction * page.input().canvas.width);
  return std::min(kLegendGap * page.em() + widest, max_width);
}

// The matrix with a legend to its right, or below it on narrow pages.
struct PlacedPattern {
  MatrixPlot matrix;
  Box legend;
};
PlacedPattern place_pattern(const Page& page, const Box& inside, const AttentionTap& tap,
                            const std::vector<LegendLine>& lines) {
  constexpr double kMinGain = 1.3;  // minimum gain of plot width by a legend below
  MatrixPlot side = place_matrix(page, inside, tap, legend_width(page, lines));
  const double height = (static_cast<double>(lines.size()) + 1) * kLegendLine * page.em();
  Box above = inside;
  above.height -= height;
  MatrixPlot lower = place_matrix(page, above, tap, 0);
  if (lower.plot.width < kMinGain * side.plot.width) {
    const Box& right = side.right;
    return {std::move(side), {right.x, right.y, right.width, inside.bottom() - right.y}};
  }
  const double left = lower.plot.x - kLegendGap * page.em();
  const Box legend{left, lower.bottom(page) + kLegendLine / 2 * page.em(), inside.right() - left,
                   height};
  return {std::move(lower), legend};
}

// Draws the rules, then the counts. Returns their lower edge.
double draw_legend(Page& page, const Box& box, std::vector<LegendLine> rules,
                   const std::vector<LegendLine>& counts) {
  const double em = page.em(), line_height = kLegendLine * em;
  const double left = box.x + kLegendGap * em, width = box.width - kLegendGap * em;
  // If space is short, the first rules have priority over the counts, and these over further rules.
  constexpr std::size_t kMinRules = 3;
  const auto limit =
      static_cast<std::size_t>(std::max(0.0, std::floor(box.height / line_height - 0.5)));
  const std::size_t max_rules =
      std::max(std::min(kMinRules, limit), limit - std::min(limit, counts.size()));
  if (rules.size() > max_rules && max_rules > 0) {
    const std::size_t hidden_count = rules.size() - max_rules + 1;
    rules.resize(max_rules - 1);
    rules.push_back({std::nullopt, "and " + std::to_string(hidden_count) + " more", true});
  }
  double y = box.y + line_height / 2;
  const auto draw_line = [&](const LegendLine& line) {
    double x = left;
    if (line.colour) {
      const double side = kSwatch * em;
      page.add(FilledBox{{x, y - side / 2, side, side}, *line.colour, 0.15 * em});
      x += side + 0.5 * em;
    }
    const std::string text = page.ellipsised(line.text, em, left + width - x);
    if (line.is_faint) {
      page.faint_text({x, y}, text, em);
    } else {
      page.text({x, y}, text, em);
    }
    y += line_height;
  };
  for (const LegendLine& line : rules) draw_line(line);
  y += line_height / 2;
  for (std::size_t i = 0; i < counts.size() && rules.size() + i < limit; ++i) draw_line(counts[i]);
  return y - line_height / 2;
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const AttentionTap& tap = *selected.tap;
  if (view_values(input.session.view, "pattern").choice("show") == "reach") {
    return lay_out_reach(page, tap);
  }
  const ViewSettings& settings = input.session.view;
  const PatternCounts counts = pattern_counts(tap, selected.head);
  const Box inside = page.frame(
      title_with_head(input),
      caption(input.trace,
              "Pairs that " + describe_head(input.trace, settings) +
                  " can use, by the rule that admits them: " + describe(input.trace, tap) + "."));
  const std::vector<LegendLine> rules_legend =
      rule_lines(input.canvas.theme, *tap.result.pattern, counts);
  const std::vector<LegendLine> counts_legend = count_lines(counts, is_painted(tap) && tap.causal);
  std::vector<LegendLine> lines = counts_legend;
  lines.insert(lines.end(), rules_legend.begin(), rules_legend.end());
  const auto [grid, legend_box] = place_pattern(page, inside, tap, lines);
  if (!(grid.plot.width > 0)) return no_space(page);
  page.add(rule_cells(input, grid, tap, selected.head));
  draw_matrix_frame(page, grid,
                    {"more pairs than pixels: a pixel is coloured if any of its pairs is allowed",
                     "more pairs than pixels", "pooled"});
  const double legend_bottom = draw_legend(page, legend_box, rules_legend, counts_legend);
  ViewLayout layout = matrix_layout(page, grid, std::max(grid.bottom(page), legend_bottom));
  add_canvas(input, grid, tap, selected.head, layout);
  return layout;
}

// Selects a sparse pattern, unless a variant is selected.
void show_sparse(Session& session) {
  if (session.run.variant) return;
  const Variant& sparse = variant("longformer");
  session.run.variant = Choice{sparse.id, default_values(sparse.parameters)};
  session.run.variant->values.set("window", Index{4});
  session.run.variant->values.set("global", std::vector<Index>{0});
  session.run.causal = false;  // global tokens see the whole text
}

// Exported numbers: index of the rule that admits each pair (NaN: excluded), or the number of
// layers until the key reaches the query.
ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  const AttentionTap& tap = *selected.tap;
  const Values options = view_values(input.session.view, "pattern");
  ViewData::Matrix matrix{
      "rule", {}, query_axis(input.trace, tap).labels, key_axis(input.trace, tap).labels};
  const Pattern& pattern = *tap.result.pattern;
  if (options.choice("show") == "reach") {
    matrix.name = "reach";
    matrix.values = reach_matrix(input.trace, input.part(), reach_layers(input));
  } else if (tap.result.mask.defined()) {
    matrix.values = masked_rules(pattern, tap.result.mask, selected.head);
  } else {
    matrix.values = pattern_rules(pattern, selected.head, {0, 0, tap.queries(), tap.keys(), 1, 1});
  }
  return {{std::move(matrix)}};
}

std::vector<Parameter> parameters() {
  using Kind = Parameter::Kind;
  return {{.key = "show",
           .label = "Show",
           .help = "The rules that admit pairs, or the number of layers after which information "
                   "reaches one token from another.",
           .kind = Kind::Choice,
           .initial = std::string("rules"),
           .choices = {"rules", "reach"}},
          {.key = "layers",
           .label = "Layers",
           .help = "Layers counted for the receptive field; automatic: all layers of the model. A "
                   "larger number repeats them.",
           .kind = Kind::Integer,
           .optional = true,
           .unset_label = "the model's",
           .initial = Index{8},
           .limits = {.min = 1, .max = 64},
           .slider = {.min = 1, .max = 24}},
          {.key = "tool",
           .label = "Draw",
           .help = "Effect of dragging, if the variant is a custom mask: paint with a brush, a "
                   "straight line or a rectangle, or move the picture.",
           .kind = Kind::Choice,
           .initial = std::string("brush"),
           .choices = {{"brush", "Brush"},
                       {"line", "Line"},
                       {"rectangle", "Rectangle"},
                       {"look", "Nothing"}}},
          {.key = "paint",
           .label = "Pairs are",
           .help = "Allow or forbid painted pairs.",
           .kind = Kind::Choice,
           .initial = std::string("allow"),
           .choices = {{"allow", "Allowed"}, {"forbid", "Forbidden"}}},
          {.key = "symmetric",
           .label = "Symmetric",
           .help = "Paint the pair across the diagonal, too.",
           .kind = Kind::Flag,
           .initial = false}};
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  const bool shows_reach = view_values(settings, "pattern").choice("show") == "reach";
  controls.colour_ends.clear();
  if (shows_reach) {
    controls.layer = controls.head = false;
  } else {
    controls.colours = ViewControls::Colours::None;
    controls.idle["layers"] = "Applies to the receptive field only: choose it in “Show”.";
  }
  if (shows_reach || (tap != nullptr && !is_painted(*tap))) {
    std::erase_if(controls.parameters, [](const Parameter& p) {
      return p.key == "tool" || p.key == "paint" || p.key == "symmetric";
    });
  } else if (tap != nullptr) {  // the drawing controls use the space of "layers"
    std::erase_if(controls.parameters, [](const Parameter& p) { return p.key == "layers"; });
  }
}

}  // namespace

View pattern_view() {
  return {.id = "pattern",
          .label = "Pattern",
          .group = "Attention",
          .summary = "Allowed pairs, coloured by the rule that admits each.",
          .lay_out = lay_out,
          .reading = fixed_reading(
              "Each cell is a pair of tokens, coloured by the rule that lets the row attend to the "
              "column; grey pairs are never computed. The saving is given below.",
              {{"Reach",
                "the number of layers until information arrives, if one layer does not admit the "
                "pair."}}),
          .data = data,
          .options = {.parameters = parameters(), .restrict_controls = restrict_controls},
          .content = {.objection = objection_without_attention, .example = show_sparse},
          .cells = {.zoom = true}};
}

}  // namespace attnscope
