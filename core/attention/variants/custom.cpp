// custom: mask painted by the user or loaded from a file.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/painted.h"
#include "core/part/mask_rows.h"

namespace attnscope {
namespace {

// Allows distances 0, 1, 2, 4, 8 ... in both directions, so that few layers connect any two tokens.
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

// Pattern from the first rows and keys of a painted mask. Later tokens see only themselves.
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
      "Any pattern: a matrix of zeros and ones, painted by hand or loaded, marks the keys that "
      "each query may see, for all heads or for each head. A query with an empty row sees nothing "
      "and returns zeros.";
  v.source = "Vaswani et al., 2017, arXiv:1706.03762, masked attention";
  v.complexity = "O(pairs·d)";
  v.causality.incremental = always;
  v.inputs.cross = true;
  v.parameters = {{.key = "rows",
                   .symbol = "",
                   .label = "Painted rows",
                   .help = "For each query, begin and end of runs of visible keys: 0, 2, 5, 6 "
                           "allows keys 0, 1 and 5. A shorter text uses the first rows and keys; "
                           "additional tokens of a longer one see only themselves.",
                   .kind = Parameter::Kind::IntegerLists,
                   .optional = true,
                   .unset_label = "not painted",
                   .initial = MaskRows{{0, 1}, {0, 2}, {0, 3}}}};
  v.objection = [](const Values& values, const Situation&) -> std::string {
    const std::string problem = has_rows(values) ? mask_error(values.get<MaskRows>("rows")) : "";
    return problem.empty() ? problem : "rows: " + problem;
  };
  v.weights = {{.name = "pattern.mask",
                .help = "1 for each key that a query may see.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.query_length(), n.key_length()};
                },
                .initial = initial_ones(),
                .illustrative = powers_of_two,
                .file = {.bytes = true, .per_head = true},
                .training = {.constant = true},
                .used = [](const Values& values) { return !has_rows(values); }}};
  v.pattern = [](const PatternInput& in) {
    if (has_rows(in.values)) return painted_rows(in, in.values.get<MaskRows>("rows"));
    return painted_pattern(in, "pattern.mask", "painted", false);
  };
  return v;
}

}  // namespace attnscope
