#include "app/window/jobs/finding_tasks.h"

#include <algorithm>

#include "app/window/jobs/task_kinds.h"
#include "app/window/state.h"
#include "core/experiment/run.h"

namespace attnscope::window {
namespace {

std::unique_ptr<BackgroundTask<Findings>> start_finding(const Finding& finding,
                                                        const SharedSession& session,
                                                        const FindingSettings& settings) {
  return std::make_unique<BackgroundTask<Findings>>([&finding, session, settings](Task& task) {
    ExperimentRun run(cpu_only());  // the graphics context is reserved for the window's runs
    RunSpec spec = session->run;
    spec.backend = BackendChoice::Auto;
    const auto progress = [&](std::size_t done, std::size_t all) {
      task.report(all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 1);
    };
    Findings found;
    finding.in_background(spec, settings, run, progress, found);
    return found;
  });
}

bool update_finding(State& state, const Finding& finding,
                    const std::vector<FindingRequest>& requests) {
  const SharedSession& now = state.session.snapshot();
  FindingTask& entry = state.run.finding_tasks[finding.id];
  const auto request = std::ranges::find(requests, finding.id, &FindingRequest::id);
  const bool is_requested = request != requests.end();
  const bool outlives_view = finding.outlives_view && !view(now->view.id).reads(finding.id);
  if ((!is_requested && !outlives_view) || !finding.exists(*now)) {
    const bool changed = entry.session != nullptr;
    entry = {};
    state.run.background_findings.remove(finding.id);
    return changed;
  }
  if (is_requested && entry.session != now) {
    const SharedSession before = std::exchange(entry.session, now);
    if (before == nullptr || entry.settings != request->settings ||
        !finding.is_reusable(before->run, now->run)) {
      state.run.background_findings.remove(finding.id);
      entry = {};  // ends a running task first
      entry = {now, request->settings, start_finding(finding, now, request->settings)};
      return true;
    }
  }
  if (entry.task == nullptr || entry.task->take_change() == TaskChange::None) return false;
  if (const std::optional<Findings> found = entry.task->result()) {
    state.run.background_findings.add(*found);
  }
  return true;
}

bool update_findings(State& state) {
  bool changed = false;
  const std::vector<FindingRequest> requests = required_findings(*state.session);
  for (const Finding& finding : findings()) {
    if (finding.in_background) changed |= update_finding(state, finding, requests);
  }
  return changed;
}

std::vector<Task*> tasks_of(State& state) {
  std::vector<Task*> tasks;
  for (const auto& [id, entry] : state.run.finding_tasks) tasks.push_back(entry.task.get());
  return tasks;
}

}  // namespace

TaskKind finding_tasks() {
  return {.update = update_findings, .tasks = tasks_of};
}

}  // namespace attnscope::window
