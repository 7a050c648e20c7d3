#include "app/window/jobs/finding_job.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

#include "app/window/error_text.h"
#include "core/base/stop_scope.h"
#include "core/experiment/run.h"

namespace attnscope::window {

FindingJob::~FindingJob() {
  cancel();
}

void FindingJob::cancel() {
  stop_.request();
  if (worker_.joinable()) worker_.join();
  shared_.reset();
}

void FindingJob::start(const RunSpec& run, const FindingSettings& settings) {
  cancel();
  stop_ = Stop();
  shared_ = std::make_shared<Shared>();
  asked_ = {run, settings};
  worker_ = std::thread([&finding = finding_, shared = shared_, stop = stop_, asked = *asked_] {
    try {
      const StopScope scope(stop);
      ExperimentRun run(cpu_only());  // the graphics context is reserved for the window's runs
      RunSpec spec = asked.run;
      spec.backend = BackendChoice::Auto;
      const auto progress = [&](std::size_t done, std::size_t all) {
        shared->share = all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 1;
        glfwPostEmptyEvent();
      };
      Findings found;
      finding.in_background(spec, asked.settings, run, progress, found);
      const std::scoped_lock lock(shared->mutex);
      shared->found = std::move(found);
    } catch (const Stopped&) {
    } catch (const std::exception& e) {
      const std::scoped_lock lock(shared->mutex);
      shared->problem = error_text(e);
    }
    shared->done = true;
    glfwPostEmptyEvent();
  });
}

bool FindingJob::update(State& state, const std::vector<FindingRequest>& requests) {
  const Session& now = state.experiment;
  FindingState& progress = state.finding_states[finding_.id];
  const FindingState before = progress;
  const Findings found_before = state.background_findings.only(finding_.id);
  const auto request = std::ranges::find(requests, finding_.id, &FindingRequest::id);
  const bool wanted = request != requests.end();
  const bool kept = finding_.outlives_view && !view(now.view.id).reads(finding_.id);
  if ((!wanted && !kept) || !finding_.exists(now)) {
    if (asked_) cancel();
    asked_.reset();
    state.background_findings.remove(finding_.id);
    progress = {};
  } else if (wanted && !(asked_ && asked_->settings == request->settings &&
                         finding_.is_reusable(asked_->run, now.run))) {
    state.background_findings.remove(finding_.id);
    start(now.run, request->settings);
  }
  if (shared_) {
    progress.running = !shared_->done;
    progress.share = shared_->share;
    if (shared_->done) {
      const std::scoped_lock lock(shared_->mutex);
      state.background_findings.add(shared_->found);
      progress.problem = shared_->problem;
    }
  }
  constexpr double kVisible = 0.01;  // minimum visible change of the progress bar
  return !(state.background_findings.only(finding_.id) == found_before) ||
         progress.running != before.running || progress.problem != before.problem ||
         std::abs(progress.share - before.share) >= kVisible;
}

FindingJobs::FindingJobs() {
  for (const Finding& one : findings()) {
    if (one.in_background) jobs_.push_back(std::make_unique<FindingJob>(one));
  }
}

bool FindingJobs::update(State& state) {
  bool changed = false;
  const std::vector<FindingRequest> requests = required_findings(state.experiment);
  for (const auto& job : jobs_) changed |= job->update(state, requests);
  return changed;
}

void FindingJobs::stop() const {
  for (const auto& job : jobs_) job->stop();
}

void FindingJobs::cancel() {
  for (const auto& job : jobs_) job->cancel();
}

void FindingJobs::cancel(std::string_view id) {
  for (const auto& job : jobs_) {
    if (job->id() == id) job->cancel();
  }
}

}  // namespace attnscope::window
