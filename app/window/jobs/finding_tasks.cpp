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
    const auto progress = [&](std::size_t completed, std::size_t total) {
      task.report(total > 0 ? static_cast<double>(completed) / static_cast<double>(total) : 1);
    };
    Findings result;
    finding.in_background(spec, settings, run, progress, result);
    return result;
  });
}

bool update_finding(State& state, const Finding& finding,
                    const std::vector<FindingRequest>& requests) {
  const SharedSession& current = state.session.snapshot();
  FindingTask& entry = state.run.finding_tasks[finding.id];
  const auto request = std::ranges::find(requests, finding.id, &FindingRequest::id);
  const bool is_requested = request != requests.end();
  const bool outlives_view = finding.outlives_view && !view(current->view.id).reads(finding.id);
  if ((!is_requested && !outlives_view) || !finding.exists(*current)) {
    const bool changed = entry.session != nullptr;
    entry = {};
    state.run.background_findings.remove(finding.id);
    return changed;
  }
  if (is_requested && entry.session != current) {
    const SharedSession previous = std::exchange(entry.session, current);
    if (previous == nullptr || entry.settings != request->settings ||
        !finding.is_reusable(previous->run, current->run)) {
      state.run.background_findings.remove(finding.id);
      entry = {};  // ends a running task first
      entry = {current, request->settings, start_finding(finding, current, request->settings)};
      return true;
    }
  }
  if (entry.task == nullptr || entry.task->take_change() == TaskChange::None) return false;
  if (const std::optional<Findings> result = entry.task->result()) {
    state.run.background_findings.add(*result);
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

std::vector<Task*> list_tasks(State& state) {
  std::vector<Task*> tasks;
  for (const auto& [id, entry] : state.run.finding_tasks) tasks.push_back(entry.task.get());
  return tasks;
}

}  // namespace

TaskKind finding_tasks() {
  return {.update = update_findings, .tasks = list_tasks};
}

}  // namespace attnscope::window
