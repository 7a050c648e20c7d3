// Fields of one line for texts and numbers, in any script. All fields of the window use these
// functions: ImGui's own fields draw characters one by one, and replace those beyond U+FFFF.
//
// A field gets the keyboard by a click, by Tab or by a request, and then selects its text. Return,
// Escape, Up and Down remain unhandled for the dialog around the field.
#pragma once

#include <string>

#include "app/window/widgets/ui.h"

namespace attnscope::window {

// True if the user changed the text. `id`: unique in the window, also reported for tests.
bool text_field(Ui& ui, std::string& text, const char* id, const char* placeholder = "");

// Time at which a number field changes its number.
enum class NumberUpdate {
  WhileTyping,  // with every text that is a number
  WhenComplete  // on Return, or if another item gets the keyboard
};
// True if the user changed the number. Draws a text that is no number in the colour of errors.
bool number_field(Ui& ui, double& value, const char* format, const char* id, NumberUpdate update);
bool number_field(Ui& ui, Index& value, const char* id, NumberUpdate update);

// Call before a field that shall get the keyboard.
void focus_next_field(Ui& ui);
// Call before a dialog's main field, which then has the keyboard while no other item uses it.
void keep_focus_here(Ui& ui);

// Call at the start and end of a frame.
void begin_fields(Ui& ui);
void end_fields(Ui& ui);

}  // namespace attnscope::window
