#include "core/view/mechanism/layer_path.h"

#include <gtest/gtest.h>

#include "core/analysis/flow.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Whether any head of the layer lets the query see the key.
bool sees(const Trace& trace, Index layer, Index query, Index key) {
  for (const AttentionTap& tap : trace.attention) {
    if (tap.address.layer != layer) continue;
    const Pattern& pattern = *tap.result.pattern;
    for (Index a = 0; a < pattern.heads(); ++a) {
      if (pattern.allowed(a, query, key)) return true;
    }
  }
  return false;
}

// Hearing, straight from its meaning: what it knew, and what those knew whom it sees.
std::vector<std::vector<bool>> heard_after(const Trace& trace, Index length, Index layers) {
  std::vector<std::vector<bool>> knows(static_cast<std::size_t>(length));
  for (Index i = 0; i < length; ++i) {
    knows[static_cast<std::size_t>(i)].resize(static_cast<std::size_t>(length));
    knows[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)] = true;
  }
  for (Index n = 0; n < layers; ++n) {
    auto next = knows;
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < length; ++j) {
        if (!sees(trace, n % 2, i, j)) continue;
        for (std::size_t k = 0; k < next.size(); ++k) {
          if (knows[static_cast<std::size_t>(j)][k]) next[static_cast<std::size_t>(i)][k] = true;
        }
      }
    }
    knows = next;
  }
  return knows;
}

TEST(LayerPath, HearsWhatReachesAQuery) {
  const Index length = 18;
  for (const char* variant :
       {R"({"type": "strided", "stride": 4, "mode": "interleaved"})",
        R"({"type": "fixed", "stride": 4, "summary": 1, "mode": "per_head"})",
        R"({"type": "local", "window": 2})", R"({"type": "blockwise", "blocks": 3})",
        R"({"type": "bigbird", "block": 2, "window_blocks": 1, "global_blocks": 1,
            "random_blocks": 1})"}) {
    const Trace trace = testing::run_model({.variant = variant, .length = length});
    const auto chain = LayerChain::of(trace, trace.part({}), 1);
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->layers(), 2);
    for (const Index layers : {1, 2, 3}) {
      const auto expected = heard_after(trace, length, layers);
      for (const Index query : {0, 7, 17}) {
        for (Index key = 0; key < length; ++key) {
          const Heard heard = heard_by(*chain, query, key, layers);
          const bool reached =
              expected[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)];
          EXPECT_EQ(heard.cone[0][static_cast<std::size_t>(key)] != 0, reached);
          ASSERT_EQ(heard.path.empty(), !reached) << variant << query << " " << key;
          if (!reached) continue;
          ASSERT_EQ(static_cast<Index>(heard.path.size()), layers);
          EXPECT_EQ(heard.path.front().key, key);
          EXPECT_EQ(heard.path.back().query, query);
          for (std::size_t n = 0; n < heard.path.size(); ++n) {
            const Hop& hop = heard.path[n];
            if (n > 0) {
              EXPECT_EQ(hop.key, heard.path[n - 1].query);
            }
            EXPECT_TRUE(hop.rule < 0 ? hop.key == hop.query
                                     : sees(trace, static_cast<Index>(n) % 2, hop.query, hop.key));
          }
        }
      }
    }
  }
}

TEST(LayerPath, NamesTheRuleAndTheHead) {
  const Trace trace = testing::run_model(
      {.variant = R"({"type": "strided", "stride": 4, "mode": "interleaved"})", .length = 16});
  const auto chain = LayerChain::of(trace, trace.part({}), 0);
  ASSERT_TRUE(chain);
  const Heard heard = heard_by(*chain, 15, 1, 2);
  ASSERT_EQ(heard.path.size(), 2u);
  EXPECT_EQ(heard.path[0].name, "4 back");
  EXPECT_EQ(heard.path[1].name, "every 4th");
  EXPECT_EQ(heard.path[0].query, 3);
  EXPECT_EQ(heard.path[1].head, 0);
}

TEST(LayerPath, ThereIsNoneThroughMemory) {
  const Trace trace = testing::synthetic_trace(Pattern::causal(8, 11, 3));
  EXPECT_FALSE(LayerChain::of(trace, trace.part({}), 0));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
