#include "app/window/panels/step_strip.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace attnscope::window {
namespace {

constexpr double kStepGap = 6, kFrame = 2.5;  // units: gap; frame around the current step

}  // namespace

ImVec2 step_picture_size(const Ui& ui, const Lesson& lesson, float width, float max_height) {
  const auto count = static_cast<float>(lesson.steps.size());
  const float max_width = (width - (count - 1) * ui.px(kStepGap)) / count;
  const float ratio = static_cast<float>(kStepPictureRatio);
  const float height = std::floor(std::min(max_height, max_width / ratio));
  return {std::floor(height * ratio), height};
}

void draw_step_picture(const Ui& ui, const StepTextures& pictures, std::size_t step, ImVec2 origin,
                       ImVec2 size) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 end(origin.x + size.x, origin.y + size.y);
  draw.AddRectFilled(origin, end, packed(ui.look->page), ui.px(3));
  if (const unsigned int texture = pictures.texture(step); texture != 0) {
    draw.AddImageRounded(reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(texture)), origin,
                         end, {0, 0}, {1, 1}, IM_COL32_WHITE, ui.px(3));
  } else {
    const std::string number = std::to_string(step + 1);
    const ImVec2 extent = ImGui::CalcTextSize(number.c_str());
    draw.AddText({origin.x + (size.x - extent.x) / 2, origin.y + (size.y - extent.y) / 2},
                 packed(ui.look->faint), number.c_str());
  }
  draw.AddRect(origin, end, packed(ui.look->line), ui.px(3));
}

void draw_step_strip(Ui& ui, State& state, const StepTextures& pictures, const ImVec2& size) {
  const std::shared_ptr<const Lesson> lesson = state.lesson.lesson;
  ImGui::BeginGroup();
  for (std::size_t step = 0; step < lesson->steps.size(); ++step) {
    if (step > 0) ImGui::SameLine(0, ui.px(kStepGap));
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    ImGui::PushID(static_cast<int>(step));
    const bool clicked = invisible_button("step", size);
    ImGui::PopID();
    mark(ui, "lesson.step." + std::to_string(step + 1));
    draw_step_picture(ui, pictures, step, origin, size);
    const bool is_current = step == state.lesson.step;
    if (is_current || ImGui::IsItemHovered()) {
      const float outset = ui.px(kFrame) / 2;
      ImGui::GetWindowDrawList()->AddRect({origin.x - outset, origin.y - outset},
                                          {origin.x + size.x + outset, origin.y + size.y + outset},
                                          packed(ui.look->accent, is_current ? 1 : 0.6F), ui.px(4),
                                          0, ui.px(kFrame));
    }
    hint(ui, std::to_string(step + 1) + ". " + lesson->steps[step].title);
    if (clicked && !is_current) show_step(state, step);
  }
  ImGui::EndGroup();
}

}  // namespace attnscope::window
