// untied: position scores separate from content scores. Ke et al., 2020.
#include "core/position/illustrative_weights.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/positions.h"
#include "core/position/projected_rows.h"

namespace attnscope {
namespace {

void apply_untied(Part& part, const EncodingContext& context) {
  const Var& embedding = weight(context.weights, "pos.embedding");
  const auto projected = [&](const std::vector<std::int32_t>& positions, Index count,
                             const char* name) {
    const auto rows = positions.empty() ? first_positions(count) : positions;
    return projected_rows(rows_of_positions(embedding, rows), weight(context.weights, name),
                          part.heads);  // [h, L, d_k]
  };
  part.products.push_back({projected(part.pos_q, part.queries(), "pos.uq"),
                           projected(part.pos_k, part.keys(), "pos.uk"), Term::PositionPosition});
}

}  // namespace

Encoding untied_encoding() {
  Encoding e;
  e.id = "untied";
  e.label = "Untied (TUPE)";
  e.group = "Learned positions";
  e.equation = "sᵢⱼ = (qᵢ·kⱼ + (pᵢ U_q)·(pⱼ U_k)) / √d_k";
  e.summary =
      "Learned position vectors are not added to the tokens but scored separately, with their own "
      "projections: content with content, position with position, and the two scores are summed. A "
      "head's preferences for words are thus not mixed with its preferences for positions. The "
      "paper divides the sum of the two by √(2·d_k) instead of √d_k.";
  e.source = "Ke, He and Liu, 2020, Rethinking positional encoding, arXiv:2006.15595";
  e.complexity = "O(L²·d_k), twice the content product";
  e.absolute = true;
  e.weights = {{.name = "pos.embedding",
                .help = "Position vectors.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.context, n.model};
                },
                .initial = initial_normal(0.02),
                .illustrative = illustrative_positions(1)},
               position_projection("pos.uq", "Projection of the query's position."),
               position_projection("pos.uk", "Projection of the key's position.")};
  e.weights[1].illustrative = e.weights[2].illustrative = illustrative_identity();
  e.apply = apply_untied;
  return e;
}

}  // namespace attnscope
