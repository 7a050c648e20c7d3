#include "app/window/dialogs/dialog_parts.h"

#include <algorithm>

#include "app/window/state.h"
#include "app/window/widgets/text_field.h"
#include "core/figure/plain_text.h"

namespace attnscope::window {

void draw_length(Ui& ui, const char* label, const char* id, Index& length, Index max_length) {
  constexpr Index kMinLength = 16;
  ImGui::PushID(id);
  ImGui::BeginGroup();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  ImGui::SameLine(ui.px(44));
  ImGui::SetNextItemWidth(ui.px(90));
  if (begin_combo(ui, "##length", grouped(length), ImGuiComboFlags_HeightLargest)) {
    for (Index n = kMinLength; n <= max_length; n *= 2) {
      if (list_row(ui, grouped(n), n == length)) length = n;
      mark(ui, std::string(id) + "." + std::to_string(n));
    }
    ImGui::EndCombo();
  } else {
    mark(ui, id);
  }
  ImGui::EndGroup();
  ImGui::PopID();
}

void draw_empty_result(Ui& ui, ImVec2 origin, ImVec2 size, const std::string& message) {
  const float width = std::min(ui.px(380), size.x);
  const ImVec2 extent = ImGui::CalcTextSize(message.c_str(), nullptr, false, width);
  ImGui::GetWindowDrawList()->AddText(
      ImGui::GetFont(), ImGui::GetFontSize(),
      {origin.x + (size.x - extent.x) / 2, origin.y + (size.y - extent.y) / 2},
      packed(ui.look->faint), message.c_str(), nullptr, width);
}

bool draw_too_small_result(Ui& ui, ImVec2 origin, ImVec2 size) {
  constexpr double min_width = 240, min_height = 160;  // units; titles and axes overlap below
  const auto scale = static_cast<double>(ui.scale);
  if (static_cast<double>(size.x) >= min_width * scale &&
      static_cast<double>(size.y) >= min_height * scale) {
    return false;
  }
  draw_empty_result(ui, origin, size, "Enlarge the window to see the curves.");
  return true;
}

std::string save_result(ResultFile& file,
                        const std::function<void(const std::filesystem::path&)>& write) {
  file.problem.clear();
  try {
    const std::filesystem::path path = file.path;
    const bool is_confirmed = file.overwrite_path == file.path;
    file.overwrite_path.clear();
    if (!is_confirmed && std::filesystem::exists(path)) {
      file.overwrite_path = file.path;
      return "";
    }
    write(path);
    return "Wrote " + std::filesystem::absolute(path).string() + ".";
  } catch (const std::exception& e) {
    file.problem = e.what();
    return "";
  }
}

void draw_result_file(Ui& ui, State& state, ResultFile& file, const std::string& id,
                      const char* formats, bool has_result,
                      const std::function<std::string()>& save) {
  ImGui::BeginDisabled(!has_result);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("File");
  ImGui::SameLine();
  const float room =
      ImGui::GetContentRegionAvail().x - ui.px(100) - ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetNextItemWidth(std::clamp(room, ui.px(40), ui.px(300)));
  if (text_field(ui, file.path, (id + ".path").c_str(), (id + ".png").c_str())) {
    file.overwrite_path.clear();
  }
  hint(ui, formats);
  ImGui::SameLine();
  const bool replaces = !file.path.empty() && file.overwrite_path == file.path;
  if (button(ui, replaces ? "Replace" : "Save", (id + ".save").c_str(), false, ui.px(100))) {
    const std::string notice = save();
    if (!notice.empty()) state.notify(notice);
  }
  ImGui::EndDisabled();
  const std::string message =
      replaces ? "This file exists. Click again to replace it." : file.problem;
  if (!message.empty()) {
    ImGui::SameLine();
    const std::string visible = elide(on_screen(message), ImGui::GetContentRegionAvail().x);
    ImGui::TextColored(replaces ? ui.look->warning : ui.look->error, "%s", visible.c_str());
    hint(ui, message);
  }
}

}  // namespace attnscope::window
