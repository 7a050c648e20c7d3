// Flow view: one token's path through the model and one of its heads, stage by stage.
#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/view/flow/flow_drawing.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/refusal.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kFlow = "flow";
constexpr const char* kLargeText = "large";
constexpr double kSecondsPerStep = 3;
constexpr double kNarrationSize = 1.16;  // units

// Refusal of a run without values.
Refusal check_flow(const Trace& trace, const AttentionTap& tap) {
  if (trace.is_imported) return {"No values in this file", kImportedAttentionAdvice};
  if (tap.shapes().output.empty()) {
    return {"No values recorded",
            "This run records weights, but not values. Open a file with q, k and v, or "
            "choose a model and a text."};
  }
  return {};
}

FlowStage stage_of(const ViewSettings& settings) {
  return static_cast<FlowStage>(view_values(settings, kFlow).integer("step"));
}

FlowNumbers numbers_of(const ViewInput& input, const SelectedTap& found, Index keys) {
  return flow_numbers(input.trace, input.findings, input.session, *found.tap, found.head, keys);
}

std::shared_ptr<const FlowNumbers> cached_flow_numbers(const ViewInput& input,
                                                       const SelectedTap& found, Index keys) {
  const ViewSettings& view = input.session.view;
  const TracePart part = input.trace.part(view.part);
  const CacheKey key(kFlow, view.layer, view.head, part, view.pinned_query, view.pinned_key, keys,
                     input.findings.get(Findings::token_lens) != nullptr);
  return cached_numbers(input, source_of(input.trace), key,
                        [&] { return numbers_of(input, found, keys); });
}

FlowShape shape_of(const FlowNumbers& numbers) {
  FlowShape shape;
  shape.keys = static_cast<Index>(numbers.sum.keys.size());
  shape.extra_rows = flow_extra_rows(numbers.sum);
  shape.compares = numbers.sum.key_vectors.defined();
  constexpr std::size_t kUsualRows = 6;
  const FlowHeads& heads = numbers.heads;
  const Index sums = heads.bias.defined() ? 2 : 1;
  shape.low_rows = std::max({heads.adds.defined() ? heads.adds.dim(0) + sums : Index{0},
                             static_cast<Index>(numbers.states.size()),
                             static_cast<Index>(std::min(numbers.candidates.size(), kUsualRows))});
  if (numbers.layer) {
    const auto& terms = numbers.layer->terms;
    const auto feed_forwards = std::ranges::count(terms, "feed-forward", &FlowTerm::name);
    shape.residual_rows = 1 + static_cast<Index>(terms.size()) - feed_forwards;
  }
  return shape;
}

// Layout with as many keys as fit, and the numbers of these keys.
struct PlacedFlow {
  std::shared_ptr<const FlowNumbers> numbers;
  std::optional<FlowPlaces> places;
};
PlacedFlow place_with_numbers(const Page& page, const Box& inside, const SelectedTap& found) {
  const ViewInput& input = page.input();
  const Index max_keys = view_values(input.session.view, kFlow).integer("keys");
  PlacedFlow result{cached_flow_numbers(input, found, max_keys), std::nullopt};
  FlowShape shape = shape_of(*result.numbers);
  shape.stage = stage_of(input.session.view);
  shape.has_large_text = view_values(input.session.view, kFlow).choice("text") == kLargeText;
  result.places = place_flow(page, inside, shape);
  if (!result.places || result.places->shown >= shape.keys) return result;
  // The keys that do not fit share an extra row.
  if (result.numbers->sum.others == 0) ++shape.extra_rows;
  result.places = place_flow(page, inside, shape);
  if (!result.places) return result;  // no space for the extra row
  result.numbers = cached_flow_numbers(input, found, result.places->shown);
  return result;
}

// Wraps a text whose first line is indented by `indent`.
std::vector<std::string> wrap_narration(const Page& page, const std::string& text, double size,
                                        double width, double indent) {
  std::vector<std::string> lines = page.wrapped(text, size, width - indent);
  if (lines.size() > 1 && indent > 0) {
    lines.resize(1);
    for (const std::string& line : page.wrapped(text.substr(lines[0].size()), size, width)) {
      lines.push_back(line);
    }
  }
  return lines;
}

