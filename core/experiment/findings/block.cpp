// Finding "block_vectors": vectors within the layers, read by a probe in a second run.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/experiment/block_study.h"
#include "core/experiment/findings/study.h"
#include "core/experiment/run.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/model/pass.h"

namespace attnscope {
namespace {

// Euclidean norm of each row.  [n, d] -> [n]
Tensor row_norms(const Tensor& x) {
  Tensor norms({x.dim(0)});
  for (Index i = 0; i < x.dim(0); ++i) {
    double sum = 0;
    for (Index c = 0; c < x.dim(1); ++c) {
      const auto number = static_cast<double>(x(i, c));
      sum += number * number;
    }
    norms[i] = static_cast<float>(std::sqrt(sum));
  }
  return norms;
}

// Appends rows of a later segment.
void append(Tensor& all, const Tensor& more) {
  if (!all.defined()) {
    all = more.copy();
    return;
  }
  Shape shape = all.shape();
  shape[0] += more.dim(0);
  Tensor joined(shape);
  std::copy_n(more.data(), more.size(), std::copy_n(all.data(), all.size(), joined.data()));
  all = joined;
}

Tensor missing(Index count) {
  return Tensor::full({count}, std::numeric_limits<float>::quiet_NaN());
}

const char* block_name(std::string_view suffix, bool crosses) {
  if (suffix == "ffn") return "feed-forward";
  if (suffix == "cross") return "cross-attention";
  return crosses ? "self-attention" : "attention";
}

// Name of the norm with these weights: "layers.3.ffn_norm".
std::string norm_name(std::string_view weights, const ModelConfig& config, bool crosses) {
  const std::string_view name = weights.substr(weights.rfind('.') + 1);
  const bool is_output = name.ends_with("_output_norm");
  const std::string_view block = name.substr(0, name.find('_'));
  const bool is_after = !config.pre_norm || is_output;
  return std::string(is_after ? "after " : "before ") + (block == "ffn" ? "the " : "") +
         block_name(block, crosses);
}

class Collector {
 public:
  Collector(BlockStudy& study, const Interventions& interventions, bool crosses)
      : study_(study), interventions_(interventions), crosses_(crosses) {}

  Var collect(const ProbePlace& place, const Var& x) {
    if (place.point == ProbePoint::LayerInput) {
      address_ = place.address;
      begin_layer(x.value());
      return x;
    }
    if (address_.stack != study_.stack || is_off()) return x;
    switch (place.point) {
      case ProbePoint::BlockOutput:
        add_output(place, x.value());
        break;
      case ProbePoint::BlockSum:
        append(last_point(place).state, row_norms(x.value()));
        break;
      case ProbePoint::NormInput:
      case ProbePoint::NormOutput:
        add_norm(place, x.value());
        break;
      case ProbePoint::FeedForwardGate:
      case ProbePoint::FeedForwardValue:
      case ProbePoint::FeedForwardHidden:
        add_hidden(place, x.value());
        break;
      case ProbePoint::LayerInput:
      case ProbePoint::RecomputedInput:
        break;
    }
    return x;
  }

  // Fills states of blocks that run in parallel.
  void finish() {
    for (StreamPoint& point : study_.stream) {
      if (!point.state.defined()) point.state = missing(point.added.size());
    }
  }

 private:
  bool is_off() const {
    return study_.stack == Stack::Decoder && attnscope::is_off(interventions_, address_.layer);
  }
  bool is_selected() const {
    return address_.layer == study_.layer && address_.step == study_.step;
  }

  // Adds the state before the first layer. Reversible layers begin with two equal streams.
  void begin_layer(const Tensor& x) {
    if (address_.stack != study_.stack || address_.layer > 0 || address_.step > 1) return;
    StreamPoint& point = point_of(-1, "");
    if (segments_ > address_.segment) return;
    segments_ = address_.segment + 1;
    append(point.state, row_norms(x));
  }

