#include "app/window/dialogs/calibration_dialog.h"

#include "app/window/dialogs/dialogs.h"
#include "app/window/files.h"
#include "app/window/jobs/calibration_job.h"
#include "app/window/panels/parameter_panel.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/structure_selection.h"
#include "core/figure/plain_text.h"
#include "core/model/exits.h"
#include "core/training/calibration_picture.h"

namespace attnscope::window {

namespace {

constexpr double kCalibrationWidth = 1120, kCalibrationHeight = 660, kRequestWidth = 300;  // units

void draw_file(Ui& ui, State& state, const char* label, const std::string& id, bool other,
               const char* help) {
  CalibrationDialog& dialog = state.calibration;
  std::string& path = other ? dialog.other : dialog.text;
  ImGui::TextUnformatted(label);
  ImGui::PushID(id.c_str());
  ImGui::SetNextItemWidth(-ui.px(92));
  text_field(ui, "##path", path, "calibrate." + id, other ? "none" : "a text file");
  hint(ui, help);
  ImGui::SameLine();
  if (button(ui, "Browse…", "calibrate." + id + ".browse", false, -1)) {
    dialog.picks_other = other;
    browse(state, BrowsePurpose::CalibrationText);
  }
  ImGui::PopID();
}

const std::vector<Parameter>& numbers_of(CalibrationMethod method) {
  const auto parameter = [](const char* key, const char* symbol, const char* label,
                            const char* help, double initial, double most) {
    return Parameter{.key = key,
                     .symbol = symbol,
                     .label = label,
                     .help = help,
                     .kind = Parameter::Kind::Real,
                     .initial = initial,
                     .least = 0,
                     .most = most,
                     .least_excluded = true,
                     .slider_least = 0.01,
                     .slider_most = most};
  };
  static const std::vector<Parameter> tested{
      parameter("tolerance", "δ", "Tolerance",
                "The share of tokens whose guess may differ from that of all layers.", 0.1, 0.99),
      parameter("level", "ε", "Risk", "The chance that is taken that the promise does not hold.",
                0.05, 0.5)};
  static const std::vector<Parameter> searched{
      parameter("tolerance", "δ", "Tolerance", "Nats per token that the loss may gain.", 0.1, 1)};
  return method == CalibrationMethod::LearnThenTest ? tested : searched;
}

CalibrationMethod usual(const State& state) {
  const Choice* exits = effective_exits(state);
  const bool adaptive = exits != nullptr && exit_rule(exits->id).makes_distribution;
  return adaptive ? CalibrationMethod::GridSearch : CalibrationMethod::LearnThenTest;
}

void draw_method(Ui& ui, State& state, ListTexts& texts) {
  CalibrationDialog& dialog = state.calibration;
  const CalibrationMethod method = dialog.method.value_or(usual(state));
  ImGui::TextUnformatted("Method");
  const int clicked =
      segments(ui, "calibrate.method",
               {{"Learn then test",
                 "Thresholds are tested from 1 down, until the promise could not be kept: at most "
                 "this share of guesses differs, with all but the chance named below.",
                 "test"},
                {"Grid search",
                 "The threshold with the fewest layers whose loss is within the tolerance. Nothing "
                 "is promised for other text.",
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

void draw_request(Ui& ui, State& state, ListTexts& texts) {
  CalibrationDialog& dialog = state.calibration;
  const std::string refusal = calibration_refusal(state);
  draw_file(ui, state, "Text to choose by", "text", false,
            "A text file that the model was not trained on; it is read in windows of the model's "
            "context.");
  ImGui::Spacing();
  draw_file(ui, state, "Other text", "other", true,
            "What the chosen threshold does there is said beside: nothing is chosen by it.");
  ImGui::Spacing();
  draw_method(ui, state, texts);
  ImGui::Spacing();
  if (dialog.job != nullptr && !dialog.job->over()) {
    if (button(ui, "Stop", "calibrate.stop", false, -1)) dialog.job->cancel();
    return;
  }
  const bool ready = refusal.empty() && !dialog.text.empty();
  ImGui::BeginDisabled(!ready);
  if (button(ui, "Calibrate", "calibrate.start", true, -1)) start_calibrating(state);
  ImGui::EndDisabled();
  hint(ui, ready ? "Runs in the background: the text with all layers, then at each threshold."
                 : (refusal.empty() ? "Choose a text first." : refusal));
  if (!refusal.empty()) {
    ImGui::Spacing();
    faint(ui, refusal);
  }
}

void draw_result(Ui& ui, State& state, Painter& painter) {
  CalibrationDialog& dialog = state.calibration;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool found = dialog.calibration && dialog.calibration->threshold;
  const float below = 2 * ImGui::GetFrameHeight() + ui.px(20);
  const ImVec2 size(ImGui::GetContentRegionAvail().x, ImGui::GetContentRegionAvail().y - below);
  ImGui::InvisibleButton("calibrate.picture", size);
  mark(ui, "calibrate.picture");
  if (dialog.calibration && !dialog.calibration->points.empty()) {
    const ScreenMeasure measure(ui.fonts, ui.scale);
    dialog.picture =
        calibration_picture(*dialog.calibration, static_cast<double>(size.x) / ui.scale,
                            static_cast<double>(size.y) / ui.scale, ui.look->theme(), measure);
    painter.paint(dialog.picture, *ImGui::GetWindowDrawList(), at, ui.scale, ui.fonts);
  } else {
    const std::string words =
        dialog.job != nullptr
            ? "The text is being read with all layers."
            : "What leaving early costs and saves appears here, threshold by threshold.";
    const ImVec2 extent = ImGui::CalcTextSize(words.c_str());
    ImGui::GetWindowDrawList()->AddText(
        {at.x + (size.x - extent.x) / 2, at.y + (size.y - extent.y) / 2}, packed(ui.look->faint),
        words.c_str());
  }
  if (dialog.job != nullptr && !dialog.job->over()) {
    ImGui::ProgressBar(static_cast<float>(dialog.job->share()), {-1, ui.px(6)}, "");
    mark(ui, "calibrate.progress");
  } else {
    ImGui::Dummy({0, ui.px(6)});
  }
  ImGui::BeginDisabled(!found);
  const std::string label =
      found ? "Use threshold " + fixed(*dialog.calibration->threshold, 2) : "Use the threshold";
  if (button(ui, label.c_str(), "calibrate.use", true, ui.px(220))) use_calibrated(state);
  ImGui::EndDisabled();
  hint(ui, "Tokens of the text in the window leave at it from now on.");
  if (!dialog.problem.empty()) {
    ImGui::SameLine();
    ImGui::TextColored(ui.look->error, "%s", on_screen(dialog.problem).c_str());
  }
}

}  // namespace

std::string calibration_refusal(const State& state) {
  const Choice* exits = effective_exits(state);
  if (exits == nullptr) {
    return "The shown model's tokens do not leave early. Choose exits under Structure, or a model "
           "that was trained with them.";
  }
  if (exit_rule(exits->id).distribution_at >= 0) {
    return "With the rule “" + exit_rule(exits->id).label +
           "” tokens leave at the likeliest layer: there is no threshold to choose.";
  }
  return "";
}

void start_calibrating(State& state) {
  CalibrationDialog& dialog = state.calibration;
  dialog.problem.clear();
  dialog.job.reset();
  dialog.version = 0;
  dialog.calibration.reset();
  CalibrationTask task{.model = state.edited().model,
                       .structure = state.edited().structure,
                       .text = dialog.text,
                       .other = dialog.other,
                       .method = dialog.method,
                       .request = {}};
  task.request.tolerance = dialog.tolerance;
  task.request.level = dialog.level;
  dialog.job = std::make_shared<CalibrationJob>(std::move(task));
}

bool take_calibrated(CalibrationDialog& dialog) {
  if (dialog.job == nullptr) return false;
  const bool over = dialog.job->over(), more = dialog.job->version() != dialog.version;
  if (more) {
    dialog.version = dialog.job->version();
    dialog.calibration = dialog.job->calibration();
  }
  if (over) {
    dialog.problem = dialog.job->problem();
    dialog.job.reset();
  }
  return more || over;
}

void use_calibrated(State& state) {
  const std::optional<Calibration>& found = state.calibration.calibration;
  if (!found || !found->threshold) return;
  state.edited().exit = found->threshold;
  state.calibration.open = false;
  state.say("Tokens leave at " + fixed(*found->threshold, 2) + " from now on.");
}

void draw_calibration_dialog(Ui& ui, State& state, ListTexts& texts, Painter& painter) {
  CalibrationDialog& dialog = state.calibration;
  take_calibrated(dialog);
  // While the browser picks a file, it has the stage.
  const bool picking =
      state.browser.open && state.browser.purpose == BrowsePurpose::CalibrationText;
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
