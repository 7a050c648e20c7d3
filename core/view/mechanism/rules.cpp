// Patterns: which rule lets one query see which keys, and one key which queries.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/token_flow.h"
#include "core/view/pattern/pattern_cells.h"
#include "core/view/pattern/rule_cells.h"

namespace attnscope {
namespace {

constexpr double kMostFlow = 0.17;   // of the height, for one text
constexpr double kLeastRules = 9;    // em: the map with its axes
constexpr double kMostLegend = 4.5;  // em

// The rule of each pair of one row or column, -1 where none allows it.
std::vector<int> rules_of_query(const MechanismOf& of, Index query) {
  std::vector<int> rules;
  for (Index key = 0; key < of.tap.keys(); ++key) {
    rules.push_back(shown_rule(of.tap, of.head, query, key));
  }
  return rules;
}
std::vector<int> rules_of_key(const MechanismOf& of, Index key) {
  std::vector<int> rules;
  for (Index query = 0; query < of.tap.queries(); ++query) {
    rules.push_back(shown_rule(of.tap, of.head, query, key));
  }
  return rules;
}

std::vector<FlowToken> coloured(const Theme& theme, const std::vector<std::string>& labels,
                                const std::vector<int>& rules, Index marked) {
  std::vector<FlowToken> tokens;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const Colour ground =
        rules[n] < 0 ? not_allowed_colour(theme) : rule_colour(static_cast<std::size_t>(rules[n]));
    tokens.push_back({labels[n], ground, static_cast<Index>(n) == marked});
  }
  return tokens;
}

// "window (keys 5, queries 9)": each rule of the head with what it admits in the row and column.
std::vector<LegendEntry> legend_of(const Theme& theme, const MechanismOf& of,
                                   const std::vector<int>& row, const std::vector<int>& column) {
  const std::vector<std::string>& rules = of.tap.result.pattern->rules();
  const PatternCounts counts = pattern_counts(of.tap, of.head);
  std::vector<LegendEntry> entries;
  for (std::size_t rule = 0; rule < counts.by_rule.size(); ++rule) {
    if (counts.by_rule[rule] == 0) continue;
    const auto keys = std::ranges::count(row, static_cast<int>(rule));
    const auto queries = std::ranges::count(column, static_cast<int>(rule));
    const std::string name = rule < rules.size() ? rules[rule] : "allowed";
    entries.push_back({rule_colour(rule), name + " (keys " + std::to_string(keys) + ", queries " +
                                              std::to_string(queries) + ")"});
  }
  if (counts.allowed < counts.all) entries.push_back({not_allowed_colour(theme), "not allowed"});
  return entries;
}

// What the legend of any pair takes, so that the map does not move with the pointer.
double highest_legend(const Page& page, const Pattern& pattern, double width) {
  const std::string longest = " (keys " + std::to_string(pattern.keys()) + ", queries " +
                              std::to_string(pattern.queries()) + ")";
  std::vector<LegendEntry> entries{{{}, "not allowed"}};
  for (const std::string& rule : pattern.rules()) entries.push_back({{}, rule + longest});
  return std::min(legend_height(page, entries, width), kMostLegend * page.em());
}

// "Local window: Window w = 4, Dilation r = 1"; empty where nothing can be set.
std::string parameters_words(const MechanismOf& of) {
  if (of.input.trace.given) return "";
  const Variant& v = variant(of.tap.variant.id);
  std::string words;
  for (const Parameter& p : v.parameters) {
    const auto value = of.tap.variant.values.all().find(p.key);
    if (p.of_training || value == of.tap.variant.values.all().end()) continue;
    const std::string symbol = p.symbol.empty() ? "" : " " + p.symbol;
    words += (words.empty() ? "" : ",  ") + p.label + symbol + " = " + to_text(value->second);
  }
  return words.empty() ? "" : v.label + ":  " + words;
}

double lines_height(const Page& page, const std::vector<std::string>& lines) {
  return static_cast<double>(lines.size()) * kLineHeight * page.small();
}

void draw_lines(Page& page, Point at, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    page.faint_text({at.x, at.y + kLineHeight / 2 * page.small()}, line, page.small());
    at.y += kLineHeight * page.small();
  }
}

