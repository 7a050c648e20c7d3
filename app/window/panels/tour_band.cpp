#include "app/window/panels/tour_band.h"

#include <algorithm>
#include <string>

namespace attnscope::window {
namespace {

constexpr double kBandPadding = 14, kCardGap = 10,
                 kCardInset = 10;  // units around, between and inside cards

struct Card {
  const char* title;
  const char* text;
};

Card card_of(TourMove move) {
  switch (move) {
    case TourMove::Point:
      return {"Point at a word",
              "Rest the pointer on a word in the picture: the panel on the right explains its "
              "attention."};
    case TourMove::Change:
      return {"Change a word", "Click into Text and type another word: every number follows."};
    case TourMove::Drag:
      return {"Drag the window",
              "Each token now sees only its neighbours: drag Window under Attention."};
  }
  return {"", ""};
}

float card_width(const Ui& ui, float width) {
  const auto count = static_cast<float>(kTourMoves.size());
  return (width - 2 * ui.px(kBandPadding) - (count - 1) * ui.px(kCardGap)) / count;
}

float card_text_height(const Ui& ui, const char* text, float width) {
  ImGui::PushFont(ui.fonts.small);
  const float height =
      ImGui::CalcTextSize(text, nullptr, false, std::max(width - 2 * ui.px(kCardInset), 1.0F)).y;
  ImGui::PopFont();
  return height;
}

float card_title_height(const Ui& ui) {
  return baked_size(ui.fonts.bold) + ui.px(5);
}

float card_height(const Ui& ui, float width) {
  float height = 0;
  for (const TourMove move : kTourMoves) {
    height = std::max(height, card_text_height(ui, card_of(move).text, width));
  }
  return height + card_title_height(ui) + 2 * ui.px(kCardInset);
}

void draw_card(Ui& ui, std::size_t n, std::size_t current, ImVec2 corner, ImVec2 size) {
  const Card card = card_of(kTourMoves[n]);
  const bool is_done = n < current, is_current = n == current;
  const ImVec2 end(corner.x + size.x, corner.y + size.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(corner, end, packed(ui.look->page), ui.px(6));
  draw.AddRect(corner, end, packed(is_current ? ui.look->accent : ui.look->line), ui.px(6), 0,
               ui.px(is_current ? 2 : 1));
  const std::string number = is_done ? "✓" : std::to_string(n + 1);
  const ImVec4& colour = is_current ? ui.look->text : ui.look->faint;
  const ImVec2 text(corner.x + ui.px(kCardInset), corner.y + ui.px(kCardInset));
  ImFont* bold = ui.fonts.bold;
  const float size_bold = baked_size(bold);
  draw.AddText(bold, size_bold, text, packed(is_done || is_current ? ui.look->accent : colour),
               number.c_str());
  const float indent = bold->CalcTextSizeA(size_bold, FLT_MAX, 0, "✓ ").x + ui.px(2);
  draw.AddText(bold, size_bold, {text.x + indent, text.y}, packed(colour), card.title);
  ImFont* small = ui.fonts.small;
  draw.AddText(small, baked_size(small), {text.x, text.y + card_title_height(ui)}, packed(colour),
               card.text, nullptr, size.x - 2 * ui.px(kCardInset));
  ui.report.box("tour.card." + std::to_string(n), {corner.x, corner.y, size.x, size.y});
}

}  // namespace

float tour_band_height(const Ui& ui, const State& state, float width) {
  if (!state.tour.is_on) return 0;
  const float header = ImGui::GetFrameHeight() + ui.px(4);
  return header + card_height(ui, card_width(ui, width)) + 2 * ui.px(kBandPadding / 2) + ui.px(4);
}

void draw_tour_band(Ui& ui, State& state, float width, float height) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kBandPadding), ui.px(kBandPadding / 2)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->panel);
  begin_padded_child("tour", {width, height},
                     ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(ui.fonts.bold);
  ImGui::TextUnformatted("Three moves to begin");
  ImGui::PopFont();
  const char* label = "End (Esc)";
  const float button_width = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SameLine(ImGui::GetContentRegionMax().x - button_width);
  const bool ends = button(ui, label, "tour.end");
  hint(ui, "Help → Opening moves shows these cards again.");
  const float card = card_width(ui, width);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 size(card, card_height(ui, card));
  for (std::size_t n = 0; n < kTourMoves.size(); ++n) {
    const float left = origin.x + static_cast<float>(n) * (card + ui.px(kCardGap));
    draw_card(ui, n, state.tour.move, {left, origin.y}, size);
  }
  ImGui::EndChild();
  mark(ui, "tour");
  if (ends) finish_tour(state);
}

void outline_move(const Ui& ui, const State& state, TourMove move, float top, float bottom) {
  const Tour& tour = state.tour;
  if (!shows_tour(state) || tour.move >= kTourMoves.size() || kTourMoves[tour.move] != move) return;
  const float margin = ui.px(5), gap = ImGui::GetStyle().ItemSpacing.y;
  const float left = ImGui::GetCursorScreenPos().x - margin;
  const float right = left + ImGui::GetContentRegionAvail().x + 2 * margin;
  ImGui::GetWindowDrawList()->AddRect({left, top - margin}, {right, bottom - gap + ui.px(4)},
                                      packed(ui.look->accent), ui.px(6), 0, ui.px(2));
}

}  // namespace attnscope::window
