#include "app/window/dialogs/extrapolation_dialog.h"

#include <algorithm>
#include <filesystem>

#include "app/window/dialogs/dialogs.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/text_field.h"
#include "core/analysis/cost_curve.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/training/calibrate.h"
#include "core/training/extrapolation_figure.h"

namespace attnscope::window {
namespace {

constexpr double kExtrapolationWidth = 1160, kExtrapolationHeight = 700;  // units
constexpr double kModelsWidth = 264;
constexpr Index kMaxWindow = Index{1} << 14;  // tokens
constexpr double kFigureWidth = 900, kFigureHeight = 560, kFigureScale = 2;

// True if a model predicts text in windows. Checkpoints of other libraries have no config here.
bool has_lengths(const ModelCard& card) {
  if (!card.task.empty() && card.task != "text") return false;
  return !card.config || lengths_refusal(*card.config).empty();
}

std::vector<std::string> models_with_lengths() {
  std::vector<std::string> names;
  for (const ModelGroup& group : model_groups()) {
    for (const ModelGroup::Entry& entry : group.models) {
      try {
        if (has_lengths(model_card(entry.name))) names.push_back(entry.name);
      } catch (const InputError&) {  // the list of models reports broken folders
        continue;
      }
    }
  }
  return names;
}

void draw_models(Ui& ui, ExtrapolationDialog& dialog) {
  ImGui::TextUnformatted("Models");
  ImGui::BeginChild("models", {0, -ui.px(222)});
  for (const std::string& name : dialog.available) {
    bool is_checked = std::ranges::find(dialog.models, name) != dialog.models.end();
    if (ImGui::Checkbox(name.c_str(), &is_checked)) {
      if (is_checked) {
        dialog.models.push_back(name);
      } else {
        std::erase(dialog.models, name);
      }
    }
    mark(ui, "lengths.model." + name);
  }
  ImGui::EndChild();
}

void draw_request(Ui& ui, State& state, ExtrapolationDialog& dialog) {
  draw_models(ui, dialog);
  ImGui::TextUnformatted("Text");
  ImGui::SetNextItemWidth(-1);
  text_field(ui, dialog.text_file, "lengths.text", "the window's text");
  hint(ui, "A text file that the models were not trained on. Empty: the text in the window.");
  if (button(ui, "Browse…", "lengths.browse")) browse(state, BrowsePurpose::LengthsText);
  ImGui::SameLine();
  if (button(ui, "Use a sample", "lengths.sample")) {
    dialog.text_file = sample_calibration_text().string();
  }
  hint(ui, "A story of 2,500 words that no bundled model was trained on.");
  draw_length(ui, "From", "lengths.first", dialog.first, kMaxWindow);
  draw_length(ui, "to", "lengths.last", dialog.last, kMaxWindow);
  ImGui::Dummy({0, ui.px(2)});
  if (dialog.task != nullptr) {
    if (button(ui, "Stop", "lengths.stop", false, -1)) dialog.task->cancel();
    hint(ui, "Stop and keep the results");
    return;
  }
  ImGui::BeginDisabled(dialog.models.empty());
  if (button(ui, "Evaluate", "lengths.start", true, -1)) {
    start_extrapolation(dialog, state.edited().run.text);
  }
  ImGui::EndDisabled();
  hint(ui, dialog.models.empty() ? "Choose at least one model."
                                 : "Runs in the background: bits per byte of the text, in windows "
                                   "of each length.");
}

void draw_picture(Ui& ui, ExtrapolationDialog& dialog, Painter& painter, float height) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetContentRegionAvail().x, height);
  invisible_button("lengths.picture", size);
  mark(ui, "lengths.picture");
  const bool has_points = std::ranges::any_of(
      dialog.curves.series, [](const LengthSeries& series) { return !series.points.empty(); });
  if (!has_points) {
    const std::string message =
        dialog.task != nullptr
            ? "Evaluating the first length."
            : "Tick models on the left, then press Evaluate: bits per byte appear here, length by "
              "length, up to and beyond the length of training.";
    draw_empty_result(ui, origin, size, message);
    return;
  }
  if (draw_too_small_result(ui, origin, size)) return;
  const ScreenMeasure measure(ui.fonts, ui.scale);
  dialog.picture =
      extrapolation_picture(dialog.curves, static_cast<double>(size.x) / ui.scale,
                            static_cast<double>(size.y) / ui.scale, ui.look->theme(), measure);
  painter.paint(dialog.picture, *ImGui::GetWindowDrawList(), origin, ui.scale, ui.fonts);
}

}  // namespace

