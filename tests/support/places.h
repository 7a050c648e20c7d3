// Where the project lies and where it was built: the one source that depends on it, so that all
// other objects are the same wherever they are compiled.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::testing {

std::filesystem::path source_folder();
std::filesystem::path build_folder();
std::string program_path();  // of the built attnscope

}  // namespace attnscope::testing
