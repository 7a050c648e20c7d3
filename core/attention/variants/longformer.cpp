// longformer: a window, and a few positions that see and are seen by all. Beltagy et al., 2020.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Variant longformer_variant() {
  Variant v;
  v.id = "longformer";
  v.label = "Longformer";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = local(w, r)  ∪  { j global },   all of it where i is global";
  v.summary =
      "A sliding window keeps the cost linear, and a few global positions, such as a question or a "
      "classification token, attend to everything and are attended to by everything, so that "
      "distant tokens meet in two steps where there is no causal mask.";
  v.source = "Beltagy, Peters and Cohan, 2020, Longformer, arXiv:2004.05150";
  v.cost = "O(L·(w + g)·d), g global positions";
  v.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                values.set("window", std::min<Index>(64, length));
              }};
  v.incremental = true;
  v.shown_both_ways = true;
  v.parameters = {window_parameter(),
                  dilation_parameter(),
                  {.key = "global",
                   .symbol = "g",
                   .label = "Global positions",
                   .help = "Positions that see all and are seen by all.",
                   .kind = Parameter::Kind::Integers,
                   .initial = std::vector<Index>{},
                   .telling = [](Index) -> Value { return std::vector<Index>{0}; }}};
  v.objection = [](const Values& values, const Situation& at) -> std::string {
    for (const Index position : values.get<std::vector<Index>>("global")) {
      if (at.keys == 0 || position < at.keys) continue;
      return "global: expected positions below the length " + std::to_string(at.keys) +
             found_text(position);
    }
    return {};
  };
  v.pattern = [](const PatternInput& in) {
    const Index window = in.values.integer("window"), dilation = in.values.integer("dilation");
    std::vector<Index> global = in.values.get<std::vector<Index>>("global");
    std::sort(global.begin(), global.end());
    const Index keys = in.keys;
    return build_rows(in, 1,
                      {window_rule(window, dilation, in.causal), "global key", "global query"},
                      [=](PatternBuilder& rows, Index, Index i) {
                        add_window(rows, 0, i, window, dilation);
                        for (const Index j : global) rows.add_column(1, j);
                        if (std::binary_search(global.begin(), global.end(), i)) {
                          rows.add(2, 0, keys);
                        }
                      });
  };
  return v;
}

}  // namespace attnscope
