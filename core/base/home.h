// Where the program's own files lie.
#pragma once

#include <filesystem>

namespace attnscope {

// The folder that holds assets/ and shaders/: $ATTNSCOPE_HOME; of an installed program
// share/attnscope beside the bin/ that it is in; else as configured at build time.
std::filesystem::path home_folder();

}  // namespace attnscope
