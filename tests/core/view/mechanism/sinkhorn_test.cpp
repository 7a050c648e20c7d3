#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

Trace run_sinkhorn(int iterations) {
  return testing::run_model({.variant = R"({"type": "sinkhorn", "block": 3, "temperature": 0.5,)"
                                        R"( "iterations": )" +
                                        std::to_string(iterations) + "}",
                             .encoding = "none",
                             .causal = false});
}

ViewSettings settings_of_head(Index head) {
  ViewSettings settings = testing::settings_with("mechanism", "{}");
  settings.head = head;
  return settings;
}

std::vector<ViewData::Matrix> exported_matrices(const Trace& trace, Index head) {
  const testing::ViewInputFixture fixture(trace, settings_of_head(head));
  return view("mechanism").data(fixture.input).matrices;
}

// True if all rows, or all columns, sum to 1.
bool sums_to_one(const Tensor& m, bool by_column) {
  for (Index i = 0; i < m.dim(0); ++i) {
    double sum = 0;
    for (Index j = 0; j < m.dim(0); ++j) sum += static_cast<double>(by_column ? m(j, i) : m(i, j));
    if (!(std::abs(sum - 1) <= 1e-5)) return false;
  }
  return true;
}

TEST(SinkhornMechanism, StagesMatchVariant) {
  for (const Index head : {0, 1}) {
    const Trace single_round = run_sinkhorn(1), seven_rounds = run_sinkhorn(7);
    const auto value_at = [&](const Trace& trace, const char* name, Index i, Index j) {
      return trace.attention[0].result.extra.at(name)(head, i, j);
    };
    const auto single = exported_matrices(single_round, head),
               seven = exported_matrices(seven_rounds, head);
    ASSERT_EQ(single.size(), 4u);  // logits, normalised rows, normalised columns, weights
    ASSERT_EQ(seven.size(), 5u);   // additionally the matching after all rounds
    EXPECT_TRUE(sums_to_one(seven[1].values, false));
    EXPECT_TRUE(sums_to_one(seven[2].values, true));
    EXPECT_TRUE(sums_to_one(seven[3].values, true));
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) {
        EXPECT_EQ(seven[0].values(i, j), value_at(seven_rounds, "sinkhorn.logits", i, j));
        EXPECT_EQ(seven[3].values(i, j), value_at(seven_rounds, "sinkhorn.matching", i, j));
        // The variant and the view compute equal rounds; later rounds do not change earlier rounds.
        const auto actual = static_cast<double>(single[2].values(i, j));
        const auto expected =
            static_cast<double>(value_at(single_round, "sinkhorn.matching", i, j));
        EXPECT_TRUE(std::abs(actual - expected) <= 1e-5) << i << ", " << j;
        EXPECT_EQ(single[2].values(i, j), seven[2].values(i, j));
      }
    }
    EXPECT_TRUE(testing::close(seven[4].values, seven_rounds.attention[0].attention(head), 0));
  }
}

// The sentence names the block with the largest weight at the query's sorted position, and that
// weight.
TEST(SinkhornMechanism, ReportsLargestSortedBlock) {
  const Trace trace = run_sinkhorn(7);
  const Tensor& p = trace.attention[0].result.extra.at("sinkhorn.matching");
  for (Index query = 0; query < 12; query += 2) {
    Index best = 0;
    for (Index block = 1; block < 4; ++block) {
      if (p(1, query / 3, block) > p(1, query / 3, best)) best = block;
    }
    const long percent = std::lround(100 * static_cast<double>(p(1, query / 3, best)));
    const std::string expected = "position " + std::to_string(query / 3) + " gets " +
                                 std::to_string(percent) + "% of block " + std::to_string(best);
    LayoutOptions options;
    options.width = 1000;
    options.height = 900;
    options.settings = settings_of_head(1);
    options.settings.pinned_query = query;
    bool is_shown = false;
    for (const Text& text : testing::texts(lay_out_view(trace, "mechanism", options).list)) {
      is_shown = is_shown || text.text.find(expected) != std::string::npos;
    }
    EXPECT_TRUE(is_shown) << expected;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
