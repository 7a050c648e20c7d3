// custom: a mask that somebody painted or loaded.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/painted.h"
#include "core/part/mask_rows.h"

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

// The mask of so many tokens at any length: cut, or gone on with tokens that see themselves alone.
Pattern painted_rows(const PatternInput& in, const MaskRows& painted) {
  const auto count = static_cast<Index>(painted.size());
  return build_rows(in, 1, {"painted", "not painted: itself"},
                    [&](PatternBuilder& rows, Index, Index i) {
                      if (i >= count) return rows.add_column(1, i);
                      const std::vector<Index>& row = painted[static_cast<std::size_t>(i)];
                      for (std::size_t n = 0; n + 1 < row.size(); n += 2) {
                        rows.add(0, row[n], std::min(row[n + 1], in.keys));
                      }
                    });
}

bool has_rows(const Values& values) {
  return values.has("rows");
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
  v.parameters = {{.key = "rows",
                   .symbol = "",
                   .label = "Painted rows",
                   .help = "Of each query where runs of keys that it may see begin and end: 0, 2, "
                           "5, 6 allows keys 0, 1 and 5. A shorter text takes the first rows and "
                           "keys, in a longer one further tokens see themselves alone.",
                   .kind = Parameter::Kind::IntegerLists,
                   .optional = true,
                   .left_out = "not painted",
                   .initial = MaskRows{{0, 1}, {0, 2}, {0, 3}}}};
  v.objection = [](const Values& values, const Situation&) -> std::string {
    const std::string wrong = has_rows(values) ? objection(values.get<MaskRows>("rows")) : "";
    return wrong.empty() ? wrong : "rows: " + wrong;
  };
  v.weights = {{.name = "pattern.mask",
                .help = "Which key each query may see: 1 where it may.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.query_length(), n.key_length()};
                },
                .initial = initial_ones(),
                .shown = powers_of_two,
                .constant = true,
                .bytes = true,
                .per_head = true,
                .used = [](const Values& values) { return !has_rows(values); }}};
  v.pattern = [](const PatternInput& in) {
    if (has_rows(in.values)) return painted_rows(in, in.values.get<MaskRows>("rows"));
    return painted_pattern(in, "pattern.mask", "painted", false);
  };
  return v;
}

}  // namespace attnscope
