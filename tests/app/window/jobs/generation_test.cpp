#include "app/window/jobs/generation.h"

#include <gtest/gtest.h>

#include "core/experiment/run.h"

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

TEST(Generation, OtherViewsKeepThePinnedPair) {
  State state = state_with_pin("map");
  generate_token(state);
  EXPECT_GT(state.session->run.text.size(), std::string("A small boat").size());
  EXPECT_EQ(state.session->view.pinned_query, 1);
  EXPECT_EQ(state.session->view.pinned_key, 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
