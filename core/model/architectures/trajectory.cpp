// trajectory: Decision Transformer, which generates actions for a desired return. Chen et al.,
// 2021.
#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr Index kTokensPerStep = 3;  // return to go, state, action

void check_actions(const Batch& batch, const ModelConfig& config) {
  const Shape shape{batch.returns.dim(0), batch.returns.dim(1)};
  if (has_continuous_actions(config)) {
    const Shape expected{shape[0], shape[1], config.vocabulary};
    if (batch.moves.defined() && batch.moves.shape() == expected) return;
    throw InputError("actions: expected numbers of shape " + to_string(expected) + ", found " +
                     (batch.moves.defined() ? to_string(batch.moves.shape()) : "action ids"));
  }
  if (batch.moves.defined()) {
    throw InputError("actions: expected action ids, found numbers of shape " +
                     to_string(batch.moves.shape()));
  }
  if (batch.actions.shape() != shape) {
    throw InputError("actions: expected " + to_string(shape) + ", found " +
                     to_string(batch.actions.shape()));
  }
  for (const std::int32_t action : batch.actions) {
    if (action >= -1 && action < config.vocabulary) continue;
    throw InputError("actions: expected -1 to " + std::to_string(config.vocabulary - 1) +
                     ", found " + std::to_string(action));
  }
}

void check_batch(const Batch& batch, const ModelConfig& config) {
  const Values& values = config.architecture.values;
  const Index max_steps = values.integer("most_steps"), size = values.integer("state_size");
  const Index items = batch.returns.dim(0), steps = batch.returns.dim(1);
  if (steps < 1 || steps > max_steps) {
    throw InputError("returns: expected 1 to " + std::to_string(max_steps) +
                     " steps, the architecture's most_steps, found " + std::to_string(steps));
  }
  if (batch.states.shape() != Shape{items, steps, size}) {
    throw InputError("states: expected " + to_string(Shape{items, steps, size}) + ", found " +
                     to_string(batch.states.shape()));
  }
  check_actions(batch, config);
}

// True if action n of the batch is not taken yet: -1, or a NaN among continuous actions.
bool is_open(const Batch& batch, Index n) {
  if (!batch.moves.defined()) return batch.actions[n] < 0;
  const Index size = batch.moves.dim(2);
  const float* move = batch.moves.data() + n * size;
  return std::any_of(move, move + size, [](float x) { return std::isnan(x); });
}

// True if the last action of every sequence is not taken yet. These actions have no token.
bool lacks_last_action(const Batch& batch) {
  const Index items = batch.returns.dim(0), steps = batch.returns.dim(1);
  const std::string open = batch.moves.defined() ? "NaN" : "-1";
  Index open_count = 0;
  for (Index n = 0; n < items * steps; ++n) {
    if (!is_open(batch, n)) continue;
    if (n % steps + 1 < steps) {
      throw InputError("actions: expected " + open +
                       " (not taken yet) only at the last step, found " + open + " at step " +
                       std::to_string(n % steps));
    }
    ++open_count;
  }
  if (open_count != 0 && open_count != items) {
    throw InputError("actions: expected " + open + " at the last step of all sequences or of none");
  }
  return open_count != 0;
}

// Continuous actions, with zeros for those that are not taken yet.  [B, T, a]
Tensor taken_moves(const Batch& batch) {
  Tensor moves = batch.moves.copy();
  std::ranges::replace_if(
      moves, [](float x) { return std::isnan(x); }, 0.0f);
  return moves;
}

// Vectors of the actions: rows of a table, or a linear map of continuous actions.  [B, T, d]
Var action_vectors(Pass& pass, const Batch& batch) {
  const Var table = pass.weight("embed.action");  // [actions, d]
  if (batch.moves.defined()) {
    return add(matmul(Var(taken_moves(batch)), table), pass.weight("embed.action.b"));
  }
  IntTensor actions(batch.actions.shape());
  std::ranges::transform(batch.actions, actions.begin(),
                         [](std::int32_t action) { return std::max(action, 0); });
  return gather(table, actions);
}

// Returns to go that the model reads.  [B, T]
Tensor visible_returns(const Batch& batch, const Values& values) {
  if (!values.flag("returns")) return Tensor::zeros(batch.returns.shape());
  if (!values.flag("sparse_rewards")) return batch.returns;
  Tensor returns(batch.returns.shape());
  for (Index n = 0; n < returns.size(); ++n) {
    returns[n] = batch.returns[n / returns.dim(1) * returns.dim(1)];
  }
  return returns;
}

