#include <stdexcept>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/pass.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace {

void check_ids(const IntTensor& ids, const char* name, Index vocabulary) {
  if (ids.rank() != 2 || ids.empty()) {
    throw InputError(std::string(name) + ": expected shape [B, L] with at least one token, found " +
                     to_string(ids.shape()));
  }
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      throw InputError(std::string(name) + ": expected numbers from 0 to " +
                       std::to_string(vocabulary - 1) + ", found " + std::to_string(id));
    }
  }
}

// Rejects the padding token of models whose position tables skip it.
void check_places(const IntTensor& ids, const ModelConfig& config) {
  const Values& values = config.architecture.values;
  if (!values.has("unplaced")) return;
  const Index unplaced = values.integer("unplaced");
  if (std::ranges::find(ids, static_cast<std::int32_t>(unplaced)) == ids.end()) return;
  throw InputError("ids: expected no padding token (" + std::to_string(unplaced) +
                   "), which has no position in this model, found one");
}

void check_types(const Batch& batch, Index types) {
  if (types == 0) throw InputError("types: expected no types for a model without token types");
  if (batch.types.shape() != batch.ids.shape()) {
    throw InputError("types: expected one type per token, " + to_string(batch.ids.shape()) +
                     ", found " + to_string(batch.types.shape()));
  }
  check_ids(batch.types, "types", types);
}

void check_options(const ModelConfig& config, const Batch& batch, const ForwardOptions& options) {
  const bool learns_numbers = config.model_options.output_head && has_continuous_actions(config);
  const bool predicts =
      (batch.targets.defined() && !learns_numbers) || options.last_logits || options.retrieval;
  if (predicts) require(Capability::Logits, config, "a model", "output_head");
  if (options.trace && batch.size() != 1) {
    throw InputError("ids: expected batch size 1 for a trace, found " +
                     std::to_string(batch.size()));
  }
  if (!options.keep_activations &&
      (!options.trace || options.cache || options.memory || options.retrieval || options.training ||
       (options.backend && options.backend != &cpu_backend()) || batch.targets.defined() ||
       config.segment > 0 || config.exits)) {
    throw std::logic_error("this run must keep its activations");
  }
  if (options.cache) {
    const std::string reason = cache_refusal(config, options.exit.has_value());
    if (!reason.empty()) throw InputError("keys and values cannot be cached: " + reason);
  }
  if (options.exit) require(Capability::Exits, config, "a model", "exit");
  if (options.exit && batch.targets.defined()) {
    throw InputError("exit: expected no targets with a threshold, since losses cover all layers");
  }
}

void check_batch(const ModelConfig& config, const Architecture& architecture, const Batch& batch) {
  if (architecture.reads == Reads::Trajectories) {
    if (!batch.returns.defined()) {
      throw InputError("input: expected returns, states and actions, found none");
    }
  } else {
    if (architecture.reads == Reads::SourceAndTarget) {
      if (!batch.source.defined()) throw InputError("source: expected source ids, found none");
      if (!batch.ids.defined()) {
        throw InputError("target ids: expected a target prefix for " + config.architecture.id +
                         ", found none");
      }
      check_ids(batch.source, "ids", config.vocabulary);
      return check_ids(batch.ids, "target ids", config.vocabulary);
    }
    check_ids(batch.ids, "ids", config.vocabulary);
    check_places(batch.ids, config);
    if (batch.types.defined()) check_types(batch, config.embedding.types);
  }
}

// keys: receives the retrieval keys; null: not needed.
Output run_pass(const Model& model, const Batch& batch, const ForwardOptions& options,
                Tensor* keys) {
  const ModelConfig& config = model.config;
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  check_batch(config, architecture, batch);
  check_options(config, batch, options);
  Pass pass(model, options, batch.size());
  pass.set_token_types(batch.types);
  pass.set_patches(batch.patches);
  pass.recorder().set_parts(architecture.parts(config));
  Output output = architecture.run(pass, batch);
  if (keys) *keys = pass.readout().query.value();
  if (options.retrieval) options.retrieval->mix(pass, batch, output);
  for (Loss& loss : pass.take_losses()) output.losses.push_back(std::move(loss));
  if (!batch.targets.defined()) output.losses.clear();
  pass.recorder().finish();
  return output;
}

}  // namespace

Output run(const Model& model, const Batch& batch, const ForwardOptions& options) {
  return run_pass(model, batch, options, nullptr);
}

Tensor context_keys(const Model& model, const Batch& batch, const ForwardOptions& options) {
  Tensor keys;
  run_pass(model, batch, options, &keys);
  return keys;
}

Var forward(const Model& model, const IntTensor& ids, const ForwardOptions& options) {
  Batch batch;
  batch.ids = ids;
  return run(model, batch, options).logits;
}

}  // namespace attnscope
