#include "core/attention/variants/shared/drawn.h"

#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/stop.h"

namespace attnscope {

Tensor drawn_normal(const char* name, const Shape& shape, double deviation, std::uint64_t seed) {
  constexpr Index kMaxNumbers = Index{1} << 28;
  if (element_count(shape) > kMaxNumbers) {
    throw InputError(std::string(name) + ": too large to draw, expected at most " +
                     std::to_string(kMaxNumbers) + " numbers, found shape " + to_string(shape));
  }
  Random random(seed);
  Tensor drawn(shape);
  for (Index n = 0; n < drawn.size(); ++n) {
    if (n % kGrain == 0) check_stop();
    drawn[n] = static_cast<float>(deviation * random.normal());
  }
  return drawn;
}

Tensor drawn_for_heads(const OperationInput& input, const char* name, Shape shape, Index heads_axis,
                       double deviation, std::uint64_t seed) {
  shape[static_cast<std::size_t>(heads_axis)] = layer_heads(input);
  const Tensor layer_numbers = drawn_normal(name, shape, deviation, seed);
  if (layer_heads(input) == input.heads) return layer_numbers;
  return slice(Var(layer_numbers), heads_axis, input.first_head, input.heads).value();
}

}  // namespace attnscope
