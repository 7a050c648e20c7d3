#include "app/window/dialogs/export_preview.h"

#include <algorithm>
#include <cmath>

#include "app/window/error_text.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"

namespace attnscope::window {
namespace {

// Reason for a missing preview: weights that were not kept are only computed for the file.
std::string refusal(const RunState& run) {
  if (run.trace == nullptr) return "There is nothing to export.";
  const auto kept = [](const AttentionTap& tap) { return tap.is_kept(); };
  if (!std::ranges::all_of(run.trace->attention, kept)) {
    return "For a text of this length, the map is computed when the file is written.";
  }
  return "";
}

void lay_out(const State& state, ExportPreview& preview, const PictureOptions& options) {
  const SharedSession session = state.shown_session();
  const Findings findings = state.run.all_findings();
  if (preview.of == state.run.trace && preview.session == session && preview.options == options &&
      preview.findings == findings) {
    return;
  }
  preview.of = state.run.trace;
  preview.session = session;
  preview.options = options;
  preview.findings = findings;
  preview.list = {};
  preview.problem = refusal(state.run);
  if (!preview.problem.empty()) return;
  try {
    preview.list = lay_out_picture(*state.run.trace, *session, options, findings);
  } catch (const std::exception& e) {
    preview.problem = error_text(e);
  }
}

// Checkerboard behind transparent pictures, as in drawing programs.
void draw_ground(Ui& ui, ImVec2 at, ImVec2 end, const PictureOptions& options) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const Theme& theme = options.dark ? Theme::dark() : Theme::light();
  const Colour& c = theme.background;
  draw.AddRectFilled(at, end, IM_COL32(c.r, c.g, c.b, 255));
  if (options.transparent) {
    const float side = ui.px(8);
    const ImU32 shade = IM_COL32(128, 128, 128, 60);
    const ImVec2 least(std::max(at.x, ImGui::GetWindowPos().x),
                       std::max(at.y, ImGui::GetWindowPos().y));
    const ImVec2 most(std::min(end.x, ImGui::GetWindowPos().x + ImGui::GetWindowWidth()),
                      std::min(end.y, ImGui::GetWindowPos().y + ImGui::GetWindowHeight()));
    const auto first = [&](float from, float seen) {
      return static_cast<int>(std::floor((seen - from) / side));
    };
    for (int row = first(at.y, least.y); at.y + static_cast<float>(row) * side < most.y; ++row) {
      for (int c = first(at.x, least.x); at.x + static_cast<float>(c) * side < most.x; ++c) {
        if ((row + c) % 2 == 0) continue;
        const ImVec2 corner(at.x + static_cast<float>(c) * side,
                            at.y + static_cast<float>(row) * side);
        draw.AddRectFilled(
            corner, {std::min(corner.x + side, end.x), std::min(corner.y + side, end.y)}, shade);
      }
    }
  }
  draw.AddRect({at.x - 1, at.y - 1}, {end.x + 1, end.y + 1}, packed(ui.look->line));
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
  const float foot = ImGui::GetFrameHeightWithSpacing();
  const DisplayList& list = preview.list;
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->raised);
  ImGui::BeginChild("paper", {width, height - foot}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (!preview.problem.empty() || !(list.width > 0) || !(list.height > 0)) {
    const float wrap = std::min(room.x - ui.px(40), ui.px(280));
    const std::string words = on_screen(preview.problem);
    const ImVec2 extent = ImGui::CalcTextSize(words.c_str(), nullptr, false, wrap);
    ImGui::SetCursorPos({(room.x - extent.x) / 2, (room.y - extent.y) / 2});
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + wrap);
    ImGui::TextColored(ui.look->faint, "%s", words.c_str());
    ImGui::PopTextWrapPos();
  } else {
    const double margin = 10 * ui.scale;
    const double fitting = std::min((static_cast<double>(room.x) - 2 * margin) / list.width,
                                    (static_cast<double>(room.y) - 2 * margin) / list.height);
    const double scale = preview.whole ? std::min(fitting, ui.scale) : ui.scale;
    const ImVec2 size(static_cast<float>(list.width * scale),
                      static_cast<float>(list.height * scale));
    const auto edge = static_cast<float>(margin);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 at(std::round(corner.x + std::max(edge, (room.x - size.x) / 2)),
                    std::round(corner.y + std::max(edge, (room.y - size.y) / 2)));
    draw_ground(ui, at, {at.x + size.x, at.y + size.y}, state.dialogs.exporting.picture);
    painter.paint(list, *ImGui::GetWindowDrawList(), at, scale, ui.fonts);
    ImGui::Dummy({size.x + 2 * edge, size.y + 2 * edge});
  }
  ImGui::EndChild();
  mark(ui, "export.preview");
  ImGui::PopStyleColor();
  ImGui::BeginChild("how", {ui.px(210), ImGui::GetFrameHeight()});
  const int clicked = segments(
      ui, "export.preview.size",
      {{"True size", "As in print, on a screen with 96 dots per inch times its scale.", "true"},
       {"Whole", "Reduced to fit, if necessary.", "whole"}},
      preview.whole ? 1 : 0);
  if (clicked >= 0) preview.whole = clicked == 1;
  ImGui::EndChild();
  if (list.width > 0) {
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(ui.look->faint, "%s", size_text(list).c_str());
  }
  ImGui::EndChild();
}

}  // namespace attnscope::window
