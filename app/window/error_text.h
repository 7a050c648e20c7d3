// Error messages of the window.
#pragma once

#include <exception>
#include <string>

namespace attnscope::window {

// what(); errors about memory name menus and labels of controls instead.
std::string error_text(const std::exception& error);
std::string error_text(const std::exception_ptr& error);  // empty for null

}  // namespace attnscope::window
