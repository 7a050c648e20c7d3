// Source and build folders. Only this file depends on them, so that all other objects are identical
// wherever they are compiled.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::testing {

std::filesystem::path source_folder();
std::filesystem::path build_folder();
std::string program_path();  // the built attnscope

}  // namespace attnscope::testing
