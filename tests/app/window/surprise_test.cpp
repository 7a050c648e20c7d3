#include "app/window/surprise.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/window/actions/actions.h"
#include "app/window/jobs/surprise_job.h"
#include "core/experiment/runner.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// Has what the first sample gives.
State with_run() {
  Experiment experiment;
  experiment.text = "The old sailor gave the girl his lamp because she was afraid of the dark.";
  State state(experiment);
  ExperimentRun run(cpu_only());
  state.trace = run.run(experiment, Stop());
  state.shown = experiment;
  return state;
}

// Until what is looked for was found.
void finish(State& state) {
  while (state.surprises.job != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    take_surprises(state);
  }
}

TEST(Surprise, GoesThroughThePairsOfARun) {
  State state = with_run();
  EXPECT_EQ(surprise_refusal(state), "");
  surprise(state);
  finish(state);
  ASSERT_FALSE(state.surprises.pairs.empty());
  const ViewSettings first = state.experiment.view;
  EXPECT_GE(first.pinned_query, 0);
  ASSERT_NE(noticed(state), nullptr);
  EXPECT_EQ(noticed(state)->query, first.pinned_query);
  ++state.experiment.view.head;  // another head's pair
  EXPECT_EQ(noticed(state), nullptr);
  state.experiment.view = first;
  state.experiment.view.id = "grid";  // shows none
  EXPECT_EQ(noticed(state), nullptr);
  state.experiment.view = first;
  surprise(state);
  EXPECT_EQ(state.surprises.job, nullptr);  // they are looked for once
  EXPECT_NE(state.experiment.view, first);
}

TEST(Surprise, OfAnotherRunIsNotShown) {
  State state = with_run();
  state.surprises.job = std::make_shared<SurpriseJob>(state.trace, 5);
  const State other = with_run();
  state.trace = other.trace;
  finish(state);
  EXPECT_TRUE(state.surprises.pairs.empty());
  EXPECT_EQ(state.experiment.view.pinned_query, -1);
}

TEST(Surprise, CanBeGivenUp) {
  State state = with_run();
  state.surprises.job = std::make_shared<SurpriseJob>(state.trace, 5);
  state.surprises.job->cancel();
  state.surprises.job->wait(60);
  const bool cancelled = state.surprises.job->cancelled();
  take_surprises(state);
  EXPECT_EQ(state.surprises.job, nullptr);
  EXPECT_EQ(state.surprises.pairs.empty(), cancelled);
}

TEST(StartAfresh, IsAsTheFirstStartAndCanBeUndone) {
  State state;
  state.experiment.text = "mine";
  state.experiment.model = "twin-rope";
  state.experiment.others.emplace_back();
  state.history = History(state.experiment);
  state.session = "/tmp/s.json";
  action("afresh").run(state);
  EXPECT_EQ(state.experiment.model, "default");
  EXPECT_EQ(state.experiment.text, samples().front().text);
  EXPECT_TRUE(state.experiment.others.empty());
  EXPECT_TRUE(state.session.empty());
  ASSERT_TRUE(state.fresh.has_value());
  EXPECT_EQ(*state.fresh, state.experiment);
  // What its run opens on is no step of its own.
  ExperimentRun run(cpu_only());
  state.trace = run.run(state.experiment, Stop());
  state.shown = state.experiment;
  open_striking(state);
  finish(state);
  EXPECT_GE(state.experiment.view.pinned_query, 0);
  EXPECT_EQ(state.history.undo().text, "mine");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