void draw_narration(FlowPen& pen, const Box& box, FlowStage stage, const FlowStory& story) {
  const Page& page = pen.page();
  const double u = pen.unit();
  std::string title, text = flow_sentence(stage, story);
  if (stage != FlowStage::Whole) {
    title = std::to_string(static_cast<int>(stage)) + "  " +
            (stage == FlowStage::Vectors ? "Queries, keys, values" : flow_title(stage));
  }
  // Interaction hints, only in the window.
  const bool framed = page.input().figure.framed;
  const auto& key_of = page.input().interaction.key_of;
  if (!framed && stage == FlowStage::Tokens) text += " Click another token to follow it.";
  if (!framed && key_of && stage == FlowStage::Whole) {
    text += " " + key_of(HintAction::Play) + " plays it step by step, " +
            key_of(HintAction::StepBack) + " and " + key_of(HintAction::StepForward) +
            " move manually; click a panel to open it.";
  }
  // Reduces the font of long texts.
  const double line = 1.38 * kNarrationSize * u, y = box.y + line / 2;
  const auto max_lines = static_cast<std::size_t>(box.height / line);
  std::vector<std::string> lines;
  double size = 0, indent = 0;
  for (const double factor : {kNarrationSize, 1.06, 0.97, 0.88}) {
    size = factor * u;
    indent = title.empty() ? 0 : page.width_of(title, size, true) + 0.8 * u;
    lines = wrap_narration(page, text, size, box.width, indent);
    if (lines.size() <= max_lines) break;
  }
  pen.text({box.x, y}, title, size, box.width, Align::Start, pen.theme().accent, true);
  for (std::size_t n = 0; n < std::min(lines.size(), max_lines); ++n) {
    const bool cut = n + 1 == max_lines && lines.size() > max_lines;
    const double x = n == 0 ? box.x + indent : box.x;
    pen.text({x, y + static_cast<double>(n) * line}, cut ? lines[n] + " " + lines[n + 1] : lines[n],
             size, box.right() - x, Align::Start, pen.theme().text);
  }
}

// --- Interaction --------------------------------------------------------------------------------

std::string panel_help(FlowStage stage, const FlowStory& story, const View* target) {
  std::string help = flow_sentence(stage, story);
  if (target != nullptr) help += "\nClick: " + target->label;
  return help;
}

void add_panels(ViewLayout& layout, const FlowPlaces& places, const FlowStory& story) {
  for (const FlowPanel* panel : places.panels()) {
    const View* target = view_of_stage(panel->stage, story.trace);
    Handle handle{.area = panel->box, .help = panel_help(panel->stage, story, target)};
    if (target != nullptr) {
      handle.click = [id = target->id, query = story.numbers.query](Session& session) {
        session.view.id = id;
        if (session.view.pinned_query < 0) session.view.pinned_query = query;
      };
    }
    layout.handles.push_back(std::move(handle));
  }
}

// Row of the tap whose query is `token`; -1 if none.
Index row_of_token(const Trace& trace, const AttentionTap& tap, Index token) {
  const auto is_token = [&](Index row) {
    return trace.token_index(tap.query_rows, tap.queries(), row) == token;
  };
  // Rows are usually consecutive tokens.
  const Index guess = token - trace.token_index(tap.query_rows, tap.queries(), 0);
  if (guess >= 0 && guess < tap.queries() && is_token(guess)) return guess;
  for (Index row = 0; row < tap.queries(); ++row) {
    if (is_token(row)) return row;
  }
  return -1;
}

void add_rows(ViewLayout& layout, const FlowTargets& targets, const FlowStory& story) {
  for (const auto& [box, token] : targets.tokens) {
    const Index row = row_of_token(story.trace, story.tap, token);
    if (row < 0) continue;
    layout.handles.push_back(
        {.area = box, .help = "Click to follow this token.", .click = [row](Session& session) {
           session.view.pinned_query = row;
         }});
  }
  for (const auto& [box, head] : targets.heads) {
    layout.handles.push_back({.area = box,
                              .help = "Click to use this head.",
                              .click = [head](Session& session) { session.view.head = head; }});
  }
  for (const auto& [box, n] : targets.states) {
    const FlowState& state = story.numbers.states[static_cast<std::size_t>(n)];
    if (!state.layer) continue;
    layout.handles.push_back(
        {.area = box,
         .help = "Click to open this layer.",
         .click = [layer = *state.layer, kind = story.tap.address.kind](Session& session) {
           session.view.layer = layer.layer;
           if (kind == AttentionKind::Self && layer.part.step > 0) {
             session.view.part.step = layer.part.step;
           }
         }});
  }
}

