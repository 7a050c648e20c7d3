// The subcommands of the command line. One file each; add_commands() is their ordered list.
//
// A command's action throws InputError (exit status 2) or WorkError (1); main() prints the one
// line on stderr. Stopped (Ctrl-C) exits with 130 after what could be saved was saved.
#pragma once

#include "app/command/options.h"

namespace attnscope::command {

void add_commands(Command program);

void add_attend(Command program);
void add_cost(Command program);
void add_datastore(Command program);
void add_calibrate(Command program);
void add_evaluate(Command program);
void add_gallery(Command program);
void add_generate(Command program);
void add_lesson(Command program);
void add_list(Command program);
void add_manual(Command program);  // and `completion`: last, since they tell of all
void add_pairs(Command program);
void add_render(Command program);
void add_run(Command program);
void add_statistics(Command program);
void add_train(Command program);
void add_window(Command program);  // what happens without a subcommand, and `open`

}  // namespace attnscope::command
