// memory_compressed: keys and values shortened by a strided convolution. Liu et al., 2018.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/windows.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

OperationResult evaluate_compressed(const OperationInput& input, Backend& backend,
                                    const ResultRequest& wanted) {
  const Index stride = input.variant.values.integer("stride"), keys = key_count(input);
  const Index size = std::min(stride, keys), count = window_count(keys, size);
  const auto convolve = [&](const Var& x, const char* name) {
    const Var repeated = repeat_heads(x, input.heads, input.kv_heads);
    const Var weights = slice(weight(input.weights, name), 1, 0, size);      // [h, s]
    return window_convolution(repeated, weights, input.heads, size, count);  // [B h, n, ...]
  };
  Part part = plain_part(input, Pattern::all(query_count(input), count));
  part.k = convolve(input.k, "mc.key");
  part.v = convolve(input.v, "mc.value");
  part.split.clear();
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.columns = {{KeyKind::Projected, count}};
  return result;
}

WeightInfo kernel(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values& values) -> Shape {
            return {n.heads, values.integer("stride")};
          },
          .initial =
              [](const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
                return Tensor::full(shape, 1.0f / static_cast<float>(shape[1]));
              }};
}

}  // namespace

Variant memory_compressed_variant() {
  Variant v;
  v.id = "memory_compressed";
  v.label = "Memory-compressed";
  v.group = "Low rank and kernels";
  v.equation = "K′_J = Σ_t w[t]·K_{sJ+t},   attention over the ⌈L/s⌉ rows of K′";
  v.summary =
      "A convolution with stride s turns every s keys into one, and values likewise, before "
      "ordinary attention: a map with s times fewer columns. It was developed to write "
      "encyclopedia articles from very long collections of sources.";
  v.source = "Liu et al., 2018, Generating Wikipedia, arXiv:1801.10198";
  v.complexity = "O(L²/s·d)";
  v.causality.refusal = "a compressed key mixes earlier and later positions";
  v.inputs.cross = true;
  v.encodings.accepts_pairs = v.scores.has_terms = never;
  v.encodings.pairs_refusal = "scores keys that each combine several positions";
  v.parameters = {{.key = "stride",
                   .symbol = "s",
                   .label = "Stride",
                   .help = "Number of keys that become one.",
                   .required = true,
                   .initial = Index{3},
                   .limits = {.min = 1},
                   .slider = {.min = 1, .max = 16}}};
  v.weights = {kernel("mc.key", "Convolution weights of the keys."),
               kernel("mc.value", "Convolution weights of the values.")};
  v.cost.columns = [](const Values& values, Index keys) {
    return window_count(keys, std::min(values.integer("stride"), std::max<Index>(keys, 1)));
  };
  v.evaluate = evaluate_compressed;
  return v;
}

}  // namespace attnscope
