// Shell completion of commands, options and their values.
#pragma once

#include <string>

#include "app/command/options.h"

namespace attnscope::command {

// Completion script for "bash", "zsh" or "fish".
std::string completion_script(const std::string& shell, const CommandHelp& program);

}  // namespace attnscope::command
