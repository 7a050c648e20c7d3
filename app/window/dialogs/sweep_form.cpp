#include "app/window/dialogs/sweep_form.h"

#include <algorithm>

#include "app/window/dialogs/study_job.h"
#include "app/window/state.h"
#include "app/window/widgets/text_field.h"
#include "core/figure/plain_text.h"

namespace attnscope::window {
namespace {

constexpr double kSweepLabelColumn = 96, kSweepFieldWidth = 380, kBrowseWidth = 92;  // units

float sweep_field_width(const Ui& ui) {
  return std::min(ui.px(kSweepFieldWidth), ImGui::GetContentRegionAvail().x);
}

void sweep_label(const Ui& ui, const char* label, double beside = 0) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  ImGui::SameLine(ui.px(kSweepLabelColumn));
  ImGui::SetNextItemWidth(std::max(ui.px(40), sweep_field_width(ui) - ui.px(beside)));
}

void draw_parameter(Ui& ui, SweepForm& form) {
  sweep_label(ui, "Parameter");
  const std::string current = form.sweep.parameter.label();
  if (begin_combo(ui, "##parameter", current, ImGuiComboFlags_HeightLarge)) {
    for (std::size_t n = 0; n < form.parameters.size(); ++n) {
      const SweepParameter& entry = form.parameters[n];
      ImGui::PushID(static_cast<int>(n));
      if (list_row(ui, entry.label(), entry.id == form.sweep.parameter.id)) {
        select_sweep_parameter(form, n);
      }
      hint(ui, entry.parameter.help);
      mark(ui, "sweep.parameter." + entry.id);
      ImGui::PopID();
    }
    ImGui::EndCombo();
  } else {
    mark(ui, "sweep.parameter");
    hint(ui, form.sweep.parameter.parameter.help);
  }
  sweep_label(ui, "Values");
  text_field(ui, form.sweep.values, "sweep.values", "64, 128, 256");
  const Parameter& parameter = form.sweep.parameter.parameter;
  hint(ui, "Separated by commas; each is " + expected_text(parameter) + ".");
}

const SweepMeasure& current_measure(const SweepForm& form) {
  const auto found = std::ranges::find(form.measures, form.sweep.measure, &SweepMeasure::id);
  return found != form.measures.end() ? *found : form.measures.front();
}

void draw_measure(Ui& ui, SweepForm& form) {
  constexpr double kHelpOffset = 210;
  const SweepMeasure& current = current_measure(form);
  sweep_label(ui, "Measure");
  if (begin_combo(ui, "##measure", current.id, ImGuiComboFlags_HeightLarge)) {
    for (const SweepMeasure& measure : form.measures) {
      const bool is_current = measure.id == form.sweep.measure;
      if (list_row(ui, measure.id, is_current, true, {measure.help, kHelpOffset})) {
        form.sweep.measure = measure.id;
        form.sweep.column = measure.columns.front();
      }
      mark(ui, "sweep.measure." + measure.id);
    }
    ImGui::EndCombo();
  } else {
    mark(ui, "sweep.measure");
    hint(ui, current.help);
  }
  if (current.columns.size() > 1) {
    sweep_label(ui, "Quantity");
    if (begin_combo(ui, "##column", form.sweep.column, ImGuiComboFlags_HeightLargest)) {
      for (const std::string& column : current.columns) {
        if (list_row(ui, column, column == form.sweep.column)) form.sweep.column = column;
        mark(ui, "sweep.column." + column);
      }
      ImGui::EndCombo();
    } else {
      mark(ui, "sweep.column");
    }
  }
}

void draw_text_of_measure(Ui& ui, State& state, SweepForm& form) {
  if (!current_measure(form).reads_text) return;
  sweep_label(ui, "Text", kBrowseWidth + 8);
  text_field(ui, form.sweep.text_file, "sweep.text", "assets/texts/mill.txt");
  hint(ui, "A text file that the model was not trained on.");
  ImGui::SameLine();
  if (button(ui, "Browse…", "sweep.browse_text", false, ui.px(kBrowseWidth))) {
    browse(state, BrowsePurpose::SweepText);
  }
}

void draw_definition_file(Ui& ui, State& state, SweepForm& form) {
  sweep_label(ui, "Save as", kBrowseWidth + 8);
  if (text_field(ui, form.path, "sweep.path", "sweep.json")) form.overwrite_path.clear();
  hint(ui, "The definition, as attnscope experiment reads it.");
  ImGui::SameLine();
  if (button(ui, "Browse…", "sweep.browse", false, ui.px(kBrowseWidth))) {
    browse(state, BrowsePurpose::SweepFile);
  }
}

}  // namespace

void draw_sweep_form(Ui& ui, State& state) {
  StudyDialog& dialog = state.dialogs.study;
  SweepForm& form = dialog.sweep;
  heading(ui, "Sweep this session", true);
  faint(ui,
        "Writes an experiment that runs the session of the window once for each value of a "
        "parameter, and selects it in the list.");
  ImGui::Dummy({0, ui.px(4)});
  draw_parameter(ui, form);
  if (form.sweep.parameter.id.starts_with("model.")) {
    faint(ui, "Trains the model from scratch for each value.");
  }
  draw_measure(ui, form);
  draw_text_of_measure(ui, state, form);
  draw_definition_file(ui, state, form);
  ImGui::Dummy({0, ui.px(4)});
  const bool replaces = !form.path.empty() && form.overwrite_path == form.path;
  if (button(ui, replaces ? "Replace" : "Save", "sweep.save", true, ui.px(110))) {
    const std::string notice = save_sweep(dialog);
    if (!notice.empty()) state.notify(notice);
  }
  ImGui::SameLine();
  if (button(ui, "Cancel", "sweep.cancel", false, ui.px(110))) form.open = false;
  const std::string message =
      replaces ? "This file exists. Click again to replace it." : form.problem;
  if (message.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, replaces ? ui.look->warning : ui.look->error);
  paragraph(ui, message);
  ImGui::PopStyleColor();
}

}  // namespace attnscope::window
