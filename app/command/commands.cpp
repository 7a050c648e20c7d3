#include "app/command/commands.h"

namespace attnscope::command {

void add_commands(Command program) {
  add_list(program);
  add_attend(program);
  add_run(program);
  add_datastore(program);
  add_generate(program);
  add_render(program);
  add_gallery(program);
  add_lesson(program);
  add_train(program);
  add_evaluate(program);
  add_calibrate(program);
  add_statistics(program);
  add_pairs(program);
  add_cost(program);
  add_window(program);
  add_manual(program);
}

}  // namespace attnscope::command
