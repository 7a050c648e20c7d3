// App::write_report(): the window's contents and state as JSON, for programs that control it.
#include <imgui.h>

#include "app/window/app.h"
#include "core/base/json.h"
#include "core/experiment/head_table.h"
#include "core/view/session_file.h"

namespace attnscope::window {

void App::write_report() {
  is_report_due_ = false;
  if (!ui_.report.is_on()) return;
  Json facts = {{"frames", frames_},
                {"stale_pixels", stale_pixels_},
                {"window", {ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y}},
                {"pointer", {ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y}},
                {"busy", runner_->busy()},
                {"error", state_.run.error},
                {"experiment", to_json(*state_.session)},
                {"pending", state_.view.pending},
                {"progress", state_.run.progress.stage},
                {"preview_of", state_.run.preview_of_tokens},
                {"layers_of", state_.run.preview_of_layers},
                {"has_trace", state_.run.trace != nullptr}};
  if (state_.run.trace != nullptr) {
    facts["tokens"] = state_.run.trace->tokens.size();
    facts["backend"] = state_.run.trace->backend;
    facts["notes"] = state_.run.trace->notes;
    facts["has_lens"] = state_.run.findings.has(Findings::lens.id);
    facts["current"] = state_.is_current();
  }
  if (state_.lesson.lesson != nullptr) {
    facts["lesson"] = state_.lesson.lesson->id;
    facts["lesson_step"] = state_.lesson.step;
    if (ui_.fonts.has_lecture()) facts["lecture_text"] = kMinLectureSize * ui_.scale;
    std::size_t pictures = 0;
    for (std::size_t i = 0; i < state_.lesson.lesson->steps.size(); ++i) {
      if (panels_.steps->texture(i) != 0) ++pictures;
    }
    facts["lesson_pictures"] = pictures;
    facts["lesson_more_below"] = state_.lesson.scroll.has_more_below;
  }
  facts["tour"] = state_.tour.is_on ? static_cast<int>(state_.tour.move) : -1;
  facts["simple"] = state_.settings.simple;
  facts["presenting"] = state_.presentation.is_on;
  facts["black"] = state_.presentation.is_black;
  facts["speaker"] = speaker_ != nullptr;
  facts["scale"] = ui_.scale;
  if (const auto heads = state_.run.background_findings.get(Findings::heads)) {
    facts["measured_texts"] = heads->texts;
  }
  if (state_.dialogs.browser.open) facts["browser_problem"] = state_.dialogs.browser.problem;
  if (state_.dialogs.exporting.open) {
    facts["export_path"] = state_.dialogs.exporting.path;
    facts["export_problem"] = state_.dialogs.exporting.problem;
    facts["export_asks"] = !state_.dialogs.exporting.overwrite_path.empty();
  }
  if (state_.dialogs.cost.open) {
    Index points = 0;
    for (const CostSeries& series : state_.dialogs.cost.curves.series) {
      points += static_cast<Index>(series.points.size());
    }
    facts["cost_points"] = points;
    facts["cost_is_running"] = state_.dialogs.cost.task != nullptr;
    facts["cost_problem"] = state_.dialogs.cost.problem;
    facts["cost_asks"] = !state_.dialogs.cost.overwrite_path.empty();
  }
  if (state_.dialogs.calibration.open) {
    facts["calibration_is_running"] = state_.dialogs.calibration.task != nullptr;
    facts["calibration_text"] = state_.dialogs.calibration.text_file;
    facts["calibration_problem"] = state_.dialogs.calibration.problem;
    facts["calibration_points"] = state_.dialogs.calibration.calibration
                                      ? state_.dialogs.calibration.calibration->points.size()
                                      : 0;
  }
  if (state_.dialogs.extrapolation.open) {
    Index points = 0;
    for (const LengthSeries& series : state_.dialogs.extrapolation.curves.series) {
      points += static_cast<Index>(series.points.size());
    }
    facts["lengths_points"] = points;
    facts["lengths_is_running"] = state_.dialogs.extrapolation.task != nullptr;
    facts["lengths_problem"] = state_.dialogs.extrapolation.problem;
  }
  const TrainingDialog& training = state_.dialogs.training;
  if (!training.folder.empty()) {
    facts["training_is_running"] = training.task != nullptr;
    facts["training_steps"] = training.curve.rows.size();
  }
  if (training.open) facts["training_problem"] = training.problem;
  if (const StudyDialog& study = state_.dialogs.study; study.open) {
    facts["experiment_id"] = study.study != nullptr ? study.study->id : "";
    facts["experiment_points"] = study.run.finished;
    facts["experiment_is_running"] = study.task != nullptr;
    facts["experiment_problem"] = study.run_problem;
    facts["experiment_conclusion"] = study.study != nullptr && study.run.is_complete()
                                         ? conclusion(*study.study, study.run.rows)
                                         : "";
    facts["sweep_problem"] = study.sweep.problem;
  }
  facts["notices"] = Json::array();
  for (const Notice& notice : state_.notices) facts["notices"].push_back(notice.text);
  ui_.report.write(std::move(facts));
}

}  // namespace attnscope::window
