// A deterministic small model for window tests. It is not trained, but its attention is not
// uniform.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::window {

// Saves the model as a checkpoint. `exits`: id of its exit rule; empty: none.
void save_small_model(const std::filesystem::path& folder, const std::string& exits = "");

}  // namespace attnscope::window
