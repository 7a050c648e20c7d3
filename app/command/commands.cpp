#include "app/command/commands.h"

namespace attnscope::command {

void add_commands(CLI::App& app) {
  add_list(app);
  add_attend(app);
  add_run(app);
  add_generate(app);
  add_render(app);
  add_gallery(app);
  add_lesson(app);
  add_train(app);
  add_evaluate(app);
  add_statistics(app);
  add_window(app);
}

}  // namespace attnscope::command
