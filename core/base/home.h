// Location of the program's resources.
#pragma once

#include <filesystem>

namespace attnscope {

// The folder with assets/ and shaders/: $ATTNSCOPE_HOME, else share/attnscope next to the installed
// program's bin/, else the source folder configured at build time.
std::filesystem::path home_folder();

// The folder of the user's models, downloaded by app/get-model.sh or copied there:
// $XDG_DATA_HOME/attnscope/models, else ~/.local/share/attnscope/models.
std::filesystem::path user_models_folder();

}  // namespace attnscope
