// Dragging files onto the program's window, as a file manager does.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::window {

// Drops a file onto the middle of the window of class "attnscope" on this X display, by the XDND
// protocol (freedesktop.org, version 5), and returns when the window has taken it. Throws when
// there is no such window or it does not answer.
void drop_file(const std::string& display, const std::filesystem::path& file);

}  // namespace attnscope::window