std::function<std::optional<Hit>(Point)> hits(const FlowTargets& targets, const FlowStory& story) {
  std::vector<std::pair<Box, Hit>> row_hits;
  const ViewSettings& view = story.session.view;
  for (const auto& [box, column] : targets.keys) {
    row_hits.emplace_back(box, Hit{view.layer, view.head, story.numbers.query, column});
  }
  for (const auto& [box, token] : targets.tokens) {
    const Index row = row_of_token(story.trace, story.tap, token);
    if (row >= 0) row_hits.emplace_back(box, Hit{view.layer, view.head, row});
  }
  return [row_hits](Point p) -> std::optional<Hit> {
    for (const auto& [box, hit] : row_hits) {
      if (box.contains(p)) return hit;
    }
    return std::nullopt;
  };
}

ViewLayout lay_out_flow(const ViewInput& input) {
  Page page(input);
  if (const Refusal nothing = check_has_attention(input)) return nothing.message(page);
  const SelectedTap found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  if (const Refusal refusal = check_flow(input.trace, *found.tap)) return refusal.message(page);
  const Box inside = page.frame(
      title_with_head(input),
      caption(input.trace, "A token's path to the prediction, by way of " +
                               describe_head(input.trace, input.session.view) + ": " +
                               describe(input.trace, *found.tap) +
                               ". Strips are vectors: blue negative, " +
                               positive_colour_name(input.canvas.theme) +
                               " positive, each panel on its own scale, in the layers panel each "
                               "vector."));
  const auto [numbers, space] = place_with_numbers(page, inside, found);
  if (!space) return no_space(page);
  const FlowPlaces& places = *space;
  const FlowStory story{input.trace, input.session, *found.tap, *numbers};
  const FlowStage stage = stage_of(input.session.view);
  FlowPen pen(page, places.unit, stage);
  FlowTargets targets;
  draw_flow_input(pen, story, places, targets);
  draw_flow_head(pen, story, places, targets);
  draw_flow_layers(pen, story, places, targets);
  for (const FlowPanel* panel : places.panels()) pen.highlight_current(*panel);
  draw_narration(pen, places.narration, stage, story);
  pen.mark_components(inside);
  ViewLayout layout;
  layout.hit = hits(targets, story);
  add_panels(layout, places, story);
  add_rows(layout, targets, story);
  layout.list = page.take(places.bottom);
  return layout;
}

// --- Numbers -----------------------------------------------------------------------------------

ViewData::Matrix rows_matrix(const std::string& name, const std::vector<FlowTerm>& rows) {
  ViewData::Matrix matrix{name, {}, {}, {}, {"vector"}};
  Index width = 0;
  for (const FlowTerm& row : rows) width = std::max(width, row.values.size());
  matrix.values = Tensor::zeros({static_cast<Index>(rows.size()), width});
  for (std::size_t n = 0; n < rows.size(); ++n) {
    matrix.rows.push_back(rows[n].name);
    std::copy_n(rows[n].values.data(), rows[n].values.size(),
                matrix.values.data() + static_cast<Index>(n) * width);
  }
  return matrix;
}

Tensor row_of(const Tensor& rows, Index n) {
  return rows.slice(n, 1).reshaped({rows.dim(1)});
}

void add_sum(ViewData& data, const FlowSum& sum) {
  ViewData::Matrix weights{"weights",
                           Tensor::full({static_cast<Index>(sum.keys.size()), 3}, NAN),
                           {},
                           {"key column", "score", "weight"},
                           {"key"}};
  std::vector<FlowTerm> keys, values, weighted;
  if (sum.query.defined()) keys.push_back({"query", sum.query});
  for (std::size_t n = 0; n < sum.keys.size(); ++n) {
    const FlowKey& key = sum.keys[n];
    const auto row = static_cast<Index>(n);
    weights.rows.push_back(key.label);
    weights.values(row, 0) = static_cast<float>(key.column);
    if (key.score) weights.values(row, 1) = static_cast<float>(*key.score);
    weights.values(row, 2) = static_cast<float>(key.weight);
    if (sum.key_vectors.defined()) keys.push_back({key.label, row_of(sum.key_vectors, row)});
    if (!sum.adds_values) continue;
    values.push_back({key.label, row_of(sum.values, row)});
    weighted.push_back({key.label, row_of(sum.weighted, row)});
  }
  if (sum.others > 0 && sum.others_sum.defined()) {
    weighted.push_back(
        {sum.others == 1 ? "the other key" : "the other " + std::to_string(sum.others),
         sum.others_sum});
  }
  if (sum.relative_sum.defined()) weighted.push_back({"distances", sum.relative_sum});
  if (sum.sum.defined()) weighted.push_back({"sum", sum.sum});
  weighted.push_back({"head", sum.output});
  if (!weights.rows.empty()) data.matrices.push_back(std::move(weights));
  if (!keys.empty()) data.matrices.push_back(rows_matrix("query and keys", keys));
  if (!values.empty()) data.matrices.push_back(rows_matrix("values", values));
  data.matrices.push_back(rows_matrix("weighted values", weighted));
}