// Vectors of the three tokens of each step.  [B 3 T, d]
Var step_tokens(Pass& pass, const Batch& batch) {
  const Index items = batch.returns.dim(0), steps = batch.returns.dim(1);
  const Index width = pass.config().width;
  IntTensor times({items, steps});
  for (Index n = 0; n < times.size(); ++n) times[n] = static_cast<std::int32_t>(n % steps);
  const Var time = gather(pass.weight("embed.time"), times);  // [B, T, d]
  const auto token = [&](const Var& x) { return reshape(add(x, time), {items, steps, 1, width}); };
  const Tensor returns = visible_returns(batch, pass.config().architecture.values);
  const Var return_vectors =
      add(matmul(Var(returns.reshaped({items, steps, 1})), pass.weight("embed.return.w")),
          pass.weight("embed.return.b"));
  const Var state_vectors =
      add(matmul(Var(batch.states), pass.weight("embed.state.w")), pass.weight("embed.state.b"));
  const Var tokens =
      concat({token(return_vectors), token(state_vectors), token(action_vectors(pass, batch))}, 2);
  return reshape(tokens, {items * steps * kTokensPerStep, width});
}

// Mean squared error of predicted continuous actions [B, T, a] over the components of the steps
// with a target; 0 without targets.  []
Var squared_error(const Var& predictions, const Batch& batch) {
  const IntTensor& targets = batch.targets;
  Tensor weights = Tensor::zeros({targets.dim(0), targets.dim(1), 1});
  const auto count = std::ranges::count_if(targets, [](std::int32_t t) { return t >= 0; });
  for (Index n = 0; n < targets.size(); ++n) {
    if (targets[n] < 0) continue;
    weights[n] = 1 / static_cast<float>(count * predictions.dim(2));
  }
  const Var difference = subtract(predictions, Var(taken_moves(batch)));
  return sum(multiply(multiply(difference, difference), Var(weights)));
}

Output run_trajectory(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  check_batch(batch, config);
  const Index items = pass.batch(), steps = batch.returns.dim(1), width = config.width;
  Var x = step_tokens(pass, batch);  // [B 3 T, d]
  const bool lacks_action = lacks_last_action(batch);
  const Index length = kTokensPerStep * steps - (lacks_action ? 1 : 0);
  if (lacks_action) x = reshape(slice(pass.sequences(x), 1, 0, length), {items * length, width});
  const Choice* choice = input_encoding(config);
  if (choice && is_added_to_input(*choice)) x = pass.with_positions(x, *choice, "embed.", 0);
  x = pass.dropout(pass.finish_embedding(x, "", 0));
  pass.tap("embed", x);
  x = run_layers(pass, layer_stack("", config.groups, {}, true), x);
  x = pass.final_norm(x, "");
  pass.tap("final", x);
  IntTensor state_rows({items * steps});  // rows that predict the actions
  for (Index n = 0; n < state_rows.size(); ++n) {
    state_rows[n] = static_cast<std::int32_t>(n / steps * length + n % steps * kTokensPerStep + 1);
  }
  const Var logits = pass.logits(gather(x, state_rows));  // [B T, actions]
  if (!logits.defined()) return {};                       // no output head
  if (has_continuous_actions(config)) {
    Output output;
    output.logits = tanh(reshape(logits, {items, steps, config.vocabulary}));
    if (batch.targets.defined()) {
      output.losses.push_back(weighted_loss("action", squared_error(output.logits, batch)));
    }
    return output;
  }
  pass.recorder().logits(logits.value(), 0);
  Output output;
  output.logits = reshape(logits, {items, steps, config.vocabulary});
  if (batch.targets.defined()) {
    output.losses.push_back(weighted_loss("action", language_model_loss(logits, batch.targets)));
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
    return "tied_output: expected false for \"trajectory\", which has no token table, found true";
  }
  if (has_continuous_actions(config) && config.softmax.id != default_softmax().id) {
    return "softmax: expected " + default_softmax().id + " for continuous actions, found " +
           config.softmax.id;
  }
  if (!config.causal) return "causal: expected true for \"trajectory\", found false";
  return "";
}