// Tokens whatever they are coloured by: places do not hang on that.
std::vector<FlowToken> uncoloured(const Theme& theme, const std::vector<std::string>& labels) {
  return coloured(theme, labels, std::vector<int>(labels.size(), -1), -1);
}

// What the variant's own page says of it, in a few lines, where there is space for them.
std::vector<std::string> summary_lines(const Page& page, const Box& inside, const MechanismOf& of) {
  constexpr double kLeastHeight = 44;  // em
  constexpr std::size_t kMostLines = 3;
  if (of.input.trace.given || inside.height < kLeastHeight * page.em()) return {};
  return page.wrapped(variant(of.tap.variant.id).summary, page.small(), inside.width, kMostLines);
}

// From the top: what the method is, the text as keys of a query, the text as queries of a key, each
// below its sentence; the legend, the parameters, and the map.
struct RulesPlan {
  std::vector<std::string> queries, keys;  // labels
  Pair kept{};                             // without the pointer; places hang on this pair
  Box row{}, column{}, legend{};
  std::vector<std::string> summary{}, parameters{};  // in lines
  Box map_box{};
  MatrixPlot map{};
  TokenFlow row_flow{}, column_flow{};
};

TokenFlow flow_of(const Page& page, const Box& box, const std::vector<std::string>& labels,
                  Index kept) {
  Page aside(page.input());
  return draw_token_flow(aside, box, uncoloured(page.theme(), labels),
                         static_cast<std::size_t>(kept));
}

// Empty where there is no space.
std::optional<RulesPlan> plan_rules(const Page& page, const Box& inside, const MechanismOf& of) {
  const double em = page.em(), step = step_height(page), most = kMostFlow * inside.height;
  const TokenAxis query = query_axis(of.input.trace, of.tap),
                  key = key_axis(of.input.trace, of.tap);
  RulesPlan plan{query.labels, key.labels, focus_of(of.input, of.tap, of.head)};
  const auto below = [&](double y, const std::vector<std::string>& labels) {
    const std::vector<FlowToken> tokens = uncoloured(page.theme(), labels);
    return Box{inside.x, y + step, inside.width,
               token_flow_height(page, tokens, inside.width, most)};
  };
  plan.summary = summary_lines(page, inside, of);
  plan.row = below(inside.y + lines_height(page, plan.summary), plan.keys);
  plan.column = below(plan.row.bottom(), plan.queries);
  plan.legend = {inside.x, plan.column.bottom() + step, inside.width,
                 highest_legend(page, *of.tap.result.pattern, inside.width)};
  if (const std::string words = parameters_words(of); !words.empty()) {
    plan.parameters = page.wrapped(words, page.small(), inside.width, 2);
  }
  const double top = plan.legend.bottom() +
                     static_cast<double>(plan.parameters.size()) * kLineHeight * page.small();
  plan.map_box = {inside.x, top, inside.width, inside.bottom() - top};
  if (inside.width < kLeastRules * em || plan.map_box.height < kLeastRules * em) return {};
  plan.map = place_matrix(page, plan.map_box, query, key, 0);
  if (!(plan.map.plot.width > 0)) return {};
  plan.row_flow = flow_of(page, plan.row, plan.keys, plan.kept.key);
  plan.column_flow = flow_of(page, plan.column, plan.queries, plan.kept.query);
  return plan;
}

