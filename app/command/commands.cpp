#include "app/command/commands.h"

namespace attnscope::command {

void add_commands(CLI::App& app) {
  static_cast<void>(app);
}

}  // namespace attnscope::command
