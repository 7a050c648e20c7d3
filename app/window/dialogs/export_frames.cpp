#include "app/window/dialogs/export_frames.h"

#include <algorithm>
#include <cmath>

#include "core/view/export/moving_numbers.h"

namespace attnscope::window {
namespace {

void choose(FrameOptions& frames, const MovingNumber& number) {
  frames.key = number.key;
  frames.from = number.from;
  frames.to = number.to;
  frames.count.reset();
}

// The selected parameter; if the view does not have it, the one that it plays, else the first.
const MovingNumber& chosen(const std::vector<MovingNumber>& numbers, const View& shown,
                           FrameOptions& frames) {
  const auto now = std::ranges::find(numbers, frames.key, &MovingNumber::key);
  if (now != numbers.end()) return *now;
  const auto plays = std::ranges::find_if(numbers, [&](const MovingNumber& number) {
    return shown.options.animation && shown.options.animation->key == number.key;
  });
  const MovingNumber& first = plays != numbers.end() ? *plays : numbers.front();
  choose(frames, first);
  return first;
}

void draw_ends(Ui& ui, FrameOptions& frames, const Parameter& moved) {
  const float gap = ui.px(8), third = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3;
  const float left = ImGui::GetCursorPosX();
  const auto place = [&](int i) {
    if (i > 0) ImGui::SameLine(left + static_cast<float>(i) * (third + gap));
    ImGui::SetNextItemWidth(third);
  };
  const char* labels[] = {"From", "To", "Frames"};
  for (int i = 0; i < 3; ++i) {
    place(i);
    ImGui::TextUnformatted(labels[i]);
  }
  place(0);
  ImGui::InputDouble("##from", &frames.from, 0, 0, "%.4g");
  mark(ui, "export.from");
  place(1);
  ImGui::InputDouble("##to", &frames.to, 0, 0, "%.4g");
  mark(ui, "export.to");
  place(2);
  // From and To may be infinite; the number of frames is then undefined.
  const double wanted = frame_count(frames, moved);
  int count = std::isfinite(wanted) ? static_cast<int>(std::min(wanted, 1e6)) : 0;
  if (ImGui::InputInt("##frames", &count, 0, 0)) frames.count = count;
  mark(ui, "export.frames");
}

}  // namespace

void draw_export_frames(Ui& ui, FrameOptions& frames, const Session& shown, const Trace& trace) {
  const std::vector<MovingNumber> numbers = moving_numbers(shown, trace);
  if (numbers.empty()) {
    faint(ui, "This view has no parameter to animate. Choose another view, such as RoPE.");
    return;
  }
  const MovingNumber& moved = chosen(numbers, view(shown.view.id), frames);
  ImGui::TextUnformatted("Animated parameter");
  ImGui::SetNextItemWidth(-1);
  if (begin_combo(ui, "##moves", moved.label, ImGuiComboFlags_HeightLargest)) {
    for (const MovingNumber& number : numbers) {
      if (list_row(ui, number.label, number.key == frames.key)) choose(frames, number);
      mark(ui, "export.moves." + number.key);
    }
    ImGui::EndCombo();
  }
  mark(ui, "export.moves");
  draw_ends(ui, frames, moved.parameter);
}

}  // namespace attnscope::window
