#include "app/window/dialogs/study_job.h"

#include <algorithm>

#include "app/window/error_text.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/state.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/limits.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/render.h"
#include "core/study/study_picture.h"
#include "core/training/state.h"

namespace attnscope::window {
namespace {

namespace fs = std::filesystem;

constexpr double kStudyFileWidth = 760, kStudyFileHeight = 460, kStudyFileScale = 2;

StudyEntry study_entry(const fs::path& file) {
  StudyEntry entry;
  entry.file = file.string();
  entry.id = entry.title = file.stem().string();
  try {
    const Json definition = parse_json(read_file(file, limits::kMaxSmallFile), entry.file);
    const Study study = study_from_json(definition, entry.file);
    entry.title = study.title;
    entry.claim = study.claim;
    entry.source = study.source;
    entry.minutes = study.minutes;
    entry.has_quick = definition.contains("quick");
  } catch (const std::exception& e) {
    entry.problem = error_text(e);
  }
  return entry;
}

void list_studies(StudyDialog& dialog) {
  dialog.entries.clear();
  for (const std::string& id : bundled_studies()) {
    dialog.entries.push_back(study_entry(bundled_study_file(id)));
  }
  std::vector<std::string> own = dialog.opened;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(user_studies_folder(), ignored)) {
    if (entry.path().extension() == ".json") own.push_back(entry.path().string());
  }
  std::ranges::sort(own);
  own.erase(std::ranges::unique(own).begin(), own.end());
  for (const std::string& file : own) dialog.entries.push_back(study_entry(file));
}

const StudyEntry* selected_entry(const StudyDialog& dialog) {
  const auto entry = std::ranges::find(dialog.entries, dialog.selected, &StudyEntry::file);
  return entry == dialog.entries.end() ? nullptr : &*entry;
}

// Plan of the training that made a model; null if there is none.
Json plan_of_model(const std::string& model) {
  for (const fs::path& folder : {fs::path(model), user_models_folder() / model}) {
    if (file_exists(folder / "training.safetensors")) return to_json(stored_plan(folder));
  }
  return {};
}

std::string unused_sweep_file(const std::string& parameter) {
  const std::string name = "sweep-" + parameter;
  fs::path file = user_studies_folder() / (name + ".json");
  for (int n = 2; file_exists(file); ++n) {
    file = user_studies_folder() / (name + "-" + std::to_string(n) + ".json");
  }
  return file.string();
}

}  // namespace

fs::path user_studies_folder() {
  return user_models_folder().parent_path() / "experiments";
}

void open_study_dialog(State& state) {
  StudyDialog& dialog = state.dialogs.study;
  dialog.open = true;
  list_studies(dialog);
  if (dialog.study == nullptr && !dialog.entries.empty()) {
    select_study(dialog, dialog.entries.front().file, dialog.quick);
  }
}

void select_study(StudyDialog& dialog, const std::string& file, bool quick) {
  dialog.selected = file;
  dialog.quick = quick;
  dialog.study = nullptr;
  dialog.run = {};
  dialog.run_problem.clear();
  dialog.problem.clear();
  const StudyEntry* entry = selected_entry(dialog);
  const bool has_quick = entry != nullptr && entry->has_quick;
  const std::string name = fs::path(file).stem().string() + (quick && has_quick ? "-quick" : "");
  dialog.folder = (user_studies_folder() / name).string();
  dialog.path = name + ".png";
  try {
    dialog.study = std::make_shared<const Study>(load_study(file, quick));
  } catch (const std::exception& e) {
    dialog.run_problem = error_text(e);
    return;
  }
  read_finished_points(dialog);
}

bool open_study(State& state, const fs::path& file) {
  StudyDialog& dialog = state.dialogs.study;
  try {
    load_study(file);
  } catch (const std::exception& e) {
    state.report_error(error_text(e));
    return false;
  }
  if (std::ranges::find(dialog.entries, file.string(), &StudyEntry::file) == dialog.entries.end()) {
    dialog.opened.push_back(file.string());
    dialog.entries.push_back(study_entry(file));
  }
  select_study(dialog, file.string(), dialog.quick);
  return true;
}

void read_finished_points(StudyDialog& dialog) {
  dialog.run = {};
  if (dialog.study == nullptr) return;
  try {
    FinishedPoints found = finished_points(*dialog.study, dialog.folder);
    dialog.run.rows = std::move(found.rows);
    dialog.run.finished = found.count;
    dialog.run.points = found.points;
  } catch (const std::exception& e) {
    dialog.run_problem = error_text(e);
  }
}

