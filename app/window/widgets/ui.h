// Drawing context and widgets that all panels share.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/window/dialogs/report.h"
#include "app/window/input.h"
#include "app/window/look.h"
#include "app/window/widgets/fonts.h"
#include "app/window/widgets/text_box.h"
#include "core/text/tokenizer.h"

namespace attnscope::window {

// State of the open list of choices.
struct OpenList {
  int marked_row = -1;        // highlighted by keyboard or pointer; -1: none
  bool enter = false;         // Enter was pressed: selects the marked row
  int reveals = 0;            // frames left in which the list scrolls to the marked row
  std::vector<bool> enabled;  // of each row drawn so far in this frame
};

// Timing of hints: a hint appears after the pointer has rested on its item.
struct HintTimer {
  ImVec2 corner{};           // upper left corner of the item
  unsigned window = 0;       // ImGui id of the item's window
  int frame = -1;            // last frame with the pointer on the item
  double rest_start = 0;     // when the pointer came to rest, seconds of ImGui's clock
  double last_visible = -1;  // time at which a hint was last visible
  double wait = -1;          // seconds until the hint appears; negative: none is due
};

// Keyboard focus of the fields of one line (text_field.h).
struct FieldFocus {
  struct Field {
    ImGuiID id = 0, window = 0;  // `window`: outermost window, which Tab does not leave
    bool operator==(const Field&) const = default;
  };
  ImGuiID focused = 0;     // field with the keyboard; 0: none
  TextBox box;             // text, cursor and scroll position of the focused field
  bool is_edited = false;  // the user has changed the text since the field got the keyboard
  std::vector<TextEdit> undo_steps, redo_steps;
  ImGuiID requested = 0;       // field that gets the keyboard when it is drawn next
  bool requests_next = false;  // the next field to be drawn gets the keyboard
  ImGuiID left = 0;            // edited field that lost the keyboard to a field drawn before it
  std::string left_text;       // its text
  std::vector<Field> drawn,
      previous;  // enabled fields of this frame and the frame before, in order

  bool has_keyboard() const { return focused != 0; }
};

struct Ui {
  Fonts fonts;
  const Look* look = nullptr;
  double scale = 1;            // pixels per unit
  bool shows_hints = true;     // false inside a group that has its own hint
  bool space_markers = false;  // ViewSettings::space_markers
  // Settings::simple: panels show text, model, variant, encoding and view. Other settings appear
  // only while they differ from their defaults, so that nothing in use is hidden.
  bool is_simple = false;
  std::vector<KeyStroke> strokes;  // key strokes of this frame
  OpenList list;                   // state of the open list
  FieldFocus fields;
  mutable HintTimer hint_timer;
  Report report;  // positions of widgets, for tests

  float px(double units) const { return static_cast<float>(units * scale); }
  std::string shown_label(const std::string& token) const {
    return space_markers ? token : without_space_markers(token);
  }
};

// Reports the position of the last item under `id`, for tests.
void mark(Ui& ui, std::string_view id);

// ImGui::InvisibleButton() of at least one pixel: ImGui forbids empty buttons, and a small window
// may have no room.
bool invisible_button(const char* id, ImVec2 size);

// ImGui::BeginChild() with the current window padding, without a border.
void begin_padded_child(const char* id, ImVec2 size, ImGuiWindowFlags flags = 0);

// Heading within a panel, with space above unless it is the first.
void heading(Ui& ui, const char* text, bool first = false);
void faint(Ui& ui, std::string_view text);            // small, wrapped
void paragraph(const Ui& ui, std::string_view text);  // wrapped
// The text on the screen with line breaks at spaces, so that lines are at most `width` pixels wide
// unless a word is wider. ImGui would also break "adaptive_span.window" and "0.5" at the point.
std::string wrapped(std::string_view text, float width);
// Text, shortened with "…" at its end if it is wider than `width` pixels.
std::string elide(const std::string& text, float width);
// Coloured label with rounded corners, as wide as its text, but not wider than the available space.
float chip_width(const Ui& ui, std::string_view text, float max_width);
void chip(Ui& ui, std::string_view text, const ImVec4& background, const ImVec4& text_colour);
// Tooltip of the last item, enabled or not: appears beside the item after the pointer has rested on
// it for a moment. All tooltips use this function.
void hint(const Ui& ui, std::string_view text);

// Segmented control, `width` pixels wide (0: all available). Returns the index of the clicked
// segment, else -1.
struct Segment {
  const char* label;
  const char* hint;
  const char* id;
  bool enabled = true;
};
int segments(Ui& ui, const char* id, const std::vector<Segment>& choices, int selected,
             float width = 0);

// While the scope exists, buttons and fields have a frame only under the pointer, so that the
// toolbar's framed widgets and its current tab stand out.
class QuietScope {
 public:
  QuietScope();
  ~QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;
};

// Button. `width` in pixels; 0: width of the label; -1: width of the panel.
bool button(Ui& ui, const char* label, std::string_view id, bool primary = false, float width = 0);

// ImGui::BeginCombo() and ImGui::BeginPopup() for lists of list_row()s: Up, Down, Home and End mark
// an enabled row, Enter selects it, and no other widget receives these keys. Pair with
// ImGui::EndCombo() or ImGui::EndPopup() if true.
bool begin_combo(Ui& ui, const char* id, const std::string& preview, ImGuiComboFlags flags = 0);
bool begin_list(Ui& ui, const char* id);
// True if the user selects the row. `is_current`: the row is the current choice. `note`: small
// text, `offset` units right of the label's start.
struct RowNote {
  std::string text{};
  double offset = 0;
};
bool list_row(Ui& ui, const std::string& label, bool is_current, bool enabled = true,
              const RowNote& note = {});

// Escape closes the open menu, list or popup, before anything else receives it.
void close_popup_on_escape(Ui& ui);
void close_popups();  // all but dialogs
// If a key was pressed in this frame and not consumed yet, consumes the key and returns true.
bool take_key(Ui& ui, std::string_view key);

// Dialog, centred over a dimmed window. Escape closes it. Pair with end_dialog() if true.
bool begin_dialog(Ui& ui, const char* title, bool& open, double width, double height = 0);
void end_dialog();

}  // namespace attnscope::window
