// local: a window around each query. Child et al., 2019; Beltagy et al., 2020.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Variant local_variant() {
  Variant v;
  v.id = "local";
  v.label = "Local window";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = { j : |i − j| ≤ w·r, (i − j) mod r = 0 }";
  v.summary =
      "Each token attends only to its neighbours: w keys to the left and w to the right. A "
      "dilation r keeps every r-th of them, so that the same number of keys reaches r times as "
      "far. Stacked layers widen the receptive field step by step, as convolutions do.";
  v.source = "Beltagy, Peters and Cohan, 2020, Longformer, arXiv:2004.05150";
  v.complexity = "O(L·w·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("window", std::min<Index>(64, length));
                   }};
  v.causality.incremental = always;
  v.parameters = {window_parameter(), dilation_parameter()};
  v.pattern = [](const PatternInput& in) {
    const Index window = in.values.integer("window"), dilation = in.values.integer("dilation");
    return build_rows(
        in, 1, {window_rule(window, dilation, in.causal)},
        [=](PatternBuilder& rows, Index, Index i) { add_window(rows, 0, i, window, dilation); });
  };
  return v;
}

}  // namespace attnscope
