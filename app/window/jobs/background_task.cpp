#include "app/window/jobs/background_task.h"

#include <GLFW/glfw3.h>

#include <chrono>

#include "app/window/error_text.h"

namespace attnscope::window {

void Task::start(std::function<void()> work) {
  thread_ = std::thread([this, work = std::move(work)] {
    try {
      const StopScope scope(stop_);
      work();
    } catch (const Stopped&) {  // not an error
    } catch (const std::exception& e) {
      problem_ = error_text(e);
    }
    {
      const std::scoped_lock lock(end_mutex_);
      finished_ = true;
    }
    end_condition_.notify_all();
    wake();
  });
}

void Task::end() {
  cancel();
  thread_.join();
}

bool Task::wait(double seconds) const {
  std::unique_lock lock(end_mutex_);
  return end_condition_.wait_for(lock, std::chrono::duration<double>(seconds),
                                 [&] { return is_finished(); });
}

TaskChange Task::take_change() {
  if (!changed_.exchange(false)) return TaskChange::None;
  // Reads finished_ after changed_, so that no end is missed.
  return finished_ ? TaskChange::End : TaskChange::News;
}

void Task::report(double share) {
  constexpr double kVisibleShare = 0.01;
  share_ = share;
  if (share < reported_ + kVisibleShare) return;
  reported_ = share;
  wake();
}

void Task::wake() {
  changed_ = true;
  glfwPostEmptyEvent();
}

}  // namespace attnscope::window
