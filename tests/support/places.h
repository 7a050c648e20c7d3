// Source and build folders. Only places.cpp contains their paths, so that all other objects are
// identical on every machine.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::testing {

std::filesystem::path source_folder();
std::filesystem::path build_folder();
std::string program_path();  // path of the attnscope executable

}  // namespace attnscope::testing
