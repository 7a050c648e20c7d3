#include "app/window/dialogs/training_dialog.h"

#include <algorithm>
#include <filesystem>

#include "app/window/dialogs/dialog_parts.h"
#include "app/window/dialogs/dialogs.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/model_selection.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/selection.h"
#include "app/window/widgets/text_field.h"
#include "core/attention/variant.h"
#include "core/base/background.h"
#include "core/base/error.h"
#include "core/base/home.h"
#include "core/checkpoint/snapshots.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/residual_connection.h"
#include "core/position/encoding.h"
#include "core/training/learning_figure.h"
#include "core/training/state.h"
#include "core/training/task.h"

namespace attnscope::window {
namespace {

namespace fs = std::filesystem;

constexpr double kTrainingWidth = 1180, kTrainingHeight = 720, kTrainingColumn = 320;  // units
constexpr double kLabelColumn = 112;

void field_label(Ui& ui, const char* label) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  ImGui::SameLine(ui.px(kLabelColumn));
  ImGui::SetNextItemWidth(-1);
}

void select_saved(TrainingDialog& dialog, const std::string& name) {
  const TrainingPlan plan = saved_plan(name);
  dialog.settings = {};
  dialog.settings.task = plan.task;
  dialog.settings.name = name;
  dialog.settings.steps = plan.steps;
  dialog.settings.learning_rate = plan.learning_rate;
  dialog.is_saved = true;
  dialog.curve = saved_curve(plan);
  dialog.folder = plan.folder.string();
  dialog.controls = std::make_shared<TrainingControls>();
  if (const auto state = load_state(plan)) {
    dialog.controls->rate_factor = state->rate_factor;
    dialog.controls->decay_factor = state->decay_factor;
    dialog.controls->penalty_factor = state->penalty_factor;
  }
}

void select_new(TrainingDialog& dialog, const std::string& task) {
  dialog.settings = settings_for_task(task);
  dialog.is_saved = false;
  dialog.controls = std::make_shared<TrainingControls>();
}

template <class Function>
void report_problem(TrainingDialog& dialog, const Function& function) {
  dialog.problem.clear();
  try {
    function();
  } catch (const std::exception& e) {  // a broken file
    dialog.problem = e.what();
  }
}

void draw_trainings(Ui& ui, TrainingDialog& dialog) {
  field_label(ui, "Training");
  if (begin_combo(ui, "##training", dialog.is_saved ? on_screen(dialog.settings.name) : "New")) {
    if (list_row(ui, "New", !dialog.is_saved)) {
      report_problem(dialog, [&] { select_new(dialog, dialog.settings.task); });
    }
    mark(ui, "training.new");
    for (const std::string& name : dialog.saved) {
      const bool is_current = dialog.is_saved && name == dialog.settings.name;
      if (list_row(ui, on_screen(name), is_current)) {
        report_problem(dialog, [&] { select_saved(dialog, name); });
      }
      mark(ui, "training.saved." + name);
    }
    ImGui::EndCombo();
  }
  mark(ui, "training.saved");
  hint(ui, "A new training, or a saved one to continue.");
}

std::string task_label(const std::string& id) {
  return id.empty() ? "" : task(id).label;
}

void draw_tasks(Ui& ui, TrainingDialog& dialog) {
  field_label(ui, "Task");
  constexpr float kSummaryOffset = 150;
  if (begin_combo(ui, "##task", task_label(dialog.settings.task), ImGuiComboFlags_HeightLargest)) {
    for (const std::string& id : offered_tasks()) {
      const TaskInfo& info = task(id);
      if (list_row(ui, info.label, id == dialog.settings.task, true,
                   {info.summary, kSummaryOffset})) {
        report_problem(dialog, [&] { select_new(dialog, id); });
      }
      mark(ui, "training.task." + id);
    }
    ImGui::EndCombo();
  }
  mark(ui, "training.task");
  hint(ui, "Also chooses a small model that learns the task within a minute.");
}

// Draws the list of a choice. Rows that cannot be trained are disabled.
void draw_choice_row(Ui& ui, TrainingDialog& dialog, const char* label, const std::string& id,
                     std::string TrainingSettings::*member, const std::vector<const Info*>& infos) {
  field_label(ui, label);
  std::string& selected = dialog.settings.*member;
  const auto current = std::ranges::find(infos, selected, &Info::id);
  const std::string preview = current == infos.end() ? "As in the preset" : (*current)->label;
  if (begin_combo(ui, ("##" + id).c_str(), preview, ImGuiComboFlags_HeightLarge)) {
    if (list_row(ui, "As in the preset", selected.empty())) selected.clear();
    for (const Info* info : infos) {
      TrainingSettings settings = dialog.settings;
      settings.*member = info->id;
      const std::string refusal = settings_refusal(settings);
      if (list_row(ui, info->label, info->id == selected, refusal.empty())) selected = info->id;
      hint(ui, refusal.empty() ? info->summary : "Not available: " + refusal);
      mark(ui, "training." + id + "." + info->id);
    }
    ImGui::EndCombo();
  }
  mark(ui, "training." + id);
}

void draw_text_file(Ui& ui, State& state, TrainingDialog& dialog) {
  const std::string& files = task(dialog.settings.task).files;
  if (files.empty()) return;
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("File");
  ImGui::SameLine(ui.px(kLabelColumn));
  ImGui::SetNextItemWidth(-ui.px(92));
  text_field(ui, dialog.settings.text, "training.text", "bundled example");
  hint(ui, "Training data: " + files + ". A tenth is held out.");
  ImGui::SameLine();
  if (button(ui, "Browse…", "training.browse", false, -1)) {
    browse(state, BrowsePurpose::TrainingText);
  }
}

// "induction, step 200" for a snapshot.
std::string start_label(const std::string& model) {
  const auto step = snapshot_step(model);
  const std::string name = fs::path(step ? training_folder(model) : fs::path(model)).filename();
  return (name.empty() ? model : name) + (step ? ", step " + std::to_string(*step) : "");
}

void draw_start(Ui& ui, const State& state, TrainingDialog& dialog) {
  field_label(ui, "Start from");
  std::string& from = dialog.settings.from;
  const std::string& model = state.edited().run.model;
  if (begin_combo(ui, "##from", from.empty() ? "Initial weights" : on_screen(start_label(from)))) {
    if (list_row(ui, "Initial weights", from.empty())) from.clear();
    TrainingSettings settings = dialog.settings;
    settings.from = model;
    const std::string refusal = settings_refusal(settings);
    if (list_row(ui, on_screen(start_label(model)), from == model, refusal.empty())) from = model;
    hint(ui, refusal.empty() ? "The model in the window." : "Not available: " + refusal);
    mark(ui, "training.from.window");
    ImGui::EndCombo();
  }
  mark(ui, "training.from");
}

void draw_new_settings(Ui& ui, State& state, TrainingDialog& dialog) {
  draw_tasks(ui, dialog);
  draw_text_file(ui, state, dialog);
  draw_start(ui, state, dialog);
  draw_choice_row(ui, dialog, "Architecture", "architecture", &TrainingSettings::architecture,
                  list_infos(architectures()));
  draw_choice_row(ui, dialog, "Variant", "variant", &TrainingSettings::variant,
                  list_infos(variants()));
  draw_choice_row(ui, dialog, "Encoding", "encoding", &TrainingSettings::encoding,
                  list_infos(encodings()));
  draw_choice_row(ui, dialog, "Residual", "residual", &TrainingSettings::residual_connection,
                  list_infos(residual_connections()));
  field_label(ui, "Name");
  text_field(ui, dialog.settings.name, "training.name");
  hint(ui, "The model and its snapshots are saved under this name.");
  field_label(ui, "Steps");
  number_field(ui, dialog.settings.steps, "training.steps", NumberUpdate::WhileTyping);
  field_label(ui, "Stages");
  text_field(ui, dialog.settings.stages, "training.stages", "none");
  hint(ui,
       "Growing windows and sequences, such as \"steps=200,sequence=32,window=4; steps=100\". "
       "Replaces Steps.");
  field_label(ui, "Learning rate");
  ImGui::SetNextItemWidth(-ui.px(64));
  number_field(ui, dialog.settings.learning_rate, "%.4g", "training.rate",
               NumberUpdate::WhileTyping);
  hint(ui, "Peak of the schedule: a linear warm-up, then half a cosine.");
}

// Starts the search for a learning rate.
void start_rate_search(TrainingDialog& dialog) {
  report_problem(dialog, [&] {
    const TrainingPlan plan = training_plan(dialog.settings);
    dialog.rates = {};
    dialog.rate_task =
        std::make_unique<BackgroundTask<RateSearch>>([plan](BackgroundTask<RateSearch>& task) {
          work_in_background();
          const RateSearchSettings settings;
          return find_learning_rate(plan, settings, [&](const RateSearch& search) {
            task.publish(search, static_cast<double>(search.points.size()) /
                                     static_cast<double>(settings.steps));
          });
        });
  });
}

void draw_rate_button(Ui& ui, TrainingDialog& dialog) {
  ImGui::SameLine();
  if (dialog.rate_task != nullptr) {
    if (button(ui, "Stop", "training.find_rate", false, -1)) dialog.rate_task->cancel();
    return;
  }
  if (button(ui, "Find", "training.find_rate", false, -1)) start_rate_search(dialog);
  hint(ui,
       "Tries exponentially growing learning rates on a fresh model, and chooses the one at which "
       "the loss falls fastest.");
}

void draw_factor(Ui& ui, const char* label, const std::string& id, std::atomic<double>& factor,
                 TrainingControls& controls, const char* help) {
  auto value = static_cast<float>(factor.load());
  ImGui::TextUnformatted((label + (" × " + brief(factor.load(), 3))).c_str());
  ImGui::SetNextItemWidth(-1);
  constexpr float kMin = 0.01F, kMax = 100;
  if (ImGui::SliderFloat(("##" + id).c_str(), &value, kMin, kMax, "",
                         ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_NoInput)) {
    factor = static_cast<double>(value);
    controls.overrides_saved = true;
  }
  mark(ui, "training." + id);
  hint(ui, help);
}

void draw_controls(Ui& ui, TrainingDialog& dialog) {
  TrainingControls& controls = *dialog.controls;
  heading(ui, "While it trains");
  draw_factor(ui, "Learning rate", "rate_factor", controls.rate_factor, controls,
              "Factor of the schedule, from the next step on.");
  draw_factor(ui, "Weight decay", "decay_factor", controls.decay_factor, controls,
              "Factor of the weight decay, from the next step on.");
  draw_factor(ui, "Penalties", "penalty_factor", controls.penalty_factor, controls,
              "Factor of the model's penalties, of long spans and many halting steps, from the "
              "next step on. Models without penalties do not change.");
}

void draw_buttons(Ui& ui, State& state, TrainingDialog& dialog) {
  ImGui::Dummy({0, ui.px(4)});
  if (dialog.task != nullptr) {
    if (button(ui, "Pause", "training.pause", false, -1)) dialog.task->cancel();
    hint(ui, "Saves the training. Continue resumes it, also after a restart.");
  } else {
    const char* label = dialog.is_saved ? "Continue" : "Start";
    const bool is_complete = dialog.is_saved && !dialog.curve.rows.empty() &&
                             dialog.curve.rows.back().step >= dialog.curve.steps;
    ImGui::BeginDisabled(is_complete);
    if (button(ui, label, "training.start", true, -1)) start_training(state, false);
    hint(ui, is_complete
                 ? "All steps are done. A new training can start from this model."
                 : "Trains in the background, also while this dialog is closed. All views follow.");
    if (button(ui, "One step", "training.step", false, -1)) start_training(state, true);
    hint(ui, "Trains on one batch, then pauses.");
    ImGui::EndDisabled();
  }
  if (dialog.problem.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, ui.look->warning);
  paragraph(ui, on_screen(dialog.problem));
  ImGui::PopStyleColor();
}

void draw_settings(Ui& ui, State& state, TrainingDialog& dialog) {
  ImGui::BeginDisabled(dialog.task != nullptr);
  draw_trainings(ui, dialog);
  if (dialog.is_saved) {
    faint(ui, "Task " + task_label(dialog.settings.task) + ", " +
                  std::to_string(dialog.settings.steps) + " steps, learning rate " +
                  brief(dialog.settings.learning_rate) + ".");
  } else {
    draw_new_settings(ui, state, dialog);
    draw_rate_button(ui, dialog);
  }
  ImGui::EndDisabled();
  draw_controls(ui, dialog);
  draw_buttons(ui, state, dialog);
}

// Text below the charts: the expected map, and the newest rise of the loss.
void draw_findings(Ui& ui, const LearningCurve& curve) {
  if (!curve.expected.empty()) {
    paragraph(ui, on_screen(describe_match(curve.expected, curve.rows)));
    mark(ui, "training.expected");
  }
  if (!curve.rises.empty()) {
    faint(ui, on_screen("The loss rose at " + curve.rises.back().text));
  }
}

void paint_chart(Ui& ui, TrainingDialog& dialog, Painter& painter, LineChart chart, const Box& box,
                 ImVec2 origin) {
  chart.width = box.width;
  chart.height = box.height;
  const ImVec2 at{origin.x + ui.px(box.x), origin.y + ui.px(box.y)};
  dialog.pictures.push_back(draw(chart, ui.look->theme()));
  painter.paint(dialog.pictures.back(), *ImGui::GetWindowDrawList(), at, ui.scale, ui.fonts);
}

void draw_charts(Ui& ui, TrainingDialog& dialog, Painter& painter) {
  constexpr double kLossShare = 0.56, kTextHeight = 84;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 available = ImGui::GetContentRegionAvail();
  const ImVec2 size(available.x, available.y - ui.px(kTextHeight));
  invisible_button("training.picture", size);
  mark(ui, "training.picture");
  dialog.pictures.clear();
  dialog.pictures.reserve(3);
  const bool shows_rates = dialog.rate_task != nullptr || !dialog.rates.points.empty();
  if (!shows_rates && dialog.curve.rows.size() < 2) {
    draw_empty_result(ui, origin, size,
                      dialog.task != nullptr
                          ? "Training the first steps."
                          : "Press Start: loss, accuracy and gradients appear here, step by step. "
                            "Close the dialog to watch the views.");
    return;
  }
  if (draw_too_small_result(ui, origin, size)) return;
  const double width = static_cast<double>(size.x) / ui.scale;
  const double height = static_cast<double>(size.y) / ui.scale;
  if (shows_rates) {
    if (dialog.rates.points.size() < 2) return;
    LineChart chart = rate_line_chart(dialog.rates);
    chart.title = "Loss by learning rate";
    paint_chart(ui, dialog, painter, std::move(chart), {0, 0, width, height}, origin);
    faint(ui, "Trained on a fresh model, which is not kept. Start trains with the chosen rate.");
    return;
  }
  const double top = kLossShare * height, half = width / 2;
  const Box rest{0, top, half, height - top};
  paint_chart(ui, dialog, painter, loss_chart(dialog.curve), {0, 0, width, top}, origin);
  paint_chart(ui, dialog, painter, score_chart(dialog.curve), rest, origin);
  paint_chart(ui, dialog, painter, gradient_chart(dialog.curve), {half, rest.y, half, rest.height},
              origin);
  draw_findings(ui, dialog.curve);
}

bool take_rates(TrainingDialog& dialog) {
  if (!take_results(dialog.rate_task, dialog.rates, dialog.problem)) return false;
  if (dialog.rate_task == nullptr && dialog.rates.steepest > 0) {
    dialog.settings.learning_rate = dialog.rates.steepest;
  }
  return true;
}

}  // namespace

