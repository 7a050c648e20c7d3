#include "app/window/dialogs/calibration_dialog.h"

#include <algorithm>
#include <fstream>

#include "app/window/dialogs/dialogs.h"
#include "app/window/error_text.h"
#include "app/window/files.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/panels/parameter_panel.h"
#include "app/window/widgets/painter.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/training/calibration_picture.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

constexpr double kCalibrationWidth = 1120, kCalibrationHeight = 660, kRequestWidth = 300;  // units

void draw_file(Ui& ui, State& state, const char* label, const std::string& id, bool other,
               const char* help) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  std::string& path = other ? dialog.other : dialog.text;
  ImGui::TextUnformatted(label);
  ImGui::PushID(id.c_str());
  ImGui::SetNextItemWidth(-ui.px(92));
  text_field(ui, "##path", path, "calibrate." + id, other ? "none" : "the window's text");
  hint(ui, help);
  ImGui::SameLine();
  if (button(ui, "Browse…", "calibrate." + id + ".browse", false, -1)) {
    dialog.browses_other = other;
    browse(state, BrowsePurpose::CalibrationText);
  }
  ImGui::PopID();
}

const std::vector<Parameter>& numbers_of(CalibrationMethod method) {
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
  static const std::vector<Parameter> tested{
      parameter("tolerance", "δ", "Tolerance",
                "Maximum share of tokens whose prediction differs from that of all layers.", 0.1,
                0.99),
      parameter("level", "ε", "Risk", "Probability that the guarantee does not hold.", 0.05, 0.5)};
  static const std::vector<Parameter> searched{parameter(
      "tolerance", "δ", "Tolerance", "Maximum increase of the loss in nats per token.", 0.1, 1)};
  return method == CalibrationMethod::LearnThenTest ? tested : searched;
}

// Configuration of the shown model with the user's structure; nothing before the first run.
std::optional<ModelConfig> config_of(const State& state) {
  const Trace* trace = state.edited_trace();
  if (trace == nullptr || trace->trained == nullptr) return std::nullopt;
  try {
    return apply_structure(*trace->trained, state.edited().run.structure);
  } catch (const InputError&) {
    return std::nullopt;  // the run reports the error
  }
}

CalibrationRequest request_of(const State& state) {
  const CalibrationDialog& dialog = state.dialogs.calibration;
  CalibrationRequest request;
  const std::optional<ModelConfig> config = config_of(state);
  if (config) request.method = default_method(*config);
  if (dialog.method) request.method = *dialog.method;
  request.tolerance = dialog.tolerance;
  request.level = dialog.level;
  return request;
}

// Limit on the text read for counting windows.
constexpr std::size_t kCounted = std::size_t{1} << 17;  // bytes: about 1/20 s