  StreamPoint& point_of(Index layer, const std::string& block) {
    const auto found = std::ranges::find_if(study_.stream, [&](const StreamPoint& point) {
      return point.step == address_.step && point.layer == layer && point.block == block;
    });
    if (found != study_.stream.end()) return *found;
    study_.stream.push_back({.step = address_.step, .layer = layer, .block = block});
    return study_.stream.back();
  }
  StreamPoint& last_point(const ProbePlace& place) {
    const std::string_view suffix = place.name.substr(place.name.rfind('.') + 1);
    return point_of(address_.layer, block_name(suffix, crosses_));
  }

  void add_output(const ProbePlace& place, const Tensor& x) {
    append(last_point(place).added, row_norms(x));
  }

  void add_norm(const ProbePlace& place, const Tensor& x) {
    const ModelConfig& config = place.pass.config();
    // The final norm and norms of the embedding are no part of a layer.
    if (!is_selected() || config.norm == Norm::None ||
        place.name.find("layers.") == std::string_view::npos)
      return;
    const std::string name = norm_name(place.name, config, crosses_);
    auto norm = std::ranges::find(study_.norms, name, &NormStudy::name);
    if (norm == study_.norms.end()) {
      study_.norms.push_back(
          {.name = name, .is_rms = config.norm == Norm::RmsNorm, .epsilon = config.norm_epsilon});
      norm = study_.norms.end() - 1;
      const std::string weights(place.name);
      norm->gain = place.pass.weight(weights + ".weight").value();
      if (place.pass.has(weights + ".bias")) {
        norm->bias = place.pass.weight(weights + ".bias").value();
      }
    }
    Tensor& rows = place.point == ProbePoint::NormInput ? norm->input : norm->output;
    // Two blocks can use the same norm, one after the other.
    const bool is_repeated = rows.defined() && rows.dim(0) >= study_.stream.front().state.size();
    if (!is_repeated) append(rows, x);
  }

  void add_hidden(const ProbePlace& place, const Tensor& x) {
    if (!is_selected()) return;
    const ModelConfig& config = place.pass.config();
    if (!place.name.ends_with(".ffn")) {
      study_.hidden_problem = "Each token is processed by its own experts.";
      return;
    }
    if (!study_.hidden) {
      study_.hidden.emplace();
      study_.hidden->activation = config.activation;
      study_.hidden->is_gated = config.gated;
    }
    append(place.point == ProbePoint::FeedForwardGate    ? study_.hidden->gate
           : place.point == ProbePoint::FeedForwardValue ? study_.hidden->value
                                                         : study_.hidden->output,
           x);
  }

  BlockStudy& study_;
  const Interventions& interventions_;
  bool crosses_;
  Address address_;
  Index segments_ = 0;  // segments whose first state was added
};

BlockStudy study_block(const RunSpec& spec, const BlockSettings& settings, ExperimentRun& run) {
  BlockStudy study;
  study.layer = settings.layer;
  const std::shared_ptr<const Trace> trace = run.run(spec);
  const TracePart part = trace->part(settings.part);
  study.stack = part.stack;
  study.step = part.step;
  if (!architecture(trace->config->architecture.id).has_self_attention) {
    study.problem = "This model has no layers of attention.";
    return study;
  }
  const bool crosses = trace->parts.kind && part.stack == Stack::Decoder;
  Collector collector(study, spec.interventions, crosses);
  run.run_probed(
      spec, [&](const ProbePlace& place, const Var& x) { return collector.collect(place, x); },
      false);
  collector.finish();
  if (!study.hidden && study.hidden_problem.empty()) {
    study.hidden_problem = is_off(spec.interventions, settings.layer)
                               ? "An intervention switches the layer off."
                               : "The layer has no feed-forward.";
  }
  return study;
}

}  // namespace

Finding block_finding() {
  return study_finding(Findings::block,
                       "Residual stream of all layers; norms and feed-forward of one layer.",
                       [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                          const FindingProgress&) {
                         return study_block(spec, std::get<BlockSettings>(settings), run);
                       });
}

}  // namespace attnscope
