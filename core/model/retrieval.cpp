#include "core/model/retrieval.h"

#include "core/autodiff/operations_shape.h"
#include "core/base/find_by_id.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/model/pass.h"
#include "core/model/retrieval_json.h"
#include "core/model/weights.h"

namespace attnscope {

const std::vector<RetrievalHead>& retrieval_heads() {
  static const std::vector<RetrievalHead> list{knn_retrieval_head(), spalm_retrieval_head()};
  return list;
}

const RetrievalHead& retrieval_head(std::string_view id) {
  return find_by_id(retrieval_heads(), id, "retrieval.type");
}

Parameter neighbours_parameter() {
  return {.key = "k",
          .symbol = "k",
          .label = "Neighbours",
          .help = "Number of nearest contexts.",
          .initial = Index{8},
          .limits = {.min = 1, .max = 65536},
          .slider = {.min = 1, .max = 64}};
}

std::string retrieval_refusal(const ModelConfig& config) {
  const std::string expected =
      "retrieval: expected a causal text decoder with a feed-forward and without exits, found ";
  if (config.architecture.id != default_architecture().id) return expected + config.architecture.id;
  if (!config.causal) return expected + "a model that sees later tokens";
  if (!input_kind(config.input.id).is_text) return expected + "input " + config.input.id;
  if (config.hidden == 0) return expected + "hidden 0";
  if (config.exits) return expected + "exits " + config.exits->id;
  return "";
}

std::string retrieval_refusal(const ModelConfig& config, const RetrievalHead& retrieval_head) {
  std::string reason = retrieval_refusal(config);
  if (reason.empty() && retrieval_head.refusal) reason = retrieval_head.refusal(config);
  return reason;
}

RetrievalChoice retrieval_from_json(const Json& value, const std::string& path) {
  if (!value.is_object() || !value.contains("store") || !value["store"].is_string()) {
    throw InputError(path + ".store: expected a text with the path of a store");
  }
  Json parameters = value;
  parameters.erase("store");
  return {choice_from_json(retrieval_head, parameters, path), value["store"].text()};
}

Json to_json(const RetrievalChoice& retrieval) {
  Json object = to_json(retrieval.retrieval_head);
  object["store"] = retrieval.store;
  return object;
}

Retrieval::Retrieval(const RetrievalChoice& choice, std::shared_ptr<const Store> store,
                     const ModelConfig& config)
    : choice_(choice.retrieval_head), store_(std::move(store)) {
  const RetrievalHead& head = retrieval_head(choice_.id);
  check_values(head, choice_.values, "retrieval");
  const std::string reason = retrieval_refusal(config, head);
  if (!reason.empty()) throw InputError(reason);
  const Index count = store_->keys.dim(0), width = store_->keys.dim(1);
  if (width != config.width) {
    throw InputError(choice.store + ": keys: expected rows of model width " +
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
  const Neighbours neighbours =
      nearest_keys(*store_, pass.readout().query.value(), choice_.values.integer("k"));
  RetrievalInput retrieved{*store_,
                           neighbours,
                           pass.readout().query,
                           pass.readout().state,
                           reshape(output.logits, {rows, pass.config().vocabulary}),
                           IntTensor()};
  if (batch.targets.defined()) retrieved.targets = batch.targets.reshaped({rows});
  const RetrievalOutput mixture = retrieval_head(choice_.id).mix(pass, choice_.values, retrieved);
  Recorder& recorder = pass.recorder();
  if (recorder.on()) {
    recorder.values("log_probabilities", mixture.log_probabilities);
    recorder.counts("retrieval.index", neighbours.index);
    recorder.values("retrieval.distance", neighbours.distance);
    if (mixture.gate.defined()) recorder.values("retrieval.gate", mixture.gate);
  }
  output.log_probabilities = mixture.log_probabilities;
  for (Loss& loss : output.losses) {
    if (loss.name == "language_model") loss = weighted_loss(loss.name, mixture.loss);
  }
}

void add_retrieval_weights(WeightList& list) {
  for (const RetrievalHead& head : retrieval_heads()) {
    if (!retrieval_refusal(list.config(), head).empty()) continue;
    list.add_model_info(head, default_choice(head).values);
  }
}

}  // namespace attnscope
