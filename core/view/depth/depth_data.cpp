#include "core/view/depth/depth_data.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/model/exits.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

Extent visible_positions(const ViewSettings& settings, Index length) {
  if (!(settings.height > 0)) return {0, length};
  return visible_extent(settings.row, settings.height, length);
}

ViewData::Matrix guesses(const Trace& trace, const LogitLens& lens, const Extent& visible,
                         const std::vector<Index>& exits) {
  const Index layers = lens.guess.dim(0), last = layers - 1;
  ViewData::Matrix matrix{"guesses",
                          Tensor({visible.count() * layers, 9}),
                          {},
                          {"position", "layer", "token id", "probability", "margin",
                           "probability of the last layer's prediction", "saturation",
                           "agrees with the last layer", "exits here"},
                          {"guess"}};
  Index row = 0;
  for (Index i = visible.first; i < visible.last; ++i) {
    for (Index layer = 0; layer < layers; ++layer, ++row) {
      const std::int32_t guess = lens.guess(layer, i);
      matrix.rows.push_back(token_label(trace, guess));
      const float numbers[] = {static_cast<float>(i),
                               static_cast<float>(layer),
                               static_cast<float>(guess),
                               lens.probability(layer, i),
                               lens.margin(layer, i),
                               lens.final_guess_probability(layer, i),
                               lens.saturation(layer, i),
                               guess == lens.guess(last, i) ? 1.0F : 0.0F,
                               exits[static_cast<std::size_t>(i)] == layer ? 1.0F : 0.0F};
      std::copy(std::begin(numbers), std::end(numbers), matrix.values.data() + 9 * row);
    }
  }
  return matrix;
}

ViewData::Matrix exits_of(const Trace& trace, const LogitLens& lens, const Extent& visible,
                          const std::vector<Index>& exits) {
  ViewData::Matrix matrix{"exits",
                          Tensor({visible.count(), 4}),
                          {},
                          {"position", "token id", "exit layer", "agrees with the last layer"},
                          {"token"}};
  for (Index i = visible.first; i < visible.last; ++i) {
    const TraceToken& token = trace.tokens[static_cast<std::size_t>(i)];
    const Index layer = exits[static_cast<std::size_t>(i)], row = i - visible.first;
    matrix.rows.push_back(token.label);
    matrix.values(row, 0) = static_cast<float>(i);
    matrix.values(row, 1) = static_cast<float>(token.id);
    matrix.values(row, 2) = static_cast<float>(layer);
    matrix.values(row, 3) = lens.guess(layer, i) == lens.guess(lens.guess.dim(0) - 1, i) ? 1 : 0;
  }
  return matrix;
}

}  // namespace

Confidence confidence_of(const Values& values) {
  const std::string& name = values.choice("measure");
  if (name == "margin") return Confidence::Margin;
  return name == "probability" ? Confidence::Probability : Confidence::Saturation;
}

double lens_threshold(const Values& values, const LogitLens& lens) {
  if (values.has("threshold")) return values.real("threshold");
  return agreeing_threshold(lens, confidence_of(values), kDefaultAgreement);
}

bool skipped_layers(const Trace& trace) {
  return trace.counts.contains("exit.layer");
}

ShownExits shown_exits(const ViewInput& input, const LogitLens& lens) {
  const Trace& trace = input.trace;
  if (skipped_layers(trace)) {
    ShownExits exits{{}, "the model's own rule", true};
    for (const std::int32_t layer : trace.counts.at("exit.layer")) {
      exits.layers.push_back(std::clamp<Index>(layer, 1, lens.guess.dim(0)) - 1);
    }
    if (trace.config && trace.config->exits) exits.rule = exit_rule(trace.config->exits->id).label;
    return exits;
  }
  const Values values = view_values(input.session.view, "depth");
  const double threshold = lens_threshold(values, lens);
  return {exit_layers(lens, confidence_of(values), threshold),
          values.choice("measure") + " ≥ " + brief(threshold, 3)};
}

std::string exits_sentence(const ShownExits& exits, const LogitLens& lens) {
  const ExitSummary s = exit_summary(lens, exits.layers);
  if (exits.skipped) return percent(s.saved) + " of layers skipped";
  return percent(s.agreement) + " of tokens exit with the last layer's prediction, and " +
         percent(s.saved) + " of layers could be skipped";
}

