#include "core/attention/attention_operation.h"

#include <algorithm>
#include <memory>

#include "core/attention/cpu/passes.h"

namespace attnscope {

Var attention(const Part& part, Backend& backend, const ResultRequest& wanted,
              AttentionMaps* report) {
  std::vector<Var> inputs = ingredients(part);
  const bool differentiable = std::any_of(inputs.begin(), inputs.end(),
                                          [](const Var& var) { return var.requires_gradient(); });
  if (!differentiable) {
    PartResult result = backend.run(part, wanted);
    const Tensor output = result.output;
    if (report != nullptr) *report = std::move(result);
    return output;
  }

  check(part);
  const auto prepared = std::make_shared<const cpu::Prepared>(part, cpu::Purpose::Gradients);
  ResultRequest forward_wanted = wanted;
  forward_wanted.output = forward_wanted.log_sum_exp = true;
  // The backward pass needs only the output and the log-sum-exp, which any backend computes.
  PartResult result = &backend == &cpu_backend() ? cpu::forward(*prepared, forward_wanted)
                                                 : backend.run(part, forward_wanted);
  if (report != nullptr) *report = result;

  PartResult saved_result;
  saved_result.output = result.output;
  saved_result.log_sum_exp = result.log_sum_exp;
  return record("attention", result.output, std::move(inputs),
                [prepared, saved_result](const Tensor& gradient, const std::vector<Var>&) {
                  cpu::backward(*prepared, saved_result, gradient);
                });
}

}  // namespace attnscope
