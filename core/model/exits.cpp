#include "core/model/exits.h"

#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/find_by_id.h"
#include "core/base/random.h"
#include "core/model/architecture.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/rows.h"
#include "core/model/weights.h"

namespace attnscope {

const std::vector<ExitRule>& exit_rules() {
  static const std::vector<ExitRule> list{sequence_exits(),   multinomial_exits(),
                                          geometric_exits(),  response_exits(),
                                          saturation_exits(), classifier_exits()};
  return list;
}

const ExitRule& exit_rule(std::string_view id) {
  return find_by_id(exit_rules(), id, "exits.type");
}

std::string exits_refusal(const ModelConfig& config) {
  if (!config.exits) return "";
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  if (!architecture.has_exits) {
    return "exits: expected a decoder or an encoder-decoder, found " + architecture.id +
           ", whose tokens cannot exit early";
  }
  if (config.layers < 2) return "exits: expected at least two layers, found one layer";
  if (config.segment > 0)
    return "exits: expected no segments, found segment " + std::to_string(config.segment);
  return "";
}

void add_exit_classifiers(WeightList& list) {
  const ModelConfig& config = list.config();
  if (config.exits->values.choice("classifier") != "own") return;
  list.set_owner("");
  list.set_help("Classifier of each layer.");
  for (Index n = 1; n < config.layers; ++n) {
    const std::string prefix = "exits." + std::to_string(n) + ".";
    if (config.pre_norm) list.norm(prefix + "norm");
    list.matrix(prefix + "weight", {config.width, config.vocabulary});
  }
}

ExitRun::ExitRun(Pass& pass, const Var& x, const Var& encoded)
    : pass_(pass),
      config_(pass.config()),
      rule_(exit_rule(config_.exits->id)),
      values_(config_.exits->values),
      layers_(config_.layers),
      rows_(x.dim(0)),
      length_(x.dim(0) / pass.batch()),
      exits_early_(pass.options().exit.has_value()),
      draws_exits_(pass.options().training && values_.choice("training") == "mixed"),
      states_{x},
      encoded_(encoded),
      exit_layers_(static_cast<std::size_t>(x.dim(0)), 0) {
  if (rule_.distribution_at == 0) {
    const Var& source = encoded.defined() ? encoded : x;
    distribution_ = rule_.distribution(pass, mean_rows(Var(source.value()), pass.batch()));
    if (exits_early_) exit_by_distribution();
  }
  if (draws_exits_) {
    Random random(derived_seed(pass.options().dropout_seed, 0x65786974));
    for (Index& layer : exit_layers_) {
      layer = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(layers_)));
    }
  }
}

void ExitRun::attach_to(LayerStack& stack) {
  stack.after_layer = [this](Index n, const Var& old_state, const Var& new_state) {
    return after_layer(n, old_state, new_state);
  };
  // Traces record all rows; without a trace, layers skip exited tokens.
  skips_exited_ = exits_early_ && !pass_.recorder().on() && pass_.batch() == 1;
  if (skips_exited_) stack.active_rows = [this](Index) { return active_rows(); };
}

std::optional<std::vector<std::int32_t>> ExitRun::active_rows() const {
  std::vector<std::int32_t> active;
  const auto next_layer = static_cast<Index>(states_.size());
  for (Index row = 0; row < rows_; ++row) {
    const Index exit = exit_layers_[static_cast<std::size_t>(row)];
    if (exit == 0 || exit >= next_layer) active.push_back(static_cast<std::int32_t>(row));
  }
  if (static_cast<Index>(active.size()) == rows_) return std::nullopt;
  return active;
}

Var ExitRun::predict(Index n, const Var& x) const {
  if (n == layers_ || values_.choice("classifier") != "own")
    return pass_.logits(pass_.final_norm(x, ""));
  const std::string prefix = "exits." + std::to_string(n) + ".";
  const Var state = config_.pre_norm ? pass_.norm(x, prefix + "norm") : x;
  return pass_.linear(state, prefix + "weight", "");
}

double ExitRun::threshold(Index row) const {
  const double initial = *pass_.options().exit;
  const double decay = rule_.decays ? values_.real("decay") : 0;
  if (decay == 0) return initial;
  // With a cache, the final length is unknown; the context replaces it.
  const State* cache = pass_.options().cache;
  const auto t = static_cast<double>(row % length_ + (cache ? cache->length : 0));
  const auto length = static_cast<double>(cache ? config_.context : length_);
  return std::clamp(0.9 * initial + 0.1 * std::exp(-decay * t / length), 0.0, 1.0);
}

void ExitRun::exit_by_distribution() {
  const Tensor& q = distribution_.value();  // [B or rows, N]
  for (Index row = 0; row < rows_; ++row) {
    const float* logits = q.data() + (q.dim(0) == rows_ ? row : row / length_) * layers_;
    exit_layers_[static_cast<std::size_t>(row)] =
        std::max_element(logits, logits + layers_) - logits + 1;
  }
}