std::string beginning_of(const State& state, bool& more) {
  const CalibrationDialog& dialog = state.dialogs.calibration;
  std::string text = state.edited().run.text;
  if (!dialog.text.empty()) {
    std::ifstream file(dialog.text, std::ios::binary);
    if (!file) throw InputError("No such file.");
    text.resize(kCounted + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  }
  more = text.size() > kCounted;
  if (more) text.resize(kCounted);
  return text;
}

// Recounted if model or text changed.
const CalibrationDialog::WindowCount& window_count(State& state) {
  CalibrationDialog::WindowCount& known = state.dialogs.calibration.window_count;
  const std::string& file = state.dialogs.calibration.text;
  const std::string of =
      state.edited().run.model + "\n" + (file.empty() ? state.edited().run.text : file);
  if (known.of == of && known.structure == state.edited().run.structure) return known;
  known = {.of = of, .structure = state.edited().run.structure};
  try {
    const std::string text = beginning_of(state, known.more);
    Checkpoint checkpoint = *model_store()->checkpoint(state.edited().run.model);
    checkpoint.model = with_structure(checkpoint.model, state.edited().run.structure);
    known.windows = count_windows(checkpoint, text, request_of(state));
  } catch (const InputError& e) {
    known.problem = capitalised(error_text(e));
  }
  return known;
}

// Available windows, shown before the calibration starts.
void draw_windows(Ui& ui, State& state) {
  const CalibrationDialog::WindowCount& known = window_count(state);
  if (!known.problem.empty()) {
    faint(ui, known.problem);
    return;
  }
  const std::string too_few = known.more ? "" : too_few_windows(known.windows, request_of(state));
  const std::optional<ModelConfig> config = config_of(state);
  const std::string length = config ? " of " + std::to_string(config->context) + " tokens" : "";
  faint(ui, !too_few.empty() ? too_few
                             : (known.more ? "More than " : "") + std::to_string(known.windows) +
                                   " windows" + length + " for calibration.");
}

void draw_method(Ui& ui, State& state, ParameterWidgets& texts) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  const CalibrationMethod method = request_of(state).method;
  ImGui::TextUnformatted("Method");
  const int clicked =
      segments(ui, "calibrate.method",
               {{"Learn then test",
                 "Tests thresholds from 1 downwards while the guarantee holds: at most this share "
                 "of predictions differs, except with the probability below.",
                 "test"},
                {"Grid search",
                 "Selects the threshold with the fewest layers whose loss is within the tolerance. "
                 "No guarantee for other text.",
                 "grid"}},
               method == CalibrationMethod::GridSearch ? 1 : 0);
  if (clicked >= 0) {
    dialog.method = clicked == 1 ? CalibrationMethod::GridSearch : CalibrationMethod::LearnThenTest;
  }
  const std::vector<Parameter>& parameters = numbers_of(dialog.method.value_or(method));
  Values values = default_values(parameters);
  values.set("tolerance", dialog.tolerance);
  if (parameters.size() > 1) values.set("level", dialog.level);
  if (draw_parameters(ui, "calibrate", parameters, {}, values, texts)) {
    dialog.tolerance = values.real("tolerance");
    if (parameters.size() > 1) dialog.level = values.real("level");
  }
}

// Reason why the shown model's threshold cannot be calibrated; empty: it can.
std::string refusal_of(const State& state) {
  const std::optional<ModelConfig> config = config_of(state);
  return config ? as_sentence(capitalised(calibration_refusal(*config))) : "No model yet.";
}

void draw_request(Ui& ui, State& state, ParameterWidgets& texts) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  const std::string refusal = refusal_of(state);
  draw_file(ui, state, "Calibration text", "text", false,
            "A text file that the model was not trained on, read in windows of the model's "
            "context. Default: the text in the window.");
  if (refusal.empty()) {
    const float top = ImGui::GetCursorPosY();
    draw_windows(ui, state);
    // Space for three lines, so that controls below do not move while typing.
    constexpr float kLines = 3;
    ImGui::SetCursorPosY(
        std::max(ImGui::GetCursorPosY(), top + kLines * ImGui::GetTextLineHeightWithSpacing()));
  }
  ImGui::Spacing();
  draw_file(ui, state, "Test text", "other", true,
            "Text on which the threshold's effect is reported; it does not influence the choice.");
  ImGui::Spacing();
  draw_method(ui, state, texts);
  ImGui::Spacing();
  if (dialog.task != nullptr) {
    if (button(ui, "Stop", "calibrate.stop", false, -1)) dialog.task->cancel();
    return;
  }
  const CalibrationDialog::WindowCount& known = dialog.window_count;
  const bool ready = refusal.empty() && known.problem.empty() && known.windows >= 2;
  ImGui::BeginDisabled(!ready);
  if (button(ui, "Calibrate", "calibrate.start", true, -1)) start_calibration(state);
  ImGui::EndDisabled();
  hint(ui, ready ? "Runs in the background: the text with all layers, then at each threshold."
           : !refusal.empty()       ? refusal
           : !known.problem.empty() ? known.problem
                                    : "Choose a longer text.");
  if (!refusal.empty()) {
    ImGui::Spacing();
    faint(ui, refusal);
  }
}

