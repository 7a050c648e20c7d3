// A deterministic small model for window tests. Its attention is untrained but varied.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::window {

void save_small_model(const std::filesystem::path& folder, const std::string& exits = "");

}  // namespace attnscope::window
