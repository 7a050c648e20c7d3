#include "core/model/recomputation.h"

#include <vector>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/model/architecture.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/residual_connection.h"
#include "core/tensor/half.h"

namespace attnscope {

IntTensor pack_bfloat(const Tensor& values) {
  IntTensor packed({(values.size() + 1) / 2});
  if (packed.size() > 0) packed[packed.size() - 1] = 0;  // the second half of an odd last number
  to_bfloat(values.data(), packed.data(), values.size());
  return packed;
}

Tensor unpack_bfloat(const IntTensor& packed, const Shape& shape) {
  Tensor values(shape);
  from_bfloat(packed.data(), values.data(), values.size());
  return values;
}

std::string recomputation_refusal(const ModelConfig& config) {
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  if (!architecture.has_self_attention) {
    return "checkpointing: expected an architecture with layers of attention, found " +
           architecture.id;
  }
  const std::string& join = config.residual_connection.id;
  if (residual_connection(join).run_layers) {
    return "checkpointing: expected another join than " + join +
           ", which recomputes its layers in any case";
  }
  if (config.segment > 0) {
    return "checkpointing: expected no segment, found " + std::to_string(config.segment);
  }
  if (layers_add_losses(config)) {
    return "checkpointing: expected span_penalty 0, found a penalty, which needs the tape of all "
           "layers";
  }
  return "";
}

RecomputedLayers::RecomputedLayers(Pass& pass)
    : pass_(pass), model_(std::make_shared<const Model>(pass.model())), constants_(pass.model()) {
  for (auto& [name, weight] : constants_.weights) weight = Var(weight.value());
}

Var RecomputedLayers::block(const Site& site, const Var& x, const Var& source) {
  std::vector<Var> inputs{x};
  if (source.defined()) inputs.push_back(source);
  for (const auto& [name, weight] : model_->weights) inputs.push_back(weight);
  if (!requires_tape("recomputed_layer", inputs)) return pass_.block(site, x, source);

  const auto constant = [](const Var& input) {
    return input.defined() ? Var(input.value()) : Var();
  };
  Pass untaped_pass(constants_, pass_.options(), pass_.batch());
  const std::uint64_t dropouts = pass_.dropouts();
  untaped_pass.set_dropouts(dropouts);
  const Shape shape = x.shape();
  IntTensor packed;
  Var input = constant(x);
  if (pass_.options().stores_bfloat) {
    packed = pack_bfloat(x.value());
    input = Var(unpack_bfloat(packed, shape));
    inputs[0].mutable_value() = Tensor();  // the tape keeps the packed numbers instead
  }
  const Var y = untaped_pass.block(site, input, constant(source));
  pass_.set_dropouts(untaped_pass.dropouts());

  ForwardOptions options = pass_.options();
  options.adapted = nullptr;  // updated by the forward pass
  options.progress = nullptr;
  options.work = nullptr;
  const auto groups = std::make_shared<const std::vector<HeadGroup>>(*site.groups);
  return record("recomputed_layer", y.value(), std::move(inputs),
                [model = model_, options, batch = pass_.batch(), groups, site, dropouts,
                 has_source = source.defined(), packed,
                 shape](const Tensor& gradient, const std::vector<Var>& tape_inputs) {
                  Site own_site = site;
                  own_site.groups = groups.get();
                  Pass pass(*model, options, batch);
                  pass.set_dropouts(dropouts);
                  const Var input = Var::parameter(packed.defined() ? unpack_bfloat(packed, shape)
                                                                    : tape_inputs[0].value());
                  const Var source_input =
                      has_source ? Var::parameter(tape_inputs[1].value()) : Var();
                  // Adds the gradients of the weights, too.
                  backward(sum(multiply(pass.block(own_site, input, source_input), Var(gradient))));
                  if (input.gradient().defined()) accumulate(tape_inputs[0], input.gradient());
                  if (has_source && source_input.gradient().defined()) {
                    accumulate(tape_inputs[1], source_input.gradient());
                  }
                });
}

}  // namespace attnscope
