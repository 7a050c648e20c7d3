// Background task: work on its own thread, with cancellation, progress, intermediate results and an
// error. The work calls report() and publish(); the window's thread calls all other functions.
// Results and progress wake the window's event loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/stop.h"

namespace attnscope::window {

enum class TaskChange { None, News, End };

// Base of BackgroundTask, independent of the type of the result.
class Task {
 public:
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  void cancel() { stop_.request(); }  // returns immediately
  bool is_cancelled() const { return stop_.requested(); }
  bool is_finished() const { return is_finished_; }
  bool wait(double seconds) const;               // waits at most this long; true if finished
  double fraction() const { return fraction_; }  // completed share, in [0, 1]
  // Error of a finished task; empty if the task runs, succeeded or was cancelled.
  std::string problem() const { return is_finished_ ? problem_ : ""; }
  // Change after the previous call. News: a new result or visible progress. End: the task finished.
  TaskChange take_change();

  void report(double fraction);  // sets the progress

 protected:
  Task() = default;
  ~Task() = default;
  void start(std::function<void()> work);
  void end();  // cancels and joins
  void wake();

 private:
  Stop stop_;
  std::atomic<double> fraction_{0};
  std::atomic<bool> has_changed_{false}, is_finished_{false};
  double reported_fraction_ = 0;  // fraction at the last wake-up
  std::string problem_;
  mutable std::mutex end_mutex_;
  mutable std::condition_variable end_condition_;
  std::thread thread_;
};

template <class T>
class BackgroundTask : public Task {
 public:
  // Returns the result, or throws Stopped when cancelled. Runs in a StopScope of the task.
  using Work = std::function<T(BackgroundTask& task)>;

  explicit BackgroundTask(Work work) {
    start([this, work = std::move(work)] { publish(work(*this), 1); });
  }
  ~BackgroundTask() { end(); }

  // Newest result; nullopt before the first result.
  std::optional<T> result() const {
    const std::scoped_lock lock(mutex_);
    return result_;
  }
  // Sets an intermediate result and the progress.
  void publish(T result, double fraction) {
    {
      const std::scoped_lock lock(mutex_);
      result_ = std::move(result);
    }
    report(fraction);
    wake();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<T> result_;  // guarded by mutex_
};

// Copies a new result. Sets `problem` and destroys the task if it has finished. True on a change.
template <class T, class Result>
bool take_results(std::unique_ptr<BackgroundTask<T>>& task, Result& result, std::string& problem) {
  const TaskChange change = task != nullptr ? task->take_change() : TaskChange::None;
  if (change == TaskChange::None) return false;
  if (std::optional<T> newest = task->result()) result = *std::move(newest);
  if (change == TaskChange::End) problem = std::exchange(task, nullptr)->problem();
  return true;
}

}  // namespace attnscope::window