void open_training_dialog(State& state) {
  TrainingDialog& dialog = state.dialogs.training;
  dialog.open = true;
  dialog.saved = saved_trainings();
  if (!dialog.settings.task.empty()) return;
  report_problem(dialog, [&] { select_new(dialog, "induction"); });
}

void start_training(State& state, bool single_step) {
  TrainingDialog& dialog = state.dialogs.training;
  report_problem(dialog, [&] {
    const TrainingPlan plan =
        dialog.is_saved ? saved_plan(dialog.settings.name) : training_plan(dialog.settings);
    if (dialog.folder != plan.folder.string()) dialog.curve = {};
    if (!dialog.is_saved || dialog.folder != plan.folder.string()) dialog.is_followed = false;
    dialog.folder = plan.folder.string();
    dialog.is_saved = true;
    dialog.rates = {};
    dialog.curve.steps = dialog.settings.steps = plan.steps;
    if (const auto& expected = task(plan.task).expected) {
      dialog.curve.expected = expected->description;
    }
    dialog.task = std::make_unique<BackgroundTask<LearningCurve>>(
        [plan, curve = dialog.curve, single_step,
         controls = dialog.controls](BackgroundTask<LearningCurve>& task) {
          return run_training(plan, curve, single_step, controls, task);
        });
  });
}

