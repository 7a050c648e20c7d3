// deberta: disentangled content and relative position. He et al., 2020.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/projected_rows.h"
#include "core/position/shown.h"

namespace attnscope {

namespace {

// Numbers o = i - j beyond half of the clip share buckets that widen like a logarithm, up to the
// largest distance: as the released code of DeBERTa-v2 has it. In single precision, as there: its
// rounding decides where a bucket begins.
Index bucketed(Index offset, Index clip, Index most) {
  const Index middle = clip / 2, distance = std::abs(offset);
  if (distance <= middle) return offset;
  const auto of_middle = [&](Index n) {
    return std::log(static_cast<float>(n) / static_cast<float>(middle));
  };
  const Index bucket =
      middle + static_cast<Index>(std::ceil(of_middle(distance) / of_middle(most - 1) *
                                            static_cast<float>(middle - 1)));
  return offset < 0 ? -bucket : bucket;
}

Var biased(const Var& rows, const NamedVars& weights, const char* name, Index heads) {
  const Var* bias = find_weight(weights, name);  // [h d_k]
  return bias ? add(rows, reshape(*bias, {heads, 1, rows.dim(2)})) : rows;
}

void apply_deberta(Part& part, const EncodingContext& context) {
  const Values& values = context.values;
  const Index clip = values.integer("clip");
  const Var& relative = weight(context.weights, "pos.rel");
  const auto rows = [&](const char* name, const char* bias) {
    return biased(projected_rows(relative, weight(context.weights, name), part.heads),
                  context.weights, bias, part.heads);  // [h, 2k, d_k]
  };
  const Index most = values.has("max_distance") ? values.integer("max_distance") : 0;
  const OffsetRange range = most > 0 ? offset_range(part) : OffsetRange{-clip, clip};
  const auto delta = [&](Index offset) {
    const Index distance = most > 0 ? bucketed(offset, clip, most) : offset;
    return std::clamp<Index>(distance + clip, 0, 2 * clip - 1);
  };
  const OffsetIndexPtr of_query = index_offsets(range, delta);
  const OffsetIndexPtr of_key =
      values.choice("key_side") == "query_key"
          ? of_query
          : index_offsets({-range.most, -range.least}, [&](Index o) { return delta(-o); });
  part.query_rows = RelativeRows{rows("pos.wk", "pos.bk"), of_query, Term::ContentPosition};
  part.key_rows.push_back({rows("pos.wq", "pos.bq"), of_key, Term::PositionContent});
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
      "Content and position are kept in separate vectors, and three of their four products are "
      "summed: the query's content with the key's, the query's content with the distance, and the "
      "distance with the key's content. The scale is smaller since there are three terms. What was "
      "released of it looks up the last of them at δ(i,j), where the paper has δ(j,i), and lets "
      "far "
      "distances share buckets: both can be chosen; the paper's form is the default.";
  e.source = "He et al., 2020, DeBERTa, arXiv:2006.03654";
  e.cost = "O(L·k·d_k) beside the content product";
  e.parameters = {
      {.key = "clip",
       .symbol = "k",
       .label = "Clip",
       .help = "Half the number of relative positions that are told apart.",
       .required = true,
       .initial = Index{16},
       .least = 1,
       .slider_least = 1,
       .slider_most = 128},
      {.key = "key_side",
       .symbol = "",
       .label = "Key's side",
       .help = "Where the key's side is looked up: from the key to the query, as in the "
               "paper, or from the query to the key, as in the released code.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("key_query"),
       .choices = {"key_query", "query_key"}},
      {.key = "max_distance",
       .symbol = "D",
       .label = "Largest distance",
       .help = "Distances beyond half the clip share buckets that widen like a "
               "logarithm, up to this one.",
       .optional = true,
       .left_out = "no buckets",
       .initial = Index{512},
       .least = 3,
       .slider_least = 3,
       .slider_most = 1024}};
  const auto bias = [](const char* name, const char* help) {
    return WeightInfo{
        .name = name,
        .help = help,
        .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads * n.key}; },
        .optional = true};
  };
  e.objection = [](const Values& values, const Situation&) -> std::string {
    if (!values.has("max_distance")) return {};
    const Index middle = values.integer("clip") / 2, most = values.integer("max_distance");
    if (middle >= 1 && most - 1 > middle) return {};
    return "max_distance: expected more than half the clip and one, " + std::to_string(middle + 1) +
           ", of a clip of at least 2, found " + std::to_string(most);
  };
  e.weights = {{.name = "pos.rel",
                .help = "The vector of each relative position.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {2 * values.integer("clip"), n.model};
                },
                .initial = initial_normal(0.02),
                .shown = shown_offsets(1)},
               position_projection("pos.wq", "Projects relative positions for the key's side."),
               position_projection("pos.wk", "Projects relative positions for the query's side."),
               bias("pos.bq", "Added to relative positions on the key's side."),
               bias("pos.bk", "Added to relative positions on the query's side.")};
  e.apply = apply_deberta;
  return e;
}

}  // namespace attnscope
