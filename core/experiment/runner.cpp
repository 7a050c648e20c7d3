#include "core/experiment/runner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/error.h"

namespace attnscope {

using Clock = std::chrono::steady_clock;

Index preview_tokens(Index tokens) {
  constexpr Index kShare = 8, kLeast = 16, kMost = 512;
  const Index first = std::min(tokens / kShare, kMost);
  return first >= kLeast ? first : 0;
}

std::optional<Experiment> preview_of(const Experiment& experiment, Index tokens) {
  const Index first = preview_tokens(tokens);
  const ViewSettings& view = experiment.view;
  const bool of_text = experiment.tensors.file.empty() && experiment.input.empty();
  const bool whole = view.row == 0 && view.column == 0 && view.height == 0 && view.width == 0;
  const bool in_it = view.pinned_query < first && view.pinned_key < first;
  const bool from_start = experiment.overlong != Overlong::Last && !view.part.segment;
  if (first == 0 || !of_text || !whole || !in_it || !from_start || !experiment.others.empty() ||
      !experiment.interventions.empty() || !experiment.target_ids.empty()) {
    return std::nullopt;
  }
  Experiment preview = experiment;
  preview.most_tokens = first;
  preview.backend = BackendChoice::Auto;
  return preview;
}

struct Runner::State {
  State(BackendProvider provider, std::function<void()> wake_up)
      : backends(std::move(provider)), wake(std::move(wake_up)) {}

  struct Request {
    Experiment experiment;
    std::vector<std::string> names;  // of findings
  };
  // What is being carried out.
  struct Running {
    Request request;
    Stop stop;
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    Clock::time_point started = Clock::now();
    std::shared_ptr<ExperimentRun::LayerWatch> layers =
        std::make_shared<ExperimentRun::LayerWatch>();
    bool previewed = false;
  };

  BackendProvider backends;
  std::function<void()> wake;

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::optional<Request> waiting;  // only the newest
  std::optional<Running> running;
  std::optional<Outcome> finished;  // until polled
  bool ending = false;
  std::thread worker, previewer;

  void work() {
    ExperimentRun run(backends);
    for (;;) {
      Running now;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ending || waiting; });
        if (ending) return;
        now.request = std::move(*waiting);
        waiting.reset();
        now.started = Clock::now();
        now.layers->take = [this, experiment = now.request.experiment, stop = now.stop](
                               std::shared_ptr<const Trace> trace, Index layers) {
          show_layers(experiment, stop, std::move(trace), layers);
        };
        running = now;
      }
      changed.notify_all();
      run.tell(now.progress);
      run.watch(now.layers);
      std::optional<Outcome> outcome = carry_out(run, now.request, now.stop);
      {
        const std::scoped_lock lock(mutex);
        running.reset();
        // What was cancelled or overtaken must not be shown any more.
        if (now.stop.requested()) outcome.reset();
        if (outcome) finished = std::move(outcome);
        now.stop.request();  // of its preview nobody needs to know any more
      }
      changed.notify_all();
      wake();
    }
  }

  void show_layers(const Experiment& experiment, const Stop& stop,
                   std::shared_ptr<const Trace> trace, Index layers) {
    {
      const std::scoped_lock lock(mutex);
      if (stop.requested()) return;
      Outcome outcome;
      outcome.experiment = experiment;
      outcome.trace = std::move(trace);
      outcome.layers_of = layers;
      finished = std::move(outcome);
    }
    wake();
  }

  // Runs that take long are looked into from here.
  void preview() {
    ExperimentRun run(cpu_only());  // the graphics context belongs to the runs
    std::unique_lock lock(mutex);
    while (!ending) {
      if (!running || running->previewed) {
        changed.wait(lock);
        continue;
      }
      const Clock::time_point due =
          running->started +
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kPreviewAfter));
      const bool read = running->progress->tokens() > 0;
      if (Clock::now() < due || !read) {
        constexpr auto kAgain = std::chrono::milliseconds(100);  // models can take long to read
        changed.wait_until(lock, std::max(due, Clock::now() + kAgain));
        continue;
      }
      running->previewed = true;
      if (running->layers->on) continue;
      const Running of = *running;
      lock.unlock();
      std::optional<Outcome> outcome = previewed(run, of);
      lock.lock();
      if (!outcome || of.stop.requested()) continue;
      finished = std::move(outcome);
      lock.unlock();
      wake();
      lock.lock();
    }
  }

  // Nothing where there is none to be had: then there is the run alone.
  static std::optional<Outcome> previewed(ExperimentRun& run, const Running& of) {
    const auto tokens = static_cast<Index>(of.progress->tokens());
    const std::optional<Experiment> first = preview_of(of.request.experiment, tokens);
    if (!first) return std::nullopt;
    std::optional<Outcome> outcome = carry_out(run, {*first, of.request.names}, of.stop);
    if (!outcome || outcome->trace == nullptr) return std::nullopt;
    outcome->preview_of = tokens;
    return outcome;
  }

  // Nothing when it was stopped.
  static std::optional<Outcome> carry_out(ExperimentRun& run, const Request& request,
                                          const Stop& stop) {
    const Experiment& experiment = request.experiment;
    Outcome outcome;
    outcome.experiment = experiment;
    try {
      const Traces traces = run.observe(experiment, request.names, stop);
      outcome.trace = traces.trace;
      outcome.findings = traces.findings;
    } catch (const Stopped&) {
      return std::nullopt;
    } catch (const std::exception& e) {
      outcome.error = e.what();
    }
    return outcome;
  }
};

Runner::Runner(BackendProvider backends, std::function<void()> wake)
    : state_(std::make_unique<State>(std::move(backends), std::move(wake))) {
  state_->worker = std::thread([state = state_.get()] { state->work(); });
  try {
    state_->previewer = std::thread([state = state_.get()] { state->preview(); });
  } catch (const std::system_error&) {  // no more threads: then nothing is looked into
  }
}

Runner::~Runner() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->ending = true;
    if (state_->running) state_->running->stop.request();
  }
  state_->changed.notify_all();
  state_->worker.join();
  if (state_->previewer.joinable()) state_->previewer.join();
}

void Runner::request(const Experiment& experiment, std::vector<std::string> names) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->waiting = State::Request{experiment, std::move(names)};
    if (state_->running) state_->running->stop.request();
  }
  state_->changed.notify_all();
}

void Runner::cancel() {
  const std::scoped_lock lock(state_->mutex);
  state_->waiting.reset();
  state_->finished.reset();  // that nobody has taken yet
  if (state_->running) state_->running->stop.request();
}

bool Runner::busy() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->running || state_->waiting;
}

double Runner::busy_seconds() const {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->running) return 0;
  return std::chrono::duration<double>(Clock::now() - state_->running->started).count();
}

Progress::Now Runner::progress() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->running ? state_->running->progress->now() : Progress::Now{};
}

bool Runner::poll(Outcome& outcome) {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->finished) return false;
  outcome = std::move(*state_->finished);
  state_->finished.reset();
  return true;
}

}  // namespace attnscope
