#include "app/command/commands.h"

#include "app/command/strict_options.h"

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
  refuse_bad_values(app);
}

}  // namespace attnscope::command
