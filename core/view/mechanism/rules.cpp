// Attention patterns: the rules that admit the keys of a query, and the queries of a key.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/key_words.h"
#include "core/view/mechanism/layer_figure.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/pattern/rule_cells.h"

namespace attnscope {
namespace {

constexpr double kMaxLabels = 0.14;  // fraction of the height for token labels above a line
constexpr double kRuleRow = 1.5;     // em
constexpr double kMinRules = 9;      // em: minimum size of a map with axes
constexpr std::size_t kMaxLanes = 4;
constexpr double kGoodMap = 22;     // em: minimum height of the map if layers are drawn above it
constexpr double kNamedMap = 30;    // em: minimum height of a map with token labels
constexpr double kMaxLegend = 4.5;  // em: height

// Rule of a pair, or the kind of its key if one rule admits keys of several kinds.
int rule_of_pair(const HeadInput& in, const ColumnKinds& kinds, Index query, Index key) {
  const int rule = rule_of_pair(in.tap, in.head, query, key);
  return rule < 0 || kinds.by_column.empty() ? rule
                                             : kinds.by_column[static_cast<std::size_t>(key)];
}

// Rules of the pairs of a query; -1 for excluded pairs.
std::vector<int> rules_of_query(const HeadInput& in, Index query) {
  const ColumnKinds kinds = column_kinds(in.tap);
  std::vector<int> rules;
  for (Index key = 0; key < in.tap.keys(); ++key) {
    rules.push_back(rule_of_pair(in, kinds, query, key));
  }
  return rules;
}
std::vector<int> rules_of_key(const HeadInput& in, Index key) {
  const ColumnKinds kinds = column_kinds(in.tap);
  std::vector<int> rules;
  for (Index query = 0; query < in.tap.queries(); ++query) {
    rules.push_back(rule_of_pair(in, kinds, query, key));
  }
  return rules;
}
std::vector<std::string> rule_names(const AttentionTap& tap) {
  const ColumnKinds kinds = column_kinds(tap);
  return kinds.names.empty() ? tap.result.pattern->rules() : kinds.names;
}

// Legend of the rules that admit at least one pair of the head.
std::vector<LegendEntry> rules_legend(const Theme& theme, const HeadInput& in) {
  const std::vector<std::string> rules = rule_names(in.tap);
  const bool by_kind = !column_kinds(in.tap).by_column.empty();
  const PatternCounts counts = pattern_counts(in.tap, in.head);
  std::vector<LegendEntry> entries;
  for (std::size_t rule = 0; rule < std::max(rules.size(), counts.by_rule.size()); ++rule) {
    if (!by_kind && counts.by_rule[rule] == 0) continue;
    entries.push_back({rule_colour(rule), rule < rules.size() ? rules[rule] : "allowed"});
  }
  if (counts.allowed < counts.all) entries.push_back({excluded_colour(theme), "not allowed"});
  return entries;
}

// "Local window: Window w = 4, Dilation r = 1"; empty without parameters.
std::string describe_parameters(const HeadInput& in) {
  if (in.input.trace.is_imported) return "";
  const Variant& entry = variant(in.tap.variant.id);
  std::string text;
  for (const Parameter& p : entry.parameters) {
    const auto value = in.tap.variant.values.all().find(p.key);
    if (p.scope.training || value == in.tap.variant.values.all().end()) continue;
    const std::string symbol = p.symbol.empty() ? "" : " " + p.symbol;
    text += (text.empty() ? "" : ",  ") + p.label + symbol + " = " + to_text(value->second);
  }
  return text.empty() ? "" : entry.label + ":  " + text;
}

double lines_height(const Page& page, const std::vector<std::string>& lines) {
  return static_cast<double>(lines.size()) * kLineHeight * page.small();
}

void draw_lines(Page& page, Point corner, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    page.faint_text({corner.x, corner.y + kLineHeight / 2 * page.small()}, line, page.small());
    corner.y += kLineHeight * page.small();
  }
}

// `text` without its last sentence; empty if it has only one.
std::string without_last_sentence(const std::string& text) {
  const std::size_t end = text.rfind(". ", text.empty() ? 0 : text.size() - 1);
  return end == std::string::npos ? "" : text.substr(0, end + 1);
}

// The sentences of the variant's summary that fit in a few lines, if there is space.
std::vector<std::string> summary_lines(const Page& page, const Box& inside, const HeadInput& in) {
  constexpr double kMinHeight = 44;  // em
  constexpr std::size_t kMaxLines = 3;
  if (in.input.trace.is_imported || inside.height < kMinHeight * page.em()) return {};
  const std::string summary = variant(in.tap.variant.id).summary;
  for (std::string text = summary; !text.empty(); text = without_last_sentence(text)) {
    std::vector<std::string> lines = page.wrapped(text, page.small(), inside.width, kMaxLines + 1);
    if (lines.size() <= kMaxLines) return lines;
  }
  return page.wrapped(summary, page.small(), inside.width, kMaxLines);
}

// Layout, from top to bottom: summary; a line of tokens with the keys of a query, and one with the
// queries of a key; the layers, if there is space; legend, parameters and map.
struct RulesPlan {
  std::vector<std::string> queries, keys;  // labels
  Pair initial{};                          // illustrated unless the mouse selects another pair
  std::vector<std::string> summary{}, parameters{};  // lines
  Box sentence{}, row{}, column_sentence{}, column{}, layers_sentence{}, layers{}, legend{};
  TokenColumns key_columns{}, query_columns{};  // queries have no labels if `has_same_tokens`
  bool has_same_tokens = false;                 // queries and keys are the same tokens
  double lanes_top = 0;
  std::optional<LayerChain> chain{};
  Index layer_count = 0;
  MatrixPlot map{};
  // Next to the map, if there is space: number of layers after which a key reaches a query.
  Box reach_sentence{}, reach_legend{};
  MatrixPlot reach_map{};
  Box heads{};  // instead of the reach map: patterns of all heads, with a sentence
};

// Rules that admit keys of the query, with their names.
std::vector<std::pair<int, std::string>> rule_lanes(const HeadInput& in,
                                                    const std::vector<int>& row) {
  const std::vector<std::string> names = rule_names(in.tap);
  std::vector<std::pair<int, std::string>> lanes;
  for (const int rule : std::set<int>(row.begin(), row.end())) {
    const auto n = static_cast<std::size_t>(rule);
    if (rule >= 0) lanes.emplace_back(rule, n < names.size() ? names[n] : "allowed");
  }
  if (lanes.size() > kMaxLanes) lanes.resize(kMaxLanes);
  return lanes;
}

// Maximum number of lanes over all queries, so that the layout does not depend on the pointer.
std::size_t max_lanes(const HeadInput& in) {
  if (const ColumnKinds kinds = column_kinds(in.tap); !kinds.by_column.empty())
    return kinds.names.size();
  const Pattern& pattern = *in.tap.result.pattern;
  std::size_t max_count = 0;
  for (Index i = 0; i < pattern.queries(); ++i) {
    std::set<std::int32_t> rules;
    for (const Run& run : pattern.row(pattern.heads() > 1 ? in.head : 0, i)) rules.insert(run.rule);
    max_count = std::max(max_count, rules.size());
  }
  return std::min(max_count, kMaxLanes);
}

// The illustrated pair: the pinned pair or, if none is pinned, a query with keys on both sides.
Pair default_pair(const HeadInput& in) {
  const ViewSettings& settings = in.input.session.view;
  if (settings.pinned_query >= 0 || settings.pinned_key >= 0 || in.tap.causal ||
      in.tap.queries() != in.tap.keys()) {
    return focus_of(in.input, in.tap, in.head);
  }
  return focus_of(in.input, in.tap, in.head, Pair{(2 * in.tap.queries()) / 3, -1});
}

// Places the two lines of tokens, the upper one at `y`. Returns the lower edge.
double place_lines(const Page& page, const Box& inside, double y, const HeadInput& in,
                   RulesPlan& plan) {
  const double em = page.em(), step = step_height(page);
  const LayerMargins margins = layer_margins(page, inside.width);
  const double width = inside.width - margins.left - margins.right;
  const double max_depth = kMaxLabels * inside.height;
  const double lanes_height = static_cast<double>(max_lanes(in)) * lane_height(page);
  TokenAxis keys = key_axis_with_tokens(in), queries = query_axis(in.input.trace, in.tap);
  plan.has_same_tokens = queries.labels == keys.labels && keys.bands.empty();
  keys.titles = queries.titles = {};
  plan.sentence = {inside.x, y, inside.width, step};
  plan.key_columns = place_columns(page, {inside.x + margins.left, y + step, width, 0},
                                   std::move(keys), max_depth);
  plan.row = cells_at(plan.key_columns, plan.key_columns.bottom(), kRuleRow * em);
  plan.lanes_top = plan.row.bottom() + 0.15 * em;
  y = plan.lanes_top + lanes_height + 0.3 * em;
  plan.column_sentence = {inside.x, y, inside.width, step};
  y += step;
  plan.query_columns = plan.key_columns;
  if (!plan.has_same_tokens) {
    plan.query_columns =
        place_columns(page, {inside.x + margins.left, y, width, 0}, std::move(queries), max_depth);
    y = plan.query_columns.bottom();
  }
  plan.column = cells_at(plan.query_columns, y, kRuleRow * em);
  return plan.column.bottom() + 0.6 * em;
}

// True if heads of the group have different patterns that can be shown side by side.
bool heads_differ(const HeadInput& in) {
  constexpr Index kMaxHeadPairs = Index{1} << 20;
  const Pattern& pattern = *in.tap.result.pattern;
  return pattern.heads() > 1 && !in.tap.result.mask.defined() &&
         pattern.queries() <= kMaxHeadPairs / pattern.keys();
}

// Draws small patterns of the group's heads and outlines the selected head. Returns the lower edge.
double draw_heads_patterns(Page& page, const Box& box, const HeadInput& in, int number) {
  constexpr double kBetweenHeads = 0.8, kHeadName = 1.3, kMinSide = 3;  // em
  const double em = page.em();
  const Box inside =
      draw_step(page, box, number, {"Each head has its own pattern", "One per head", "All heads"});
  const Pattern& pattern = *in.tap.result.pattern;
  const auto heads = static_cast<double>(pattern.heads());
  double side = 0, columns = 1;  // largest side that fits, and its number of columns
  for (double count = 1; count <= heads; ++count) {
    const double rows = std::ceil(heads / count);
    const double max_side = std::min((inside.width - (count - 1) * kBetweenHeads * em) / count,
                                     inside.height / rows - (kHeadName + kBetweenHeads) * em);
    if (max_side > side) std::tie(side, columns) = std::pair{max_side, count};
  }
  if (side < kMinSide * em) return inside.y;
  for (Index head = 0; head < pattern.heads(); ++head) {
    const double column = std::fmod(static_cast<double>(head), columns);
    const double row = std::floor(static_cast<double>(head) / columns);
    const Box cell{inside.x + column * (side + kBetweenHeads * em),
                   inside.y + row * (side + (kHeadName + kBetweenHeads) * em) + kHeadName * em,
                   side, side};
    const std::string name = std::to_string(in.tap.heads[static_cast<std::size_t>(head)]);
    page.faint_text({cell.x, cell.y - kHeadName / 2 * em},
                    page.fitting({"head " + name, name}, page.small(), side), page.small());
    HeatMap map;
    map.box = cell;
    map.values = pattern_rules(pattern, head, {0, 0, pattern.queries(), pattern.keys(), 1, 1});
    map.height = static_cast<double>(pattern.queries());
    map.width = static_cast<double>(pattern.keys());
    map.colour_map = kCategories;
    map.most = 255;  // rule n gets colour n, see ColourMap::Kind
    map.missing = excluded_colour(page.theme());
    page.add(std::move(map));
    page.add(OutlinedBox{cell, head == in.head ? page.theme().accent : page.theme().line,
                         head == in.head ? 2.5 : 1.0});
  }
  return inside.y + std::ceil(heads / columns) * (side + (kHeadName + kBetweenHeads) * em);
}

// Splits the box for two maps. The second box is empty for a single map or if two maps do not fit.
std::pair<Box, Box> halves(const Page& page, const Box& inside, bool has_two) {
  constexpr double kMinHalf = 19, kBetween = 1.5;  // em
  Box left = inside, right{};
  const double half_width = (inside.width - kBetween * page.em()) / 2;
  if (!has_two || half_width < kMinHalf * page.em()) return {left, right};
  left.width = half_width;
  right = inside;
  right.x = inside.right() - half_width;
  right.width = half_width;
  return {left, right};
}

// Places the map below the lines of tokens.
std::optional<RulesPlan> plan_stacked(const Page& page, const Box& inside, const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  TokenAxis query = query_axis(in.input.trace, in.tap), key = key_axis_with_tokens(in);
  RulesPlan plan{query.labels, key.labels, default_pair(in)};
  plan.summary = summary_lines(page, inside, in);
  const double lines_end =
      place_lines(page, inside, inside.y + lines_height(page, plan.summary), in, plan);
  if (const std::string text = describe_parameters(in); !text.empty()) {
    plan.parameters = page.wrapped(text, page.small(), inside.width, 2);
  }
  double top = lines_end;
  if (plan.has_same_tokens) {
    plan.chain = LayerChain::create(in.input.trace, in.input.part(), head_in_layer(in));
  }
  if (plan.chain) plan.layer_count = layers_to_show(in.input, *plan.chain);
  if (plan.layer_count < 2) plan.chain.reset();  // receptive fields do not grow after layer 1
  const bool shows_heads = !plan.chain && heads_differ(in);
  const auto [left, right] = halves(page, inside, plan.chain.has_value() || shows_heads);
  const double legend_space =
      std::min(legend_height(page, rules_legend(page.theme(), in), left.width), kMaxLegend * em);
  const double map_header = step + legend_space + lines_height(page, plan.parameters);
  if (plan.chain) {
    const double min_height = step + min_layers_height(page, plan.layer_count);
    const double spare = inside.bottom() - top - map_header - kGoodMap * em;
    if (spare >= min_height) {
      plan.layers_sentence = {inside.x, top, inside.width, step};
      plan.layers = {inside.x, top + step, inside.width,
                     layers_height(page, plan.layer_count, std::min(0.8 * spare, spare - step))};
      top = plan.layers.bottom() + 0.4 * em;
    }
  }
  plan.legend = {left.x, top + step, left.width, legend_space};
  const double map_top = plan.legend.bottom() + lines_height(page, plan.parameters);
  const Box map_box{left.x, map_top, left.width, inside.bottom() - map_top};
  if (inside.width < kMinRules * em || lines_end > inside.bottom()) return {};
  if (map_box.height < kMinRules * em) return plan;
  if (plan.has_same_tokens && map_box.height < kNamedMap * em) {
    query = with_index_labels(std::move(query));
    key = with_index_labels(std::move(key));
  }
  plan.map = place_matrix(page, map_box, query, key, 0);
  if (!(plan.map.plot.width > 0)) return plan;
  if (right.width > 0 && shows_heads) {
    plan.heads = {right.x, top, right.width, map_box.bottom() - top};
  } else if (right.width > 0) {
    plan.reach_sentence = {right.x, top, right.width, step};
    plan.reach_legend = {right.x, top + step, right.width, legend_space};
    plan.reach_map =
        place_matrix(page, {right.x, map_top, right.width, map_box.height}, query, key, 0);
  }
  return plan;
}

// Places the lines of tokens on the left and the map on the right, without summary, layers and
// further maps, for wide and low pictures. Empty if they do not fit.
std::optional<RulesPlan> plan_beside(const Page& page, const Box& inside, const HeadInput& in) {
  constexpr double kLeft = 0.56, kMinLeft = 24;  // fraction of the width; em
  const double em = page.em(), step = step_height(page);
  TokenAxis query = query_axis(in.input.trace, in.tap), key = key_axis_with_tokens(in);
  RulesPlan plan{query.labels, key.labels, default_pair(in)};
  const Box left{inside.x, inside.y, kLeft * inside.width - em, inside.height};
  if (left.width < kMinLeft * em) return {};
  plan.legend = {
      left.x, place_lines(page, left, left.y, in, plan) + step, left.width,
      std::min(legend_height(page, rules_legend(page.theme(), in), left.width), kMaxLegend * em)};
  if (const std::string text = describe_parameters(in); !text.empty()) {
    plan.parameters = page.wrapped(text, page.small(), left.width, 2);
  }
  if (plan.legend.bottom() + lines_height(page, plan.parameters) > inside.bottom()) return {};
  const double x = inside.x + kLeft * inside.width;
  if (plan.has_same_tokens && inside.height < kNamedMap * em) {
    query = with_index_labels(std::move(query));
    key = with_index_labels(std::move(key));
  }
  plan.map = place_matrix(page, {x, inside.y, inside.right() - x, inside.height}, std::move(query),
                          std::move(key), 0);
  return plan;
}

double map_side(const RulesPlan& plan) {
  return std::min(plan.map.plot.width, plan.map.plot.height);
}

// The stacked plan, unless its map is small and much larger beside the lines.
std::optional<RulesPlan> plan_rules(const Page& page, const Box& inside, const HeadInput& in) {
  constexpr double kGain = 1.5, kSmallMap = 14;  // ratio of sides; em
  std::optional<RulesPlan> stacked = plan_stacked(page, inside, in);
  if (!stacked || map_side(*stacked) >= kSmallMap * page.em()) return stacked;
  std::optional<RulesPlan> beside = plan_beside(page, inside, in);
  if (!beside || !(map_side(*beside) > kGain * map_side(*stacked))) return stacked;
  return beside;
}

// Hit test: a token on a line, paired with the other line's initial token, or a pair on the map.
std::function<std::optional<Pair>(Point)> pair_hit_test(const RulesPlan& plan) {
  return
      [keys = plan.key_columns, queries = plan.query_columns, row = plan.row, column = plan.column,
       initial = plan.initial, map = pair_at(plan.map)](Point p) -> std::optional<Pair> {
        if (p.y >= keys.top && p.y < row.bottom()) {
          if (const Index key = keys.at(p.x); key >= 0) return Pair{initial.query, key};
        }
        if (p.y >= column.y && p.y < column.bottom()) {
          if (const Index query = queries.at(p.x); query >= 0) return Pair{query, initial.key};
        }
        const auto [query, key] = map(p);
        if (query < 0 || key < 0) return std::nullopt;
        return Pair{query, key};
      };
}

std::string token_name(const std::vector<std::string>& labels, Index token) {
  return "“" + labels[static_cast<std::size_t>(token)] + "” (" + std::to_string(token) + ")";
}

bool weights_fit(const Page& page, const Box& cells, std::size_t count) {
  return cells.width / static_cast<double>(count) >= page.width_of("0.00", page.small()) + 3;
}

void draw_sentences(Page& page, const RulesPlan& plan, Pair pair, const std::vector<int>& row,
                    const std::vector<int>& column) {
  const auto count_text = [](const std::vector<int>& rules) {
    const auto allowed = std::ranges::count_if(rules, [](int rule) { return rule >= 0; });
    return std::to_string(allowed) + " of " + std::to_string(rules.size());
  };
  const std::string query = token_name(plan.queries, pair.query),
                    key = token_name(plan.keys, pair.key);
  draw_step(page, plan.sentence, 1,
            {"The query " + query + " can attend to " + count_text(row) + " keys, each by a rule" +
                 (weights_fit(page, plan.row, row.size()) ? "; the numbers are its weights" : ""),
             "The query " + query + " can attend to " + count_text(row) + " keys, each by a rule",
             "The query " + query + " can attend to " + count_text(row),
             query + ": " + count_text(row), query});
  draw_step(page, plan.column_sentence, 2,
            {"The key " + key + " can be attended to by " + count_text(column) + " queries",
             "The key " + key + " is attended to by " + count_text(column),
             key + ": " + count_text(column), key});
}

void write_weights(Page& page, const Box& cells, const std::vector<int>& rules,
                   const Tensor& weights) {
  if (!weights_fit(page, cells, rules.size())) return;
  const double size = page.small(), cell = cells.width / static_cast<double>(rules.size());
  for (std::size_t n = 0; n < rules.size(); ++n) {
    const double weight = weights[static_cast<Index>(n)];
    if (rules[n] < 0 || !(weight >= 0)) continue;
    page.add(Text{{cells.x + (static_cast<double>(n) + 0.5) * cell, cells.y + cells.height / 2},
                  fixed(weight, 2),
                  ink_on(rule_colour(static_cast<std::size_t>(rules[n]))),
                  size,
                  Align::Middle});
  }
}

// Draws the name of a line to its left.
void draw_line_name(Page& page, const Box& inside, const Box& cells, const std::string& text,
                    Colour colour) {
  const double max_width = cells.x - inside.x - 0.8 * page.em();
  if (max_width < 3 * page.em()) return;
  page.add(Text{{cells.x - 0.8 * page.em(), cells.y + cells.height / 2},
                page.ellipsised(text, page.small(), max_width, true),
                colour,
                page.small(),
                Align::End,
                0,
                true});
}

void draw_token_lines(Page& page, const Box& inside, const RulesPlan& plan, const HeadInput& in,
                      Pair pair, const std::vector<int>& row, const std::vector<int>& column) {
  const Colour query_ink = query_colour(page.theme()), key_ink = key_colour(page.theme());
  draw_columns(page, plan.key_columns, pair.key);
  draw_rule_cells(page, plan.row, row);
  write_weights(page, plan.row, row, attention_row(in.tap, in.head, pair.query));
  if (plan.has_same_tokens) outline_cell(page, plan.key_columns, plan.row, pair.query, query_ink);
  if (pair.key != pair.query || !plan.has_same_tokens) {
    outline_cell(page, plan.key_columns, plan.row, pair.key, key_ink);
  }
  draw_line_name(page, inside, plan.row, "its keys", query_ink);
  draw_lanes(page, plan.key_columns, plan.lanes_top, row, rule_lanes(in, row));
  if (!plan.has_same_tokens) draw_columns(page, plan.query_columns, pair.query);
  draw_rule_cells(page, plan.column, column);
  if (plan.has_same_tokens && pair.key != pair.query) {
    outline_cell(page, plan.query_columns, plan.column, pair.key, key_ink);
  }
  outline_cell(page, plan.query_columns, plan.column, pair.query, query_ink);
  draw_line_name(page, inside, plan.column, "its queries", key_ink);
}

// Handles that pin the tokens of both lines.
std::vector<Handle> pin_handles(const RulesPlan& plan) {
  constexpr Index kMaxTokens = 512;
  std::vector<Handle> handles;
  const auto add = [&](const TokenColumns& columns, const Box& area, bool is_query) {
    if (columns.tokens.count() > kMaxTokens) return;
    for (Index n = 0; n < columns.tokens.count(); ++n) {
      const double x = columns.centre(n) - columns.cell() / 2;
      handles.push_back(
          {.area = {x, area.y, columns.cell(), area.height},
           .help = is_query ? "Click to pin it as the query" : "Click to pin it as the key",
           .click = [n, is_query](Session& session) {
             Index& pinned = is_query ? session.view.pinned_query : session.view.pinned_key;
             pinned = pinned == n ? -1 : n;
           }});
    }
  };
  const TokenColumns& keys = plan.key_columns;
  add(keys, {keys.left, keys.top, keys.width, plan.row.bottom() - keys.top}, false);
  add(plan.query_columns, plan.column, true);
  return handles;
}

void draw_receptive_field(Page& page, const RulesPlan& plan, const HeadInput& in, Pair pair) {
  if (!plan.chain || !(plan.layers.height > 0)) return;
  const ViewSettings& settings = in.input.session.view;
  // A key that the query attends to directly does not illustrate paths.
  const bool is_selected = in.input.interaction.pointer || settings.pinned_key >= 0;
  const bool is_indirect = is_selected && rule_of_pair(in.tap, in.head, pair.query, pair.key) < 0;
  if (!is_indirect) pair.key = farthest_key(*plan.chain, pair.query, plan.layer_count);
  const ReceptiveField field = receptive_field(*plan.chain, pair.query, pair.key, plan.layer_count);
  draw_step(
      page, plan.layers_sentence, 3,
      describe_path(field, token_name(plan.queries, pair.query), token_name(plan.keys, pair.key)));
  draw_layers(page, plan.key_columns, plan.layers, *plan.chain, field, pair, plan.layers.x);
}

HeatMap every_pair_cells(const HeadInput& in, const MatrixPlot& map) {
  HeatMap cells = rule_cells(in.input, map, in.tap, in.head);
  const ColumnKinds kinds = column_kinds(in.tap);
  if (kinds.by_column.empty() || cells.values.dim(1) != in.tap.keys()) return cells;
  Tensor values = cells.values.copy();
  for (Index n = 0; n < values.size(); ++n) {
    const auto column = static_cast<std::size_t>(n % in.tap.keys());
    if (!std::isnan(values[n])) values[n] = static_cast<float>(kinds.by_column[column]);
  }
  cells.values = values;
  return cells;
}

// Draws the maps with the pair's row and column outlined. Returns the lower edge.
double draw_every_pair(Page& page, RulesPlan& plan, const HeadInput& in, Pair pair) {
  const double step = step_height(page);
  int number = plan.layers.height > 0 ? 4 : 3;
  draw_step(
      page, {plan.legend.x, plan.legend.y - step, plan.legend.width, step}, number++,
      {"Rules of every pair; the query's row and the key's column are outlined",
       "Every pair, the row and the column outlined", "Every pair, by its rule", "Every pair"});
  draw_legend(page, rules_legend(page.theme(), in), plan.legend);
  draw_lines(page, {plan.legend.x, plan.legend.bottom()}, plan.parameters);
  plan.map.pinned_row = pair.query;
  plan.map.pinned_column = pair.key;
  page.add(every_pair_cells(in, plan.map));
  draw_matrix_frame(page, plan.map, {"more pairs than pixels", "pooled"});
  const double bottom = plan.map.bottom(page);
  if (plan.heads.width > 0) {
    return std::max(bottom, draw_heads_patterns(page, plan.heads, in, number));
  }
  if (!(plan.reach_map.plot.width > 0)) return bottom;
  Box reach = plan.reach_sentence;
  reach.height += plan.reach_legend.height;
  draw_reach_map(page, reach, plan.reach_map, in.input, plan.layer_count, number, pair);
  return std::max(bottom, plan.reach_map.bottom(page));
}

MechanismLayout draw_rules(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<RulesPlan> plan = plan_rules(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = pair_hit_test(*plan);
  layout.handles = pin_handles(*plan);
  const std::optional<Point>& pointer = in.input.interaction.pointer;
  const Pair pair = pointer ? layout.pair_at(*pointer).value_or(plan->initial) : plan->initial;
  const std::vector<int> row = rules_of_query(in, pair.query), column = rules_of_key(in, pair.key);
  draw_lines(page, {inside.x, inside.y}, plan->summary);
  draw_sentences(page, *plan, pair, row, column);
  draw_token_lines(page, inside, *plan, in, pair, row, column);
  draw_receptive_field(page, *plan, in, pair);
  layout.bottom = std::max(plan->column.bottom(), plan->layers.bottom());
  if (!(plan->map.plot.width > 0)) return layout;
  const double legend_bottom = plan->legend.bottom() + lines_height(page, plan->parameters);
  layout.bottom = std::max(legend_bottom, draw_every_pair(page, *plan, in, pair));
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

// Exported numbers: indices of the rules in the query's row and the key's column; NaN: excluded.
std::vector<ViewData::Matrix> rule_numbers(const HeadInput& in) {
  const Pair pair = focus_of(in.input, in.tap, in.head);
  const std::vector<std::string> queries = query_axis(in.input.trace, in.tap).labels;
  const std::vector<std::string> keys = key_axis(in.input.trace, in.tap).labels;
  return {{"rule of each key",
           as_row(rules_of_query(in, pair.query)),
           {queries[static_cast<std::size_t>(pair.query)]},
           keys,
           {"query"}},
          {"rule of each query",
           as_row(rules_of_key(in, pair.key)),
           {keys[static_cast<std::size_t>(pair.key)]},
           queries,
           {"key"}}};
}

}  // namespace

Mechanism rules_mechanism() {
  Mechanism m{"rules", "the rules that admit pairs of queries and keys",
              [](const AttentionTap&) { return true; }, draw_rules, rule_numbers};
  m.label = "Rules";
  return m;
}

}  // namespace attnscope
