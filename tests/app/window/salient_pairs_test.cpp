#include "app/window/salient_pairs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/window/actions/actions.h"
#include "core/experiment/run.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// State with a run of the first sample.
State state_with_run() {
  Session session;
  session.run.text = "The old sailor gave the girl his lamp because she was afraid of the dark.";
  State state(session);
  ExperimentRun run(cpu_only());
  state.run.trace = run.run(session.run);
  state.run.session = share(session);
  return state;
}

// Waits for the search and applies its result.
void finish_search(State& state) {
  while (state.run.salient_pairs.task != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    apply_salient_pairs(state);
  }
}

TEST(SalientPairSearch, CyclesThroughPairsOfRun) {
  State state = state_with_run();
  EXPECT_EQ(salient_pair_refusal(state), "");
  show_strong_pair(state);
  finish_search(state);
  ASSERT_FALSE(state.run.salient_pairs.pairs.empty());
  const ViewSettings first = state.session->view;
  EXPECT_GE(first.pinned_query, 0);
  ASSERT_NE(shown_salient_pair(state), nullptr);
  EXPECT_EQ(shown_salient_pair(state)->query, first.pinned_query);
  ++state.session.edit().view.head;  // the pair belongs to another head
  EXPECT_EQ(shown_salient_pair(state), nullptr);
  state.session.edit().view = first;
  state.session.edit().view.id = "grid";  // this view shows no pair
  EXPECT_EQ(shown_salient_pair(state), nullptr);
  state.session.edit().view = first;
  show_strong_pair(state);
  EXPECT_EQ(state.run.salient_pairs.task, nullptr);  // the search runs only once
  EXPECT_NE(state.session->view, first);
}

TEST(SalientPairSearch, PairOfAnotherRunIsNotShown) {
  State state = state_with_run();
  start_salient_pair_search(state, false);
  const State other = state_with_run();
  state.run.trace = other.run.trace;
  finish_search(state);
  EXPECT_TRUE(state.run.salient_pairs.pairs.empty());
  EXPECT_EQ(state.session->view.pinned_query, -1);
}

TEST(SalientPairSearch, CancelledSearchHasNoPairs) {
  State state = state_with_run();
  start_salient_pair_search(state, false);
  state.run.salient_pairs.task->cancel();
  state.run.salient_pairs.task->wait(60);
  const bool was_cancelled = !state.run.salient_pairs.task->result();
  apply_salient_pairs(state);
  EXPECT_EQ(state.run.salient_pairs.task, nullptr);
  EXPECT_EQ(state.run.salient_pairs.pairs.empty(), was_cancelled);
}

TEST(StartOver, RestoresFirstStartUndoably) {
  const testing::TemporaryFolder data;  // without models
  ::setenv("XDG_DATA_HOME", data.path().c_str(), 1);
  State state;
  state.session.edit().run.text = "mine";
  state.session.edit().run.model = "twin-rope";
  state.session.edit().b.emplace();
  state.history = History(state.session.snapshot());
  state.files.session = "/tmp/s.json";
  action("afresh").run(state);
  EXPECT_EQ(state.session->run.model, "default");
  EXPECT_EQ(current_sample(state.session->run)->id, "aside");
  EXPECT_FALSE(state.session->b.has_value());
  EXPECT_TRUE(state.files.session.empty());
  ASSERT_TRUE(state.files.new_session != nullptr);
  EXPECT_EQ(*state.files.new_session, *state.session);
  // The pair on which a run opens adds no undo step.
  ExperimentRun run(cpu_only());
  state.run.trace = run.run(state.session->run);
  state.run.session = state.session.snapshot();
  open_on_salient_pair(state);
  finish_search(state);
  ASSERT_NE(shown_salient_pair(state), nullptr);
  const SalientPair& pair = *shown_salient_pair(state);
  EXPECT_EQ(pair.kind, PairKind::Bracket);
  // No other word gives the opening bracket more.
  Index head = 0;
  const AttentionTap* tap = state.run.trace->find(pair.at, &head);
  ASSERT_NE(tap, nullptr);
  const Tensor weights = tap->attention(head);
  for (Index row = 0; row < weights.dim(0); ++row) {
    if (row == pair.query) continue;
    EXPECT_LT(weights(row, pair.key), pair.weight / 2) << row;
  }
  EXPECT_EQ(state.history.undo()->run.text, "mine");
  ::unsetenv("XDG_DATA_HOME");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