std::vector<std::string> exit_headlines(const ShownExits& exits, const LogitLens& lens) {
  const ExitSummary s = exit_summary(lens, exits.layers);
  const std::string saved = percent(s.saved), agree = percent(s.agreement);
  const std::string sentence = exits_sentence(exits, lens), &rule = exits.rule;
  if (exits.skipped) {
    return {"Exit by " + rule + ": " + sentence + ".", rule + ": " + sentence,
            saved + " of layers skipped"};
  }
  return {"Exit at " + rule + ": " + sentence + ".", rule + ": " + sentence,
          rule + ": " + agree + " with the last layer's prediction, " + saved +
              " of layers could be skipped",
          rule + ": " + agree + " agree, " + saved + " could be skipped",
          agree + " agree, " + saved + " could be skipped"};
}

std::vector<Index> shown_layers(const ViewInput& input, Index layers, double columns_that_fit) {
  const Values values = view_values(input.session.view, "depth");
  const auto columns = [&](Index step) {
    std::vector<Index> list;
    for (Index layer = 0; layer < layers; ++layer) {
      const bool is_kept = layer == 0 || layer == input.session.view.layer;
      if (is_kept || (layers - 1 - layer) % step == 0) list.push_back(layer);
    }
    return list;
  };
  std::vector<Index> shown = columns(values.has("every") ? values.integer("every") : 1);
  if (values.has("every")) return shown;
  Index step = 1;
  while (step<layers&& static_cast<double>(shown.size())> columns_that_fit) {
    shown = columns(++step);
  }
  return shown;
}

TokenAxis layer_axis(const Trace& trace, const std::vector<Index>& columns, Index layers) {
  TokenAxis axis;
  const auto shown = static_cast<Index>(columns.size());
  axis.titles = {"prediction of layer", "layer"};
  const std::vector<HeadRef> sequence = trace.layer_sequence(trace.part({}));
  const bool has_steps = trace.parts.step && static_cast<Index>(sequence.size()) == layers;
  if (has_steps) axis.titles = {"prediction of step·layer", "step·layer"};
  if (shown < layers) {
    const std::string count = " (" + std::to_string(shown) + " of " + std::to_string(layers);
    axis.titles.insert(axis.titles.begin(),
                       {axis.titles.front() + count + " layers)", "layer" + count + ")"});
  }
  for (const Index n : columns) {
    const HeadRef layer = has_steps ? sequence[static_cast<std::size_t>(n)] : HeadRef{n};
    const std::string step = has_steps ? std::to_string(layer.part.step) + "·" : "";
    axis.labels.push_back(step + std::to_string(layer.layer));
  }
  return axis;
}

ViewData depth_data(const ViewInput& input) {
  const Trace& trace = input.trace;
  if (!predicts_next_tokens(trace)) throw InputError(std::string("depth: ") + kPredictsActions);
  if (!trace.is_imported && !trace.logits.defined()) {
    throw InputError(std::string("depth: ") + kNoOutputHead);
  }
  const std::shared_ptr<const LogitLens> lens = input.findings.get(Findings::lens);
  if (!lens) {
    throw InputError("depth: no logit lens: expected a model's run on a text");
  }
  const ShownExits shown_layers = shown_exits(input, *lens);
  const std::vector<Index>& exits = shown_layers.layers;
  const ExitSummary summary = exit_summary(*lens, exits);
  const Extent visible =
      visible_positions(input.session.view, static_cast<Index>(trace.tokens.size()));
  ViewData::Matrix shares{
      "shares",
      Tensor::from({2, 1},
                   {static_cast<float>(summary.saved), static_cast<float>(summary.agreement)}),
      {shown_layers.skipped ? "layers that were skipped" : "layers that could be skipped",
       "tokens whose prediction at the exit is the last layer's"},
      {"share"},
      {"of"}};
  return {{guesses(trace, *lens, visible, exits), exits_of(trace, *lens, visible, exits),
           std::move(shares)}};
}

}  // namespace attnscope