Parameter count_parameter(const char* key, const char* label, const char* help, Index initial) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .limits = {.min = 1, .max = 1 << 20},
          .slider = {.min = 1, .max = 64}};
}

WeightInfo token_weight(const char* name, const char* help, const char* rows) {
  return {.name = name,
          .help = help,
          .shape = [rows](const Dimensions& n, const Values& values) -> Shape {
            const std::string_view row_count = rows;
            if (row_count.empty()) return {n.model};
            return {row_count == "1" ? 1 : values.integer(row_count), n.model};
          },
          .initial = *rows == '\0' ? initial_zeros() : initial_normal(0.02)};
}

// Bias of the linear map of continuous actions.
WeightInfo action_bias() {
  WeightInfo weight = token_weight("embed.action.b", "Bias of the action projection.", "");
  weight.used = [](const Values& values) { return values.flag("continuous"); };
  return weight;
}

}  // namespace

Architecture trajectory_architecture() {
  Architecture a;
  a.id = "trajectory";
  a.label = "Trajectory (Decision Transformer)";
  a.group = "Architectures";
  a.equation = "…, R_t, s_t, a_t, R_{t+1}, s_{t+1}, …,   a_t from the row of s_t";
  a.summary =
      "Reinforcement learning as sequence modelling: a trajectory is a sequence of return to go, "
      "state and action. Trained on trajectories of any quality, the model predicts the next "
      "action; conditioning on a high return makes it act well.";
  a.source = "Chen et al., 2021, Decision transformer, arXiv:2106.01345";
  a.complexity = "N layers over three tokens a step";
  a.reads = Reads::Trajectories;
  a.parameters = {
      count_parameter("state_size", "State size", "Components of a state.", 2),
      count_parameter("actions", "Actions",
                      "Number of actions, or of components of a continuous action.", 4),
      count_parameter("most_steps", "Maximum steps", "Maximum length of a trajectory.", 20),
      {.key = "norm_epsilon",
       .symbol = "ε",
       .label = "Epsilon of the embedding's norm",
       .help = "Number added to the variance in the norm of the embedding.",
       .kind = Parameter::Kind::Real,
       .optional = true,
       .unset_label = "the model's",
       .initial = 1e-5,
       .limits = {.min = 0, .max = 1},
       .slider = {.max = 1e-3}},
      {.key = "returns",
       .symbol = "",
       .label = "Returns",
       .help = "Off: behaviour cloning. The model reads 0 instead of every return to go.",
       .kind = Parameter::Kind::Flag,
       .initial = true},
      {.key = "sparse_rewards",
       .symbol = "",
       .label = "Sparse rewards",
       .help = "On: the whole reward comes after the last step, so that the return to go of the "
               "first step stays the same in all of them.",
       .kind = Parameter::Kind::Flag,
       .initial = false},
      {.key = "continuous",
       .symbol = "",
       .label = "Continuous actions",
       .help = "On: an action is a vector of numbers from -1 to 1. A linear map reads it, a linear "
               "map with tanh predicts it, and the loss is the mean squared error.",
       .kind = Parameter::Kind::Flag,
       .initial = false}};
  a.weights = {token_weight("embed.return.w", "Projection of the return to go.", "1"),
               token_weight("embed.return.b", "Bias of the return projection.", ""),
               token_weight("embed.state.w", "Projection of the state.", "state_size"),
               token_weight("embed.state.b", "Bias of the state projection.", ""),
               token_weight("embed.action", "Vector of each action.", "actions"),
               action_bias(),
               token_weight("embed.time", "Vector of each step.", "most_steps")};
  a.refusal = trajectory_refusal;
  a.adapt = [](ModelConfig& config) {  // the model predicts actions instead of text
    config.vocabulary = config.architecture.values.integer("actions");
    config.tied_output = false;
    config.causal = true;
  };
  a.add_weights = [](WeightList& list) {
    list.add_model_info(architecture("trajectory"), list.config().architecture.values);
    list.positions("", list.config().groups);
    list.after_positions("");
    list.stack("", list.config().groups, false);
    list.output();
  };
  a.run = run_trajectory;
  a.is_single_stack = true;
  a.parts = [](const ModelConfig&) { return AddressParts{}; };
  return a;
}

}  // namespace attnscope
