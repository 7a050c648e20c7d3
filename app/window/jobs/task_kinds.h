// Kinds of background tasks. All code that updates, shows or cancels tasks iterates task_kinds().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/window/jobs/background_task.h"

namespace attnscope::window {

struct State;

// Item of the status line, with a spinner and a Cancel button.
struct TaskStatus {
  std::string id;    // "opening"
  std::string text;  // "Reading lamp.txt"
};

struct TaskKind {
  // Starts due tasks and applies results. Call before each frame; true if something changed.
  bool (*update)(State& state);
  std::vector<Task*> (*tasks)(State& state);  // null entries: not started
  // Status of a running task, if any. Kinds without a status show progress in a dialog or view.
  std::optional<TaskStatus> (*status)(const State&) =
      [](const State&) -> std::optional<TaskStatus> { return std::nullopt; };
  // File that is incomplete until the task ends; empty: none.
  std::string (*unfinished_file)(const State&) = [](const State&) { return std::string(); };
};

const std::vector<TaskKind>& task_kinds();

TaskKind opening_tasks();
TaskKind model_fetch_tasks();
TaskKind salient_pair_tasks();
TaskKind finding_tasks();
TaskKind step_picture_tasks();
TaskKind cost_tasks();
TaskKind calibration_tasks();
TaskKind extrapolation_tasks();
TaskKind training_tasks();
TaskKind study_tasks();
TaskKind export_tasks();

bool update_tasks(State& state);  // of all kinds; true if something changed
// Requests the end of tasks and returns immediately.
void cancel_tasks(State& state);  // of all kinds
void cancel_tasks(State& state, const TaskKind& kind);
bool has_task_status(const State& state);
// File that would be lost if its running task ended now; empty: none.
std::string unfinished_file(const State& state);

}  // namespace attnscope::window
