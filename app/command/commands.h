// The subcommands of the command line. One file each; add_commands() is their ordered list.
//
// A command's action throws InputError (exit status 2) or WorkError (1); main() prints the one
// line on stderr. Stopped (Ctrl-C) exits with 130 after what could be saved was saved.
#pragma once

#include <CLI/CLI.hpp>

namespace attnscope::command {

void add_commands(CLI::App& app);

void add_attend(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_gallery(CLI::App& app);
void add_generate(CLI::App& app);
void add_lesson(CLI::App& app);
void add_list(CLI::App& app);
void add_render(CLI::App& app);
void add_run(CLI::App& app);
void add_statistics(CLI::App& app);
void add_train(CLI::App& app);
void add_window(CLI::App& app);  // what happens without a subcommand, and `open`

}  // namespace attnscope::command
