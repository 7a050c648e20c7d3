#include "tests/support/told.h"

#include <gtest/gtest.h>

#include "core/attention/variant.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Variants, AreAsTold) {
  std::string text;
  for (const Variant& v : variants()) {
    const Values values = default_values(v.parameters);
    const Needs needs = v.needs ? v.needs(values) : Needs();
    text += testing::told(v, {{"causal_by_definition", v.causal_by_definition},
                              {"never_causal", !v.causal_refusal.empty()},
                              {"shown_both_ways", v.shown_both_ways},
                              {"incremental", v.incremental},
                              {"incremental_as_it_begins", is_incremental(v, values)},
                              {"caps_and_sinks", v.caps_and_sinks},
                              {"takes_score_changes", takes_score_changes(v)},
                              {"cross", v.cross},
                              {"relative_only", v.relative_only},
                              {"takes_turning", v.takes_turning},
                              {"takes_pairs", !v.takes_pairs || v.takes_pairs(values)},
                              {"no_queries", !needs.queries},
                              {"no_keys", !needs.keys},
                              {"no_values", !needs.values},
                              {"input", needs.input}});
    text += "  grows as " + v.growth.text() + "\n";
  }
  EXPECT_TRUE(testing::is_as_told(text, "core/attention/variants.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
