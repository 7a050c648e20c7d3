#include "app/window/dialogs/calibration_dialog.h"

#include <algorithm>

#include "app/window/dialogs/dialogs.h"
#include "app/window/error_text.h"
#include "app/window/files.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/panels/parameter_panel.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/text_field.h"
#include "core/base/file.h"
#include "core/base/file_beginning.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/training/calibration_picture.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

constexpr double kCalibrationWidth = 1120, kCalibrationHeight = 660, kRequestWidth = 300;  // units

void file_field(Ui& ui, State& state, const char* label, const std::string& id, bool is_test,
                const char* help) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  std::string& path = is_test ? dialog.test_file : dialog.text_file;
  if (!is_test) ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  ImGui::PushID(id.c_str());
  if (!is_test) {
    constexpr const char* kSample = "Use a sample";
    ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(kSample).x -
                    2 * ImGui::GetStyle().FramePadding.x);
    if (button(ui, kSample, "calibrate.sample")) path = sample_calibration_text().string();
    hint(ui, "A story of 2,500 words that no bundled model was trained on.");
  }
  ImGui::SetNextItemWidth(-ui.px(92));
  text_field(ui, path, ("calibrate." + id).c_str(), is_test ? "none" : "the window's text");
  hint(ui, help);
  ImGui::SameLine();
  if (button(ui, "Browse…", "calibrate." + id + ".browse", false, -1)) {
    dialog.picks_test = is_test;
    browse(state, BrowsePurpose::CalibrationText);
  }
  ImGui::PopID();
}

const std::vector<Parameter>& method_parameters(CalibrationMethod method) {
  const auto parameter = [](const char* key, const char* symbol, const char* label,
                            const char* help, double initial, double max_value) {
    return Parameter{.key = key,
                     .symbol = symbol,
                     .label = label,
                     .help = help,
                     .kind = Parameter::Kind::Real,
                     .initial = initial,
                     .limits = {.min = 0, .max = max_value, .min_excluded = true},
                     .slider = {.min = 0.01, .max = max_value}};
  };
  static const std::vector<Parameter> test_parameters{
      parameter("tolerance", "δ", "Tolerance",
                "Maximum share of tokens whose prediction differs from that of all layers.", 0.1,
                0.99),
      parameter("level", "ε", "Risk", "Probability that the guarantee does not hold.", 0.05, 0.5)};
  static const std::vector<Parameter> search_parameters{parameter(
      "tolerance", "δ", "Tolerance", "Maximum increase of the loss in nats per token.", 0.1, 1)};
  return method == CalibrationMethod::LearnThenTest ? test_parameters : search_parameters;
}

// Configuration of the model with the edited structure; nullopt before the first run.
std::optional<ModelConfig> edited_config(const State& state) {
  const Trace* trace = state.edited_trace();
  if (trace == nullptr || trace->trained == nullptr) return std::nullopt;
  try {
    return apply_structure(*trace->trained, state.edited().run.structure);
  } catch (const InputError&) {
    return std::nullopt;  // the run reports the error
  }
}

CalibrationRequest calibration_request(const State& state) {
  const CalibrationDialog& dialog = state.dialogs.calibration;
  CalibrationRequest request;
  const std::optional<ModelConfig> config = edited_config(state);
  if (config) request.method = default_method(*config);
  if (dialog.method) request.method = *dialog.method;
  request.tolerance = dialog.tolerance;
  request.level = dialog.level;
  return request;
}

// Maximum bytes of the text that are read to count windows.
constexpr std::size_t kMaxCountedBytes = std::size_t{1} << 17;  // takes about 1/20 s

std::string read_beginning(const State& state, bool& is_cut) {
  const CalibrationDialog& dialog = state.dialogs.calibration;
  std::string text = state.edited().run.text;
  if (!dialog.text_file.empty()) {
    if (!file_exists(dialog.text_file)) throw InputError("No such file.");
    text = attnscope::read_beginning(dialog.text_file, kMaxCountedBytes + 1);
  }
  is_cut = text.size() > kMaxCountedBytes;
  if (is_cut) text.resize(kMaxCountedBytes);
  return text;
}

// Counts the windows again if the model, its structure or the text changed.
const CalibrationDialog::WindowCount& window_count(State& state) {
  CalibrationDialog::WindowCount& count = state.dialogs.calibration.window_count;
  const std::string& file = state.dialogs.calibration.text_file;
  const std::string source =
      state.edited().run.model + "\n" + (file.empty() ? state.edited().run.text : file);
  if (count.source == source && count.structure == state.edited().run.structure) return count;
  count = {.source = source, .structure = state.edited().run.structure};
  try {
    const std::string text = read_beginning(state, count.is_cut);
    Checkpoint checkpoint = *model_store()->checkpoint(state.edited().run.model);
    checkpoint.model = with_structure(checkpoint.model, state.edited().run.structure);
    count.windows = count_windows(checkpoint, text, calibration_request(state));
  } catch (const InputError& e) {
    count.problem = capitalised(error_text(e));
  }
  return count;
}