void draw_result(Ui& ui, State& state, Painter& painter) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool found = dialog.calibration && dialog.calibration->threshold;
  const float below = 2 * ImGui::GetFrameHeight() + ui.px(20);
  const ImVec2 size(ImGui::GetContentRegionAvail().x, ImGui::GetContentRegionAvail().y - below);
  invisible_button("calibrate.picture", size);
  mark(ui, "calibrate.picture");
  if (dialog.calibration && !dialog.calibration->points.empty()) {
    const ScreenMeasure measure(ui.fonts, ui.scale);
    dialog.picture =
        calibration_picture(*dialog.calibration, static_cast<double>(size.x) / ui.scale,
                            static_cast<double>(size.y) / ui.scale, ui.look->theme(), measure);
    painter.paint(dialog.picture, *ImGui::GetWindowDrawList(), at, ui.scale, ui.fonts);
  } else {
    const std::string words =
        dialog.task != nullptr
            ? "Reading the text with all layers."
            : "Costs and savings of early exits appear here, threshold by threshold.";
    const ImVec2 extent = ImGui::CalcTextSize(words.c_str());
    ImGui::GetWindowDrawList()->AddText(
        {at.x + (size.x - extent.x) / 2, at.y + (size.y - extent.y) / 2}, packed(ui.look->faint),
        words.c_str());
  }
  if (dialog.task != nullptr) {
    ImGui::ProgressBar(static_cast<float>(dialog.task->share()), {-1, ui.px(6)}, "");
    mark(ui, "calibrate.progress");
  } else {
    ImGui::Dummy({0, ui.px(6)});
  }
  ImGui::BeginDisabled(!found);
  const std::string label =
      found ? "Use threshold " + fixed(*dialog.calibration->threshold, 2) : "Use the threshold";
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
      [model = run.model, structure = run.structure, own_text = run.text, file = dialog.text,
       other_file = dialog.other, method = dialog.method,
       request = request_of(state)](BackgroundTask<Calibration>& task) mutable {
        Checkpoint checkpoint = *model_store()->checkpoint(model);
        checkpoint.model = with_structure(checkpoint.model, structure);
        request.method = method.value_or(default_method(checkpoint.model.config));
        const std::string text = file.empty() ? own_text : read_file(file);
        const std::string other = other_file.empty() ? "" : read_file(other_file);
        return calibrate(
            checkpoint, text, other, request,
            [&](const Calibration& so_far, double share) { task.publish(so_far, share); });
      });
}

TaskKind calibration_tasks() {
  return {.update = update_calibration, .tasks = [](State& state) {
            return std::vector<Task*>{state.dialogs.calibration.task.get()};
          }};
}

void use_calibrated_threshold(State& state) {
  const std::optional<Calibration>& found = state.dialogs.calibration.calibration;
  if (!found || !found->threshold) return;
  state.edit().run.exit = found->threshold;
  state.dialogs.calibration.open = false;
  state.notify("Tokens now exit at " + fixed(*found->threshold, 2) + ".");
}

void draw_calibration_dialog(Ui& ui, State& state, ParameterWidgets& texts, Painter& painter) {
  CalibrationDialog& dialog = state.dialogs.calibration;
  if (dialog.open && !dialog.has_suggested_text) {  // suggest the text of the head statistics
    dialog.has_suggested_text = true;
    if (dialog.text.empty()) dialog.text = state.edited().view.statistics_file;
  }
  // Hidden while the browser is open.
  const bool picking =
      state.dialogs.browser.open && state.dialogs.browser.purpose == BrowsePurpose::CalibrationText;
  bool open = dialog.open && !picking;
  const bool was_open = open;
  if (!begin_dialog(ui, "Calibrate the exit threshold", open, kCalibrationWidth,
                    kCalibrationHeight)) {
    if (was_open) dialog.open = false;
    return;
  }
  if (!open) dialog.open = false;
  ImGui::BeginChild("request", {ui.px(kRequestWidth), 0});
  draw_request(ui, state, texts);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(18));
  ImGui::BeginChild("result", {0, 0});
  draw_result(ui, state, painter);
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
