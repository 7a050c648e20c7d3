// What shells complete: commands, options and the words that these take.
#pragma once

#include <string>

#include "app/command/options.h"

namespace attnscope::command {

// A script for "bash", "zsh" or "fish", to be read by that shell.
std::string completion_script(const std::string& shell, const CommandWords& program);

}  // namespace attnscope::command
