#include "app/window/dialogs/cost_dialog.h"

#include <algorithm>
#include <filesystem>

#include "app/window/dialogs/dialogs.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/widgets/painter.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"

namespace attnscope::window {
namespace {

constexpr double kWidth = 1160, kHeight = 700, kCostRequestWidth = 236;  // units
constexpr Index kMaxCostLength = Index{1} << 17;                         // tokens
constexpr double kPictureScale = 2;                                      // pixels per unit of a PNG

bool is_selected(const CostDialog& dialog, const std::string& id) {
  return std::ranges::find(dialog.variants, id) != dialog.variants.end();
}

void draw_variants(Ui& ui, CostDialog& dialog) {
  ImGui::BeginChild("variants", {0, -ui.px(142)});
  std::string group;
  for (const Variant& v : variants()) {
    if (v.group != group) {
      group = v.group;
      ImGui::Spacing();
      ImGui::PushFont(ui.fonts.small);
      ImGui::TextDisabled("%s", group.c_str());
      ImGui::PopFont();
    }
    const std::string refusal = cost_refusal(v);
    ImGui::BeginDisabled(!refusal.empty());
    bool is_checked = is_selected(dialog, v.id);
    if (ImGui::Checkbox((v.label + "##" + v.id).c_str(), &is_checked)) {
      if (is_checked) {
        dialog.variants.push_back(v.id);
      } else {
        std::erase(dialog.variants, v.id);
      }
    }
    mark(ui, "cost.variant." + v.id);
    ImGui::EndDisabled();
    hint(ui, refusal.empty() ? v.summary + "\nGrows as " + v.cost.growth.text() + "." : refusal);
  }
  ImGui::EndChild();
}

void draw_request(Ui& ui, CostDialog& dialog) {
  draw_variants(ui, dialog);
  draw_length(ui, "From", "cost.first", dialog.first, kMaxCostLength);
  draw_length(ui, "to", "cost.last", dialog.last, kMaxCostLength);
  hint(ui, "Lengths in tokens, each double the previous one.");
  ImGui::Checkbox("Causal", &dialog.causal);
  mark(ui, "cost.causal");
  hint(ui, "Mask later keys, in variants that support it.");
  ImGui::Dummy({0, ui.px(2)});
  if (dialog.task != nullptr) {
    if (button(ui, "Stop", "cost.stop", false, -1)) dialog.task->cancel();
    hint(ui, "Stop and keep the results");
    return;
  }
  ImGui::BeginDisabled(dialog.variants.empty());
  if (button(ui, "Measure", "cost.start", true, -1)) start_cost_measurement(dialog);
  ImGui::EndDisabled();
  hint(ui, dialog.variants.empty()
               ? "Choose at least one variant."
               : "Runs in the background: time and memory on this machine's processor. Lengths "
                 "that would take longer than 5 seconds are skipped.");
}

// Selects the plotted quantity and curves.
void draw_look(Ui& ui, CostDialog& dialog) {
  CostPlotOptions& look = dialog.look;
  ImGui::PushID("look");
  ImGui::BeginChild("quantities", {ui.px(300), ImGui::GetFrameHeight()});
  const int clicked = segments(ui, "cost.quantity",
                               {{"Time", "Seconds of one operation.", "time"},
                                {"Operations", "Multiply-adds, counted.", "operations"},
                                {"Memory", "Bytes of one operation.", "bytes"}},
                               static_cast<int>(look.quantity));
  if (clicked >= 0) look.quantity = static_cast<CostQuantity>(clicked);
  ImGui::EndChild();
  const bool is_counted = look.quantity == CostQuantity::Operations;
  ImGui::BeginDisabled(is_counted);
  ImGui::SameLine(0, ui.px(16));
  ImGui::Checkbox("Measured", &look.measured);
  mark(ui, "cost.measured");
  hint(ui, is_counted ? "Operations are counted." : "Measured on this machine.");
  ImGui::SameLine();
  ImGui::Checkbox("By formula", &look.formula);
  mark(ui, "cost.formula");
  hint(ui, is_counted
               ? "Operations are counted."
               : "Time: the operations at the speed of full attention. Memory: inputs, output "
                 "and one number per score.");
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::Checkbox("Papers' growth", &look.guides);
  mark(ui, "cost.guides");
  hint(ui,
       "Dotted lines with the growth stated in the variants' papers, through the longest length.");
  ImGui::PopID();
  if (!look.measured && !look.formula) look.measured = true;
}

void draw_picture(Ui& ui, CostDialog& dialog, Painter& painter, float height) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetContentRegionAvail().x, height);
  invisible_button("cost.picture", size);
  mark(ui, "cost.picture");
  const bool has_points = std::ranges::any_of(
      dialog.curves.series, [](const CostSeries& series) { return !series.points.empty(); });
  if (!has_points) {
    const std::string message = dialog.task != nullptr
                                    ? "Measuring the first lengths."
                                    : "Tick variants on the left, then press Measure: their time, "
                                      "operations and memory appear here, length by length.";
    draw_empty_result(ui, origin, size, message);
    return;
  }
  if (draw_too_small_result(ui, origin, size)) return;
  CostPlotOptions look = dialog.look;
  look.width = static_cast<double>(size.x) / ui.scale;
  look.height = static_cast<double>(size.y) / ui.scale;
  const ScreenMeasure measure(ui.fonts, ui.scale);
  dialog.picture = cost_plot(dialog.curves, look, ui.look->theme(), measure);
  painter.paint(dialog.picture, *ImGui::GetWindowDrawList(), origin, ui.scale, ui.fonts);
}

}  // namespace

