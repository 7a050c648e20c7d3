#include "core/experiment/continuation.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/chosen.h"
#include "core/experiment/inputs.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {

namespace {

std::vector<std::int32_t> ids_of_text(const Checkpoint& checkpoint, const Experiment& experiment,
                                      Index* leading) {
  const std::vector<TraceToken> tokens = chosen_tokens(checkpoint, experiment);
  const auto text = std::ranges::find_if(tokens, [](const auto& t) { return !t.special; });
  if (leading) *leading = text - tokens.begin();
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : tokens) ids.push_back(token.id);
  return ids;
}

// Rows of the picture, or the ids that are given.
std::vector<std::int32_t> pixels_to_go_on(const Checkpoint& checkpoint, const ModelConfig& config,
                                          const Experiment& experiment, Index rows) {
  if (experiment.input.empty()) return ids_of_text(checkpoint, experiment, nullptr);
  const Index height = config.input.values.integer("height");
  if (rows > height) {
    throw InputError("rows: expected at most the " + std::to_string(height) +
                     " of the image, found " + std::to_string(rows));
  }
  std::vector<std::int32_t> ids = pixel_ids(config, experiment.input);
  const Index kept = rows < 0 ? height / 2 : rows;
  ids.resize(static_cast<std::size_t>(kept * config.input.values.integer("width")));
  return ids;
}

}  // namespace

Continuation continuation(const Checkpoint& checkpoint, const ModelConfig& config,
                          const Experiment& experiment, Index rows) {
  if (fills_in(config)) {
    throw InputError("model: expected one that goes on with a text, found " + checkpoint.name +
                     ", which fills in what is hidden in it");
  }
  Continuation c;
  c.ends = checkpoint.end_tokens;
  if (architecture(config.architecture.id).reads == Reads::SourceAndTarget) {
    c.source = ids_of_text(checkpoint, experiment, nullptr);
    c.prompt = target_so_far(config, checkpoint, experiment);
    c.kept = 1;
    c.room = std::max<Index>(1, config.context + 1 - static_cast<Index>(c.prompt.size()));
    // A model that says nothing else ends with what it began with.
    if (c.ends.empty()) {
      c.ends.push_back(static_cast<std::int32_t>(config.architecture.values.integer("start")));
    }
    return c;
  }
  const InputKind& kind = input_kind(config.input.id);
  const Values& values = config.input.values;
  const std::vector<std::int32_t> ids = kind.is_text
                                            ? ids_of_text(checkpoint, experiment, &c.kept)
                                            : pixels_to_go_on(checkpoint, config, experiment, rows);
  const Index most = kind.most(values);
  if (most > 0) {
    c.room = most - static_cast<Index>(ids.size());
    if (c.room < 1) {
      throw InputError("ids: expected fewer than the " + std::to_string(most) +
                       " of the whole input, found " + std::to_string(ids.size()));
    }
  }
  c.levels = kind.levels(values);
  c.columns = kind.columns(values);
  c.prompt = kind.begun(ids, config);
  return c;
}

std::optional<Retrieval> chosen_retrieval(const Experiment& experiment, const ModelConfig& config) {
  if (!experiment.retrieval) return std::nullopt;
  auto store = std::make_shared<const Store>(load_store(store_path(experiment.retrieval->store)));
  return Retrieval(*experiment.retrieval, std::move(store), config);
}

Tensor action_logits(const Checkpoint& checkpoint, const Model& model, const Experiment& experiment,
                     Backend& backend, const Stop& stop) {
  const ModelInput input = model_input(model.config, checkpoint, experiment, {}, false);
  const IntTensor& actions = input.batch.actions;
  if (actions[actions.size() - 1] >= 0) {
    throw InputError(experiment.input +
                     ": actions: expected -1 at the last step, whose action is " +
                     "to come, found " + std::to_string(actions[actions.size() - 1]));
  }
  ForwardOptions options;
  options.backend = &backend;
  options.stop = stop;
  const Tensor logits = run(model, input.batch, options).logits.value();  // [1, T, actions]
  const Index count = logits.dim(2), steps = logits.dim(1);
  return logits.reshaped({steps, count}).slice(steps - 1, 1).reshaped({count});
}

}  // namespace attnscope
