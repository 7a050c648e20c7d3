#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(ModelParts, FlagsMatchGolden) {
  std::string text = "ARCHITECTURES\n";
  for (const Architecture& a : architectures()) {
    text += testing::describe(a, {{"has_encoder", a.has_encoder},
                                  {"has_exits", a.has_exits},
                                  {"has_segments", a.has_segments},
                                  {"has_self_attention", a.has_self_attention},
                                  {"is_single_stack", a.is_single_stack},
                                  {"can_cache", a.can_cache}});
  }
  text += "JOINS\n";
  for (const ResidualConnection& j : residual_connections()) text += testing::describe(j, {});
  text += "ACTIVATIONS\n";
  for (const ActivationFunction& f : activations()) text += testing::describe(f, {});
  text += "SOFTMAXES\n";
  for (const OutputSoftmax& s : output_softmaxes()) text += testing::describe(s, {});
  text += "EXITS\n";
  for (const ExitRule& e : exit_rules()) {
    text += testing::describe(e, {{"makes_distribution", e.makes_distribution},
                                  {"sure_at_end", e.sure_at_end},
                                  {"decays", e.decays},
                                  {"imitates_last", e.imitates_last}});
  }
  text += "INPUTS\n";
  for (const InputKind& k : input_kinds()) {
    text += testing::describe(k, {{"is_text", k.is_text}, {"uses_patches", k.uses_patches}});
  }
  text += "RETRIEVAL\n";
  for (const RetrievalHead& m : retrieval_heads()) text += testing::describe(m, {});
  EXPECT_TRUE(testing::matches_golden(text, "core/model/parts.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
