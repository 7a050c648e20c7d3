#include "core/experiment/continuation.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/inputs.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/input_kind.h"

namespace attnscope {
namespace {

// leading_specials: receives the number of special tokens before the text; null: not needed.
std::vector<std::int32_t> text_ids(const Checkpoint& checkpoint, const RunSpec& spec,
                                   Index* leading_specials) {
  const std::vector<TraceToken> tokens = tokenised_input(checkpoint, spec);
  const auto first_of_text = std::ranges::find_if(tokens, [](const auto& t) { return !t.special; });
  if (leading_specials) *leading_specials = first_of_text - tokens.begin();
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : tokens) ids.push_back(token.id);
  return ids;
}

// Pixels of the image's leading rows; the ids of `spec` if it has no image.
std::vector<std::int32_t> prompt_pixels(const Checkpoint& checkpoint, const ModelConfig& config,
                                        const RunSpec& spec, Index rows) {
  if (spec.input.empty()) return text_ids(checkpoint, spec, nullptr);
  const Index height = config.input.values.integer("height");
  if (rows > height) {
    throw InputError("rows: expected at most the " + std::to_string(height) +
                     " of the image, found " + std::to_string(rows));
  }
  std::vector<std::int32_t> ids = pixel_ids(config, spec.input);
  const Index kept_rows = rows < 0 ? height / 2 : rows;
  ids.resize(static_cast<std::size_t>(kept_rows * config.input.values.integer("width")));
  return ids;
}

}  // namespace

Continuation continuation(const Checkpoint& checkpoint, const ModelConfig& config,
                          const RunSpec& spec, Index rows) {
  require(Capability::Logits, config, checkpoint.name, "model");
  require(Capability::NextToken, config, checkpoint.name, "model");
  Continuation c;
  c.ends = checkpoint.end_tokens;
  if (architecture(config.architecture.id).reads == Reads::SourceAndTarget) {
    c.source = text_ids(checkpoint, spec, nullptr);
    c.prompt = target_so_far(config, checkpoint, spec);
    c.kept = 1;
    c.room = std::max<Index>(1, config.context + 1 - static_cast<Index>(c.prompt.size()));
    // Models without an end token end a target with the start token.
    if (c.ends.empty()) {
      c.ends.push_back(static_cast<std::int32_t>(config.architecture.values.integer("start")));
    }
    return c;
  }
  const InputKind& kind = input_kind(config.input.id);
  const Values& values = config.input.values;
  const std::vector<std::int32_t> ids = kind.is_text
                                            ? text_ids(checkpoint, spec, &c.kept)
                                            : prompt_pixels(checkpoint, config, spec, rows);
  const Index max_ids = kind.max_ids(values);
  if (max_ids > 0) {
    c.room = max_ids - static_cast<Index>(ids.size());
    if (c.room < 1) {
      throw InputError("ids: expected fewer than the " + std::to_string(max_ids) +
                       " of the complete input, found " + std::to_string(ids.size()));
    }
  }
  c.levels = kind.levels(values);
  c.columns = kind.columns(values);
  c.prompt = kind.generation_prefix(ids, config);
  return c;
}

std::optional<Retrieval> make_retrieval(const RunSpec& spec, const ModelConfig& config) {
  if (!spec.retrieval) return std::nullopt;
  auto store = std::make_shared<const Store>(load_store(store_path(spec.retrieval->store)));
  return Retrieval(*spec.retrieval, std::move(store), config);
}

Tensor action_logits(const Checkpoint& checkpoint, const Model& model, const RunSpec& spec,
                     Backend& backend) {
  const ModelInput input = model_input(model.config, checkpoint, spec, {}, false);
  const IntTensor& actions = input.batch.actions;
  if (actions.defined() && actions[actions.size() - 1] >= 0) {
    throw InputError(spec.input + ": actions: expected -1 at the last step, whose action " +
                     "is predicted, found " + std::to_string(actions[actions.size() - 1]));
  }
  if (const Tensor& moves = input.batch.moves;
      moves.defined() && !std::isnan(moves[moves.size() - 1])) {
    throw InputError(spec.input + ": actions: expected one row less than returns, since the last " +
                     "action is predicted, found " + std::to_string(moves.dim(1)) + " rows");
  }
  ForwardOptions options;
  options.backend = &backend;
  const Tensor logits = run(model, input.batch, options).logits.value();  // [1, T, actions]
  const Index count = logits.dim(2), steps = logits.dim(1);
  return logits.reshaped({steps, count}).slice(steps - 1, 1).reshaped({count});
}

}  // namespace attnscope
