// Errors in the words of the window.
#pragma once

#include <exception>
#include <string>

namespace attnscope::window {

// what(), except that errors about memory name menus and the labels of controls.
std::string error_text(const std::exception& error);
std::string error_text(const std::exception_ptr& error);  // empty for null

}  // namespace attnscope::window
