// What every panel gets: the fonts, the look, the scale, this frame's key strokes, and helpers for
// the widgets that the panels share.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/window/dialogs/report.h"
#include "app/window/input.h"
#include "app/window/look.h"
#include "app/window/widgets/fonts.h"

namespace attnscope::window {

// The one list of choices that is open, row by row as it is drawn.
struct OpenList {
  int marked = -1;            // the row that the keyboard or the pointer is at; -1: none
  bool enter = false;         // Enter was pressed: it chooses the marked row
  int reveals = 0;            // frames in which the marked row is still to come into sight
  std::vector<bool> enabled;  // of the rows that this frame has drawn so far
};

// The item that the pointer rests on, whose hint comes after a moment.
struct Hinting {
  ImVec2 at{};          // its corner
  unsigned window = 0;  // that it is in
  int frame = -1;       // in which the pointer was on it last
  double since = 0;     // seconds of ImGui's clock
  double shown = -1;    // when a hint was seen last
  double wait = -1;     // seconds until this one's comes; negative: none is awaited
};

struct Ui {
  Fonts fonts;
  const Look* look = nullptr;
  double scale = 1;             // pixels per unit
  bool hints = true;            // off while a whole group of widgets has a hint of its own
  std::vector<Stroke> strokes;  // of this frame
  OpenList list;                // while one is open
  mutable Hinting hinting;
  Report report;  // where widgets are, for tests

  float px(double units) const { return static_cast<float>(units * scale); }
};

// Names the last item for tests.
void mark(Ui& ui, std::string_view id);

// ImGui::InvisibleButton() of at least one pixel, for it must not be empty: a small window may leave
// no room.
bool invisible_button(const char* id, ImVec2 size);

// ImGui::BeginChild() with the window padding that is pushed, without a border.
void begin_padded_child(const char* id, ImVec2 size, ImGuiWindowFlags flags = 0);

// A heading within a panel, with space above unless it is the first.
void heading(Ui& ui, const char* text, bool first = false);
void faint(Ui& ui, std::string_view text);            // small, wrapped
void paragraph(const Ui& ui, std::string_view text);  // wrapped
// What the screen shows of a text that may be too long: its beginning and "…".
std::string fitted(const std::string& shown, float width);
// A coloured label with rounded corners, as long as its text, or as there is room for.
float chip_width(const Ui& ui, std::string_view text, float most);
void chip(Ui& ui, std::string_view text, const ImVec4& ground, const ImVec4& letters);
// A hint for the last item, in the one voice that all hints have, also for disabled items: after
// the pointer has rested on it for a moment, and beside it, so that it stays in sight.
void hint(const Ui& ui, std::string_view text);

// A few choices side by side, of which one holds. Returns the one clicked, else -1.
struct Segment {
  const char* label;
  const char* hint;
  const char* id;
  bool enabled = true;
};
int segments(Ui& ui, const char* id, const std::vector<Segment>& choices, int chosen);

// A button as wide as the panel or as its label.
bool button(Ui& ui, const char* label, std::string_view id, bool primary = false, float width = 0);

// A field for one line of text; the first click selects all of it. True when it changed.
bool text_field(Ui& ui, const char* label, std::string& text, std::string_view id,
                const char* placeholder = "");

// Before the one field of a dialog: it has the keyboard whenever nothing else is held.
void keep_focus_here();
// Its text was changed from outside, which the field would not see while it is being edited.
void refill_field();

// ImGui::BeginCombo() and ImGui::BeginPopup() for lists whose rows are list_row()s: Up, Down, Home
// and End move a mark over the rows that can be chosen, Enter chooses, and nothing else gets these
// keys. Pair with ImGui::EndCombo() or ImGui::EndPopup() when true.
bool begin_combo(Ui& ui, const char* id, const std::string& preview, ImGuiComboFlags flags = 0);
bool begin_list(Ui& ui, const char* id);
// True when it is chosen now; `holds`: it was before. `note`: what is said of it beside the label,
// in small letters, behind so many units.
struct RowNote {
  std::string text{};
  double at = 0;
};
bool list_row(Ui& ui, const std::string& label, bool holds, bool enabled = true,
              const RowNote& note = {});

// Escape closes the menu, list of choices or the like that is open, before anything else gets it.
void close_popup_on_escape(Ui& ui);
void close_popups();  // all such; dialogs stay
// Whether a key was pressed in this frame and nobody took it; takes it.
bool take_key(Ui& ui, std::string_view key);

// Dialogs: centred, dimmed behind. Escape closes. Pair with end_dialog() when true.
bool begin_dialog(Ui& ui, const char* title, bool& open, double width, double height = 0);
void end_dialog();

}  // namespace attnscope::window
