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
      const std::scoped_lock lock(waiting_);
      finished_ = true;
    }
    ended_.notify_all();
    wake();
  });
}

void Task::end() {
  cancel();
  thread_.join();
}

bool Task::wait(double seconds) const {
  std::unique_lock lock(waiting_);
  return ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                         [&] { return is_finished(); });
}

TaskChange Task::take_change() {
  if (!changed_.exchange(false)) return TaskChange::None;
  return finished_ ? TaskChange::End : TaskChange::News;  // read last: no end is missed
}

void Task::report(double share) {
  constexpr double kVisible = 0.01;
  share_ = share;
  if (share < reported_ + kVisible) return;
  reported_ = share;
  wake();
}

void Task::wake() {
  changed_ = true;
  glfwPostEmptyEvent();
}

}  // namespace attnscope::window