void draw_window_count(Ui& ui, State& state) {
  const CalibrationDialog::WindowCount& count = window_count(state);
  if (!count.problem.empty()) {
    faint(ui, count.problem);
    return;
  }
  const std::string too_few =
      count.is_cut ? "" : too_few_windows(count.windows, calibration_request(state));
  const std::optional<ModelConfig> config = edited_config(state);
  const std::string length = config ? " of " + std::to_string(config->context) + " tokens" : "";
  faint(ui, !too_few.empty() ? too_few
                             : (count.is_cut ? "More than " : "") + std::to_string(count.windows) +
                                   " windows" + length + " for calibration.");
}

void draw_method(Ui& ui, State& state, ParameterWidgets& widgets) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  const CalibrationMethod method = calibration_request(state).method;
  ImGui::TextUnformatted("Method");
  const int clicked =
      segments(ui, "calibrate.method",
               {{"Learn then test",
                 "Tests thresholds from 1 downwards while a guarantee holds: at most the tolerated "
                 "share of predictions differs, except with the probability below.",
                 "test"},
                {"Grid search",
                 "Selects the threshold with the fewest layers whose loss is within the tolerance. "
                 "No guarantee for other text.",
                 "grid"}},
               method == CalibrationMethod::GridSearch ? 1 : 0);
  if (clicked >= 0) {
    dialog.method = clicked == 1 ? CalibrationMethod::GridSearch : CalibrationMethod::LearnThenTest;
  }
  const std::vector<Parameter>& parameters = method_parameters(dialog.method.value_or(method));
  Values values = default_values(parameters);
  values.set("tolerance", dialog.tolerance);
  if (parameters.size() > 1) values.set("level", dialog.level);
  if (draw_parameters(ui, "calibrate", parameters, {}, values, widgets)) {
    dialog.tolerance = values.real("tolerance");
    if (parameters.size() > 1) dialog.level = values.real("level");
  }
}

// Reason why the model's threshold cannot be calibrated; empty if it can.
std::string model_refusal(const State& state) {
  const std::optional<ModelConfig> config = edited_config(state);
  return config ? as_sentence(capitalised(calibration_refusal(*config))) : "There is no model yet.";
}

void draw_request(Ui& ui, State& state, ParameterWidgets& widgets) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  const std::string refusal = model_refusal(state);
  file_field(ui, state, "Calibration text", "text", false,
             "A text file that the model was not trained on, read in windows of the model's "
             "context. Default: the text in the window.");
  if (refusal.empty()) {
    const float top = ImGui::GetCursorPosY();
    draw_window_count(ui, state);
    // Space for three lines, so that controls below do not move while typing.
    constexpr float kLines = 3;
    ImGui::SetCursorPosY(
        std::max(ImGui::GetCursorPosY(), top + kLines * ImGui::GetTextLineHeightWithSpacing()));
  }
  ImGui::Spacing();
  file_field(ui, state, "Test text", "other", true,
             "Text on which the threshold's effect is reported; it does not influence the choice.");
  ImGui::Spacing();
  draw_method(ui, state, widgets);
  ImGui::Spacing();
  if (dialog.task != nullptr) {
    if (button(ui, "Stop", "calibrate.stop", false, -1)) dialog.task->cancel();
    return;
  }
  const CalibrationDialog::WindowCount& count = dialog.window_count;
  const bool is_ready = refusal.empty() && count.problem.empty() && count.windows >= 2;
  ImGui::BeginDisabled(!is_ready);
  if (button(ui, "Calibrate", "calibrate.start", true, -1)) start_calibration(state);
  ImGui::EndDisabled();
  hint(ui, is_ready ? "Runs in the background: the text with all layers, then with each threshold."
           : !refusal.empty()       ? refusal
           : !count.problem.empty() ? count.problem
                                    : "Choose a longer text, or use the sample.");
  if (!refusal.empty()) {
    ImGui::Spacing();
    faint(ui, refusal);
  }
}

