#include "core/attention/variants/drawn.h"

#include "core/base/error.h"
#include "core/base/random.h"

namespace attnscope {

Tensor drawn_normal(const char* name, const Shape& shape, double deviation, std::uint64_t seed) {
  constexpr Index kMost = Index{1} << 28;
  if (element_count(shape) > kMost) {
    throw InputError(std::string(name) + ": too large to draw, expected at most " +
                     std::to_string(kMost) + " numbers, found shape " + to_string(shape));
  }
  Random random(seed);
  Tensor drawn(shape);
  for (float& x : drawn) x = static_cast<float>(deviation * random.normal());
  return drawn;
}

}  // namespace attnscope