bool take_training_results(State& state) {
  TrainingDialog& dialog = state.dialogs.training;
  const bool has_rates = take_rates(dialog);
  if (!take_results(dialog.task, dialog.curve, dialog.problem)) return has_rates;
  if (dialog.task == nullptr) dialog.saved = saved_trainings();
  if (!dialog.problem.empty() && !dialog.open) state.report_error(dialog.problem);
  if (dialog.is_followed || dialog.curve.rows.empty()) return true;
  dialog.is_followed = true;
  choose_model(state, dialog.folder);
  return true;
}

TaskKind training_tasks() {
  return {.update = take_training_results,
          .tasks =
              [](State& state) {
                return std::vector<Task*>{state.dialogs.training.task.get(),
                                          state.dialogs.training.rate_task.get()};
              },
          .status = [](const State& state) -> std::optional<TaskStatus> {
            const TrainingDialog& dialog = state.dialogs.training;
            if (dialog.rate_task != nullptr)
              return TaskStatus{"training", "Finding a learning rate"};
            if (dialog.task == nullptr) return std::nullopt;
            std::string text = "Training " + fs::path(dialog.folder).filename().string();
            if (!dialog.curve.rows.empty()) {
              const LossRow& row = dialog.curve.rows.back();
              text += ", step " + std::to_string(row.step) + " of " +
                      std::to_string(dialog.curve.steps) + ", loss " + fixed(row.loss, 2);
            }
            return TaskStatus{"training", text};
          }};
}

void draw_training_dialog(Ui& ui, State& state, Painter& painter) {
  TrainingDialog& dialog = state.dialogs.training;
  // The dialog is hidden while the file browser selects its text.
  const bool is_browsing =
      state.dialogs.browser.open && state.dialogs.browser.purpose == BrowsePurpose::TrainingText;
  bool open = dialog.open && !is_browsing;
  const bool was_open = open;
  const bool is_drawn = begin_dialog(ui, "Train a model", open, kTrainingWidth, kTrainingHeight);
  if (was_open && !open) dialog.open = false;
  if (!is_drawn) return;
  ImGui::BeginChild("settings", {ui.px(kTrainingColumn), 0});
  draw_settings(ui, state, dialog);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(18));
  ImGui::BeginChild("curve", {0, 0});
  draw_charts(ui, dialog, painter);
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
