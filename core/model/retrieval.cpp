#include "core/model/retrieval.h"

#include "core/autodiff/operations_shape.h"
#include "core/base/find_by_id.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {

const std::vector<Mixer>& mixers() {
  static const std::vector<Mixer> list{knn_mixer(), spalm_mixer()};
  return list;
}

const Mixer& mixer(std::string_view id) {
  return find_by_id(mixers(), id, "retrieval.type");
}

Parameter neighbours_parameter() {
  return {.key = "k",
          .symbol = "k",
          .label = "Neighbours",
          .help = "How many of the nearest contexts count.",
          .initial = Index{8},
          .least = 1,
          .most = 65536,
          .slider_least = 1,
          .slider_most = 64};
}

std::string retrieval_refusal(const ModelConfig& config) {
  const std::string expected =
      "retrieval: expected a causal decoder of text with a feed-forward and "
      "without exits, found ";
  if (config.architecture.id != default_architecture().id) {
    return expected + config.architecture.id;
  }
  if (!config.causal) return expected + "one that sees later tokens";
  if (!input_kind(config.input.id).is_text) return expected + "input " + config.input.id;
  if (config.hidden == 0) return expected + "hidden 0";
  if (config.exits) return expected + "exits " + config.exits->id;
  return "";
}

std::string retrieval_refusal(const ModelConfig& config, const Mixer& mixer) {
  std::string reason = retrieval_refusal(config);
  if (reason.empty() && mixer.refusal) reason = mixer.refusal(config);
  return reason;
}

Retrieval::Retrieval(const RetrievalChoice& choice, std::shared_ptr<const Store> store,
                     const ModelConfig& config)
    : choice_(choice.mixer), store_(std::move(store)) {
  const Mixer& of = mixer(choice_.id);
  check_values(of, choice_.values, "retrieval");
  const std::string reason = retrieval_refusal(config, of);
  if (!reason.empty()) throw InputError(reason);
  const Index count = store_->keys.dim(0), width = store_->keys.dim(1);
  if (width != config.width) {
    throw InputError(choice.store + ": keys: expected rows of the model's width " +
                     std::to_string(config.width) + ", found " + std::to_string(width));
  }
  for (const std::int32_t value : store_->values) {
    if (value >= 0 && value < config.vocabulary) continue;
    throw InputError(choice.store + ": values: expected ids below " +
                     std::to_string(config.vocabulary) + ", found " + std::to_string(value));
  }
  const Index k = choice_.values.integer("k");
  if (k > count) {
    throw InputError("retrieval.k: expected at most the " + std::to_string(count) +
                     " keys of the store, found " + std::to_string(k));
  }
}

void Retrieval::mix(Pass& pass, const Batch& batch, Output& output) const {
  const Index rows = pass.readout().state.dim(0);
  const Neighbours neighbours = nearest_keys(*store_, pass.readout().query.value(),
                                             choice_.values.integer("k"), pass.options().stop);
  Retrieved retrieved{*store_,
                      neighbours,
                      pass.readout().query,
                      pass.readout().state,
                      reshape(output.logits, {rows, pass.config().vocabulary}),
                      IntTensor()};
  if (batch.targets.defined()) retrieved.targets = batch.targets.reshaped({rows});
  const Mixed mixed = mixer(choice_.id).mix(pass, choice_.values, retrieved);
  Recorder& recorder = pass.recorder();
  if (recorder.on()) {
    recorder.values("log_probabilities", mixed.log_probabilities);
    recorder.counts("retrieval.index", neighbours.index);
    recorder.values("retrieval.distance", neighbours.distance);
    if (mixed.gate.defined()) recorder.values("retrieval.gate", mixed.gate);
  }
  output.log_probabilities = mixed.log_probabilities;
  for (Loss& loss : output.losses) {
    if (loss.name == "language_model") loss = weighed_loss(loss.name, mixed.loss);
  }
}

void add_retrieval_weights(WeightList& list) {
  for (const Mixer& of : mixers()) {
    if (!retrieval_refusal(list.config(), of).empty()) continue;
    list.of_model(of, default_choice(of).values);
  }
}

}  // namespace attnscope
