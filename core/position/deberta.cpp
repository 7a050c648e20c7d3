// deberta: disentangled content and relative position. He et al., 2020.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/illustrative_weights.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/projected_rows.h"

namespace attnscope {
namespace {

// Bucket of offset o = i - j. Offsets beyond clip / 2 share buckets whose width grows
// logarithmically up to `max_distance`, as in the released code of DeBERTa-v2. Uses single
// precision, as that code does, because rounding determines the bucket boundaries.
Index offset_bucket(Index offset, Index clip, Index max_distance) {
  const Index middle = clip / 2, distance = std::abs(offset);
  if (distance <= middle) return offset;
  const auto log_ratio = [&](Index n) {
    return std::log(static_cast<float>(n) / static_cast<float>(middle));
  };
  const Index bucket =
      middle + static_cast<Index>(std::ceil(log_ratio(distance) / log_ratio(max_distance - 1) *
                                            static_cast<float>(middle - 1)));
  return offset < 0 ? -bucket : bucket;
}

Var add_bias(const Var& rows, const NamedVars& weights, const char* name, Index heads) {
  const Var* bias = find_weight(weights, name);  // [h d_k]
  return bias ? add(rows, reshape(*bias, {heads, 1, rows.dim(2)})) : rows;
}

void apply_deberta(Part& part, const EncodingContext& context) {
  const Values& values = context.values;
  const Index clip = values.integer("clip");
  const Var& relative = weight(context.weights, "pos.rel");
  const auto rows = [&](const char* name, const char* bias) {
    return add_bias(projected_rows(relative, weight(context.weights, name), part.heads),
                    context.weights, bias, part.heads);  // [h, 2k, d_k]
  };
  const Index max_distance = values.has("max_distance") ? values.integer("max_distance") : 0;
  const OffsetRange range = max_distance > 0 ? offset_range(part) : OffsetRange{-clip, clip};
  const auto delta = [&](Index offset) {
    const Index distance = max_distance > 0 ? offset_bucket(offset, clip, max_distance) : offset;
    return std::clamp<Index>(distance + clip, 0, 2 * clip - 1);
  };
  const OffsetIndexPtr query_index = index_offsets(range, delta);
  const OffsetIndexPtr key_index =
      values.choice("key_side") == "query_key"
          ? query_index
          : index_offsets({-range.max, -range.min}, [&](Index o) { return delta(-o); });
  part.query_rows = RelativeRows{rows("pos.wk", "pos.bk"), query_index, Term::ContentPosition};
  part.key_rows.push_back({rows("pos.wq", "pos.bq"), key_index, Term::PositionContent});
  if (!context.scale) {
    part.scale = static_cast<float>(1 / std::sqrt(3 * static_cast<double>(part.q.dim(2))));
  }
}

}  // namespace

Encoding deberta_encoding() {
  Encoding e;
  e.id = "deberta";
  e.label = "DeBERTa, disentangled";
  e.group = "Relative vectors";
  e.equation =
      "sᵢⱼ = (qᵢ·kⱼ + qᵢ·Kʳ[δ(i,j)] + kⱼ·Qʳ[δ(j,i)]) / √(3 d_k),   δ(i,j) = clamp(i − j + k, 0, 2k "
      "− 1)";
  e.summary =
      "Content and position have separate vectors, and three of their four products are summed: "
      "content with content, content with position and position with content. The scale is smaller "
      "because there are three terms. The released code looks up the last term at δ(i,j), where "
      "the paper has δ(j,i), and lets long distances share buckets. Both are available; the "
      "paper's form is the default.";
  e.source = "He et al., 2020, DeBERTa, arXiv:2006.03654";
  e.complexity = "O(L·k·d_k) in addition to the content product";
  e.parameters = {
      {.key = "clip",
       .symbol = "k",
       .label = "Clip",
       .help = "Half the number of distinct relative positions.",
       .required = true,
       .initial = Index{16},
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 128}},
      {.key = "key_side",
       .symbol = "",
       .label = "Key index",
       .help = "Relative position used for the key's term: from key to query, as in the paper, or "
               "from query to key, as in the released code.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("key_query"),
       .choices = {"key_query", "query_key"}},
      {.key = "max_distance",
       .symbol = "D",
       .label = "Max. distance",
       .help = "Distances beyond half the clip share buckets of logarithmically growing width, up "
               "to this distance.",
       .optional = true,
       .unset_label = "no buckets",
       .initial = Index{512},
       .limits = {.min = 3},
       .slider = {.min = 3, .max = 1024}}};
  const auto bias = [](const char* name, const char* help) {
    return WeightInfo{
        .name = name,
        .help = help,
        .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads * n.key}; },
        .file = {.optional = true}};
  };
  e.objection = [](const Values& values, const Situation&) -> std::string {
    if (!values.has("max_distance")) return {};
    const Index middle = values.integer("clip") / 2, max = values.integer("max_distance");
    if (middle >= 1 && max - 1 > middle) return {};
    return "max_distance: expected more than clip / 2 + 1 = " + std::to_string(middle + 1) +
           " and a clip of at least 2, found " + std::to_string(max);
  };
  e.weights = {{.name = "pos.rel",
                .help = "Vectors of relative positions.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {2 * values.integer("clip"), n.model};
                },
                .initial = initial_normal(0.02),
                .illustrative = illustrative_offsets(1)},
               position_projection("pos.wq", "Projection of relative positions, key term."),
               position_projection("pos.wk", "Projection of relative positions, query term."),
               bias("pos.bq", "Bias of projected relative positions, key term."),
               bias("pos.bk", "Bias of projected relative positions, query term.")};
  e.apply = apply_deberta;
  return e;
}

}  // namespace attnscope
