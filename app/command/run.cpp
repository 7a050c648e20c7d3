// attnscope run: a model's forward pass, everything in it into a file.
#include <cstdio>
#include <filesystem>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/interrupt.h"
#include "app/command/text_progress.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop_scope.h"
#include "core/experiment/runner.h"
#include "core/experiment/trace_file.h"
#include "core/model/config.h"

namespace attnscope::command {

namespace {

struct RunOptions {
  ExperimentOptions experiment;
  bool losses = false, gradients = false;
  std::filesystem::path output;
};

// Pictures may begin where a target does, with its start alone; numbers for other programs are of
// a target that somebody has named.
void check_target(const Experiment& experiment, const Trace& trace) {
  const bool named = !experiment.target_ids.empty() || !experiment.target.empty();
  if (named || trace.streams.empty() || !experiment.tensors.file.empty()) return;
  throw InputError("target ids: expected those that " + trace.config->architecture.id +
                   " has given so far (--target-ids, --target), found none");
}

void run(const RunOptions& options) {
  const Experiment experiment = options.experiment.experiment();
  check_writable(options.output);
  ExperimentRun runner(backends());
  if (options.gradients && !options.losses) {
    throw InputError("--gradients: expected with --losses, of which they are");
  }
  if (options.losses && experiment.exit) {
    throw InputError("--exit: expected without --losses, which are those of all layers");
  }
  const Stop stop = stop_on_interrupt();
  const StopScope scope(stop);  // of writing, too
  const auto trace = [&] {
    const ProgressLine line(runner);
    return runner.run(experiment, {options.losses, options.gradients}, stop);
  }();
  options.experiment.check_trace(*trace);
  check_target(experiment, *trace);
  write_safetensors(options.output, trace_file(*trace));
  if (const std::string note = attention_left_out(*trace); !note.empty()) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  for (const std::string& note : trace->notes) std::fprintf(stderr, "note: %s\n", note.c_str());
}

}  // namespace

void add_run(Command program) {
  Command command = program.subcommand(
      "run", "Run a model on a text and write attention, logits and all else to a file");
  const auto options = std::make_shared<RunOptions>();
  options->experiment.add_to(command);
  command.flag("--losses", options->losses, "Also the losses that the model is trained on");
  command.flag("--gradients", options->gradients,
               "Also the gradients of their sum, for every weight that is trained");
  command.add("-o,--output", options->output, "The safetensors file to write").required();
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