void draw_result(Ui& ui, State& state, Painter& painter) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const bool has_result = dialog.calibration && dialog.calibration->threshold;
  const float footer = 2 * ImGui::GetFrameHeight() + ui.px(20);
  const ImVec2 size(ImGui::GetContentRegionAvail().x, ImGui::GetContentRegionAvail().y - footer);
  invisible_button("calibrate.picture", size);
  mark(ui, "calibrate.picture");
  if (dialog.calibration && !dialog.calibration->points.empty()) {
    const ScreenMeasure measure(ui.fonts, ui.scale);
    dialog.picture =
        calibration_picture(*dialog.calibration, static_cast<double>(size.x) / ui.scale,
                            static_cast<double>(size.y) / ui.scale, ui.look->theme(), measure);
    painter.paint(dialog.picture, *ImGui::GetWindowDrawList(), origin, ui.scale, ui.fonts);
  } else {
    const std::string message =
        dialog.task != nullptr
            ? "Reading the text with all layers."
            : "Costs and savings of early exits appear here, threshold by threshold.";
    const ImVec2 extent = ImGui::CalcTextSize(message.c_str());
    ImGui::GetWindowDrawList()->AddText(
        {origin.x + (size.x - extent.x) / 2, origin.y + (size.y - extent.y) / 2},
        packed(ui.look->faint), message.c_str());
  }
  if (dialog.task != nullptr) {
    ImGui::ProgressBar(static_cast<float>(dialog.task->fraction()), {-1, ui.px(6)}, "");
    mark(ui, "calibrate.progress");
  } else {
    ImGui::Dummy({0, ui.px(6)});
  }
  ImGui::BeginDisabled(!has_result);
  const std::string label = has_result ? "Use threshold " + fixed(*dialog.calibration->threshold, 2)
                                       : "Use the threshold";
  if (button(ui, label.c_str(), "calibrate.use", true, ui.px(220))) use_calibrated_threshold(state);
  ImGui::EndDisabled();
  hint(ui, "Use it for the text in the window.");
  if (!dialog.problem.empty()) {
    ImGui::SameLine();
    ImGui::TextColored(ui.look->error, "%s", on_screen(dialog.problem).c_str());
  }
}

bool update_calibration(State& state) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  return take_results(dialog.task, dialog.calibration, dialog.problem);
}

}  // namespace

void start_calibration(State& state) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  dialog.problem.clear();
  dialog.task.reset();
  dialog.calibration.reset();
  const RunSpec& run = state.edited().run;
  dialog.task = std::make_unique<BackgroundTask<Calibration>>(
      [model = run.model, structure = run.structure, window_text = run.text,
       file = dialog.text_file, test_file = dialog.test_file, method = dialog.method,
       request = calibration_request(state)](BackgroundTask<Calibration>& task) mutable {
        Checkpoint checkpoint = *model_store()->checkpoint(model);
        checkpoint.model = with_structure(checkpoint.model, structure);
        request.method = method.value_or(default_method(checkpoint.model.config));
        const std::string text = file.empty() ? window_text : read_file(file);
        const std::string test_text = test_file.empty() ? "" : read_file(test_file);
        return calibrate(
            checkpoint, text, test_text, request,
            [&](const Calibration& partial, double fraction) { task.publish(partial, fraction); });
      });
}

TaskKind calibration_tasks() {
  return {.update = update_calibration, .tasks = [](State& state) {
            return std::vector<Task*>{state.dialogs.calibration.task.get()};
          }};
}

void use_calibrated_threshold(State& state) {
  const std::optional<Calibration>& result = state.dialogs.calibration.calibration;
  if (!result || !result->threshold) return;
  state.edit().run.exit = result->threshold;
  state.dialogs.calibration.open = false;
  state.notify("Tokens now exit at " + fixed(*result->threshold, 2) + ".");
}

void draw_calibration_dialog(Ui& ui, State& state, ParameterWidgets& widgets, Painter& painter) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  if (dialog.open && !dialog.has_suggested_text) {  // suggest the text of the head statistics
    dialog.has_suggested_text = true;
    if (dialog.text_file.empty()) dialog.text_file = state.edited().view.statistics_file;
  }
  // The dialog is hidden while the file browser selects its text.
  const bool is_browsing =
      state.dialogs.browser.open && state.dialogs.browser.purpose == BrowsePurpose::CalibrationText;
  bool open = dialog.open && !is_browsing;
  const bool was_open = open;
  if (!begin_dialog(ui, "Calibrate the exit threshold", open, kCalibrationWidth,
                    kCalibrationHeight)) {
    if (was_open) dialog.open = false;
    return;
  }
  if (!open) dialog.open = false;
  ImGui::BeginChild("request", {ui.px(kRequestWidth), 0});
  draw_request(ui, state, widgets);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(18));
  ImGui::BeginChild("result", {0, 0});
  draw_result(ui, state, painter);
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