// Computes the rule's confidence for active rows and sets the exit layer of confident rows.
void ExitRun::update_confidence(Index n, const Var& old_state, const Var& new_state) {
  Tensor confidence = Tensor::zeros({rows_});
  std::vector<std::int32_t> rows;
  for (Index row = 0; row < rows_; ++row) {
    const Index exit = exit_layers_[static_cast<std::size_t>(row)];
    if (draws_exits_ || exit == 0 || exit >= n) rows.push_back(static_cast<std::int32_t>(row));
  }
  if (!rows.empty()) {
    const Var x = select_rows(Var(new_state.value()), rows);
    const std::function<Var()> logits = [&] { return predict(n, x); };
    const Tensor open_confidence =
        rule_.sure_at_end && n == layers_
            ? Tensor::full({static_cast<Index>(rows.size())}, 1)
            : rule_.confidence({pass_, n, select_rows(Var(old_state.value()), rows), x, logits})
                  .value();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      confidence[rows[i]] = open_confidence[static_cast<Index>(i)];
    }
  }
  if (exits_early_) {
    for (const std::int32_t row : rows) {
      Index& exit = exit_layers_[static_cast<std::size_t>(row)];
      const bool is_confident = static_cast<double>(confidence[row]) >= threshold(row);
      if (exit == 0 && (is_confident || n == layers_)) exit = n;
    }
  }
  confidences_.push_back(std::move(confidence));
}

Var ExitRun::after_layer(Index n, const Var& old_state, const Var& new_state) {
  Var state = new_state;
  if (exits_early_ || draws_exits_) {
    Tensor continues = Tensor::full({rows_}, 1);
    bool all_active = true;
    for (Index row = 0; row < rows_; ++row) {
      const Index exit = exit_layers_[static_cast<std::size_t>(row)];
      if (exit == 0 || exit >= n) continue;
      continues[row] = 0;
      all_active = false;
    }
    if (!all_active && !skips_exited_) state = choose_rows(continues, new_state, old_state);
  }
  states_.push_back(state);
  if (rule_.distribution_at == n) {
    distribution_ = rule_.distribution(pass_, Var(state.value()));
    if (exits_early_) exit_by_distribution();
  }
  // Training needs no confidences: distribution_loss() and imitation_loss() use states_.
  const bool is_recording = pass_.recorder().on();
  if (rule_.confidence && exits_early_ && n == layers_ &&
      !is_recording) {  // all remaining tokens exit here
    std::ranges::replace(exit_layers_, Index{0}, layers_);
  } else if (rule_.confidence && (exits_early_ || is_recording)) {
    update_confidence(n, old_state, state);
  }
  return state;
}

Var ExitRun::logits(const Var& final_state) {
  if (!exits_early_) return predict(layers_, final_state);
  if (values_.choice("classifier") != "own") return predict(layers_, final_state);
  Tensor result({rows_, config_.vocabulary});
  for (Index n = 1; n <= layers_; ++n) {
    std::vector<std::int32_t> rows;
    for (Index row = 0; row < rows_; ++row) {
      if (exit_layers_[static_cast<std::size_t>(row)] == n)
        rows.push_back(static_cast<std::int32_t>(row));
    }
    if (rows.empty()) continue;
    const Tensor layer_logits = predict(n, select_rows(final_state, rows)).value();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(layer_logits.data() + static_cast<Index>(i) * config_.vocabulary,
                  config_.vocabulary, result.data() + rows[i] * config_.vocabulary);
    }
  }
  return result;
}

// q(n) of each row: probability of an exit at n and not before; 0 where not computed.
Tensor ExitRun::distribution_of_confidences() const {
  Tensor q({rows_, layers_});
  for (Index row = 0; row < rows_; ++row) {
    double remaining = 1;
    const Index exit = exit_layers_[static_cast<std::size_t>(row)];
    for (Index n = 1; n <= layers_; ++n) {
      const bool is_computed = exit == 0 || exit >= n;
      const auto p = static_cast<double>(confidences_[static_cast<std::size_t>(n - 1)][row]);
      q(row, n - 1) = is_computed ? static_cast<float>(remaining * p) : 0;
      remaining *= 1 - p;
    }
  }
  return q;
}

void ExitRun::record() {
  Recorder& recorder = pass_.recorder();
  if (!recorder.on()) return;
  if (rule_.confidence) {
    Tensor confidences({layers_, rows_});
    for (Index n = 0; n < layers_; ++n) {
      const Tensor& confidence = confidences_[static_cast<std::size_t>(n)];
      std::copy_n(confidence.data(), rows_, confidences.data() + n * rows_);
    }
    recorder.values("exit.confidence", confidences);
    if (rule_.makes_distribution) {
      recorder.values("exit.distribution", distribution_of_confidences());
    }
  }
  if (distribution_.defined()) {
    const Tensor q = softmax(Var(distribution_.value())).value();  // [B or rows, N]
    Tensor distribution({rows_, layers_});
    for (Index row = 0; row < rows_; ++row) {
      const Index source_row = q.dim(0) == rows_ ? row : row / length_;
      std::copy_n(q.data() + source_row * layers_, layers_, distribution.data() + row * layers_);
    }
    recorder.values("exit.distribution", distribution);
  }
  if (exits_early_) recorder.counts("exit.layer", layers());
}

IntTensor ExitRun::layers() const {
  IntTensor layers({rows_});
  std::ranges::transform(exit_layers_, layers.begin(),
                         [](Index n) { return static_cast<std::int32_t>(n); });
  return layers;
}

Output ExitRun::output(const Var& logits, const Batch& batch) const {
  Output output = language_model_output(pass_, logits, {});
  if (exits_early_) output.exits = layers().reshaped({pass_.batch(), length_});
  if (batch.targets.defined()) add_losses(batch.targets, output);
  return output;
}

}  // namespace attnscope
