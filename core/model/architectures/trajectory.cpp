// trajectory: a decision transformer, which writes actions given the return that is asked for. Chen
// et al., 2021.
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

constexpr Index kPerStep = 3;  // return to go, state, action

void check_batch(const Batch& batch, const ModelConfig& config) {
  const Values& values = config.architecture.values;
  const Index most = values.integer("most_steps"), size = values.integer("state_size");
  const Index items = batch.returns.dim(0), steps = batch.returns.dim(1);
  if (steps < 1 || steps > most) {
    throw InputError("returns: expected 1 to " + std::to_string(most) +
                     " steps, the architecture's most_steps, found " + std::to_string(steps));
  }
  if (batch.states.shape() != Shape{items, steps, size}) {
    throw InputError("states: expected " + to_string(Shape{items, steps, size}) + ", found " +
                     to_string(batch.states.shape()));
  }
  if (batch.actions.shape() != Shape{items, steps}) {
    throw InputError("actions: expected " + to_string(Shape{items, steps}) + ", found " +
                     to_string(batch.actions.shape()));
  }
  for (const std::int32_t action : batch.actions) {
    if (action >= -1 && action < config.vocabulary) continue;
    throw InputError("actions: expected -1 to " + std::to_string(config.vocabulary - 1) +
                     ", found " + std::to_string(action));
  }
}

// Whether the last action of the sequences is one to come: its token is absent. Only the last may.
bool last_is_open(const Batch& batch) {
  const Index items = batch.actions.dim(0), steps = batch.actions.dim(1);
  Index open = 0;
  for (Index n = 0; n < batch.actions.size(); ++n) {
    if (batch.actions[n] >= 0) continue;
    if (n % steps + 1 < steps) {
      throw InputError("actions: expected -1 (not taken yet) at the last step alone, found it at " +
                       std::to_string(n % steps));
    }
    ++open;
  }
  if (open != 0 && open != items) {
    throw InputError("actions: expected the last one taken in all sequences or in none");
  }
  return open != 0;
}

// Vectors of the three tokens of each step.  [B 3 T, d]
Var step_tokens(Pass& pass, const Batch& batch) {
  const Index items = batch.returns.dim(0), steps = batch.returns.dim(1);
  const Index width = pass.config().width;
  IntTensor times({items, steps}), actions({items, steps});
  for (Index n = 0; n < times.size(); ++n) {
    times[n] = static_cast<std::int32_t>(n % steps);
    actions[n] = std::max(batch.actions[n], 0);
  }
  const Var time = gather(pass.weight("embed.time"), times);  // [B, T, d]
  const auto token = [&](const Var& x) { return reshape(add(x, time), {items, steps, 1, width}); };
  const Var of_return =
      add(matmul(Var(batch.returns.reshaped({items, steps, 1})), pass.weight("embed.return.w")),
          pass.weight("embed.return.b"));
  const Var of_state =
      add(matmul(Var(batch.states), pass.weight("embed.state.w")), pass.weight("embed.state.b"));
  const Var of_action = gather(pass.weight("embed.action"), actions);
  const Var all = concat({token(of_return), token(of_state), token(of_action)}, 2);
  return reshape(all, {items * steps * kPerStep, width});
}

Output run_trajectory(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  check_batch(batch, config);
  const Index items = pass.batch(), steps = batch.returns.dim(1), width = config.width;
  Var x = step_tokens(pass, batch);  // [B 3 T, d]
  const bool open = last_is_open(batch);
  const Index length = kPerStep * steps - (open ? 1 : 0);
  if (open) {
    x = reshape(slice(pass.sequences(x), 1, 0, length), {items * length, width});
  }
  const Choice* placed = input_encoding(config);
  if (placed && added_to_input(*placed)) x = pass.with_positions(x, *placed, "embed.", 0);
  x = pass.dropout(pass.embedded_further(x, "", 0));
  pass.tap("embed", x);
  x = run_layers(pass, layer_stack("", config.groups, {}, true), x);
  x = pass.end(x, "");
  pass.tap("final", x);
  IntTensor of_states({items * steps});  // rows that speak of the action to come
  for (Index n = 0; n < of_states.size(); ++n) {
    of_states[n] = static_cast<std::int32_t>(n / steps * length + n % steps * kPerStep + 1);
  }
  const Var logits = pass.logits(gather(x, of_states));  // [B T, actions]
  if (!logits.defined()) return {};                      // of a model without an output head
  pass.recorder().logits(logits.value(), 0);
  Output output;
  output.logits = reshape(logits, {items, steps, config.vocabulary});
  if (batch.targets.defined()) {
    output.losses.push_back(weighed_loss("action", language_model_loss(logits, batch.targets)));
  }
  return output;
}

