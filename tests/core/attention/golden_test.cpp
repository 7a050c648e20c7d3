#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include "core/attention/variant.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Variants, MatchGolden) {
  std::string text;
  for (const Variant& v : variants()) {
    const Values values = default_values(v.parameters);
    const Needs needs = v.inputs.needs(values);
    text += testing::describe(v, {{"causal_by_definition", v.causality.by_definition},
                                  {"never_causal", !v.causality.refusal.empty()},
                                  {"shown_both_ways", v.defaults.bidirectional},
                                  {"incremental", v.causality.incremental(values)},
                                  {"incremental_as_it_begins", v.causality.incremental(values)},
                                  {"caps_and_sinks", v.scores.caps_and_sinks},
                                  {"takes_score_changes", accepts_score_changes(v)},
                                  {"cross", v.inputs.cross},
                                  {"relative_only", v.encodings.relative_only},
                                  {"takes_turning", v.encodings.accepts_rotary},
                                  {"takes_pairs", v.encodings.accepts_pairs(values)},
                                  {"no_queries", !needs.queries},
                                  {"no_keys", !needs.keys},
                                  {"no_values", !needs.values},
                                  {"input", needs.input}});
    text += "  grows as " + v.cost.growth.text() + "\n";
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/attention/variants.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
