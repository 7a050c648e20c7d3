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
  const testing::ViewInputFixture of(trace, settings_of_head(head));
  return view("mechanism").data(of.input).matrices;
}

// True if all rows, or all columns, sum to 1.
bool sums_to_one(const Tensor& m, bool columns) {
  for (Index i = 0; i < m.dim(0); ++i) {
    double sum = 0;
    for (Index j = 0; j < m.dim(0); ++j) sum += static_cast<double>(columns ? m(j, i) : m(i, j));
    if (!(std::abs(sum - 1) <= 1e-5)) return false;
  }
  return true;
}

TEST(SinkhornMechanism, StagesMatchVariant) {
  for (const Index head : {0, 1}) {
    const Trace once = run_sinkhorn(1), repeatedly = run_sinkhorn(7);
    const auto value_at = [&](const Trace& trace, const char* name, Index i, Index j) {
      return trace.attention[0].result.extra.at(name)(head, i, j);
    };
    const auto first = exported_matrices(once, head), all = exported_matrices(repeatedly, head);
    ASSERT_EQ(first.size(), 4u);  // logits, rows, columns, weights
    ASSERT_EQ(all.size(), 5u);    // and the matching after all rounds
    EXPECT_TRUE(sums_to_one(all[1].values, false));
    EXPECT_TRUE(sums_to_one(all[2].values, true));
    EXPECT_TRUE(sums_to_one(all[3].values, true));
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < 4; ++j) {
        EXPECT_EQ(all[0].values(i, j), value_at(repeatedly, "sinkhorn.logits", i, j));
        EXPECT_EQ(all[3].values(i, j), value_at(repeatedly, "sinkhorn.matching", i, j));
        // The variant and the view compute equal rounds; additional rounds do not change earlier
        // ones.
        const auto actual = static_cast<double>(first[2].values(i, j));
        const auto expected = static_cast<double>(value_at(once, "sinkhorn.matching", i, j));
        EXPECT_TRUE(std::abs(actual - expected) <= 1e-5) << i << ", " << j;
        EXPECT_EQ(first[2].values(i, j), all[2].values(i, j));
      }
    }
    EXPECT_TRUE(testing::close(all[4].values, repeatedly.attention[0].attention(head), 0));
  }
}

// The sentence names the block with the largest share of the position, and that share.
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
    LayoutOptions look;
    look.width = 1000;
    look.height = 900;
    look.settings = settings_of_head(1);
    look.settings.pinned_query = query;
    bool is_shown = false;
    for (const Text& text : testing::texts(lay_out_view(trace, "mechanism", look).list)) {
      is_shown = is_shown || text.text.ends_with(expected);
    }
    EXPECT_TRUE(is_shown) << expected;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
