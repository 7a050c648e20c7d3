#include "tests/support/told.h"

#include <gtest/gtest.h>

#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/join.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(PartsOfModels, AreAsTold) {
  std::string text = "ARCHITECTURES\n";
  for (const Architecture& a : architectures()) {
    text += testing::told(a, {{"has_encoder", a.has_encoder},
                              {"has_exits", a.has_exits},
                              {"has_segments", a.has_segments},
                              {"has_self_attention", a.has_self_attention},
                              {"one_stack", a.one_stack},
                              {"caches", a.caches}});
  }
  text += "JOINS\n";
  for (const Join& j : joins()) text += testing::told(j, {});
  text += "EXITS\n";
  for (const Exits& e : exit_rules()) {
    text += testing::told(e, {{"makes_distribution", e.makes_distribution},
                              {"sure_at_end", e.sure_at_end},
                              {"decays", e.decays},
                              {"imitates_last", e.imitates_last}});
  }
  text += "INPUTS\n";
  for (const InputKind& k : input_kinds()) {
    text += testing::told(k, {{"is_text", k.is_text}, {"is_whole", k.is_whole}});
  }
  text += "RETRIEVAL\n";
  for (const Mixer& m : mixers()) text += testing::told(m, {});
  EXPECT_TRUE(testing::is_as_told(text, "core/model/parts.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
