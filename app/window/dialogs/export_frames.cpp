#include "app/window/dialogs/export_frames.h"

#include <algorithm>
#include <cmath>

#include "app/window/widgets/text_field.h"
#include "core/view/export/moving_numbers.h"

namespace attnscope::window {
namespace {

constexpr Index kMaxFrames = 1'000'000;  // of the field; an export accepts fewer

void select_number(FrameOptions& frames, const MovingNumber& number) {
  frames.key = number.key;
  frames.from = number.from;
  frames.to = number.to;
  frames.count.reset();
}

// The selected parameter; in a view without it, the played parameter, or else the first.
const MovingNumber& animated_number(const std::vector<MovingNumber>& numbers,
                                    const View& current_view, FrameOptions& frames) {
  const auto selected = std::ranges::find(numbers, frames.key, &MovingNumber::key);
  if (selected != numbers.end()) return *selected;
  const auto played = std::ranges::find_if(numbers, [&](const MovingNumber& number) {
    return current_view.options.animation && current_view.options.animation->key == number.key;
  });
  const MovingNumber& first = played != numbers.end() ? *played : numbers.front();
  select_number(frames, first);
  return first;
}

void draw_range(Ui& ui, FrameOptions& frames, const MovingNumber& animated) {
  const float gap = ui.px(8), field_width = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3;
  const float left = ImGui::GetCursorPosX();
  const auto start_field = [&](int i) {
    if (i > 0) ImGui::SameLine(left + static_cast<float>(i) * (field_width + gap));
    ImGui::SetNextItemWidth(field_width);
  };
  const char* labels[] = {"From", "To", "Frames"};
  for (int i = 0; i < 3; ++i) {
    start_field(i);
    ImGui::TextUnformatted(labels[i]);
  }
  start_field(0);
  number_field(ui, frames.from, "%.4g", "export.from", NumberUpdate::WhileTyping);
  start_field(1);
  number_field(ui, frames.to, "%.4g", "export.to", NumberUpdate::WhileTyping);
  start_field(2);
  // From and To may be infinite; the number of frames is then undefined.
  const double exact_count = frame_count(frames, animated);
  Index count = std::isfinite(exact_count)
                    ? static_cast<Index>(std::min(exact_count, static_cast<double>(kMaxFrames)))
                    : 0;
  if (number_field(ui, count, "export.frames", NumberUpdate::WhileTyping)) {
    frames.count = static_cast<int>(std::clamp<Index>(count, 0, kMaxFrames));
  }
}

}  // namespace

void draw_export_frames(Ui& ui, FrameOptions& frames, const Session& session, const Trace& trace) {
  const std::vector<MovingNumber> numbers = moving_numbers(session, trace);
  if (numbers.empty()) {
    faint(ui, "This view has no parameter to animate. Choose another view, such as RoPE.");
    return;
  }
  const MovingNumber& animated = animated_number(numbers, view(session.view.id), frames);
  ImGui::TextUnformatted("Animated parameter");
  ImGui::SetNextItemWidth(-1);
  if (begin_combo(ui, "##moves", animated.label, ImGuiComboFlags_HeightLargest)) {
    for (const MovingNumber& number : numbers) {
      if (list_row(ui, number.label, number.key == frames.key)) select_number(frames, number);
      mark(ui, "export.moves." + number.key);
    }
    ImGui::EndCombo();
  }
  mark(ui, "export.moves");
  draw_range(ui, frames, animated);
}

}  // namespace attnscope::window
