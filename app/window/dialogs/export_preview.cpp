#include "app/window/dialogs/export_preview.h"

#include <algorithm>
#include <cmath>

#include "app/window/error_text.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"

namespace attnscope::window {
namespace {

// Reason why there is no preview. Weights that a run does not keep are computed only for the file.
std::string preview_refusal(const RunState& run) {
  if (run.trace == nullptr) return "There is nothing to export.";
  const auto stores_map = [](const AttentionTap& tap) { return tap.stores_map(); };
  if (!std::ranges::all_of(run.trace->attention, stores_map)) {
    return "For a text of this length, the map is computed when the file is written.";
  }
  return "";
}

void lay_out(const State& state, ExportPreview& preview, const PictureOptions& options) {
  const SharedSession session = state.shown_session();
  const Findings findings = state.run.all_findings();
  if (preview.trace == state.run.trace && preview.session == session &&
      preview.options == options && preview.findings == findings) {
    return;
  }
  preview.trace = state.run.trace;
  preview.session = session;
  preview.options = options;
  preview.findings = findings;
  preview.list = {};
  preview.problem = preview_refusal(state.run);
  if (!preview.problem.empty()) return;
  try {
    preview.list = lay_out_picture(*state.run.trace, *session, options, findings);
  } catch (const std::exception& e) {
    preview.problem = error_text(e);
  }
}

// Checkerboard behind transparent pictures, as in drawing programs.
void draw_background(Ui& ui, ImVec2 origin, ImVec2 end, const PictureOptions& options) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const Theme& theme = options.dark ? Theme::dark() : Theme::light();
  const Colour& paper = theme.background;
  draw.AddRectFilled(origin, end, IM_COL32(paper.r, paper.g, paper.b, 255));
  if (options.transparent) {
    const float side = ui.px(8);
    const ImU32 shade = IM_COL32(128, 128, 128, 60);
    const ImVec2 min(std::max(origin.x, ImGui::GetWindowPos().x),
                     std::max(origin.y, ImGui::GetWindowPos().y));
    const ImVec2 max(std::min(end.x, ImGui::GetWindowPos().x + ImGui::GetWindowWidth()),
                     std::min(end.y, ImGui::GetWindowPos().y + ImGui::GetWindowHeight()));
    const auto square_at = [&](float begin, float edge) {
      return static_cast<int>(std::floor((edge - begin) / side));
    };
    for (int y = square_at(origin.y, min.y); origin.y + static_cast<float>(y) * side < max.y; ++y) {
      for (int x = square_at(origin.x, min.x); origin.x + static_cast<float>(x) * side < max.x;
           ++x) {
        if ((y + x) % 2 == 0) continue;
        const ImVec2 corner(origin.x + static_cast<float>(x) * side,
                            origin.y + static_cast<float>(y) * side);
        draw.AddRectFilled(
            corner, {std::min(corner.x + side, end.x), std::min(corner.y + side, end.y)}, shade);
      }
    }
  }
  draw.AddRect({origin.x - 1, origin.y - 1}, {end.x + 1, end.y + 1}, packed(ui.look->line));
}

std::string size_text(const DisplayList& list) {
  const auto inches = [](double units) { return brief(units / PictureOptions::kUnitsPerInch, 3); };
  return inches(list.width) + " × " + inches(list.height) + " inches";
}

}  // namespace

void draw_export_preview(Ui& ui, State& state, Painter& painter, float width, float height) {
  ExportPreview& preview = state.dialogs.exporting.preview;
  lay_out(state, preview, state.dialogs.exporting.picture);
  ImGui::BeginChild("preview", {width, height});
  const float footer = ImGui::GetFrameHeightWithSpacing();
  const DisplayList& list = preview.list;
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->raised);
  ImGui::BeginChild("paper", {width, height - footer}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 area = ImGui::GetContentRegionAvail();
  if (!preview.problem.empty() || !(list.width > 0) || !(list.height > 0)) {
    const float wrap_width = std::min(area.x - ui.px(40), ui.px(280));
    const std::string problem = on_screen(preview.problem);
    const ImVec2 extent = ImGui::CalcTextSize(problem.c_str(), nullptr, false, wrap_width);
    ImGui::SetCursorPos({(area.x - extent.x) / 2, (area.y - extent.y) / 2});
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + wrap_width);
    ImGui::TextColored(ui.look->faint, "%s", problem.c_str());
    ImGui::PopTextWrapPos();
  } else {
    const double margin = 10 * ui.scale;
    const double fitted_scale = std::min((static_cast<double>(area.x) - 2 * margin) / list.width,
                                         (static_cast<double>(area.y) - 2 * margin) / list.height);
    const double scale = preview.is_fitted ? std::min(fitted_scale, ui.scale) : ui.scale;
    const ImVec2 size(static_cast<float>(list.width * scale),
                      static_cast<float>(list.height * scale));
    const auto pixel_margin = static_cast<float>(margin);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 origin(std::round(corner.x + std::max(pixel_margin, (area.x - size.x) / 2)),
                        std::round(corner.y + std::max(pixel_margin, (area.y - size.y) / 2)));
    draw_background(ui, origin, {origin.x + size.x, origin.y + size.y},
                    state.dialogs.exporting.picture);
    painter.paint(list, *ImGui::GetWindowDrawList(), origin, scale, ui.fonts);
    ImGui::Dummy({size.x + 2 * pixel_margin, size.y + 2 * pixel_margin});
  }
  ImGui::EndChild();
  mark(ui, "export.preview");
  ImGui::PopStyleColor();
  ImGui::BeginChild("how", {ui.px(210), ImGui::GetFrameHeight()});
  const int clicked = segments(
      ui, "export.preview.size",
      {{"True size", "Size in print, if the screen has 96 dots per inch times its scale.", "true"},
       {"Whole", "Reduced to fit, if necessary.", "whole"}},
      preview.is_fitted ? 1 : 0);
  if (clicked >= 0) preview.is_fitted = clicked == 1;
  ImGui::EndChild();
  if (list.width > 0) {
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(ui.look->faint, "%s", size_text(list).c_str());
  }
  ImGui::EndChild();
}

}  // namespace attnscope::window
