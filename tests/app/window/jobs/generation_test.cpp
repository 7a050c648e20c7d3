#include "app/window/jobs/generation.h"

#include <gtest/gtest.h>

#include "core/experiment/next_token.h"
#include "core/experiment/run.h"
#include "tests/support/tokenizer_with_end.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// State with a run whose second token is pinned.
State state_with_pin(const std::string& view) {
  Session session;
  session.run.text = "A small boat";
  session.view.id = view;
  session.view.pinned_query = 1;
  session.view.pinned_key = 0;
  State state(session);
  ExperimentRun run(cpu_only());
  state.run.trace = run.run(session.run);
  state.run.session = share(session);
  return state;
}

// The view Next shows the distribution after a pinned token, which a new token would not change.
TEST(Generation, NextFollowsTheNewToken) {
  State state = state_with_pin("next");
  ASSERT_TRUE(can_generate(state));
  ASSERT_TRUE(state.is_current());
  generate_token(state);
  EXPECT_GT(state.session->run.text.size(), std::string("A small boat").size());
  EXPECT_EQ(state.session->view.pinned_query, -1);
  EXPECT_EQ(state.session->view.pinned_key, -1);
}

// The first generated token is always text: a notice states that an end token was replaced. A later
// end token ends the generation, and its notice says how to continue.
TEST(Generation, ContinuesPastEndTokenOnlyAtFirst) {
  State state = state_with_pin("next");
  set_view_value(state.session.edit().view, "next", "temperature", 0.0);
  state.run.session = state.session.snapshot();
  const auto last = static_cast<Index>(state.run.trace->tokens.size()) - 1;
  const SeededSampling greedy{{.temperature = 0}, 1};
  auto trace = std::make_shared<Trace>(*state.run.trace);
  trace->tokenizer = std::make_shared<const testing::TokenizerWithEnd>(
      sample_next_token(*trace, last, greedy), trace->tokenizer);
  state.run.trace = trace;
  const std::string text = state.session->run.text;
  const Session before = *state.session;

  state.run.is_generating = true;
  generate_token(state);
  EXPECT_GT(state.session->run.text.size(), text.size());
  EXPECT_TRUE(state.run.is_generating);
  EXPECT_FALSE(state.run.is_first_token);
  ASSERT_FALSE(state.notices.empty());
  EXPECT_TRUE(state.notices.back().text.starts_with("An end token was drawn (“"));
  EXPECT_NE(state.notices.back().text.find("100%) and replaced"), std::string::npos);

  state.session.edit() = before;
  state.run.session = state.session.snapshot();
  generate_token(state);
  EXPECT_EQ(state.session->run.text, text);
  EXPECT_FALSE(state.run.is_generating);
  EXPECT_EQ(state.notices.back().text,
            "The model ended the text here; Generate (W) continues past its end.");
}

TEST(Generation, OtherViewsKeepThePinnedPair) {
  State state = state_with_pin("map");
  generate_token(state);
  EXPECT_GT(state.session->run.text.size(), std::string("A small boat").size());
  EXPECT_EQ(state.session->view.pinned_query, 1);
  EXPECT_EQ(state.session->view.pinned_key, 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
