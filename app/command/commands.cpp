#include "app/command/commands.h"

namespace attnscope::command {

void add_commands(CLI::App& app) {
  add_list(app);
  add_attend(app);
}

}  // namespace attnscope::command
