// deberta: disentangled content and relative position. He et al., 2020.
#include <cmath>

#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/projected_rows.h"
#include "core/position/shown.h"

namespace attnscope {

namespace {

void apply_deberta(Part& part, const EncodingContext& context) {
  const Index clip = context.values.integer("clip");
  const Var& relative = weight(context.weights, "pos.rel");
  const auto rows = [&](const char* name) {
    return projected_rows(relative, weight(context.weights, name), part.heads);  // [h, 2k, d_k]
  };
  // delta(i, j) = clamp(i - j + k, 0, 2k - 1) for the query's side, delta(j, i) for the key's.
  part.query_rows =
      RelativeRows{rows("pos.wk"),
                   index_offsets({-clip, clip - 1}, [clip](Index offset) { return offset + clip; }),
                   Term::ContentPosition};
  part.key_rows.push_back(
      {rows("pos.wq"),
       index_offsets({1 - clip, clip}, [clip](Index offset) { return clip - offset; }),
       Term::PositionContent});
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
      "distance with the key's content. The scale is smaller since there are three terms.";
  e.source = "He et al., 2020, DeBERTa, arXiv:2006.03654";
  e.cost = "O(L·k·d_k) beside the content product";
  e.parameters = {{.key = "clip",
                   .symbol = "k",
                   .label = "Clip",
                   .help = "Half the number of relative positions that are told apart.",
                   .required = true,
                   .initial = Index{16},
                   .least = 1,
                   .slider_least = 1,
                   .slider_most = 128}};
  e.weights = {{.name = "pos.rel",
                .help = "The vector of each relative position.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {2 * values.integer("clip"), n.model};
                },
                .initial = initial_normal(0.02),
                .shown = shown_offsets(1)},
               position_projection("pos.wq", "Projects relative positions for the key's side."),
               position_projection("pos.wk", "Projects relative positions for the query's side.")};
  e.apply = apply_deberta;
  return e;
}

}  // namespace attnscope