std::string trajectory_refusal(const ModelConfig& config) {
  const Index actions = config.architecture.values.integer("actions");
  if (config.vocabulary != actions) {
    return "vocabulary: expected the " + std::to_string(actions) + " actions, found " +
           std::to_string(config.vocabulary);
  }
  if (config.tied_output) {
    return "tied_output: trajectory has no tokens to tie its output to; expected false, found true";
  }
  if (!config.causal)
    return "causal: trajectory writes actions in order; expected true, found false";
  return "";
}

Parameter count_parameter(const char* key, const char* label, const char* help, Index initial) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .least = 1,
          .most = 1 << 20,
          .slider_least = 1,
          .slider_most = 64};
}

WeightInfo token_weight(const char* name, const char* help, const char* rows) {
  return {.name = name,
          .help = help,
          .shape = [rows](const Dimensions& n, const Values& values) -> Shape {
            const std::string_view of = rows;
            if (of.empty()) return {n.model};
            return {of == "1" ? 1 : values.integer(of), n.model};
          },
          .initial = *rows == '\0' ? initial_zeros() : initial_normal(0.02)};
}

}  // namespace

Architecture trajectory_architecture() {
  Architecture a;
  a.id = "trajectory";
  a.label = "Trajectory (Decision Transformer)";
  a.group = "Architectures";
  a.equation = "…, R_t, s_t, a_t, R_{t+1}, s_{t+1}, …,   a_t from the row of s_t";
  a.summary =
      "Acting as writing: what has been done is a sequence of the return that is still asked for, "
      "the state, and the action taken. Trained on trajectories of any kind, the model continues "
      "them; asking for a high return makes it act well.";
  a.source = "Chen et al., 2021, Decision transformer, arXiv:2106.01345";
  a.cost = "N layers over three tokens a step";
  a.reads = Reads::Trajectories;
  a.parameters = {count_parameter("state_size", "State size", "How many numbers a state has.", 2),
                  count_parameter("actions", "Actions", "How many actions there are.", 4),
                  count_parameter("most_steps", "Most steps", "How long a trajectory may be.", 20)};
  a.weights = {token_weight("embed.return.w", "The vector of a return of 1.", "1"),
               token_weight("embed.return.b", "Added to the vector of the return.", ""),
               token_weight("embed.state.w", "The vector of each number of a state.", "state_size"),
               token_weight("embed.state.b", "Added to the vector of the state.", ""),
               token_weight("embed.action", "The vector of each action.", "actions"),
               token_weight("embed.time", "The vector of each step.", "most_steps")};
  a.refusal = trajectory_refusal;
  a.adapt = [](ModelConfig& config) {  // it reads and writes no tokens
    config.vocabulary = config.architecture.values.integer("actions");
    config.tied_output = false;
    config.causal = true;
  };
  a.add_weights = [](WeightList& list) {
    list.of_model(architecture("trajectory"), list.config().architecture.values);
    list.positions("", list.config().groups);
    list.behind_positions("");
    list.stack("", list.config().groups, false);
    list.output();
  };
  a.run = run_trajectory;
  a.one_stack = true;
  a.parts = [](const ModelConfig&) { return AddressParts{}; };
  return a;
}

}  // namespace attnscope
