// Subcommands of the command line, one file each; add_commands() is their ordered list.
//
// The action of a command throws InputError (exit status 2) or WorkError (1); main() prints the
// message in one line on stderr. Stopped (Ctrl-C) exits with 130 after partial results are saved.
#pragma once

#include "app/command/options.h"

namespace attnscope::command {

void add_commands(Command program);

void add_attend(Command program);
void add_cost(Command program);
void add_experiment(Command program);
void add_datastore(Command program);
void add_calibrate(Command program);
void add_evaluate(Command program);
void add_gallery(Command program);
void add_generate(Command program);
void add_lesson(Command program);
void add_list(Command program);
void add_manual(Command program);  // `manual`, `completion`; last: both list all commands
void add_pairs(Command program);
void add_render(Command program);
void add_run(Command program);
void add_statistics(Command program);
void add_train(Command program);
void add_window(Command program);  // `window` (the default command) and `open`

}  // namespace attnscope::command
