#include "core/model/logit_lens.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/linear.h"
#include "core/model/losses.h"
#include "core/model/residual_connection.h"
#include "core/model/site.h"
#include "core/model/weights.h"
#include "core/tensor/matrix_product.h"
#include "core/tensor/vector_math.h"

namespace attnscope {
namespace {

constexpr Index kRowsPerBatch = 64;

const LazyTensor& lazy_tap(const Trace& trace, const std::string& name) {
  const auto entry = trace.taps.find(name);
  if (entry == trace.taps.end())
    throw WorkError("logit lens: this run recorded no \"" + name + "\"");
  return entry->second;
}

Tensor tap(const Trace& trace, const std::string& name) {
  return lazy_tap(trace, name);
}

bool has_own_classifiers(const Model& model) {
  return model.config.exits && model.config.exits->values.choice("classifier") == "own";
}

// Applies the norm and projection of the exit classifier of `layer` (from 0) or, if the model has
// none, the final norm and output projection.  x: [n, d] -> [n, vocabulary]
Var layer_prediction(const Model& model, Index layer, const Tensor& x) {
  const ModelConfig& config = model.config;
  const bool has_classifier = has_own_classifiers(model);
  const std::string prefix = "exits." + std::to_string(layer + 1) + ".";
  Var state = x;
  if (config.pre_norm) {
    const std::string norm_name = has_classifier ? prefix + "norm" : "final_norm";
    state = apply_norm(model, state, norm_name);
  }
  return has_classifier ? linear(model, state, prefix + "weight", "") : output_logits(model, state);
}

double cosine(const float* a, const float* b, Index count) {
  double product = 0, aa = 0, bb = 0;
  for (Index c = 0; c < count; ++c) {
    const auto x = static_cast<double>(a[c]), y = static_cast<double>(b[c]);
    product += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? product / std::sqrt(aa * bb) : 0;
}

// The token that `distance` positions after each position of the text has; -1 beyond its end.
std::vector<std::int32_t> later_tokens(const Trace& trace, Index distance) {
  std::vector<std::int32_t> ids(trace.tokens.size(), -1);
  for (std::size_t i = 0; i + static_cast<std::size_t>(distance) < ids.size(); ++i) {
    ids[i] = trace.tokens[i + static_cast<std::size_t>(distance)].id;
  }
  return ids;
}

// Probability of a target in a row of logits; NaN for target -1. At least 2^-126, the smallest
// normal float, so that its loss is finite.
float target_probability(const float* logits, Index vocabulary, std::int32_t target) {
  if (target < 0 || target >= vocabulary) return NAN;
  const float best = *std::max_element(logits, logits + vocabulary);
  double sum = 0;
  for (Index v = 0; v < vocabulary; ++v) {
    sum += static_cast<double>(vector_math::exp(logits[v] - best));
  }
  const double probability = static_cast<double>(vector_math::exp(logits[target] - best)) / sum;
  return std::max(static_cast<float>(probability), std::numeric_limits<float>::min());
}

// Fills entry `index` of `lens` from a row of logits. final_guess: id that the last layer predicts.
void evaluate_row(const float* logits, Index vocabulary, std::int32_t final_guess, LogitLens& lens,
                  Index index) {
  const float* best = std::max_element(logits, logits + vocabulary);
  double sum = 0;
  float second = -INFINITY;
  for (const float* l = logits; l != logits + vocabulary; ++l) {
    sum += static_cast<double>(vector_math::exp(*l - *best));
    if (l != best) second = std::max(second, *l);
  }
  const auto probability = [&](float logit) {
    return static_cast<float>(static_cast<double>(vector_math::exp(logit - *best)) / sum);
  };
  lens.guess[index] = static_cast<std::int32_t>(best - logits);
  lens.probability[index] = probability(*best);
  lens.margin[index] = probability(*best) - (vocabulary > 1 ? probability(second) : 0.0f);
  lens.final_guess_probability[index] = probability(logits[final_guess]);
}

// Tap with the state after a layer; in a recurrence over depth, after one step of the layer.
struct LayerState {
  std::string tap;
  Index step = 0;
};
std::vector<LayerState> layer_states(const Model& model, const Trace& trace) {
  std::vector<LayerState> states;
  if (!trace.parts.step) {
    for (Index layer = 0; layer < model.config.layers; ++layer) {
      states.push_back({layer_prefix(layer) + "residual"});
    }
    return states;
  }
  for (const HeadRef& head : trace.layer_sequence(trace.part({}))) {
    Site site{layer_prefix(head.layer), {}};
    site.address.step = head.part.step;
    states.push_back({tap_prefix(site) + "residual", head.part.step});
  }
  return states;
}

// True if a position's state did not change in `step`, because it halted before.
bool has_halted(const Trace& trace, Index position, Index step) {
  const auto steps = trace.counts.find("halting.steps");
  return steps != trace.counts.end() && step > steps->second[position];
}

// Restores the previous states of halted positions.
Tensor restore_halted(const Tensor& next, const Tensor& previous, Index step, const Trace& trace) {
  if (!trace.counts.contains("halting.steps")) return next;
  Tensor state = next.copy();  // [L, d]
  const Index width = state.dim(1);
  for (Index i = 0; i < state.dim(0); ++i) {
    if (!has_halted(trace, i, step)) continue;
    std::copy_n(previous.data() + i * width, width, state.data() + i * width);
  }
  return state;
}

// Probabilities of further targets from the last layer's states [L, d]; undefined without any.
Tensor later_target_probability(const Model& model, const Trace& trace, const Tensor& states) {
  const Index targets = model.config.auxiliary.future, length = states.dim(0);
  if (targets == 0) return Tensor();
  Tensor result({targets, length});
  const Var final_states = model.config.pre_norm ? apply_norm(model, states, "final_norm") : states;
  for (Index m = 1; m <= targets; ++m) {
    const std::vector<std::int32_t> ids = later_tokens(trace, 1 + m);
    const Tensor logits = linear(model, final_states, later_target_name(m), "").value();
    for (Index i = 0; i < length; ++i) {
      result(m - 1, i) = target_probability(logits.data() + i * logits.dim(1), logits.dim(1),
                                            ids[static_cast<std::size_t>(i)]);
    }
  }
  return result;
}

}  // namespace

LogitLens logit_lens(const Model& model, const Trace& trace) {
  const std::vector<LayerState> states = layer_states(model, trace);
  const Index layers = static_cast<Index>(states.size()), length = trace.logits.dim(0);
  const Index width = state_width(model.config), vocabulary = trace.logits.dim(1);
  LogitLens lens{IntTensor({layers, length}), Tensor({layers, length}), Tensor({layers, length}),
                 Tensor({layers, length}), Tensor({layers, length})};
  const bool has_targets =
      trace.token_bits.defined() && static_cast<Index>(trace.tokens.size()) == length;
  const std::vector<std::int32_t> targets = later_tokens(trace, 1);
  if (has_targets) lens.target_probability = Tensor({layers, length});
  // Evaluates a row of logits of a layer at position i.
  const auto evaluate = [&](const float* row, std::int32_t final_guess, Index layer, Index i) {
    evaluate_row(row, vocabulary, final_guess, lens, layer * length + i);
    if (!has_targets) return;
    lens.target_probability(layer, i) =
        target_probability(row, vocabulary, targets[static_cast<std::size_t>(i)]);
  };
  std::vector<std::int32_t> final_guesses;
  for (Index first = 0; first < length; first += kLogitsRows) {
    const Tensor logits = trace.logits.rows(first, std::min(kLogitsRows, length - first));
    for (Index r = 0; r < logits.dim(0); ++r) {
      const float* row = logits.data() + r * vocabulary;
      final_guesses.push_back(
          static_cast<std::int32_t>(std::max_element(row, row + vocabulary) - row));
      evaluate(row, final_guesses.back(), layers - 1, first + r);
    }
  }
  Tensor previous = tap(trace, "embed");
  if (previous.dim(1) < width)
    previous = concat({Var(previous), Var(previous)}, 1).value();  // reversible: two streams
  for (Index layer = 0; layer < layers; ++layer) {
    const LayerState& layer_state = states[static_cast<std::size_t>(layer)];
    const Tensor state =
        restore_halted(tap(trace, layer_state.tap), previous, layer_state.step, trace);  // [L, d]
    for (Index first = 0; first < length; first += kRowsPerBatch) {
      check_stop();
      const Index count = std::min(kRowsPerBatch, length - first);
      // The run recorded the last layer's logits.
      const Tensor logits = layer + 1 == layers
                                ? Tensor()
                                : layer_prediction(model, layer, state.slice(first, count)).value();
      for (Index r = 0; r < count; ++r) {
        const Index i = first + r;
        if (logits.defined()) {
          evaluate(logits.data() + r * vocabulary, final_guesses[static_cast<std::size_t>(i)],
                   layer, i);
        }
        lens.saturation(layer, i) = static_cast<float>(
            cosine(state.data() + i * width, previous.data() + i * width, width));
      }
    }
    previous = state;
  }
  if (has_targets) lens.later_target_probability = later_target_probability(model, trace, previous);
  return lens;
}

std::vector<double> mean_bits(const Tensor& probability) {
  std::vector<double> means;
  for (Index row = 0; row < probability.dim(0); ++row) {
    double sum = 0;
    Index count = 0;
    for (Index i = 0; i < probability.dim(1); ++i) {
      const auto p = static_cast<double>(probability(row, i));
      if (std::isnan(p)) continue;
      sum -= std::log2(p);
      ++count;
    }
    means.push_back(count > 0 ? sum / static_cast<double>(count) : NAN);
  }
  return means;
}

namespace {

// The lens of one position, without `saturation`.
LogitLens token_lens(const Model& model, const Trace& trace, Index position) {
  const std::vector<LayerState> layers = layer_states(model, trace);
  const auto count = static_cast<Index>(layers.size());
  const Index vocabulary = trace.logits.dim(1);
  std::vector<Var> states;  // of all layers but the last, [1, d]
  for (Index layer = 0; layer + 1 < count; ++layer) {
    const LayerState& current = layers[static_cast<std::size_t>(layer)];
    const bool is_new = states.empty() || !has_halted(trace, position, current.step);
    states.push_back(is_new ? lazy_tap(trace, current.tap).rows(position, 1) : states.back());
  }
  LogitLens lens{IntTensor({count, 1}), Tensor({count, 1}), Tensor({count, 1}), Tensor({count, 1}),
                 Tensor()};
  const Tensor last = trace.logits.row(position);
  const auto final_guess = static_cast<std::int32_t>(std::ranges::max_element(last) - last.begin());
  evaluate_row(last.data(), vocabulary, final_guess, lens, count - 1);
  // Layers with one classifier share a product, which reads the output matrix once.
  const std::size_t step = has_own_classifiers(model) ? 1 : states.size();
  for (std::size_t first = 0; first < states.size(); first += step) {
    check_stop();
    std::vector<Var> rows(states.begin() + static_cast<std::ptrdiff_t>(first),
                          states.begin() + static_cast<std::ptrdiff_t>(first + step));
    // Products with fewer rows round differently from those of logit_lens().
    const auto least = static_cast<std::size_t>(std::min(kMinPanelRows, trace.logits.dim(0)));
    while (rows.size() < least) rows.push_back(rows.back());
    const Tensor logits =
        layer_prediction(model, static_cast<Index>(first), concat(rows, 0).value()).value();
    for (std::size_t n = 0; n < step; ++n) {
      evaluate_row(logits.data() + static_cast<Index>(n) * vocabulary, vocabulary, final_guess,
                   lens, static_cast<Index>(first + n));
    }
  }
  return lens;
}

// Column `position` of a lens, without `saturation`.
LogitLens lens_column(const LogitLens& lens, Index position) {
  const Index layers = lens.guess.dim(0);
  const auto column = [&](const auto& numbers) {
    std::remove_cvref_t<decltype(numbers)> result({layers, 1});
    for (Index layer = 0; layer < layers; ++layer) result[layer] = numbers(layer, position);
    return result;
  };
  return {column(lens.guess), column(lens.probability), column(lens.margin),
          column(lens.final_guess_probability), Tensor()};
}

}  // namespace

TokenLens::TokenLens(std::shared_ptr<const Model> model, std::shared_ptr<const Trace> trace)
    : length_(trace->logits.dim(0)), compute_([model = std::move(model), trace](Index position) {
        return token_lens(*model, *trace, position);
      }) {}

TokenLens::TokenLens(LogitLens lens)
    : length_(lens.guess.dim(1)),
      compute_([lens = std::move(lens)](Index position) { return lens_column(lens, position); }) {}

LogitLens TokenLens::at(Index position) const {
  const std::scoped_lock lock(mutex_);
  auto known = known_.find(position);
  if (known == known_.end()) known = known_.emplace(position, compute_(position)).first;
  return known->second;
}

Tensor layer_logits(const Model& model, const Trace& trace, Index layer) {
  if (layer + 1 == model.config.layers) return trace.logits;
  return layer_prediction(model, layer, tap(trace, layer_prefix(layer) + "residual")).value();
}

namespace {

const Tensor& confidence_of(const LogitLens& lens, Confidence measure) {
  if (measure == Confidence::Margin) return lens.margin;
  return measure == Confidence::Probability ? lens.probability : lens.saturation;
}

}  // namespace

std::vector<Index> exit_layers(const LogitLens& lens, Confidence measure, double threshold) {
  const Tensor& confidence = confidence_of(lens, measure);
  const Index layers = confidence.dim(0), length = confidence.dim(1);
  std::vector<Index> exits(static_cast<std::size_t>(length), layers - 1);
  for (Index i = 0; i < length; ++i) {
    Index layer = 0;
    while (layer + 1 < layers && !(static_cast<double>(confidence(layer, i)) >= threshold)) ++layer;
    exits[static_cast<std::size_t>(i)] = layer;
  }
  return exits;
}

ExitSummary exit_summary(const LogitLens& lens, const std::vector<Index>& exits) {
  ExitSummary summary;
  const Index layers = lens.guess.dim(0), length = lens.guess.dim(1);
  if (length == 0 || layers == 0) return summary;
  Index layers_run = 0, agreeing = 0;
  for (Index i = 0; i < length; ++i) {
    const Index exit = exits[static_cast<std::size_t>(i)];
    layers_run += exit + 1;
    if (lens.guess(exit, i) == lens.guess(layers - 1, i)) ++agreeing;
  }
  summary.saved = 1 - static_cast<double>(layers_run) / static_cast<double>(layers * length);
  summary.agreement = static_cast<double>(agreeing) / static_cast<double>(length);
  return summary;
}

double agreeing_threshold(const LogitLens& lens, Confidence measure, double agreement) {
  constexpr Index kSteps = 1000;
  const Tensor& confidence = confidence_of(lens, measure);
  const Index layers = confidence.dim(0), length = confidence.dim(1);
  std::vector<Index> agreeing(kSteps + 1, 0);  // number of agreeing positions by threshold
  for (Index i = 0; i < length; ++i) {
    Index step = 0;  // first threshold without an exit so far
    for (Index n = 0; n < layers; ++n) {
      const bool agrees = lens.guess(n, i) == lens.guess(layers - 1, i), is_last = n + 1 == layers;
      const auto reached = static_cast<double>(confidence(n, i));
      for (; step <= kSteps && (is_last || reached >= static_cast<double>(step) / kSteps); ++step) {
        if (agrees) ++agreeing[static_cast<std::size_t>(step)];
      }
    }
  }
  Index lowest = kSteps;
  const double required = agreement * static_cast<double>(length);
  while (lowest > 0 &&
         static_cast<double>(agreeing[static_cast<std::size_t>(lowest)]) >= required &&
         static_cast<double>(agreeing[static_cast<std::size_t>(lowest - 1)]) >= required) {
    --lowest;
  }
  return static_cast<double>(lowest) / kSteps;
}

std::vector<double> layer_agreement(const LogitLens& lens) {
  const Index layers = lens.guess.dim(0), length = lens.guess.dim(1);
  std::vector<double> shares;
  for (Index n = 0; n < layers; ++n) {
    Index agreeing = 0;
    for (Index i = 0; i < length; ++i) agreeing += lens.guess(n, i) == lens.guess(layers - 1, i);
    shares.push_back(static_cast<double>(agreeing) /
                     static_cast<double>(std::max<Index>(length, 1)));
  }
  return shares;
}

}  // namespace attnscope
