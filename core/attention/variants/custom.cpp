// custom: a mask that somebody painted or loaded.
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/painted.h"

namespace attnscope {

namespace {

// Keys at distances 0, 1, 2, 4, 8 ..., on both sides: from anywhere to anywhere in few steps.
Tensor powers_of_two(const Shape& shape, const Situation&, const Values&) {
  Tensor mask = Tensor::zeros(shape);  // [.., L, L]
  const Index columns = shape.back(), rows = shape[shape.size() - 2];
  for (Index row = 0; row < mask.size() / columns; ++row) {
    for (Index j = 0; j < columns; ++j) {
      const auto distance = static_cast<std::uint64_t>(std::abs(row % rows - j));
      if (distance == 0 || std::has_single_bit(distance)) mask[row * columns + j] = 1;
    }
  }
  return mask;
}

}  // namespace

Variant custom_variant() {
  Variant v;
  v.id = "custom";
  v.label = "Custom mask";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = { j : mask[i, j] ≠ 0 }";
  v.summary =
      "Any pattern at all: a matrix of zeros and ones, painted by hand or loaded, says who may see "
      "whom, for all heads alike or for each by itself. A query whose row is empty sees nothing "
      "and "
      "gives zeros.";
  v.source = "Vaswani et al., 2017, arXiv:1706.03762, masked attention";
  v.cost = "O(pairs·d)";
  v.incremental = true;
  v.cross = true;
  v.weights = {{.name = "pattern.mask",
                .help = "Which key each query may see: 1 where it may.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.query_length(), n.key_length()};
                },
                .initial = initial_ones(),
                .shown = powers_of_two,
                .constant = true,
                .bytes = true,
                .per_head = true}};
  v.pattern = [](const PatternInput& in) {
    return painted_pattern(in, "pattern.mask", "painted", false);
  };
  return v;
}

}  // namespace attnscope
