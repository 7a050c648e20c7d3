// A small model for the window's tests, the same every time. Its attention is not trained, but
// lively.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::window {

void save_small_model(const std::filesystem::path& folder, const std::string& exits = "");

}  // namespace attnscope::window
