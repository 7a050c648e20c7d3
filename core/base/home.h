// Location of the program's resources.
#pragma once

#include <filesystem>

namespace attnscope {

// The folder with assets/ and shaders/: $ATTNSCOPE_HOME, else share/attnscope next to the installed
// program's bin/, else the source folder configured at build time.
std::filesystem::path home_folder();

}  // namespace attnscope
