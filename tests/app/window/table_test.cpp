#include "app/window/table.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace {

TEST(Table, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

// A trace with one layer of one head over two tokens.
Trace small_trace() {
  Trace trace;
  trace.tokens.resize(2);
  trace.tokens[0].label = "a,";
  trace.tokens[1].label = "b";
  AttentionTap tap;
  tap.heads = {0};
  tap.result.pattern = std::make_shared<const Pattern>(Pattern::causal(2, 2));
  tap.result.attention = Tensor::from({1, 2, 2}, {1, 0, 0.25F, 0.75F});
  trace.attention.push_back(std::move(tap));
  return trace;
}

TEST(Table, WritesTokensAndWeights) {
  EXPECT_EQ(picture_csv(small_trace(), Experiment()), "query,\"a,\",b\n\"a,\",1,0\nb,0.25,0.75\n");
}

TEST(Table, IsEmptyWithoutTheHead) {
  Experiment experiment;
  experiment.view.layer = 7;
  EXPECT_EQ(picture_csv(small_trace(), experiment), "");
}

}  // namespace
}  // namespace attnscope::window
