// Texts to start from: the files of assets/samples, in the order of their names.
#pragma once

#include <string>
#include <vector>

namespace attnscope::window {

// Empty when the folder is not there. The first is what a new session shows.
std::vector<std::string> load_samples();

// The beginning of a text, for lists.
std::string headline(const std::string& text, std::size_t most_characters);

}  // namespace attnscope::window