CostRequest cost_request(const CostDialog& dialog) {
  CostRequest request;
  for (const Variant& variant : variants()) {  // in list order
    if (is_selected(dialog, variant.id)) {
      request.variants.push_back({{variant.id, default_values(variant.parameters)}, true});
    }
  }
  request.lengths =
      doubling_lengths(std::min(dialog.first, dialog.last), std::max(dialog.first, dialog.last));
  request.causal = dialog.causal;
  return request;
}

void start_cost_measurement(CostDialog& dialog) {
  dialog.problem.clear();
  dialog.task.reset();
  dialog.curves = {};
  dialog.task = std::make_unique<BackgroundTask<CostCurves>>(
      [request = cost_request(dialog)](BackgroundTask<CostCurves>& task) {
        const auto progress = [&](const CostCurves& partial, double fraction) {
          task.publish(partial, fraction);
        };
        return cost_curves(request, progress);
      });
}

bool take_cost_results(CostDialog& dialog) {
  return take_results(dialog.task, dialog.curves, dialog.problem);
}

TaskKind cost_tasks() {
  return {.update = [](State& state) { return take_cost_results(state.dialogs.cost); },
          .tasks = [](State& state) { return std::vector<Task*>{state.dialogs.cost.task.get()}; }};
}

std::string save_cost(CostDialog& dialog, bool dark) {
  return save_result(dialog, [&](const std::filesystem::path& path) {
    if (path.extension() == ".csv") return write_file(path, to_csv(dialog.curves));
    CostPlotOptions look = dialog.look;
    look.width = CostPlotOptions().width;
    look.height = CostPlotOptions().height;
    const Theme& theme = dark ? Theme::dark() : Theme::light();
    write_picture(path, cost_plot(dialog.curves, look, theme, file_text_measure()), kPictureScale,
                  {{"Title", "attention against the length"}});
  });
}

void draw_cost_dialog(Ui& ui, State& state, Painter& painter) {
  CostDialog& dialog = state.dialogs.cost;
  if (dialog.open && dialog.variants.empty()) {
    for (const CostVariant& v : default_cost_variants()) dialog.variants.push_back(v.choice.id);
  }
  if (!begin_dialog(ui, "Cost by length", dialog.open, kWidth, kHeight)) return;
  ImGui::BeginChild("request", {ui.px(kCostRequestWidth), 0});
  draw_request(ui, dialog);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(18));
  ImGui::BeginChild("result", {0, 0});
  draw_look(ui, dialog);
  const bool is_running = dialog.task != nullptr;
  const float save_height = ImGui::GetFrameHeight() + ui.px(12);
  const float bar_height = ui.px(14);
  draw_picture(ui, dialog, painter, ImGui::GetContentRegionAvail().y - save_height - bar_height);
  if (is_running) {
    ImGui::ProgressBar(static_cast<float>(dialog.task->fraction()), {-1, ui.px(6)}, "");
    mark(ui, "cost.progress");
  } else {
    ImGui::Dummy({0, ui.px(6)});
  }
  draw_result_file(ui, state, dialog, "cost", "PNG, SVG or PDF; or CSV with all numbers.",
                   !dialog.curves.series.empty(), [&] { return save_cost(dialog, ui.look->dark); });
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