void open_extrapolation_dialog(State& state) {
  ExtrapolationDialog& dialog = state.dialogs.extrapolation;
  dialog.open = true;
  if (!dialog.available.empty()) return;
  dialog.available = models_with_lengths();
  dialog.text_file = sample_calibration_text().string();
  for (const char* name : {"twin-sinusoidal", "twin-rope", "twin-t5", "twin-alibi"}) {
    if (std::ranges::find(dialog.available, name) != dialog.available.end()) {
      dialog.models.emplace_back(name);
    }
  }
}

void start_extrapolation(ExtrapolationDialog& dialog, const std::string& window_text) {
  dialog.problem.clear();
  dialog.task.reset();
  dialog.curves = {};
  dialog.task = std::make_unique<BackgroundTask<LengthCurves>>(
      [names = dialog.models, file = dialog.text_file, window_text,
       lengths = doubling_lengths(std::min(dialog.first, dialog.last),
                                  std::max(dialog.first, dialog.last))](
          BackgroundTask<LengthCurves>& task) {
        const std::string text = file.empty() ? window_text : read_file(file);
        std::vector<std::shared_ptr<const Checkpoint>> models;
        for (const std::string& name : names) models.push_back(model_store()->checkpoint(name));
        return evaluate_lengths(
            models, {text}, lengths, {},
            [&](const LengthCurves& partial, double fraction) { task.publish(partial, fraction); });
      });
}

bool take_extrapolation_results(ExtrapolationDialog& dialog) {
  return take_results(dialog.task, dialog.curves, dialog.problem);
}

TaskKind extrapolation_tasks() {
  return {
      .update =
          [](State& state) { return take_extrapolation_results(state.dialogs.extrapolation); },
      .tasks =
          [](State& state) { return std::vector<Task*>{state.dialogs.extrapolation.task.get()}; }};
}

std::string save_extrapolation(ExtrapolationDialog& dialog, bool dark) {
  return save_result(dialog, [&](const std::filesystem::path& path) {
    if (path.extension() == ".csv") return write_file(path, to_csv(dialog.curves));
    if (path.extension() == ".json") {
      return write_file(path, to_json(dialog.curves).dump(2) + "\n");
    }
    const Theme& theme = dark ? Theme::dark() : Theme::light();
    write_picture(path,
                  extrapolation_picture(dialog.curves, kFigureWidth, kFigureHeight, theme,
                                        file_text_measure()),
                  kFigureScale, {{"Title", "bits per byte by window length"}});
  });
}

void draw_extrapolation_dialog(Ui& ui, State& state, Painter& painter) {
  ExtrapolationDialog& dialog = state.dialogs.extrapolation;
  // The dialog is hidden while the file browser selects its text.
  const bool is_browsing =
      state.dialogs.browser.open && state.dialogs.browser.purpose == BrowsePurpose::LengthsText;
  bool open = dialog.open && !is_browsing;
  const bool was_open = open;
  if (!begin_dialog(ui, "Bits per byte by length", open, kExtrapolationWidth,
                    kExtrapolationHeight)) {
    if (was_open) dialog.open = false;
    return;
  }
  if (!open) dialog.open = false;
  ImGui::BeginChild("request", {ui.px(kModelsWidth), 0});
  draw_request(ui, state, dialog);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(18));
  ImGui::BeginChild("result", {0, 0});
  const float footer = ImGui::GetFrameHeight() + ui.px(26);
  draw_picture(ui, dialog, painter, ImGui::GetContentRegionAvail().y - footer);
  if (dialog.task != nullptr) {
    ImGui::ProgressBar(static_cast<float>(dialog.task->fraction()), {-1, ui.px(6)}, "");
    mark(ui, "lengths.progress");
  } else {
    ImGui::Dummy({0, ui.px(6)});
  }
  draw_result_file(
      ui, state, dialog, "lengths", "PNG, SVG or PDF; or CSV or JSON with all numbers.",
      !dialog.curves.series.empty(), [&] { return save_extrapolation(dialog, ui.look->dark); });
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
