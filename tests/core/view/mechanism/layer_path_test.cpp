#include "core/view/mechanism/layer_path.h"

#include <gtest/gtest.h>

#include "core/analysis/flow.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// True if any head of the layer allows the pair.
bool allows_pair(const Trace& trace, Index layer, Index query, Index key) {
  for (const AttentionTap& tap : trace.attention) {
    if (tap.address.layer != layer) continue;
    const Pattern& pattern = *tap.result.pattern;
    for (Index a = 0; a < pattern.heads(); ++a) {
      if (pattern.allowed(a, query, key)) return true;
    }
  }
  return false;
}

// Receptive fields by definition: the query itself, and the receptive fields of its keys.
std::vector<std::vector<bool>> naive_receptive_fields(const Trace& trace, Index length,
                                                      Index layers) {
  std::vector<std::vector<bool>> reachable(static_cast<std::size_t>(length));
  for (Index i = 0; i < length; ++i) {
    reachable[static_cast<std::size_t>(i)].resize(static_cast<std::size_t>(length));
    reachable[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)] = true;
  }
  for (Index n = 0; n < layers; ++n) {
    auto next = reachable;
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < length; ++j) {
        if (!allows_pair(trace, n % 2, i, j)) continue;
        for (std::size_t k = 0; k < next.size(); ++k) {
          if (reachable[static_cast<std::size_t>(j)][k])
            next[static_cast<std::size_t>(i)][k] = true;
        }
      }
    }
    reachable = next;
  }
  return reachable;
}

TEST(LayerPath, ReceptiveFieldMatchesDefinition) {
  const Index length = 18;
  for (const char* variant :
       {R"({"type": "strided", "stride": 4, "mode": "interleaved"})",
        R"({"type": "fixed", "stride": 4, "summary": 1, "mode": "per_head"})",
        R"({"type": "local", "window": 2})", R"({"type": "blockwise", "blocks": 3})",
        R"({"type": "bigbird", "block": 2, "window_blocks": 1, "global_blocks": 1,
            "random_blocks": 1})"}) {
    const Trace trace = testing::run_model({.variant = variant, .length = length});
    const auto chain = LayerChain::create(trace, trace.part({}), 1);
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->layers(), 2);
    for (const Index layers : {1, 2, 3}) {
      const auto expected = naive_receptive_fields(trace, length, layers);
      for (const Index query : {0, 7, 17}) {
        for (Index key = 0; key < length; ++key) {
          const ReceptiveField field = receptive_field(*chain, query, key, layers);
          const bool is_reached =
              expected[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)];
          EXPECT_EQ(field.cone[0][static_cast<std::size_t>(key)] != 0, is_reached);
          ASSERT_EQ(field.path.empty(), !is_reached) << variant << query << " " << key;
          if (!is_reached) continue;
          ASSERT_EQ(static_cast<Index>(field.path.size()), layers);
          EXPECT_EQ(field.path.front().key, key);
          EXPECT_EQ(field.path.back().query, query);
          for (std::size_t n = 0; n < field.path.size(); ++n) {
            const Hop& hop = field.path[n];
            if (n > 0) {
              EXPECT_EQ(hop.key, field.path[n - 1].query);
            }
            EXPECT_TRUE(hop.rule < 0
                            ? hop.key == hop.query
                            : allows_pair(trace, static_cast<Index>(n) % 2, hop.query, hop.key));
          }
        }
      }
    }
  }
}

TEST(LayerPath, NamesTheRuleAndTheHead) {
  const Trace trace = testing::run_model(
      {.variant = R"({"type": "strided", "stride": 4, "mode": "interleaved"})", .length = 16});
  const auto chain = LayerChain::create(trace, trace.part({}), 0);
  ASSERT_TRUE(chain);
  const ReceptiveField field = receptive_field(*chain, 15, 1, 2);
  ASSERT_EQ(field.path.size(), 2u);
  EXPECT_EQ(field.path[0].name, "4 back");
  EXPECT_EQ(field.path[1].name, "every 4th");
  EXPECT_EQ(field.path[0].query, 3);
  EXPECT_EQ(field.path[1].head, 0);
}

TEST(LayerPath, ChainExcludesMemory) {
  const Trace trace = testing::synthetic_trace(Pattern::causal(8, 11, 3));
  EXPECT_FALSE(LayerChain::create(trace, trace.part({}), 0));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
