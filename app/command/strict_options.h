// What every option refuses, whatever it is for: empty values, and numbers that are none.
#pragma once

#include <CLI/CLI.hpp>

namespace attnscope::command {

// For the app's options and those of its subcommands, which are all there already. Texts to run on
// may be empty.
void refuse_bad_values(CLI::App& app);

}  // namespace attnscope::command
