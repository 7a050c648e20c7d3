// Effect of replacing one token, from a second run: changed rows of weights and outputs.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/replaced_token.h"
#include "core/figure/colour_map.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/replaced_numbers.h"
#include "core/view/mechanism/rule_line.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/row_bars.h"

namespace attnscope {
namespace {

constexpr double kMaxReplacedLabels = 0.14;  // fraction of the height for token labels
constexpr double kCellRow = 1.5;             // em
constexpr double kTag = 1.6;                 // em: line of the replacement
constexpr double kBars = 6.5, kBarGap = 1;   // em: width and gap
constexpr double kMinReplaced = 9;           // em: map
constexpr double kMinLabelled = 30;          // em: height below which labels are numbers
constexpr const char* kPending = "The run with another token is being computed …";
constexpr double kMinBarRange = 100;  // minimum range in units of rounding noise
constexpr double kMinWithBars = 38;   // em: minimum width of a map with bars

// Both runs, and the tap of the selected head in each run.
struct RunPair {
  const ReplacedToken* runs = nullptr;
  const AttentionTap *original = nullptr, *replaced = nullptr;
  std::string refusal{};
};
RunPair run_pair(const HeadInput& in) {
  RunPair both;
  both.runs = in.input.findings.get(Findings::replaced).get();
  if (in.input.trace.is_imported) {
    both.refusal = "The attention was read from a file: there is no run to replace a token in.";
  } else if (both.runs == nullptr) {
    both.refusal = kPending;
  } else if (!both.runs->problem.empty()) {
    both.refusal = both.runs->problem;
  } else {
    const HeadRef ref = head_ref(in.input.trace, in.input.session.view);
    both.original = both.runs->without->find(ref);
    both.replaced = both.runs->with->find(ref);
    if (both.original == nullptr || both.replaced == nullptr) {
      both.refusal = "The run with another token has no such head.";
    }
  }
  return both;
}

// Result of replaced_change(), cached as one matrix: a row per query, and a last row of indices.
ReplacedChange cached_change(const HeadInput& in, const RunPair& both) {
  const Trace& trace = *both.runs->without;
  const auto make = [&] {
    const ReplacedChange change =
        replaced_change(trace, *both.original, *both.replaced, in.head, both.runs->position);
    const Index rows = change.weights.dim(0), keys = change.weights.dim(1);
    Tensor table({rows + 1, keys + 3});
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < keys; ++j) table(i, j) = change.weights(i, j);
      const auto n = static_cast<std::size_t>(i);
      table(i, keys) = static_cast<float>(change.rows[n]);
      table(i, keys + 1) = static_cast<float>(change.outputs[n]);
      table(i, keys + 2) = change.attends[n] ? 1.0f : 0.0f;
    }
    table(rows, 0) = static_cast<float>(change.row);
    table(rows, 1) = static_cast<float>(change.column);
    return table;
  };
  const ViewSettings& settings = in.input.session.view;
  const CacheKey key = head_key("replaced", trace, settings);
  const Tensor table =
      in.input.cache == nullptr
          ? make()
          : in.input.cache->matrix(source_of(trace), source_of(*both.runs->with), key, make);
  const Index rows = table.dim(0) - 1, keys = table.dim(1) - 3;
  ReplacedChange change;
  change.row = static_cast<Index>(table(rows, 0));
  change.column = static_cast<Index>(table(rows, 1));
  change.weights = Tensor({rows, keys});
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < keys; ++j) change.weights(i, j) = table(i, j);
    change.rows.push_back(table(i, keys));
    change.outputs.push_back(table(i, keys + 1));
    change.attends.push_back(table(i, keys + 2) != 0);
  }
  return change;
}

std::string quoted(const std::string& label) {
  return "“" + label + "”";
}

struct ReplacedPlan {
  TokenColumns columns;
  Box sentence, cells, words_sentence, map_sentence;
  double tag_y = 0;
  std::vector<std::string> words;  // lines that describe the change
  double words_top = 0;
  MatrixPlot map;
  bool has_bars = false;  // bars right of the map
};

TokenAxis all_tokens(const Trace& trace) {
  TokenAxis axis;
  for (const TraceToken& token : trace.tokens) axis.labels.push_back(token.label);
  return axis;
}

