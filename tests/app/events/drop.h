// Drag and drop of files onto the program's window, as by a file manager.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::window {

// Drops a file onto the centre of the window of class "attnscope" on this X display, by the XDND
// protocol (freedesktop.org, version 5), and returns when the window has accepted the file. Throws
// if the window is missing or does not answer.
void drop_file(const std::string& display, const std::filesystem::path& file);

}  // namespace attnscope::window
