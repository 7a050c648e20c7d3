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
      is_finished_ = true;
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
  if (!has_changed_.exchange(false)) return TaskChange::None;
  // Reads is_finished_ after has_changed_, so that no end is missed.
  return is_finished_ ? TaskChange::End : TaskChange::News;
}

void Task::report(double fraction) {
  constexpr double kVisibleFraction = 0.01;
  fraction_ = fraction;
  if (fraction < reported_fraction_ + kVisibleFraction) return;
  reported_fraction_ = fraction;
  wake();
}

void Task::wake() {
  has_changed_ = true;
  glfwPostEmptyEvent();
}

}  // namespace attnscope::window