std::optional<ReplacedPlan> plan_replaced(const Page& page, const Box& inside, const HeadInput& in,
                                          const RunPair& both, const ReplacedChange& change) {
  const double em = page.em(), step = step_height(page);
  ReplacedPlan plan;
  plan.sentence = {inside.x, inside.y, inside.width, step};
  plan.columns = place_columns(page, {inside.x, inside.y + step, inside.width, 0},
                               all_tokens(*both.runs->without), kMaxReplacedLabels * inside.height);
  plan.cells = cells_at(plan.columns, plan.columns.bottom(), kCellRow * em);
  plan.tag_y = plan.cells.bottom() + kTag / 2 * em + 0.3 * em;
  plan.words_sentence = {inside.x, plan.cells.bottom() + (kTag + 0.8) * em, inside.width, step};
  plan.words_top = plan.words_sentence.bottom();
  for (const std::string& words : describe_change(change, in.input.session.view.layer)) {
    for (std::string& line : page.wrapped(words, em, inside.width)) {
      plan.words.push_back(std::move(line));
    }
  }
  const double top =
      plan.words_top + static_cast<double>(plan.words.size()) * kLineHeight * em + 0.4 * em;
  plan.map_sentence = {inside.x, top, inside.width, step};
  plan.has_bars = inside.width >= kMinWithBars * em;
  // Leaves space for titles and numbers of the bars.
  Box map_box = below({inside.x, top, inside.width, inside.bottom() - top}, step + 0.6 * em);
  map_box.height -= 0.8 * em;
  if (map_box.height < kMinReplaced * em || inside.width < kMinReplaced * em) return {};
  TokenAxis rows = query_axis(in.input.trace, *both.original),
            keys = key_axis(in.input.trace, *both.original);
  if (map_box.height < kMinLabelled * em && rows.labels == keys.labels) {
    rows = with_index_labels(std::move(rows));
    keys = with_index_labels(std::move(keys));
  }
  const double right = (plan.has_bars ? 2 * (kBars + kBarGap) * em : 0) + colour_bar_width(page);
  plan.map = place_matrix(page, map_box, std::move(rows), std::move(keys), right);
  if (!(plan.map.plot.width > 0)) return {};
  return plan;
}

void draw_text_line(Page& page, const ReplacedPlan& plan, const ReplacedToken& runs) {
  const double em = page.em();
  const auto n = static_cast<std::size_t>(runs.position);
  const std::string from = quoted(runs.without->tokens[n].label),
                    to = quoted(runs.with->tokens[n].label);
  const std::string number = std::to_string(runs.position);
  draw_step(
      page, plan.sentence, 1,
      {"Replace: " + from + " (" + number + ") becomes " + to + ", all other tokens are unchanged" +
           (page.input().figure.framed ? "" : "; click a token to replace that one"),
       "Replace: " + from + " (" + number + ") becomes " + to + ", all others unchanged",
       from + " becomes " + to, to});
  draw_columns(page, plan.columns, runs.position);
  std::vector<int> no_rules(runs.without->tokens.size(), -1);
  draw_rule_cells(page, plan.cells, no_rules);
  const double cell = plan.columns.cell(), x = plan.columns.centre(runs.position);
  const double width = std::max(cell, 3.0);
  page.add(FilledBox{{x - width / 2, plan.cells.y, width, plan.cells.height}, page.theme().accent});
  const std::string label = runs.with->tokens[n].label;
  const double tag_width = page.width_of(label, em) + 0.8 * em;
  const double left =
      std::clamp(x - tag_width / 2, plan.columns.left,
                 std::max(plan.columns.left, plan.columns.left + plan.columns.width - tag_width));
  page.add(FilledBox{
      {left, plan.tag_y - kTag / 2 * em, tag_width, kTag * em}, page.theme().accent, 0.25 * em});
  page.add(Text{
      {left + tag_width / 2, plan.tag_y}, label, ink_on(page.theme().accent), em, Align::Middle});
}

// Largest change; 1 if nothing changed.
double largest_change(const Tensor& weights) {
  double max_change = 0;
  for (const float w : weights) {
    if (w > max_change) max_change = w;
  }
  return max_change > kMinChange ? max_change : 1;
}

void draw_map(Page& page, ReplacedPlan& plan, const HeadInput& in, const ReplacedChange& change) {
  const double em = page.em();
  draw_step(page, plan.map_sentence, 3,
            {"Change of each weight, and of each query's row and output", "Change of each weight",
             "Change"});
  const std::string& colours = in.input.session.view.colour_map;
  const ColourRange range{.least = 0,
                          .most = largest_change(change.weights),
                          .colour_map = colour_map(colours).diverging() ? "viridis" : colours};
  HeatMap cells = matrix_cells(plan.map);
  cells.values = change.weights;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  cells.missing = excluded_colour(page.theme());
  page.add(std::move(cells));
  plan.map.pinned_row = change.row;
  plan.map.pinned_column = change.column;
  draw_matrix_frame(page, plan.map, {});
  Box right = plan.map.right;
  right.x += kBarGap * em;
  if (plan.has_bars) {
    const auto draw_bars = [&](const std::vector<double>& values, std::vector<std::string> titles,
                               double min_range) {
      draw_row_bars(page, {right.x, right.y, kBars * em, right.height}, plan.map,
                    {values, std::move(titles), min_range});
      right.x += (kBars + kBarGap) * em;
    };
    draw_bars(change.rows, {"of the row", "row"}, kMinBarRange * kMinChange);
    draw_bars(change.outputs, {"of the output", "output"}, kMinBarRange * kMinOutputChange);
  }
  right.width = colour_bar_width(page);
  right.x -= kBarGap * em;
  draw_colour_bar(page, right, range, {"change of the weight", "change"});
}