// Of a token in one of the texts with the kept one of the other, or of the map.
std::function<std::optional<Pair>(Point)> pair_in(const RulesPlan& plan) {
  return [row = plan.row_flow, column = plan.column_flow, kept = plan.kept,
          map = pair_at(plan.map)](Point p) -> std::optional<Pair> {
    if (const Index key = row.at(p); key >= 0) return Pair{kept.query, key};
    if (const Index query = column.at(p); query >= 0) return Pair{query, kept.key};
    const auto [query, key] = map(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
}

// The two texts with what each is about.
void draw_texts(Page& page, const RulesPlan& plan, Pair pair, const std::vector<int>& row,
                const std::vector<int>& column) {
  const auto name = [](const std::vector<std::string>& labels, Index at) {
    return "“" + labels[static_cast<std::size_t>(at)] + "” (" + std::to_string(at) + ")";
  };
  const auto share = [](const std::vector<int>& rules) {
    const auto allowed = std::ranges::count_if(rules, [](int rule) { return rule >= 0; });
    return std::to_string(allowed) + " of " + std::to_string(rules.size());
  };
  const auto above = [&](const Box& text) {
    return Box{text.x, text.y - step_height(page), text.width, step_height(page)};
  };
  const std::string query = name(plan.queries, pair.query), key = name(plan.keys, pair.key);
  draw_step(
      page, above(plan.row), 1,
      {"The query " + query + " may look at " + share(row) + " keys, each by a rule",
       "The query " + query + " may look at " + share(row), query + " sees " + share(row), query});
  draw_token_flow(page, plan.row, coloured(page.theme(), plan.keys, row, pair.key),
                  static_cast<std::size_t>(plan.kept.key));
  draw_step(page, above(plan.column), 2,
            {"The key " + key + " may be looked at by " + share(column) + " queries",
             "The key " + key + " is seen by " + share(column), key + ": " + share(column), key});
  draw_token_flow(page, plan.column, coloured(page.theme(), plan.queries, column, pair.query),
                  static_cast<std::size_t>(plan.kept.query));
}

MechanismLayout draw_rules(Page& page, const Box& inside, const MechanismOf& of) {
  std::optional<RulesPlan> plan = plan_rules(page, inside, of);
  if (!plan) return {.no_space = true};
  MechanismLayout layout;
  layout.pair_at = pair_in(*plan);
  const std::optional<Point>& pointer = of.input.pointer;
  const Pair pair = pointer ? layout.pair_at(*pointer).value_or(plan->kept) : plan->kept;
  const std::vector<int> row = rules_of_query(of, pair.query), column = rules_of_key(of, pair.key);
  draw_texts(page, *plan, pair, row, column);
  draw_lines(page, {inside.x, inside.y}, plan->summary);
  const double step = step_height(page);
  draw_step(page, {inside.x, plan->legend.y - step, inside.width, step}, 3,
            {"The same rules for every pair; the query's row and the key's column are outlined",
             "Every pair, the row and the column outlined", "Every pair"});
  draw_legend(page, legend_of(page.theme(), of, row, column), plan->legend);
  draw_lines(page, {inside.x, plan->legend.bottom()}, plan->parameters);
  plan->map.pinned_row = pair.query;
  plan->map.pinned_column = pair.key;
  page.add(rule_cells(of.input, plan->map, of.tap, of.head));
  draw_matrix_frame(page, plan->map, {"more pairs than pixels", "pooled"});
  layout.bottom = plan->map.bottom(page);
  return layout;
}

Tensor as_row(const std::vector<int>& rules) {
  Tensor numbers({1, static_cast<Index>(rules.size())});
  for (Index n = 0; n < numbers.size(); ++n) {
    const int rule = rules[static_cast<std::size_t>(n)];
    numbers[n] = rule < 0 ? NAN : static_cast<float>(rule);
  }
  return numbers;
}

// The number of the rule of each pair in the row and in the column; NaN where none allows it.
std::vector<ViewData::Matrix> rule_numbers(const MechanismOf& of) {
  const Pair pair = focus_of(of.input, of.tap, of.head);
  const std::vector<std::string> queries = query_axis(of.input.trace, of.tap).labels;
  const std::vector<std::string> keys = key_axis(of.input.trace, of.tap).labels;
  return {{"rule of each key",
           as_row(rules_of_query(of, pair.query)),
           {queries[static_cast<std::size_t>(pair.query)]},
           keys,
           {"query"}},
          {"rule of each query",
           as_row(rules_of_key(of, pair.key)),
           {keys[static_cast<std::size_t>(pair.key)]},
           queries,
           {"key"}}};
}

}  // namespace

Mechanism rules_mechanism() {
  Mechanism m{"rules", "the rules that let queries see keys",
              [](const AttentionTap&) { return true; }, draw_rules, rule_numbers};
  m.label = "Rules";
  return m;
}

}  // namespace attnscope
