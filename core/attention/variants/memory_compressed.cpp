// memory_compressed: keys and values shortened by a strided convolution. Liu et al., 2018.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/attention/variants/shared/windows.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

// All compressed keys; if causal, those without tokens after the query.
Pattern compressed_pattern(const OperationInput& input, Index stride, Index count) {
  if (!input.causal) return Pattern::all(query_count(input), count);
  const Index first = first_position(input);
  PatternBuilder rows(1, query_count(input), count, {"complete blocks"});
  for (Index i = first; i < first + query_count(input); ++i) {
    rows.add(0, 0, (i + 1) / stride);
    rows.next_row();
  }
  return rows.finish();
}

OperationResult evaluate_compressed(const OperationInput& input, Backend& backend,
                                    const ResultRequest& wanted) {
  const Index stride = input.variant.values.integer("stride"), keys = key_count(input);
  const Index size = std::min(stride, keys), count = window_count(keys, size);
  const auto convolve = [&](const Var& x, const char* name) {
    const Var repeated = repeat_heads(x, input.heads, input.kv_heads);
    const Var weights = slice(weight(input.weights, name), 1, 0, size);      // [h, s]
    return window_convolution(repeated, weights, input.heads, size, count);  // [B h, n, ...]
  };
  Part part = plain_part(input, compressed_pattern(input, stride, count));
  part.k = convolve(input.k, "mc.key");
  part.v = convolve(input.v, "mc.value");
  part.split.clear();
  part.pos_q.clear();
  part.pos_k.clear();
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
      "encyclopedia articles from very long collections of sources, by a decoder whose layers "
      "alternate between local blocks and compressed memory: L M L M L. A decoder attends only to "
      "complete blocks, so that no key contains later tokens; the first s − 1 queries have no "
      "keys.";
  v.source = "Liu et al., 2018, Generating Wikipedia, arXiv:1801.10198";
  v.complexity = "O(L²/s·d)";
  v.causality.refusal =
      "a compressed key mixes earlier and later positions; decoder=true hides incomplete blocks";
  v.causality.incremental = is_decoder;
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
                   .slider = {.min = 1, .max = 16}},
                  decoder_parameter("Form for causal order: a query attends to compressed keys "
                                    "that contain no later tokens.")};
  v.weights = {kernel("mc.key", "Convolution weights of the keys."),
               kernel("mc.value", "Convolution weights of the values.")};
  v.cost.columns = [](const Values& values, Index keys) {
    return window_count(keys, std::min(values.integer("stride"), std::max<Index>(keys, 1)));
  };
  v.evaluate = evaluate_compressed;
  return v;
}

}  // namespace attnscope
