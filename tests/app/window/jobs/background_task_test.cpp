#include "app/window/jobs/background_task.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "app/window/jobs/task_kinds.h"
#include "app/window/state.h"
#include "core/base/stop.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

constexpr double kMaxSeconds = 60;

TEST(BackgroundTask, DeliversResult) {
  BackgroundTask<int> task([](BackgroundTask<int>&) { return 42; });
  ASSERT_TRUE(task.wait(kMaxSeconds));
  EXPECT_EQ(task.result(), 42);
  EXPECT_EQ(task.problem(), "");
  EXPECT_DOUBLE_EQ(task.fraction(), 1);
}

TEST(BackgroundTask, PublishesIntermediateResults) {
  std::promise<void> published, was_read;
  BackgroundTask<int> task([&](BackgroundTask<int>& self) {
    self.publish(1, 0.5);
    published.set_value();
    was_read.get_future().wait();
    return 2;
  });
  published.get_future().wait();
  EXPECT_EQ(task.take_change(), TaskChange::News);
  EXPECT_EQ(task.take_change(), TaskChange::None);
  EXPECT_EQ(task.result(), 1);
  EXPECT_DOUBLE_EQ(task.fraction(), 0.5);
  was_read.set_value();
  ASSERT_TRUE(task.wait(kMaxSeconds));
  EXPECT_EQ(task.take_change(), TaskChange::End);
  EXPECT_EQ(task.result(), 2);
}

TEST(BackgroundTask, ReportsError) {
  BackgroundTask<int> task([](Task&) -> int { throw std::runtime_error("no such file"); });
  ASSERT_TRUE(task.wait(kMaxSeconds));
  EXPECT_EQ(task.problem(), "no such file");
  EXPECT_EQ(task.result(), std::nullopt);
}

TEST(BackgroundTask, CancellationIsNoError) {
  BackgroundTask<int> task([](Task&) -> int {
    for (;;) check_stop();
  });
  EXPECT_FALSE(task.wait(0.01));
  task.cancel();
  EXPECT_TRUE(task.is_cancelled());
  ASSERT_TRUE(task.wait(kMaxSeconds));
  EXPECT_EQ(task.problem(), "");
  EXPECT_EQ(task.result(), std::nullopt);
}

TEST(TaskKinds, IdleStateHasNoTasks) {
  State state;
  EXPECT_FALSE(update_tasks(state));
  EXPECT_FALSE(has_task_status(state));
  EXPECT_EQ(unfinished_file(state), "");
  for (const TaskKind& kind : task_kinds()) {
    for (const Task* task : kind.tasks(state)) EXPECT_EQ(task, nullptr);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
