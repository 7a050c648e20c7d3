#include "app/window/dialogs/tour.h"

#include <algorithm>
#include <array>
#include <string>

#include "app/window/salient_pairs.h"

namespace attnscope::window {
namespace {

struct TourStop {
  const char* title;
  const char* text;
  ImVec4 PanelBoxes::*place;
};
constexpr std::array<TourStop, 5> kStops = {{
    {"Look",
     "Each row is a query token, each column a key token: the brighter the cell, the more the "
     "query attends to the key. Tabs show the same run in other views; keys 1 to 9 open the first "
     "nine. Drag to move, use the wheel to zoom. “[” and “]” change the layer, “,” and “.” the "
     "head.",
     &PanelBoxes::picture},
    {"Type here",
     "All views show this text. Type or paste your own, or pick a sample: the picture updates as "
     "you type.",
     &PanelBoxes::text},
    {"Choose the computation",
     "The model, the attention variant, the positional encoding and their parameters. Move a "
     "slider and watch the picture. Incompatible choices state the reason.",
     &PanelBoxes::choices},
    {"Ask why",
     "Point at a cell: here are its two tokens, its weight, and the rule and the equation behind "
     "it.",
     &PanelBoxes::explanation},
    {"Save, or learn more",
     "Ctrl+E exports the picture for a paper, Ctrl+S saves the session. Ctrl+P finds any command, "
     "and the Help menu has lessons and this tour.",
     &PanelBoxes::menu},
}};

constexpr double kPadding = 18, kPaddingAbove = 14;  // units

// Dims everything except `area`.
void draw_shade(const Ui& ui, const ImVec4& area) {
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const ImVec2 end(screen.Pos.x + screen.Size.x, screen.Pos.y + screen.Size.y);
  ImGui::SetNextWindowPos(screen.Pos);
  ImGui::SetNextWindowSize(screen.Size);
  ImGui::Begin("##shade", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                   ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoSavedSettings);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 shade = IM_COL32(10, 14, 20, 120);
  draw.PushClipRectFullScreen();  // including the window's padding
  draw.AddRectFilled(screen.Pos, {end.x, area.y}, shade);
  draw.AddRectFilled({screen.Pos.x, area.w}, end, shade);
  draw.AddRectFilled({screen.Pos.x, area.y}, {area.x, area.w}, shade);
  draw.AddRectFilled({area.z, area.y}, {end.x, area.w}, shade);
  draw.AddRect({area.x, area.y}, {area.z, area.w}, packed(ui.look->accent), ui.px(4), 0, ui.px(2));
  draw.PopClipRect();
  ImGui::End();
}

// Width of the tour's card. The card is narrower if it then fits next to `area`.
float card_width(const Ui& ui, const ImVec4& area, float gap) {
  constexpr double kMaxWidth = 340, kMinWidth = 220;  // units
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const float left = area.x - screen.Pos.x, right = screen.Pos.x + screen.Size.x - area.z;
  const float free_width = std::max(left, right) - 2 * gap;
  return free_width < ui.px(kMinWidth) ? ui.px(kMaxWidth) : std::min(free_width, ui.px(kMaxWidth));
}

// Text of a stop. The stop at the picture also names the marked pair.
std::string stop_text(const TourStop& stop, const State& state) {
  const SalientPair* pair =
      stop.place == &PanelBoxes::picture ? shown_salient_pair(state) : nullptr;
  if (pair == nullptr) return stop.text;
  return std::string(stop.text) + " Marked now: " + on_screen(sentence(*pair)) +
         ". Key U shows the next such pair.";
}

// Height of a card with this text. `text_width`: the card's width without padding.
float card_height(const Ui& ui, const std::string& text, float text_width) {
  ImGui::PushFont(ui.fonts.title);
  const float title_height = ImGui::GetTextLineHeightWithSpacing();
  ImGui::PopFont();
  const float text_height = ImGui::CalcTextSize(text.c_str(), nullptr, false, text_width).y;
  const float footer = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().ItemSpacing.y;
  return std::max(ui.px(190), title_height + text_height + footer + 2 * ui.px(kPaddingAbove));
}

// Position of a card next to `area`, or over it if there is no room.
ImVec2 card_position(const ImVec4& area, ImVec2 size, float gap) {
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const float right = screen.Pos.x + screen.Size.x - gap,
              bottom = screen.Pos.y + screen.Size.y - gap;
  ImVec2 origin(area.z + gap, area.y + gap);
  if (origin.x + size.x > right + 1) origin.x = area.x - gap - size.x;
  if (origin.x < screen.Pos.x + gap - 1)
    origin = {area.x + gap, area.w + gap};  // below an area as wide as the window
  origin.x = std::min(origin.x, right - size.x);
  origin.y = std::min(origin.y, bottom - size.y);
  return origin;
}

}  // namespace

void draw_tour(Ui& ui, State& state, const PanelBoxes& places) {
  if (state.tour_stop < 0 || state.dialogs.open()) return;
  const auto leave = [&] {
    state.tour_stop = -1;
    state.settings.tour_done = true;
  };
  const int last = static_cast<int>(kStops.size()) - 1;
  const TourStop& stop = kStops[static_cast<std::size_t>(std::min(state.tour_stop, last))];
  const ImVec4& area = places.*stop.place;
  if (area.z <= area.x || take_key(ui, "Escape")) {
    leave();  // the panels are hidden, or the user leaves
    return;
  }
  draw_shade(ui, area);
  const std::string text = stop_text(stop, state);
  const float gap = ui.px(14), width = card_width(ui, area, gap);
  const ImVec2 size(width, card_height(ui, text, width - 2 * ui.px(kPadding)));
  ImGui::SetNextWindowPos(card_position(area, size, gap));
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kPadding), ui.px(kPaddingAbove)});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ui.look->page);
  ImGui::Begin("##tour", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PushFont(ui.fonts.title);
  ImGui::TextUnformatted(stop.title);
  ImGui::PopFont();
  paragraph(ui, text);
  ImGui::SetCursorPosY(ImGui::GetWindowHeight() - ImGui::GetFrameHeight() - ui.px(14));
  const bool is_last_stop = state.tour_stop >= last;
  if (button(ui, is_last_stop ? "Begin" : "Next", "tour.next", true, ui.px(84)) ||
      take_key(ui, "Enter")) {
    if (is_last_stop) {
      leave();
    } else {
      ++state.tour_stop;
    }
  }
  ImGui::SameLine();
  if (!is_last_stop && button(ui, "Leave", "tour.leave", false, ui.px(74))) leave();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%d of %d", std::min(state.tour_stop, last) + 1, last + 1);
  ImGui::End();
}

}  // namespace attnscope::window
