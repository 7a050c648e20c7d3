#include "app/window/look.h"

namespace attnscope::window {
namespace {

ImVec4 rgb(unsigned value) {
  const auto channel = [value](int shift) {
    return static_cast<float>((value >> shift) & 0xFF) / 255.0F;
  };
  return {channel(16), channel(8), channel(0), 1};
}

ImVec4 to_imvec4(Colour c) {
  return ImGui::ColorConvertU32ToFloat4(IM_COL32(c.r, c.g, c.b, c.a));
}

ImVec4 faded(const ImVec4& colour, float alpha) {
  return {colour.x, colour.y, colour.z, alpha};
}

void set_colours(const Look& look, ImVec4* colours) {
  const ImVec4 none(0, 0, 0, 0);
  colours[ImGuiCol_Text] = look.text;
  colours[ImGuiCol_TextDisabled] = look.faint;
  colours[ImGuiCol_WindowBg] = look.panel;
  colours[ImGuiCol_ChildBg] = none;
  colours[ImGuiCol_PopupBg] = look.panel;
  colours[ImGuiCol_Border] = look.line;
  colours[ImGuiCol_FrameBg] = look.field;
  colours[ImGuiCol_FrameBgHovered] = look.hovered;
  colours[ImGuiCol_FrameBgActive] = look.hovered;
  colours[ImGuiCol_TitleBg] = colours[ImGuiCol_TitleBgActive] = look.panel;
  colours[ImGuiCol_TitleBgCollapsed] = look.panel;
  colours[ImGuiCol_MenuBarBg] = look.panel;
  colours[ImGuiCol_ScrollbarBg] = none;
  colours[ImGuiCol_ScrollbarGrab] = look.line;
  colours[ImGuiCol_ScrollbarGrabHovered] = colours[ImGuiCol_ScrollbarGrabActive] = look.faint;
  colours[ImGuiCol_CheckMark] = look.accent;
  colours[ImGuiCol_SliderGrab] = colours[ImGuiCol_SliderGrabActive] = look.accent;
  colours[ImGuiCol_Button] = look.raised;
  colours[ImGuiCol_ButtonHovered] = colours[ImGuiCol_ButtonActive] = look.hovered;
  colours[ImGuiCol_Header] = faded(look.accent, look.dark ? 0.30F : 0.14F);
  colours[ImGuiCol_HeaderHovered] = look.hovered;
  colours[ImGuiCol_HeaderActive] = look.hovered;
  colours[ImGuiCol_Separator] = look.line;
  colours[ImGuiCol_SeparatorHovered] = colours[ImGuiCol_SeparatorActive] = look.accent;
  colours[ImGuiCol_ResizeGrip] = none;
  colours[ImGuiCol_PlotHistogram] = look.accent;
  colours[ImGuiCol_TextSelectedBg] = faded(look.accent, 0.30F);
  colours[ImGuiCol_DragDropTarget] = look.accent;
  colours[ImGuiCol_NavHighlight] = look.accent;
  colours[ImGuiCol_ModalWindowDimBg] = faded(rgb(0x101418), look.dark ? 0.55F : 0.35F);
  colours[ImGuiCol_TableBorderLight] = look.line;
}

}  // namespace

const Look& Look::light() {
  static const Look look = {
      .dark = false,
      .page = to_imvec4(Theme::light().background),
      .panel = rgb(0xF5F6F8),
      .field = rgb(0xFFFFFF),
      .raised = rgb(0xE7EAEF),
      .hovered = rgb(0xDCE5F5),
      .line = rgb(0xD5DAE2),
      .text = rgb(0x1B2230),
      .faint = rgb(0x5B6678),
      .accent = rgb(0x2259C7),
      .on_accent = rgb(0xFFFFFF),
      .query = rgb(0xB0480A),
      .key = rgb(0x0B6E63),
      .warning = rgb(0x8A5300),
      .error = rgb(0xB3261E),
  };
  return look;
}

const Look& Look::dark_look() {
  static const Look look = {
      .dark = true,
      .page = to_imvec4(Theme::dark().background),
      .panel = rgb(0x1D2128),
      .field = rgb(0x282E38),
      .raised = rgb(0x323A46),
      .hovered = rgb(0x3C4A61),
      .line = rgb(0x404957),
      .text = rgb(0xE8EBF0),
      .faint = rgb(0xA3ADBB),
      .accent = rgb(0x7FB0FF),
      .on_accent = rgb(0x0E1726),
      .query = rgb(0xFFA366),
      .key = rgb(0x5FD6C4),
      .warning = rgb(0xF2C46D),
      .error = rgb(0xFF8A80),
  };
  return look;
}

ImU32 packed(const ImVec4& colour, float alpha) {
  return ImGui::ColorConvertFloat4ToU32(faded(colour, colour.w * alpha));
}

void apply(const Look& look, double scale) {
  ImGuiStyle style;
  style.WindowPadding = {14, 12};
  style.FramePadding = {9, 5};
  style.CellPadding = {6, 4};
  style.ItemSpacing = {8, 7};
  style.ItemInnerSpacing = {6, 5};
  style.IndentSpacing = 14;
  style.ScrollbarSize = 11;
  style.GrabMinSize = 14;
  style.WindowRounding = 8;
  style.ChildRounding = 6;
  style.FrameRounding = 5;
  style.PopupRounding = 7;
  style.ScrollbarRounding = 6;
  style.GrabRounding = 5;
  style.WindowBorderSize = 1;
  style.PopupBorderSize = 1;
  style.FrameBorderSize = 1;
  style.WindowTitleAlign = {0.0F, 0.5F};
  style.WindowMenuButtonPosition = ImGuiDir_None;
  style.DisabledAlpha = 0.5F;
  style.AntiAliasedLinesUseTex = true;
  set_colours(look, style.Colors);
  style.ScaleAllSizes(static_cast<float>(scale));
  ImGui::GetStyle() = style;
}

}  // namespace attnscope::window
