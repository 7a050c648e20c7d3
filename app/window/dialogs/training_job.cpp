#include "app/window/dialogs/training_job.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/attention/variant.h"
#include "core/base/background.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/partial_choice.h"
#include "core/model/residual_connection.h"
#include "core/position/encoding.h"
#include "core/training/loss_rise.h"
#include "core/training/stages.h"
#include "core/training/state.h"
#include "core/training/task.h"

namespace attnscope::window {
namespace {

namespace fs = std::filesystem;

constexpr Index kSnapshotCount = 60;      // of a whole training
constexpr Index kEvaluationCount = 40;    // of a whole training
constexpr double kPublishInterval = 0.5;  // seconds between two models that the run follows

fs::path preset_of_task(const std::string& task) {
  return home_folder() / "assets" / "presets" / ("small-" + task + ".json");
}

TrainingPlan preset_plan(const std::string& task) {
  const fs::path file = preset_of_task(task);
  return training_plan_from_json(parse_json(read_file(file, limits::kMaxSmallFile), file.string()),
                                 file.string());
}

// Makes a model refer to its files again at the end of a training.
class Publication {
 public:
  explicit Publication(std::string name) : name_(std::move(name)) {}
  ~Publication() { model_store()->withdraw(name_); }
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;
  void set(std::shared_ptr<const Checkpoint> model) {
    model_store()->publish(name_, std::move(model));
  }

 private:
  std::string name_;
};

void apply_model_choices(const TrainingSettings& settings, ModelConfig& config) {
  RunSpec choices;
  if (!settings.architecture.empty() && settings.architecture != config.architecture.id) {
    choices.structure.architecture = default_choice(architecture(settings.architecture));
    Values& values = choices.structure.architecture->values;
    // The start token belongs to the task.
    const Values& planned = config.architecture.values;
    if (values.has("start") && planned.has("start")) {
      values.set("start", planned.integer("start"));
    }
  }
  if (!settings.residual_connection.empty()) {
    choices.structure.residual_connection =
        default_choice(residual_connection(settings.residual_connection));
  }
  if (!settings.variant.empty()) choices.variant = default_choice(variant(settings.variant));
  if (!settings.encoding.empty()) choices.encoding = default_choice(encoding(settings.encoding));
  fill_unset_parameters(choices, config.segment > 0 ? config.segment : config.context);
  config = apply_structure(config, choices.structure);
  config.groups = effective_groups(config, choices);
}

// Sets what the window decides: intervals of snapshots and evaluations, and full precision.
void set_window_options(TrainingPlan& plan) {
  plan.snapshot_every = std::max<Index>(1, plan.steps / kSnapshotCount);
  plan.evaluate_every = std::max<Index>(1, plan.steps / kEvaluationCount);
  plan.half = false;
}

std::string unused_name(const std::string& task) {
  const std::string own = "my-" + task;  // not the name of a bundled model
  std::string name = own;
  for (int n = 2; file_exists(user_models_folder() / name); ++n) {
    name = own + "-" + std::to_string(n);
  }
  return name;
}

}  // namespace

std::vector<std::string> offered_tasks() {
  std::vector<std::string> ids;
  for (const TaskInfo& info : tasks()) {
    if (file_exists(preset_of_task(info.id))) ids.push_back(info.id);
  }
  return ids;
}

TrainingSettings settings_for_task(const std::string& task) {
  const TrainingPlan plan = preset_plan(task);
  TrainingSettings settings;
  settings.task = task;
  settings.name = unused_name(task);
  settings.steps = plan.steps;
  settings.learning_rate = plan.learning_rate;
  return settings;
}

TrainingPlan training_plan(const TrainingSettings& settings) {
  if (settings.name.empty() || settings.name.find('/') != std::string::npos ||
      settings.name.starts_with('.')) {
    throw InputError("name: expected the name of a folder, found \"" + settings.name + "\"");
  }
  TrainingPlan plan = preset_plan(settings.task);
  plan.folder = user_models_folder() / settings.name;
  plan.steps = settings.steps;
  plan.stages = stages_from_text(settings.stages, "stages");
  if (!plan.stages.empty()) plan.steps = step_count(plan.stages);
  plan.learning_rate = settings.learning_rate;
  plan.min_learning_rate = std::min(plan.min_learning_rate, plan.learning_rate);
  set_window_options(plan);
  const TaskInfo& info = task(plan.task);
  if (!info.files.empty()) {
    plan.text = {settings.text.empty() ? home_folder() / "assets" / info.bundled_file
                                       : fs::path(settings.text)};
    constexpr double kHeldOutShare = 0.1;
    plan.held_out_share = kHeldOutShare;
  }
  if (!settings.from.empty()) {
    plan.from = settings.from;
    plan.model = model_store()->checkpoint(settings.from)->model.config;
  }
  apply_model_choices(settings, plan.model);
  check(plan);
  return plan;
}

std::string settings_refusal(const TrainingSettings& settings) {
  try {
    training_plan(settings);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::vector<std::string> saved_trainings() {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(user_models_folder(), error)) {
    const fs::path state = entry.path() / "training.safetensors";
    const auto time = fs::last_write_time(state, error);
    if (!error) found.emplace_back(time, entry.path().filename().string());
  }
  std::ranges::sort(found, std::greater<>{});
  std::vector<std::string> names;
  for (auto& [time, name] : found) names.push_back(std::move(name));
  return names;
}

TrainingPlan saved_plan(const std::string& name) {
  TrainingPlan plan = stored_plan(user_models_folder() / name);
  set_window_options(plan);
  return plan;
}

LearningCurve saved_curve(const TrainingPlan& plan) {
  return read_learning_curve(plan.folder, plan.task, plan.steps);
}

LearningCurve run_training(const TrainingPlan& plan, LearningCurve curve, bool single_step,
                           std::shared_ptr<TrainingControls> controls,
                           BackgroundTask<LearningCurve>& task) {
  using Clock = std::chrono::steady_clock;
  work_in_background();
  Publication publication(plan.folder.string());
  Clock::time_point next_publication{};
  const auto share = [&](Index step) {
    return static_cast<double>(step) / static_cast<double>(plan.steps);
  };
  const auto watch = [&](const TrainingProgress& progress) {
    if (progress.rise != nullptr) curve.rises.push_back({progress.step, describe(*progress.rise)});
    const Clock::time_point now = Clock::now();
    const bool is_due = now >= next_publication || single_step || progress.step == plan.steps;
    if (!is_due) return;
    next_publication = now + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(kPublishInterval));
    curve.rows = progress.log->rows();
    curve.layers = progress.log->layers();
    progress.log->save_rows();  // the view Training reads them with the published model
    publication.set(progress.snapshot());
    task.publish(curve, share(progress.step));
    if (single_step) task.cancel();  // at the end, since it interrupts what follows
  };
  try {
    train(plan, watch, {}, std::move(controls));
  } catch (const Stopped&) {
    // The files contain the steps after the last publication.
    LearningCurve saved = saved_curve(plan);
    saved.rises = std::move(curve.rises);
    if (!saved.rows.empty()) task.publish(saved, share(saved.rows.back().step));
    throw;
  }
  LearningCurve complete = saved_curve(plan);
  complete.rises = std::move(curve.rises);
  return complete;
}

}  // namespace attnscope::window
