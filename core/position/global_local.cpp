// global_local: relative labels of global and long tokens. Ainslie et al., 2020.
#include <algorithm>

#include "core/position/illustrative_weights.h"
#include "core/position/list.h"
#include "core/position/offsets.h"

namespace attnscope {
namespace {

// Labels: offsets between long tokens, offsets between global tokens, and one label each for a
// global query of a long key, and for a long query of a global key.
Index offset_count(const Values& values) {
  return 2 * values.integer("clip") + 1;
}
Index label_count(const Values& values) {
  return 2 * offset_count(values) + 2;
}

Index label_of(const GlobalPair& pair, Index clip) {
  const Index offsets = 2 * clip + 1;
  if (pair.is_query_global != pair.is_key_global)
    return 2 * offsets + (pair.is_query_global ? 0 : 1);
  const Index offset = std::clamp(-pair.offset, -clip, clip) + clip;
  return pair.is_query_global ? offsets + offset : offset;
}

// Waves by offset, the same for all heads; the two labels of mixed pairs are zero.
Tensor illustrative_labels(const Shape& shape, const Situation& situation, const Values& values) {
  const Index offsets = offset_count(values), size = shape[2];
  const Tensor waves = illustrative_offsets(0.5)({offsets, size}, situation, values);
  Tensor labels = Tensor::zeros(shape);  // [h, n, d_k]
  for (Index head = 0; head < shape[0]; ++head) {
    for (Index kind = 0; kind < 2; ++kind) {
      std::copy_n(waves.data(), waves.size(),
                  labels.data() + (head * shape[1] + kind * offsets) * size);
    }
  }
  return labels;
}

}  // namespace

Encoding global_local_encoding() {
  Encoding e;
  e.id = "global_local";
  e.label = "Global and local labels";
  e.group = "Relative vectors";
  e.equation =
      "sᵢⱼ = qᵢ·(kⱼ + P_l) / √d_k,   l = clamp(j − i, −k, k) among long or among global tokens,\n"
      "one label for global to long, one for long to global";
  e.summary =
      "Offsets have no meaning between a text and the global tokens before it. Pairs of long "
      "tokens therefore have learned vectors by offset up to k, pairs of global tokens have "
      "vectors of their own, and each direction between the two kinds has one vector.";
  e.source = "Ainslie et al., 2020, ETC, arXiv:2004.08483";
  e.complexity = "O(L·k·d_k), and h·(4k + 4)·d_k weights";
  e.absolute = true;  // global tokens are the first positions
  e.parameters = {
      {.key = "global",
       .symbol = "n_g",
       .label = "Global tokens",
       .help = "Number of initial positions that are global.",
       .required = true,
       .initial = Index{2},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 8); },
       .slider = {.max = 16}},
      clip_parameter("vector")};
  e.parameters.back().limits.max = 1 << 20;
  e.weights = {{.name = "pos.label",
                .help = "Added to keys, by head and label.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.heads, label_count(values), n.key};
                },
                .initial = initial_normal(0.02),
                .illustrative = illustrative_labels}};
  e.apply = [](Part& part, const EncodingContext& context) {
    const Index clip = context.values.integer("clip");
    const Index count = use_global_positions(part, context.values.integer("global"));
    const OffsetIndexPtr index = index_offsets(offset_range(part), [=](Index offset) {
      return label_of(global_pair(offset, count), clip);
    });
    part.query_rows =
        RelativeRows{weight(context.weights, "pos.label"), index, Term::ContentPosition};
  };
  e.sequence_position = [](const Values&, const PartRules& rules, Index code) {
    return global_position(rules, code);
  };
  return e;
}

}  // namespace attnscope
