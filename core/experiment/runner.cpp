#include "core/experiment/runner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {

using Clock = std::chrono::steady_clock;

Index preview_tokens(Index tokens) {
  constexpr Index kRatio = 8, kMinTokens = 16, kMaxTokens = 512;
  const Index count = std::min(tokens / kRatio, kMaxTokens);
  return count >= kMinTokens ? count : 0;
}

std::optional<Session> preview_session(const Session& session, Index tokens) {
  const Index count = preview_tokens(tokens);
  const RunSpec& run = session.run;
  const ViewSettings& view = session.view;
  const bool is_text = run.tensors.file.empty() && run.input.empty();
  const bool shows_all = view.row == 0 && view.column == 0 && view.height == 0 && view.width == 0;
  const bool contains_pin = view.pinned_query < count && view.pinned_key < count;
  const bool reads_start = run.overlong != Overlong::Last && !view.part.segment;
  if (count == 0 || !is_text || !shows_all || !contains_pin || !reads_start || session.b ||
      !run.interventions.empty() || !run.target_ids.empty()) {
    return std::nullopt;
  }
  Session preview = session;
  preview.run.max_tokens = count;
  preview.run.backend = BackendChoice::Auto;
  return preview;
}

struct Runner::State {
  State(BackendProvider provider, std::function<void()> wake_up)
      : backends(std::move(provider)), wake(std::move(wake_up)) {}

  struct Request {
    std::shared_ptr<const Session> session;
    std::vector<FindingRequest> findings;
  };
  struct Running {
    Request request;
    Stop stop;
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    Clock::time_point started = Clock::now();
    std::shared_ptr<ExperimentRun::LayerWatch> layer_watch =
        std::make_shared<ExperimentRun::LayerWatch>();
    bool has_preview = false;
  };

  BackendProvider backends;
  std::function<void()> wake;

  mutable std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::optional<Request> pending;  // newest request only
  std::optional<Running> running;
  std::optional<Outcome> finished;  // outcome that was not polled yet
  bool is_ending = false;
  std::thread worker, previewer;

  void run_requests() {
    ExperimentRun run(backends);
    for (;;) {
      Running current;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return is_ending || pending; });
        if (is_ending) return;
        current.request = std::move(*pending);
        pending.reset();
        current.started = Clock::now();
        current.layer_watch->on_layers = [this, session = current.request.session](
                                             std::shared_ptr<const Trace> trace, Index layers) {
          show({.session = session, .preview_of_layers = layers, .trace = std::move(trace)});
        };
        current.layer_watch->on_trace = [this, session = current.request.session,
                                         started =
                                             current.started](std::shared_ptr<const Trace> trace) {
          // The findings of a short run follow soon, too.
          const std::chrono::duration<double> time = Clock::now() - started;
          if (time.count() < kPreviewDelay) return;
          show({.session = session, .awaits_findings = true, .trace = std::move(trace)});
        };
        running = current;
      }
      changed.notify_all();
      run.report_to(current.progress);
      run.watch(current.layer_watch);
      std::optional<Outcome> outcome = execute(run, current.request, current.stop);
      {
        const std::scoped_lock lock(mutex);
        running.reset();
        // Results of cancelled or superseded requests are discarded.
        if (current.stop.requested()) outcome.reset();
        if (outcome) finished = std::move(outcome);
        current.stop.request();  // cancels the preview of this run
      }
      changed.notify_all();
      wake();
    }
  }

  // Publishes a result of the running request.
  void show(Outcome outcome) {
    {
      const std::scoped_lock lock(mutex);
      if (is_stopping()) return;
      finished = std::move(outcome);
    }
    wake();
  }

  void compute_previews() {
    ExperimentRun run(cpu_only());  // the GL context belongs to the worker
    std::unique_lock lock(mutex);
    while (!is_ending) {
      if (!running || running->has_preview) {
        changed.wait(lock);
        continue;
      }
      const Clock::time_point due =
          running->started +
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kPreviewDelay));
      const bool is_tokenised = running->progress->tokens() > 0;
      if (Clock::now() < due || !is_tokenised) {
        constexpr auto kPollInterval = std::chrono::milliseconds(100);  // while the model is read
        changed.wait_until(lock, std::max(due, Clock::now() + kPollInterval));
        continue;
      }
      running->has_preview = true;
      if (running->layer_watch->is_active) continue;
      const Running current = *running;
      lock.unlock();
      std::optional<Outcome> outcome = compute_preview(run, current);
      lock.lock();
      if (!outcome || current.stop.requested()) continue;
      finished = std::move(outcome);
      lock.unlock();
      wake();
      lock.lock();
    }
  }

  // Outcome of the preview of a run; nullopt if it has no preview.
  static std::optional<Outcome> compute_preview(ExperimentRun& run, const Running& current) {
    const auto tokens = static_cast<Index>(current.progress->tokens());
    const std::optional<Session> preview = preview_session(*current.request.session, tokens);
    if (!preview) return std::nullopt;
    std::optional<Outcome> outcome = execute(
        run, {std::make_shared<const Session>(*preview), current.request.findings}, current.stop);
    if (!outcome || outcome->trace == nullptr) return std::nullopt;
    outcome->preview_of_tokens = tokens;
    return outcome;
  }

  // Runs a request; nullopt if cancelled.
  static std::optional<Outcome> execute(ExperimentRun& run, const Request& request,
                                        const Stop& stop) {
    const StopScope scope(stop);
    Outcome outcome;
    outcome.session = request.session;
    try {
      const Traces traces = run.observe(*request.session, request.findings);
      outcome.trace = traces.trace;
      outcome.findings = traces.findings;
    } catch (const Stopped&) {
      return std::nullopt;
    } catch (const InputError& error) {
      outcome.error = std::current_exception();
      outcome.offer = offer_after(error.what(), *request.session);
    } catch (...) {
      outcome.error = std::current_exception();
    }
    return outcome;
  }
};

Runner::Runner(BackendProvider backends, std::function<void()> wake)
    : state_(std::make_unique<State>(std::move(backends), std::move(wake))) {
  state_->worker = std::thread([state = state_.get()] { state->run_requests(); });
  try {
    state_->previewer = std::thread([state = state_.get()] { state->compute_previews(); });
  } catch (const std::system_error&) {  // out of threads: runs have no previews
  }
}

Runner::~Runner() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_ending = true;
    if (state_->running) state_->running->stop.request();
  }
  state_->changed.notify_all();
  state_->worker.join();
  if (state_->previewer.joinable()) state_->previewer.join();
}

void Runner::request(std::shared_ptr<const Session> session, std::vector<FindingRequest> findings) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->pending = State::Request{std::move(session), std::move(findings)};
    if (state_->running) state_->running->stop.request();
  }
  state_->changed.notify_all();
}

void Runner::cancel() {
  const std::scoped_lock lock(state_->mutex);
  state_->pending.reset();
  state_->finished.reset();  // an outcome that was not polled
  if (state_->running) state_->running->stop.request();
}

bool Runner::busy() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->running || state_->pending;
}

double Runner::busy_seconds() const {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->running) return 0;
  return std::chrono::duration<double>(Clock::now() - state_->running->started).count();
}

Progress::Snapshot Runner::progress() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->running ? state_->running->progress->snapshot() : Progress::Snapshot{};
}

bool Runner::poll(Outcome& outcome) {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->finished) return false;
  outcome = std::move(*state_->finished);
  state_->finished.reset();
  return true;
}

}  // namespace attnscope
