#include <algorithm>
#include <initializer_list>

#include "app/window/actions/actions.h"
#include "app/window/dialogs/dialogs.h"

namespace attnscope::window {
namespace {

constexpr double kKeyColumn = 175, kGestureColumn = 165;  // units

struct Gesture {
  const char* gesture;
  const char* effect;
};
// Mouse gestures, which are not actions.
constexpr Gesture kGestures[] = {
    {"Drag", "moves the map"},
    {"Wheel", "zooms at the pointer"},
    {"Double click", "shows the whole map"},
    {"Click on a small map", "opens it"},
    {"Ctrl+click, Shift+click", "selects a small map, or all maps up to it"},
    {"Click on a number", "edits it as text"},
    {"Right click on a cell", "pins its row and column; again, or Escape, unpins"},
    {"Right click on a label", "pins that row or column alone"},
    {"Right click on a control", "resets it, if it is above the picture"},
    {"Drag a knob or curve", "moves positions in RoPE, spans in Span"},
    {"Click in Intervene", "switches heads off, forbids or forces pairs"},
    {"Hold Shift", "shows B instead of A"},
    {"Drop a file", "opens a session, lesson, text, image, tensors or model folder"},
};

void draw_line(Ui& ui, const std::string& keys, const std::string& effect, float column) {
  ImGui::TextColored(ui.look->accent, "%s", keys.c_str());
  ImGui::SameLine(column);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(effect.c_str());
  ImGui::PopTextWrapPos();
}

// Keys of the action, either those for presenting or all others.
std::string key_text(const Action& a, bool presenting) {
  std::string keys;
  for (const Shortcut& s : a.shortcuts) {
    if ((s.when != Shortcut::When::Always) != presenting) continue;
    keys += (keys.empty() ? "" : "  ") + key_name(s);
  }
  return keys;
}

// Start of the label column: fixed or, in a narrow window, after the widest key of the menus.
float key_column(const Ui& ui, std::initializer_list<Menu> menus) {
  constexpr double kMinFixedWidth = 320, kGap = 34;  // units, with the border
  if (ImGui::GetContentRegionAvail().x >= ui.px(kMinFixedWidth)) return ui.px(kKeyColumn);
  float widest = 0;
  for (const Action& a : actions()) {
    if (std::ranges::find(menus, a.menu) == menus.end()) continue;
    widest = std::max(widest, ImGui::CalcTextSize(key_text(a, false).c_str()).x);
  }
  return std::min(widest + ui.px(kGap), ui.px(kKeyColumn));
}

void draw_menu_keys(Ui& ui, Menu menu, float column, bool is_first) {
  heading(ui, std::string(to_string(menu)).c_str(), is_first);
  for (const Action& a : actions()) {
    const std::string keys = key_text(a, false);
    if (a.menu == menu && !keys.empty()) draw_line(ui, keys, a.label, column);
  }
}

void draw_presenting_keys(Ui& ui, float column) {
  heading(ui, "While presenting");
  for (const Action& a : actions()) {
    const std::string keys = key_text(a, true);
    if (!keys.empty()) draw_line(ui, keys, a.label, column);
  }
}

}  // namespace

void draw_help(Ui& ui, bool& open) {
  if (!begin_dialog(ui, "Keys and gestures", open, 1080, 700)) return;
  if (ImGui::BeginTable("keys", 3)) {
    ImGui::TableNextColumn();
    draw_menu_keys(ui, Menu::View, key_column(ui, {Menu::View}), true);
    ImGui::TableNextColumn();
    const float middle = key_column(ui, {Menu::File, Menu::Edit, Menu::Window});
    for (const Menu menu : {Menu::File, Menu::Edit, Menu::Window}) {
      draw_menu_keys(ui, menu, middle, menu == Menu::File);
    }
    ImGui::TableNextColumn();
    heading(ui, "Mouse", true);
    for (const Gesture& g : kGestures) draw_line(ui, g.gesture, g.effect, ui.px(kGestureColumn));
    const float last = key_column(ui, {Menu::Help});
    draw_menu_keys(ui, Menu::Help, last, false);
    draw_presenting_keys(ui, last);
    ImGui::EndTable();
  }
  end_dialog();
}

void draw_about(Ui& ui, bool& open, const std::string& renderer) {
  if (!begin_dialog(ui, "attnscope", open, 460)) return;
  paragraph(ui,
            "A laboratory for transformer attention: pick a variant and a positional encoding, "
            "type a text, and see what the model attends to, why, and what it costs.");
  faint(ui,
        "The equations follow the papers cited in the right panel for each variant and encoding.");
  faint(ui, "Renderer: " + (renderer.empty() ? std::string("OpenGL") : renderer) + ".");
  ImGui::Dummy({0, ui.px(4)});
  if (button(ui, "Close", "about.close", true, ui.px(110))) open = false;
  end_dialog();
}

}  // namespace attnscope::window
