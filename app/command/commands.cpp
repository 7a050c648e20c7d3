#include "app/command/commands.h"

#include "core/base/memory_budget.h"

namespace attnscope::command {
namespace {

void add_memory_option(Command program) {
  program
      .add(
          "--memory",
          [](const std::string& text) { set_memory_budget(memory_from_text(text, "--memory")); },
          "Memory limit, such as 4G or 512M; runs that need more are rejected; default: three "
          "quarters of the available memory (now " +
              memory_text(static_cast<double>(default_memory_budget())) + ")")
      .value_name("SIZE");
}

}  // namespace

void add_commands(Command program) {
  add_memory_option(program);
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
  add_experiment(program);
  add_window(program);
  add_manual(program);
}

}  // namespace attnscope::command
