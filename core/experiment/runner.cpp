#include "core/experiment/runner.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/error.h"

namespace attnscope {

using Clock = std::chrono::steady_clock;

struct Runner::State {
  State(BackendProvider provider, std::function<void()> wake_up)
      : backends(std::move(provider)), wake(std::move(wake_up)) {}

  struct Request {
    Experiment experiment;
    std::vector<std::string> names;  // of findings
  };

  BackendProvider backends;
  std::function<void()> wake;

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::optional<Request> waiting;  // only the newest
  std::optional<Stop> running;
  Clock::time_point started;
  std::optional<Outcome> finished;  // until polled
  bool ending = false;
  std::thread worker;

  void work() {
    ExperimentRun run(backends);
    for (;;) {
      Request request;
      Stop stop;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ending || waiting; });
        if (ending) return;
        request = std::move(*waiting);
        waiting.reset();
        running = stop;
        started = Clock::now();
      }
      std::optional<Outcome> outcome = carry_out(run, request, stop);
      {
        const std::scoped_lock lock(mutex);
        running.reset();
        // What was cancelled or overtaken must not be shown any more.
        if (stop.requested()) outcome.reset();
        if (outcome) finished = std::move(outcome);
      }
      wake();
    }
  }

  // Nothing when it was stopped.
  static std::optional<Outcome> carry_out(ExperimentRun& run, const Request& request,
                                          const Stop& stop) {
    const Experiment& experiment = request.experiment;
    try {
      const Traces traces = run.observe(experiment, request.names, stop);
      return Outcome{experiment, traces.trace, traces.findings, ""};
    } catch (const Stopped&) {
      return std::nullopt;
    } catch (const std::exception& e) {
      return Outcome{experiment, nullptr, {}, e.what()};
    }
  }
};

Runner::Runner(BackendProvider backends, std::function<void()> wake)
    : state_(std::make_unique<State>(std::move(backends), std::move(wake))) {
  state_->worker = std::thread([state = state_.get()] { state->work(); });
}

Runner::~Runner() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->ending = true;
    if (state_->running) state_->running->request();
  }
  state_->changed.notify_all();
  state_->worker.join();
}

void Runner::request(const Experiment& experiment, std::vector<std::string> names) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->waiting = State::Request{experiment, std::move(names)};
    if (state_->running) state_->running->request();
  }
  state_->changed.notify_all();
}

void Runner::cancel() {
  const std::scoped_lock lock(state_->mutex);
  state_->waiting.reset();
  state_->finished.reset();  // that nobody has taken yet
  if (state_->running) state_->running->request();
}

bool Runner::busy() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->running || state_->waiting;
}

double Runner::busy_seconds() const {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->running) return 0;
  return std::chrono::duration<double>(Clock::now() - state_->started).count();
}

bool Runner::poll(Outcome& outcome) {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->finished) return false;
  outcome = std::move(*state_->finished);
  state_->finished.reset();
  return true;
}

}  // namespace attnscope
