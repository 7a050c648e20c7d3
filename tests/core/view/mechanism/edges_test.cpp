// Mechanism picture of graph attention, whose edges define the pattern.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/view/mechanism/mechanism.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

bool contains_text(const ViewLayout& layout, const std::string& part) {
  const std::vector<Text> drawn_texts = testing::texts(layout.list);
  return std::ranges::any_of(drawn_texts,
                             [&](const Text& t) { return t.text.find(part) != std::string::npos; });
}

ViewLayout lay_out_edges(const std::string& variant, Index length, bool causal, Index query = 5) {
  const Trace trace = testing::run_model({.variant = variant, .length = length, .causal = causal});
  EXPECT_EQ(default_mechanism(trace.attention[0]).id, "edges");
  testing::LayoutOptions options;
  options.width = 1000;
  options.settings.pinned_query = query;
  const ViewLayout layout = testing::lay_out_view(trace, "mechanism", options);
  EXPECT_EQ(layout.refusal, "");
  EXPECT_EQ(testing::layout_error(layout.list), "");
  return layout;
}

// Token 5 is a child of 2 and the parent of 11 and 12.
TEST(EdgesMechanism, NamesTheTreeAndCountsItsEdges) {
  const std::string tree = R"({"type": "graph", "from": "edges", "edges": [[0, 1], [0, 2], [1, 3],
      [1, 4], [2, 5], [2, 6], [3, 7], [3, 8], [4, 9], [4, 10], [5, 11], [5, 12], [6, 13], [6, 14]]})";
  EXPECT_TRUE(contains_text(lay_out_edges(tree, 15, false), "binary tree"));
  EXPECT_TRUE(contains_text(lay_out_edges(tree, 15, false), "and 3 connected tokens"));
  EXPECT_TRUE(contains_text(lay_out_edges(tree, 15, true), "and 1 connected token"));
  EXPECT_FALSE(
      contains_text(lay_out_edges(tree, 16, false), "binary tree"));  // token 15 has no edge
  EXPECT_TRUE(contains_text(lay_out_edges(R"({"type": "graph"})", 9, false), "a complete graph"));
  EXPECT_TRUE(
      contains_text(lay_out_edges(R"({"type": "graph", "from": "chain"})", 9, false), "a chain"));
  EXPECT_TRUE(contains_text(
      lay_out_edges(R"({"type": "graph", "from": "edges", "edges": [[0, 1]]})", 9, false),
      "attends only to itself"));
}

TEST(EdgesMechanism, ExportsEdges) {
  const Trace trace = testing::run_model(
      {.variant = R"({"type": "graph", "from": "chain"})", .length = 6, .causal = false});
  const AttentionTap& tap = trace.attention[0];
  const testing::ViewInputFixture fixture(trace, ViewSettings());
  const Tensor edges = default_mechanism(tap).data({fixture.input, tap, 1}).front().values;
  ASSERT_EQ(edges.shape(), (Shape{10, 3}));
  const Tensor weights = tap.attention(1);
  for (Index n = 0; n < 10; ++n) {
    const auto i = static_cast<Index>(edges(n, 0)), j = static_cast<Index>(edges(n, 1));
    EXPECT_EQ(std::abs(i - j), 1);
    EXPECT_FLOAT_EQ(edges(n, 2), weights(i, j));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
