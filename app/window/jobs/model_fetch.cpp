#include "app/window/jobs/model_fetch.h"

#include <algorithm>
#include <cstdlib>

#include "app/window/jobs/task_kinds.h"
#include "app/window/model_selection.h"
#include "core/base/child_process.h"
#include "core/base/home.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/samples.h"
#include "core/figure/plain_text.h"

namespace attnscope::window {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kStartSample = "aside";  // sample for the default model

// Fetches the model and returns its path.
std::string fetch(const PublishedModel& model, Task& task) {
  const std::string script = (home_folder() / "app" / "get-model.sh").string();
  const ProgramResult result = run_program({"bash", script, model.id}, [&] {
    task.report(fetched_share(user_models_folder(), model.megabytes));
  });
  if (result.status == 0) return result.last_output;
  throw WorkError(result.last_error.empty()
                      ? script + ": ended with status " + std::to_string(result.status)
                      : result.last_error);
}

bool select_fetched_model(State& state) {
  std::string path, problem;
  if (!take_results(state.files.fetching, path, problem)) return false;
  if (state.files.fetching != nullptr) return true;
  if (!problem.empty()) state.report_error(problem);
  // By its name in the user's models folder, as in the list of models.
  if (!path.empty()) choose_model(state, fs::path(path).filename());
  return true;
}

}  // namespace

RunSpec start_run() {
  RunSpec run;
  const bool has_smollm2 = is_installed(smollm2().file);
  if (has_smollm2) run.model = smollm2().file;
  const auto sample =
      has_smollm2 ? samples().begin() : std::ranges::find(samples(), kStartSample, &Sample::id);
  if (sample != samples().end()) use_sample(run, *sample);
  return run;
}

std::string fetch_refusal(const State& state) {
  const char* setting = std::getenv("ATTNSCOPE_MODEL");
  if (setting != nullptr && std::string_view(setting) == "none") {
    return "Disabled by ATTNSCOPE_MODEL=none.";
  }
  return state.files.fetching != nullptr ? "A model is being fetched." : "";
}

void fetch_model(State& state, const PublishedModel& model) {
  if (!fetch_refusal(state).empty()) return;
  state.files.fetched_name = model.name;
  state.files.fetching = std::make_unique<BackgroundTask<std::string>>(
      [model](Task& task) { return fetch(model, task); });
}

double fetched_share(const fs::path& folder, double megabytes) {
  double bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (!entry.path().filename().string().starts_with(".fetching-")) continue;
    for (fs::recursive_directory_iterator file(entry.path(), ignored), end; !ignored && file != end;
         file.increment(ignored)) {
      std::error_code vanished;
      const auto size = file->is_regular_file(vanished) ? file->file_size(vanished) : 0;
      if (!vanished) bytes = std::max(bytes, static_cast<double>(size));
    }
  }
  return std::min(1.0, bytes / (1e6 * megabytes));
}

TaskKind model_fetch_tasks() {
  return {
      .update = select_fetched_model,
      .tasks = [](State& state) { return std::vector<Task*>{state.files.fetching.get()}; },
      .status = [](const State& state) -> std::optional<TaskStatus> {
        if (state.files.fetching == nullptr) return std::nullopt;
        return TaskStatus{"fetching", "Fetching " + state.files.fetched_name + ", " +
                                          fixed(100 * state.files.fetching->fraction(), 0) + "%"};
      },
  };
}

}  // namespace attnscope::window
