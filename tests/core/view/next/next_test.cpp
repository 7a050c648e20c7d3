#include "core/view/next/next.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/text/tokenizer.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;
using testing::synthetic_trace;

TEST(Next, DrawsTheSameTokenAgain) {
  const Trace trace = synthetic_trace(1, 1, 6);
  NextSettings settings;
  std::set<std::int32_t> drawn;
  for (settings.seed = 0; settings.seed < 40; ++settings.seed) {
    const std::int32_t token = drawn_token(trace, 5, settings);
    EXPECT_EQ(drawn_token(trace, 5, settings), token);
    drawn.insert(token);
  }
  EXPECT_GT(drawn.size(), 3u);
  settings.sampling.temperature = 0;
  const float* row = trace.logits.data() + 5 * 13;
  EXPECT_EQ(drawn_token(trace, 5, settings), std::max_element(row, row + 13) - row);
  EXPECT_THROW(drawn_token(trace, 6, settings), InputError);
  EXPECT_THROW(drawn_token(Trace(), 0, settings), InputError);
}

TEST(Next, GoesOnWithTheTextOrTheIds) {
  Trace trace = synthetic_trace(1, 1, 3);
  trace.tokenizer = byte_tokenizer();
  Experiment experiment;
  experiment.text = "abc";
  EXPECT_TRUE(append_token(experiment, trace, 'd'));
  EXPECT_EQ(experiment.text, "abcd");
  EXPECT_EQ(experiment.overlong, Overlong::First);
  trace.config = testing::config_of_context(3);  // is full
  EXPECT_TRUE(append_token(experiment, trace, 'e'));
  EXPECT_EQ(experiment.overlong, Overlong::Last);
  EXPECT_FALSE(append_token(experiment, trace, 100000));  // no text
  EXPECT_EQ(experiment.text, "abcde");
  experiment.ids = {1, 2};
  EXPECT_TRUE(append_token(experiment, trace, 3));
  EXPECT_EQ(experiment.ids, (std::vector<std::int32_t>{1, 2, 3}));
}

TEST(Next, KnowsWhetherTheEndIsInSight) {
  Trace trace = synthetic_trace(1, 1, 2);
  trace.tokens.back().end = 2;
  Experiment experiment;
  experiment.text = "ab";
  EXPECT_TRUE(shows_end(trace, experiment));
  experiment.text = "abc";
  EXPECT_FALSE(shows_end(trace, experiment));
  experiment.overlong = Overlong::Last;
  EXPECT_TRUE(shows_end(trace, experiment));
}

TEST(Next, ABarGoesOnWithItsToken) {
  Trace trace = synthetic_trace(1, 1, 4);
  trace.tokenizer = byte_tokenizer();
  Look look;
  look.framed = false;
  int appended = 0, pinned = 0;
  const ViewLayout layout = look_at(trace, "next", look);
  for (const Handle& handle : layout.handles) {
    Experiment experiment;
    handle.click(experiment);
    if (experiment.text.size() == 1) ++appended;
    if (experiment.view.pinned_query >= 0) ++pinned;
  }
  EXPECT_GE(appended, 10);
  EXPECT_EQ(pinned, 4);
  look.settings.pinned_query = 1;  // the past cannot be gone on with
  EXPECT_EQ(look_at(trace, "next", look).handles.size(), 4u);
}

TEST(Next, MarksTheDrawnAndTheTextsOwnToken) {
  const Trace trace = synthetic_trace(1, 1, 6);
  Look look;
  look.settings.pinned_query = 2;
  const std::vector<Text> all = testing::texts(look_at(trace, "next", look).list);
  const auto shows = [&](const std::string& part) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(shows("drawn"));
  EXPECT_TRUE(shows("the text's own"));
  EXPECT_TRUE(shows("entropy"));
}

}  // namespace
}  // namespace attnscope
