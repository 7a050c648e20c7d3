// Finding "gradients": gradients of one output with respect to the states before every layer.
//
// A parameter of zeros is added to each state; its gradient is that of the state.
#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/experiment/findings/study.h"
#include "core/experiment/gradient_study.h"
#include "core/experiment/run.h"
#include "core/model/pass.h"

namespace attnscope {
namespace {

struct WatchedState {
  Address address;
  Var zeros;  // [n, d] parameter that was added to the state
};

class StateWatch {
 public:
  explicit StateWatch(bool passes_attention) : passes_attention_(passes_attention) {}

  Var operator()(const ProbePlace& place, const Var& x) {
    if (place.point == ProbePoint::LayerInput) {
      states_.push_back({place.address, Var::parameter(Tensor::zeros(x.shape()))});
      return add(x, states_.back().zeros);
    }
    const bool is_attention =
        place.name.ends_with(".attn") || place.name.ends_with(".cross") || place.name == "attn";
    if (place.point != ProbePoint::BlockOutput || !is_attention) return x;
    has_attention_ = true;
    return passes_attention_ ? x : Var(x.value());
  }

  const std::vector<WatchedState>& states() const { return states_; }
  bool has_attention() const { return has_attention_; }

 private:
  bool passes_attention_;
  bool has_attention_ = false;
  std::vector<WatchedState> states_;
};

// Sums of squares by row of [.., d].
std::vector<double> squares(const Var& zeros) {
  const Index width = zeros.dim(-1 + zeros.rank()), rows = zeros.value().size() / width;
  std::vector<double> sums(static_cast<std::size_t>(rows));
  const Tensor gradient = zeros.gradient();
  if (!gradient.defined()) return sums;  // the output does not depend on the state
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < width; ++c) {
      const auto number = static_cast<double>(gradient.data()[i * width + c]);
      sums[static_cast<std::size_t>(i)] += number * number;
    }
  }
  return sums;
}

// Norms of the gradients by layer. Two states at one address are the streams of a reversible layer;
// states of several segments are parts of one row.
struct LayerNorms {
  Address address;
  std::vector<std::vector<double>> segments;  // squares
};

std::vector<LayerNorms> layer_norms(const std::vector<WatchedState>& states) {
  std::vector<LayerNorms> layers;
  for (const WatchedState& state : states) {
    Address address = state.address;
    address.segment = 0;
    auto layer = std::ranges::find(layers, address, &LayerNorms::address);
    if (layer == layers.end()) {
      layers.push_back({address, {}});
      layer = layers.end() - 1;
    }
    const auto segment = static_cast<std::size_t>(state.address.segment);
    if (layer->segments.size() <= segment) layer->segments.resize(segment + 1);
    const std::vector<double> sums = squares(state.zeros);
    std::vector<double>& total = layer->segments[segment];
    total.resize(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) total[i] += sums[i];
  }
  return layers;
}

Tensor norms(const LayerNorms& layer) {
  std::vector<float> values;
  for (const std::vector<double>& segment : layer.segments) {
    for (const double sum : segment) values.push_back(static_cast<float>(std::sqrt(sum)));
  }
  const auto count = static_cast<Index>(values.size());
  return Tensor::from({count}, std::move(values));
}

// Selects y: the largest logit at the position.
void select_output(const Var& logits, const GradientSettings& settings, GradientStudy& study) {
  const Index vocabulary = logits.dim(logits.rank() - 1);
  const Index rows = logits.value().size() / vocabulary;
  study.position = std::clamp<Index>(settings.position.value_or(rows - 1), 0, rows - 1);
  const float* row = logits.value().data() + study.position * vocabulary;
  study.id = static_cast<std::int32_t>(std::max_element(row, row + vocabulary) - row);
  study.logit = static_cast<double>(row[study.id]);
}

// Runs the model and backpropagates from y. Returns the norms of the gradients by layer.
std::vector<LayerNorms> backpropagate(const RunSpec& spec, const GradientSettings& settings,
                                      bool passes_attention, ExperimentRun& run,
                                      GradientStudy& study) {
  StateWatch watch(passes_attention);
  const Output output = run.run_probed(spec, std::ref(watch), true);
  if (!output.logits.defined())
    throw InputError("output_head: expected a model with an output head, found none");
  select_output(output.logits, settings, study);
  study.has_attention = watch.has_attention();
  const Index vocabulary = output.logits.dim(output.logits.rank() - 1);
  const Var rows = reshape(output.logits, {output.logits.value().size() / vocabulary, vocabulary});
  backward(sum(slice(slice(rows, 0, study.position, 1), 1, study.id, 1)));
  check_stop();
  return layer_norms(watch.states());
}

GradientStudy study_gradients(const RunSpec& spec, const GradientSettings& settings,
                              ExperimentRun& run, const FindingProgress& progress) {
  GradientStudy study;
  const std::vector<LayerNorms> full = backpropagate(spec, settings, true, run, study);
  if (progress) progress(1, 2);
  const std::vector<LayerNorms> without =
      study.has_attention ? backpropagate(spec, settings, false, run, study) : full;
  if (progress) progress(2, 2);
  for (std::size_t n = 0; n < full.size(); ++n) {
    const Address& address = full[n].address;
    study.rows.push_back(
        {address.stack, address.step, address.layer, norms(full[n]), norms(without[n])});
  }
  if (study.rows.empty()) study.problem = "This model has no layers with states.";
  return study;
}

}  // namespace

Finding gradients_finding() {
  return study_finding(
      Findings::gradients, "Gradients of one output with respect to the states before every layer.",
      [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
         const FindingProgress& progress) {
        return study_gradients(spec, std::get<GradientSettings>(settings), run, progress);
      });
}

}  // namespace attnscope