void add_layers(ViewData& data, const FlowNumbers& flow) {
  if (flow.heads.adds.defined()) {
    std::vector<FlowTerm> rows;
    for (Index a = 0; a < flow.heads.adds.dim(0); ++a) {
      rows.push_back({"head " + std::to_string(a), row_of(flow.heads.adds, a)});
    }
    if (flow.heads.bias.defined()) rows.push_back({"bias", flow.heads.bias});
    rows.push_back({"sum", flow.heads.joined});
    data.matrices.push_back(rows_matrix("heads", rows));
  }
  if (flow.layer) {
    std::vector<FlowTerm> rows{flow.layer->input};
    rows.insert(rows.end(), flow.layer->terms.begin(), flow.layer->terms.end());
    rows.push_back({"after", flow.layer->output});
    data.matrices.push_back(rows_matrix("residual", rows));
  }
  if (!flow.states.empty()) {
    std::vector<FlowTerm> rows;
    for (const FlowState& state : flow.states) rows.push_back({state.label, state.values});
    data.matrices.push_back(rows_matrix("layers", rows));
  }
  if (flow.candidates.empty()) return;
  ViewData::Matrix next{"next token",
                        Tensor({static_cast<Index>(flow.candidates.size()), 1}),
                        {},
                        {"probability"},
                        {"token"}};
  for (std::size_t n = 0; n < flow.candidates.size(); ++n) {
    next.rows.push_back(flow.candidates[n].label);
    next.values[static_cast<Index>(n)] = static_cast<float>(flow.candidates[n].probability);
  }
  data.matrices.push_back(std::move(next));
}

ViewData flow_data(const ViewInput& input) {
  const SelectedTap found = require_tap(input);
  check_flow(input.trace, *found.tap).throw_if_refused();
  const Index keys = view_values(input.session.view, kFlow).integer("keys");
  const FlowNumbers flow = numbers_of(input, found, keys);
  ViewData data;
  add_sum(data, flow.sum);
  add_layers(data, flow);
  return data;
}

std::vector<Parameter> flow_parameters() {
  return {{.key = "step",
           .label = "Step",
           .help = "The current stage: 1 tokens, 2 embedding, 3 queries, keys and values, 4 "
                   "scores, 5 softmax, 6 weighted values, 7 heads joined, 8 residual, 9 "
                   "feed-forward, 10 layers, 11 next token; 12 overview.",
           .initial = kFlowSteps,
           .limits = {.min = 1, .max = static_cast<double>(kFlowSteps)},
           .slider = {.min = 1, .max = static_cast<double>(kFlowSteps)}},
          {.key = "keys",
           .label = "Keys",
           .help = "Number of keys with a line each, by weight, if there is space; the others "
                   "share one line.",
           .initial = Index{6},
           .limits = {.min = 1, .max = 64},
           .slider = {.min = 1, .max = 12}},
          {.key = "text",
           .label = "Text",
           .help = "Size of the text if space is short: small with all panels, or large with fewer "
                   "panels. Presentations use large text.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("small"),
           .choices = {"small", kLargeText}}};
}

}  // namespace

View flow_view() {
  return {.id = kFlow,
          .label = "Flow",
          .group = "Model",
          .summary =
              "Overview: from tokens through queries, keys, values, heads and layers to the next "
              "token, step by step.",
          .lay_out = lay_out_flow,
          .reading = fixed_reading(
              "One token's path to the prediction: its embedding, its query (q), the others' keys "
              "and values (k, v), the weights, and their sum, layer by layer, up to the next "
              "token's probabilities. Play steps through it.",
              {{"v", "the content that a token passes to those that attend to it."},
               {"Softmax", "turns scores into weights: none below 0, all together 100%."},
               {"W_o", "the matrix that combines the outputs of all heads."},
               {"Residual", "a layer's output is added to its input instead of replacing it."}}),
          .data = flow_data,
          .findings = {{Findings::token_lens.id}},
          .options = {.parameters = flow_parameters(),
                      .animation = Animation{"step", 1, static_cast<double>(kFlowSteps),
                                             kSecondsPerStep * static_cast<double>(kFlowSteps)},
                      .restrict_controls = without_colours},
          .content = {.objection = objection_to_all(check_flow), .example = [](Session& session) {
                        if (!session.run.tensors.file.empty())
                          open_bundled_model(session, "default");
                      }}};
}

}  // namespace attnscope
