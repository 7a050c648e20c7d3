// Error messages of the window.
#pragma once

#include <exception>
#include <string>

namespace attnscope::window {

// Message of an error. Messages about lack of memory name menus and controls of the window.
std::string error_text(const std::exception& error);
std::string error_text(const std::exception_ptr& error);  // empty for null

}  // namespace attnscope::window