std::vector<Handle> token_handles(const Page& page, const ReplacedPlan& plan,
                                  const ReplacedToken& runs) {
  constexpr Index kMaxTokens = 512;
  std::vector<Handle> handles;
  const TokenColumns& columns = plan.columns;
  if (columns.tokens.count() > kMaxTokens) return handles;
  for (Index n = 0; n < columns.tokens.count(); ++n) {
    handles.push_back({.area = {columns.centre(n) - columns.cell() / 2, columns.top, columns.cell(),
                                plan.cells.bottom() - columns.top},
                       .help = "Click to replace this token",
                       .click = [n](Session& session) {
                         set_view_value(session.view, "mechanism", "token", n);
                       }});
  }
  const Index vocabulary = runs.with->config->vocabulary;
  const Index next = vocabulary > 0 ? (runs.after + 1) % vocabulary : runs.after;
  handles.push_back(
      {.area = {columns.left, plan.cells.bottom(), columns.width, (kTag + 0.3) * page.em()},
       .help = "Click for the next token of the vocabulary",
       .click = [next](Session& session) {
         set_view_value(session.view, "mechanism", "by", next);
       }});
  return handles;
}

MechanismLayout draw_replaced(Page& page, const Box& inside, const HeadInput& in) {
  const RunPair both = run_pair(in);
  if (both.refusal == kPending) {
    const double em = page.em();
    page.faint_text({inside.x, inside.y + em},
                    page.fitting({kPending, "Computing …"}, em, inside.width), em);
    MechanismLayout pending_layout;
    pending_layout.bottom = inside.y + 2 * em;
    pending_layout.pending = "run with another token";
    return pending_layout;
  }
  if (!both.refusal.empty()) return {.refusal = both.refusal};
  ReplacedChange change;
  try {
    change = cached_change(in, both);
  } catch (const InputError& e) {
    return {.refusal = e.what()};
  }
  std::optional<ReplacedPlan> plan = plan_replaced(page, inside, in, both, change);
  if (!plan) return {.is_too_small = true};
  draw_text_line(page, *plan, *both.runs);
  draw_step(page, plan->words_sentence, 2, {"Effect on this head", "Changes"});
  double y = plan->words_top + kLineHeight / 2 * page.em();
  for (const std::string& line : plan->words) {
    page.text({inside.x, y}, line, page.em());
    y += kLineHeight * page.em();
  }
  draw_map(page, *plan, in, change);
  MechanismLayout layout;
  layout.pair_at = [map_pair_at = pair_at(plan->map)](Point p) -> std::optional<Pair> {
    const auto [query, key] = map_pair_at(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
  layout.handles = token_handles(page, *plan, *both.runs);
  layout.bottom = plan->map.bottom(page) + (plan->has_bars ? 1.8 * page.em() : 0);
  return layout;
}

std::vector<ViewData::Matrix> replaced_data(const HeadInput& in) {
  const RunPair both = run_pair(in);
  if (both.runs == nullptr && !in.input.trace.is_imported) return {};  // not available yet
  if (!both.refusal.empty()) throw InputError(both.refusal);
  const ReplacedChange change = cached_change(in, both);
  const std::vector<std::string> queries = query_axis(in.input.trace, *both.original).labels;
  const auto row = [](const std::vector<double>& values) {
    Tensor numbers({1, static_cast<Index>(values.size())});
    std::ranges::copy(values, numbers.begin());
    return numbers;
  };
  return {{"change of the weights", change.weights, queries,
           key_axis(in.input.trace, *both.original).labels},
          {"change of each row", row(change.rows), {"row"}, queries},
          {"change of each output", row(change.outputs), {"output"}, queries}};
}

// Settings of the replacement. The token defaults to the pinned query.
ReplacementSettings replacement_settings(const RunView& viewed) {
  const Values values = view_values(viewed.view, "mechanism");
  ReplacementSettings settings;
  if (values.has("token")) {
    settings.position = values.integer("token");
  } else if (viewed.view.pinned_query >= 0) {
    settings.position = viewed.view.pinned_query;
  }
  if (values.has("by")) settings.by = values.integer("by");
  return settings;
}

}  // namespace

Mechanism replaced_mechanism() {
  Mechanism m{"replaced", "the effect of replacing one token",
              [](const AttentionTap&) { return true; }, draw_replaced, replaced_data};
  m.label = "Replaced token";
  m.finding = {Findings::replaced.id, replacement_settings};
  m.parameters = {"token", "by"};
  m.shows_weights = m.scales_to_largest = true;
  return m;
}

}  // namespace attnscope
