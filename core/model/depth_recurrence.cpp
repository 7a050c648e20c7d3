#include "core/model/depth_recurrence.h"

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/halting.h"
#include "core/model/layer_stack.h"
#include "core/model/rows.h"
#include "core/model/separable_convolution.h"

namespace attnscope {
namespace {

// The input encoding if it is added before every step, with the number of the step; else null.
const Choice* step_encoding(const DepthRecurrence& recurrence) {
  const Choice* choice = input_encoding(recurrence.groups);
  return choice && encoding(choice->id).uses_step ? choice : nullptr;
}

Var embed_for_steps(Pass& pass, const IntTensor& ids, const DepthRecurrence& recurrence) {
  if (!step_encoding(recurrence)) return pass.embed(ids, recurrence.stack);  // [n, d]
  const ModelConfig& config = pass.config();
  Var x = reshape(pass.token_vectors(ids), {ids.size(), config.width});
  const auto factor = static_cast<float>(config.model_options.embedding_scale);
  if (factor != 1) x = scale(x, factor);
  return config.embedding.norm ? pass.norm(x, recurrence.stack + "embed.norm") : x;
}

// Adds the encoding of step t (from 1), if the stack has one.
Var add_step_encoding(const Pass& pass, const Var& x, const DepthRecurrence& recurrence, Index t) {
  const Choice* choice = step_encoding(recurrence);
  if (!choice) return x;
  Choice step_choice = *choice;
  step_choice.values.set("step", t);
  return pass.with_positions(x, step_choice, recurrence.stack + "embed.", 0);
}

}  // namespace

Var run_steps(Pass& pass, const IntTensor& ids, const DepthRecurrence& recurrence) {
  const Values& values = pass.config().architecture.values;
  const Index steps = values.integer("steps");
  const bool halts = uses_halting(values);
  Var x = pass.dropout(embed_for_steps(pass, ids, recurrence));
  pass.tap(recurrence.stack + "embed", x);
  const bool is_encoder = !recurrence.stack.empty();
  Address address{.stack = is_encoder ? Stack::Encoder : Stack::Decoder};
  std::optional<Halting> halting;
  if (halts) halting.emplace(pass, x.dim(0), recurrence.stack);
  for (Index t = 1; t <= steps; ++t) {
    const auto progress_at = [&](Index finished) {
      const double share = static_cast<double>(finished) / static_cast<double>(steps);
      return recurrence.begin + (recurrence.end - recurrence.begin) * share;
    };
    pass.begin_stage((is_encoder ? "encoder, step " : "step ") + std::to_string(t) + " of " +
                         std::to_string(steps) + ", ",
                     progress_at(t - 1), progress_at(t));
    address.step = t;
    LayerStack stack = layer_stack(recurrence.stack, recurrence.groups, address, recurrence.causal);
    stack.source = recurrence.source;
    const Var new_state =
        run_layers(pass, stack, add_step_encoding(pass, x, recurrence, t));  // [n, d]
    if (!halts) {
      x = new_state;
      continue;
    }
    x = t == 1 ? new_state : choose_rows(halting->running(), new_state, x);
    halting->step(x, t == steps);
    if (halting->all_halted()) break;
  }
  if (!halts) return x;
  halting->record(pass, recurrence.stack);
  pass.add_loss(is_encoder ? "encoder_ponder" : "ponder", mean(halting->ponder()),
                values.real("ponder"));
  return halting->output();
}

std::vector<Parameter> recurrence_parameters() {
  std::vector<Parameter> parameters = halting_parameters("the layers are");
  parameters.push_back({.key = "transition",
                        .symbol = "",
                        .label = "Transition",
                        .help = "Feed-forward of a layer, or separable convolutions, which also "
                                "mix neighbouring tokens.",
                        .kind = Parameter::Kind::Choice,
                        .initial = std::string("feed_forward"),
                        .choices = {{"feed_forward", "feed-forward"},
                                    {"separable_convolution", "separable convolution"}}});
  return parameters;
}

std::string transition_refusal(const ModelConfig& config) {
  if (!has_separable_convolution(config)) return "";
  const std::string expected = "architecture.transition: expected feed_forward for ";
  if (config.hidden == 0) return expected + "hidden 0, found separable_convolution";
  if (config.model_options.experts.count > 0)
    return expected + "experts, found separable_convolution";
  return "";
}

}  // namespace attnscope
