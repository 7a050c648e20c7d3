// transformer_xl: content and relative position in four score terms. Dai et al., 2019.
#include <algorithm>

#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/projected_rows.h"
#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kIllustrativeSeed = 1;

WeightInfo global_vector(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.heads, n.key};
          },
          .initial = initial_zeros(),
          .illustrative =
              [](const Shape& shape, const Situation&, const Values& values) {
                return initial_normal(1)(shape, Dimensions(), values, kIllustrativeSeed);
              }};
}

void apply_transformer_xl(Part& part, const EncodingContext& context) {
  const Var& wr = weight(context.weights, "pos.wr");
  const Var& u = weight(context.weights, "pos.u");
  const Var& v = weight(context.weights, "pos.v");
  const std::string problem = odd_size_objection(wr.dim(0), "pos.wr");
  if (!problem.empty()) throw InputError(problem);

  const OffsetRange range = offset_range(part);
  std::vector<double> offsets;
  for (Index offset = range.min; offset <= range.max; ++offset) {
    const Index clamp = context.values.integer("clamp");
    const Index clamped = clamp > 0 ? std::clamp(offset, -clamp, clamp) : offset;
    offsets.push_back(static_cast<double>(clamped));
  }
  const Tensor waves =
      sinusoid_table(offsets, sinusoid_frequencies(wr.dim(0), context.values.real("base")),
                     context.values.choice("style") == "half");  // [n, d]
  const Var rows = projected_rows(waves, wr, part.heads);        // [h, n, d_k]
  const OffsetIndexPtr index =
      index_offsets(range, [&](Index offset) { return offset - range.min; });
  const OffsetIndexPtr zero_index = index_offsets({0, 0}, [](Index) { return 0; });

  const Index d_k = u.dim(1);
  part.query_rows = RelativeRows{rows, index, Term::ContentPosition};
  part.key_rows.push_back({reshape(u, {part.heads, 1, d_k}), zero_index,
                           Term::PositionContent});  // all offsets use one row
  const Var by_offset = matmul_transposed(reshape(v, {part.heads, 1, d_k}), rows);  // [h, 1, n]
  part.scaled_biases.push_back(
      {reshape(by_offset, {part.heads, by_offset.dim(2)}), index, Term::PositionPosition});
}

}  // namespace

Encoding transformer_xl_encoding() {
  Encoding e;
  e.id = "transformer_xl";
  e.label = "Transformer-XL";
  e.group = "Relative vectors";
  e.equation = "sᵢⱼ = (qᵢ·kⱼ + qᵢ·R(i−j) + u·kⱼ + v·R(i−j)) / √d_k,   R(m) = r(m) W_r";
  e.summary =
      "The product of two tokens with added positions has four terms. Here the key's absolute "
      "position is replaced by the sinusoidal vector of the distance, and the query's position by "
      "two learned vectors u and v. Nothing depends on where a segment starts, so keys of earlier "
      "segments can be cached and reused.";
  e.source = "Dai et al., 2019, Transformer-XL, arXiv:1901.02860";
  e.complexity = "O(L²·d_k), twice the content product";
  e.parameters = {base_parameter(10000.0),
                  wave_style_parameter(),
                  {.key = "clamp",
                   .symbol = "",
                   .label = "Max. distance",
                   .help = "Larger distances are clamped to this value; 0: no clamping.",
                   .initial = Index{0},
                   .limits = {.max = 1 << 22},
                   .slider = {.max = 512}}};
  e.weights = {{.name = "pos.wr",
                .help = "Projection of the sinusoidal vectors of distances, all heads.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.model, n.heads * n.key};
                },
                .initial = initial_projection()},
               global_vector("pos.u", "Query vector for content, shared by all positions."),
               global_vector("pos.v", "Query vector for distances, shared by all positions.")};
  e.apply = apply_transformer_xl;
  return e;
}

}  // namespace attnscope
