// attnscope run: saves all tensors of a forward pass to a file.
#include "core/experiment/run.h"

#include <cstdio>
#include <filesystem>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/base/error.h"
#include "core/experiment/trace_file.h"
#include "core/model/config.h"

namespace attnscope::command {
namespace {

struct RunOptions {
  ExperimentOptions experiment;
  bool losses = false, gradients = false;
  std::filesystem::path output;
};

// Pictures may start from an empty target; exported numbers require an explicit target.
void check_target(const Session& session, const Trace& trace) {
  const bool has_target = !session.run.target_ids.empty() || !session.run.target.empty();
  if (has_target || trace.streams.empty() || !session.run.tensors.file.empty()) return;
  throw InputError("target ids: expected a target prefix for " + trace.config->architecture.id +
                   " (--target-ids, --target), found none");
}

void run(const RunOptions& options) {
  const Session session = options.experiment.session();
  check_safetensors_output(options.output);
  ExperimentRun runner(backends());
  if (options.gradients && !options.losses) {
    throw InputError("--gradients: expected --losses as well");
  }
  if (options.losses && session.run.exit) {
    throw InputError("--losses: expected no --exit, since losses use all layers");
  }
  std::shared_ptr<const Trace> trace;
  with_offer(session, [&] {
    const ProgressLine line(runner);
    trace = runner.run(session.run, {options.losses, options.gradients});
  });
  options.experiment.check_trace(*trace);
  check_target(session, *trace);
  write_safetensors(options.output, trace_file(*trace));
  if (const std::string note = omitted_attention_note(*trace); !note.empty()) {
    print_note(note);
  }
  for (const std::string& note : trace->notes) print_note(note);
}

}  // namespace

void add_run(Command program) {
  Command command = program.subcommand(
      "run", "Run a model on a text and save attention, logits and all other tensors");
  const auto options = std::make_shared<RunOptions>();
  options->experiment.add_to(command);
  command.flag("--losses", options->losses, "Also save the training losses");
  command.flag("--gradients", options->gradients,
               "Also save the gradients of the summed losses for all trained weights");
  command.add("-o,--output", options->output, "Output file (safetensors)").required();
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