void start_study(StudyDialog& dialog) {
  dialog.run_problem.clear();
  dialog.task.reset();
  dialog.task = std::make_unique<BackgroundTask<StudyRun>>(
      [study = dialog.study, folder = dialog.folder](BackgroundTask<StudyRun>& task) {
        StudyRun run;
        bool has_begun = false;
        const StudyResult result = run_study(*study, folder, [&](const StudyProgress& progress) {
          const std::size_t finished = progress.point - progress.result->problems.size();
          if (has_begun && finished == run.finished && progress.label == run.label) {
            return task.report(progress.fraction);
          }
          has_begun = true;
          run = {progress.result->rows, progress.result->problems, progress.label, finished,
                 progress.points};
          task.publish(run, progress.fraction);
        });
        return run;
      });
}

bool take_study_results(State& state) {
  StudyDialog& dialog = state.dialogs.study;
  if (!take_results(dialog.task, dialog.run, dialog.run_problem)) return false;
  if (dialog.task == nullptr) {
    dialog.run.label.clear();
    if (!dialog.open) {
      if (!dialog.run_problem.empty()) state.report_error(dialog.run_problem);
      if (dialog.run.is_complete()) state.notify("Experiment finished: " + dialog.study->title);
    }
  }
  return true;
}

std::string save_study(StudyDialog& dialog, bool dark) {
  return save_result(dialog, [&](const fs::path& path) {
    const Study& study = *dialog.study;
    if (path.extension() == ".csv") return write_file(path, to_csv(study, dialog.run.rows));
    const Theme& theme = dark ? Theme::dark() : Theme::light();
    write_picture(path,
                  study_picture(study, dialog.run.rows, kStudyFileWidth, kStudyFileHeight, theme,
                                file_text_measure()),
                  kStudyFileScale, {{"Title", study.title}});
  });
}

void open_sweep_form(State& state) {
  SweepForm& form = state.dialogs.study.sweep;
  form = SweepForm();
  const RunView& edited = state.edited();
  try {
    if (!edited.run.tensors.file.empty()) {
      throw InputError("Sweep: expected a session with a model, found tensors from a file");
    }
    static_cast<RunView&>(form.sweep.session) = edited;
    form.sweep.plan = plan_of_model(edited.run.model);
    const std::shared_ptr<const Checkpoint> checkpoint =
        model_store()->checkpoint(edited.run.model);
    form.parameters =
        sweep_parameters(form.sweep.session, checkpoint->model.config, !form.sweep.plan.is_null());
    form.measures = sweep_measures();
    if (form.parameters.empty()) {
      throw InputError(
          "Sweep: the variant, encoding, exits and retrieval of this session have no parameters");
    }
    form.open = true;
    const auto first = std::ranges::find_if(form.parameters, [](const SweepParameter& entry) {
      return entry.parameter.kind == Parameter::Kind::Integer ||
             entry.parameter.kind == Parameter::Kind::Real;
    });
    const bool has_number = first != form.parameters.end();
    select_sweep_parameter(
        form, has_number ? static_cast<std::size_t>(first - form.parameters.begin()) : 0);
  } catch (const std::exception& e) {
    state.report_error(error_text(e));
  }
}

void select_sweep_parameter(SweepForm& form, std::size_t index) {
  form.sweep.parameter = form.parameters[index];
  form.sweep.values = default_sweep_values(form.sweep.parameter);
  form.path = unused_sweep_file(form.sweep.parameter.id);
  form.problem.clear();
}

std::string save_sweep(StudyDialog& dialog) {
  SweepForm& form = dialog.sweep;
  const std::string notice = save_result(form, [&](const fs::path& path) {
    Sweep sweep = form.sweep;
    if (!sweep.parameter.id.starts_with("model.")) sweep.plan = {};
    const Json definition = sweep_definition(sweep);
    if (path.has_parent_path()) make_folder(path.parent_path());
    write_file(path, definition.dump(2) + "\n");
  });
  if (notice.empty()) return "";
  form.open = false;
  const std::string file = fs::absolute(form.path).string();
  std::erase_if(dialog.entries, [&](const StudyEntry& entry) { return entry.file == file; });
  dialog.opened.push_back(file);
  dialog.entries.push_back(study_entry(file));
  select_study(dialog, file, dialog.quick);
  return notice;
}

TaskKind study_tasks() {
  return {.update = take_study_results,
          .tasks = [](State& state) { return std::vector<Task*>{state.dialogs.study.task.get()}; },
          .status = [](const State& state) -> std::optional<TaskStatus> {
            const StudyDialog& dialog = state.dialogs.study;
            if (dialog.task == nullptr) return std::nullopt;
            std::string text = "Experiment " + dialog.study->id;
            if (!dialog.run.label.empty()) text += ": " + dialog.run.label;
            return TaskStatus{"experiment", text};
          }};
}

}  // namespace attnscope::window
