// Dialog that runs experiments and draws their results point by point.
#include <algorithm>

#include "app/window/dialogs/dialogs.h"
#include "app/window/dialogs/study_job.h"
#include "app/window/dialogs/sweep_form.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/text_field.h"
#include "core/figure/plain_text.h"
#include "core/study/study_picture.h"

namespace attnscope::window {
namespace {

constexpr double kStudyWidth = 1180, kStudyHeight = 720, kStudyListWidth = 380;  // units
constexpr double kStudyListShare = 0.42;  // of the dialog, at most
constexpr double kMinPictureHeight = 168;
constexpr double kChartWidth = 400, kChartHeight = 260;  // a smaller picture is scaled down
constexpr double kReportShare = 0.36;                    // of the height below the list, at most

std::string source_line(const StudyEntry& entry) {
  if (entry.minutes <= 0) return entry.source;
  return brief(entry.minutes, 3) + " min · " + entry.source;
}

// Draws one entry; true if it was clicked.
bool draw_entry(Ui& ui, const StudyEntry& entry, bool is_selected) {
  const ImVec2 origin = ImGui::GetCursorPos();
  const float margin = ui.px(8), width = ImGui::GetContentRegionAvail().x - 2 * margin;
  const auto measured = [&](ImFont* font, const std::string& text) {
    ImGui::PushFont(font);
    std::string lines = text.empty() ? "" : wrapped(text, width);
    const float height = text.empty() ? 0 : ImGui::CalcTextSize(lines.c_str()).y + ui.px(2);
    ImGui::PopFont();
    return std::pair(std::move(lines), height);
  };
  const auto [title, title_height] = measured(ui.fonts.bold, entry.title);
  const auto [claim, claim_height] =
      measured(ui.fonts.small, entry.problem.empty() ? entry.claim : entry.problem);
  const auto [source, source_height] = measured(ui.fonts.small, source_line(entry));
  const float height = title_height + claim_height + source_height + 2 * margin;
  const bool is_clicked = ImGui::Selectable("##entry", is_selected, 0, {0, height});
  mark(ui, "experiment.entry." + entry.id);
  float y = origin.y + margin;
  const auto draw_lines = [&](ImFont* font, const ImVec4& colour, const std::string& lines,
                              float lines_height) {
    if (lines.empty()) return;
    ImGui::SetCursorPos({origin.x + margin, y});
    ImGui::PushFont(font);
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(lines.c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    y += lines_height;
  };
  draw_lines(ui.fonts.bold, ui.look->text, title, title_height);
  draw_lines(ui.fonts.small, entry.problem.empty() ? ui.look->text : ui.look->error, claim,
             claim_height);
  draw_lines(ui.fonts.small, ui.look->faint, source, source_height);
  ImGui::SetCursorPos({origin.x, origin.y + height + ui.px(4)});
  ImGui::Dummy({0, 0});
  return is_clicked;
}

void draw_entries(Ui& ui, StudyDialog& dialog, float height) {
  ImGui::BeginChild("entries", {0, height});
  std::string clicked;
  // A selection by another way, such as a saved sweep, scrolls into view.
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID shown = ImGui::GetID("shown");
  const int selected = static_cast<int>(ImGui::GetID(dialog.selected.c_str()));
  const bool is_new = storage.GetInt(shown) != selected;
  storage.SetInt(shown, selected);
  for (const StudyEntry& entry : dialog.entries) {
    ImGui::PushID(entry.file.c_str());
    const bool is_selected = entry.file == dialog.selected;
    if (draw_entry(ui, entry, is_selected)) clicked = entry.file;
    if (is_selected && is_new && !ImGui::IsItemVisible()) ImGui::SetScrollHereY(1);
    ImGui::PopID();
  }
  ImGui::EndChild();
  if (clicked.empty()) return;
  dialog.sweep.open = false;
  if (clicked != dialog.selected) select_study(dialog, clicked, dialog.quick);
}

void draw_new_definitions(Ui& ui, State& state) {
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float half = (ImGui::GetContentRegionAvail().x - gap) / 2;
  if (button(ui, "Open…", "experiment.open", false, half)) {
    browse(state, BrowsePurpose::OpenStudy);
  }
  hint(ui, "A definition (JSON), as attnscope experiment reads it.");
  ImGui::SameLine(0, gap);
  if (button(ui, "Sweep this…", "experiment.sweep", false, half)) open_sweep_form(state);
  hint(ui, "Vary one parameter of the session in the window.");
}

void draw_run_settings(Ui& ui, StudyDialog& dialog) {
  const auto entry = std::ranges::find(dialog.entries, dialog.selected, &StudyEntry::file);
  const bool has_quick = entry != dialog.entries.end() && entry->has_quick;
  const int clicked = segments(
      ui, "experiment.length",
      {{"Quick", "Fewer steps and values: a first look.", "quick",
        has_quick && dialog.task == nullptr},
       {"Full", "All steps and values of the definition.", "full", dialog.task == nullptr}},
      dialog.quick && has_quick ? 0 : 1);
  if (clicked >= 0 && has_quick) select_study(dialog, dialog.selected, clicked == 0);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("Results");
  ImGui::SameLine(ui.px(70));
  ImGui::SetNextItemWidth(-1);
  if (text_field(ui, dialog.folder, "experiment.folder", "folder")) read_finished_points(dialog);
  hint(ui,
       "Folder of results.csv, figure.png, figure.svg, conclusion.txt and the trained models. "
       "Finished points are kept.");
}

void draw_start(Ui& ui, StudyDialog& dialog) {
  if (dialog.task != nullptr) {
    if (button(ui, "Cancel", "experiment.cancel", false, -1)) dialog.task->cancel();
    hint(ui, "Finished points and the running training are kept; Continue resumes.");
    return;
  }
  const bool is_complete = dialog.run.points > 0 && dialog.run.finished == dialog.run.points;
  const bool can_start = dialog.study != nullptr && !dialog.folder.empty() && !is_complete;
  ImGui::BeginDisabled(!can_start);
  const bool continues = dialog.run.finished > 0;
  const char* label = is_complete ? "Finished" : continues ? "Continue" : "Start";
  if (button(ui, label, "experiment.start", true, -1)) {
    dialog.sweep.open = false;
    start_study(dialog);
  }
  ImGui::EndDisabled();
  hint(ui, is_complete ? "All points are finished. Another folder runs them again."
                       : "Runs in the background, also while this dialog is closed.");
}

// Text below the picture: the running point, or the conclusion.
std::string report_text(const StudyDialog& dialog) {
  const StudyRun& run = dialog.run;
  const std::string count = " of " + std::to_string(run.points);
  if (dialog.task != nullptr) {
    if (run.label.empty()) return "Starting.";
    return "Point " + std::to_string(run.finished + run.problems.size() + 1) + count + ": " +
           run.label;
  }
  if (dialog.study == nullptr) return "";
  if (run.is_complete()) {
    return dialog.study->comparisons.empty() ? "" : conclusion(*dialog.study, run.rows);
  }
  if (run.finished == 0) return "";
  return std::to_string(run.finished) + count + " points are finished. Continue runs the others.";
}

std::string problem_text(const StudyDialog& dialog) {
  std::string text = dialog.run_problem;
  for (const std::string& problem : dialog.run.problems) {
    text += (text.empty() ? "" : "\n") + ("No result: " + problem);
  }
  return text;
}

void draw_study_picture(Ui& ui, StudyDialog& dialog, Painter& painter, float height) {
  ImGui::BeginChild("picture", {0, height});
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (dialog.study == nullptr || dialog.run.rows.empty()) {
    const std::string message =
        dialog.task != nullptr
            ? "Running the first point."
            : "Choose an experiment on the left, then press Start: its curve appears here point by "
              "point, then a sentence that compares it with the claim.";
    draw_empty_result(ui, origin, size, message);
  } else if (!draw_too_small_result(ui, origin, size)) {
    // The claim is in the list, and the conclusion is below.
    Study study = *dialog.study;
    study.claim.clear();
    study.comparisons.clear();
    const double width = static_cast<double>(size.x), height_below = static_cast<double>(size.y);
    const double scale = std::min({ui.scale, width / kChartWidth, height_below / kChartHeight});
    const ScreenMeasure measure(ui.fonts, scale);
    dialog.picture = study_picture(study, dialog.run.rows, width / scale, height_below / scale,
                                   ui.look->theme(), measure);
    painter.paint(dialog.picture, *ImGui::GetWindowDrawList(), origin, scale, ui.fonts);
    const auto pixels = static_cast<float>(dialog.picture.height * scale);
    ImGui::Dummy({1, std::max(1.0F, pixels - ui.px(1))});
  }
  ImGui::EndChild();
  mark(ui, "experiment.picture");
}

void draw_study_result(Ui& ui, State& state, StudyDialog& dialog, Painter& painter) {
  const ImVec2 available = ImGui::GetContentRegionAvail();
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  const float footer = ImGui::GetFrameHeight() + ui.px(10) + 3 * gap;
  const std::string report = report_text(dialog), problem = problem_text(dialog);
  const float width = available.x - ImGui::GetStyle().ScrollbarSize;
  float report_height = 0;
  for (const std::string& text : {report, problem}) {
    if (!text.empty()) {
      report_height += ImGui::CalcTextSize(wrapped(text, width).c_str()).y + ui.px(8);
    }
  }
  // Leaves room for the picture, or else for three lines; the text scrolls.
  const float beside_picture =
      std::max(available.y - footer - ui.px(kMinPictureHeight), 3 * ImGui::GetTextLineHeight());
  report_height =
      std::min({report_height, static_cast<float>(kReportShare) * available.y, beside_picture});
  const float text_height = report_height > 0 ? report_height + gap : 0;
  draw_study_picture(ui, dialog, painter, std::max(ui.px(20), available.y - footer - text_height));
  if (dialog.task != nullptr) {
    ImGui::ProgressBar(static_cast<float>(dialog.task->fraction()), {-1, ui.px(6)}, "");
    mark(ui, "experiment.progress");
  } else {
    ImGui::Dummy({0, ui.px(6)});
  }
  if (report_height > 0) {
    ImGui::BeginChild("report", {0, report_height});
    if (!report.empty()) paragraph(ui, report);
    if (!problem.empty()) {
      ImGui::PushStyleColor(ImGuiCol_Text, ui.look->warning);
      paragraph(ui, problem);
      ImGui::PopStyleColor();
    }
    ImGui::EndChild();
    mark(ui, "experiment.report");
  }
  draw_result_file(ui, state, dialog, "experiment", "PNG, SVG or PDF; or CSV with all numbers.",
                   dialog.study != nullptr && !dialog.run.rows.empty(),
                   [&] { return save_study(dialog, ui.look->dark); });
}

bool browses_for_study(const FileBrowser& browser) {
  return browser.open && (browser.purpose == BrowsePurpose::OpenStudy ||
                          browser.purpose == BrowsePurpose::SweepText ||
                          browser.purpose == BrowsePurpose::SweepFile);
}

}  // namespace

void draw_study_dialog(Ui& ui, State& state, Painter& painter) {
  StudyDialog& dialog = state.dialogs.study;
  // The dialog is hidden while the file browser selects one of its files.
  bool open = dialog.open && !browses_for_study(state.dialogs.browser);
  const bool was_open = open;
  const bool is_drawn = begin_dialog(ui, "Experiment", open, kStudyWidth, kStudyHeight);
  if (was_open && !open) dialog.open = false;
  if (!is_drawn) return;
  const float list_width = std::min(ui.px(kStudyListWidth), static_cast<float>(kStudyListShare) *
                                                                ImGui::GetContentRegionAvail().x);
  ImGui::BeginChild("definitions", {list_width, 0});
  const float row = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
  ImGui::BeginDisabled(dialog.task != nullptr);
  draw_entries(ui, dialog, ImGui::GetContentRegionAvail().y - 4 * row - ui.px(4));
  draw_new_definitions(ui, state);
  draw_run_settings(ui, dialog);
  ImGui::EndDisabled();
  draw_start(ui, dialog);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(18));
  ImGui::BeginChild("result", {0, 0});
  if (dialog.sweep.open) {
    draw_sweep_form(ui, state);
  } else {
    draw_study_result(ui, state, dialog, painter);
  }
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
