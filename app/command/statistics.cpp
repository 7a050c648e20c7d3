// attnscope statistics: statistics of every head over a file of texts or over tensors, as CSV.
#include <cstdio>
#include <memory>
#include <string>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/head_table.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/run.h"
#include "core/figure/plain_text.h"

namespace attnscope::command {
namespace {

struct StatisticsOptions {
  std::string file, model = "default", backend = "auto";
  TensorOptions tensors;
  ChoiceOptions choices;
  CompatibleOptions compatible;
  std::string output;
  bool words = false;
};

HeadTable measure(const StatisticsOptions& options, std::vector<std::string>& notes) {
  Session session;
  session.run.model = options.model;
  session.run.backend = backend_choice(options.backend);
  session.run.structure = options.choices.structure({});
  session.run.causal = options.choices.causal();
  session.view.words = options.words;
  options.tensors.apply(options.file, session.run);
  ExperimentRun runner(backends());
  RequestedChoices requested = options.choices.requested();
  if (is_tensor_file(options.file)) {
    options.compatible.apply(session, requested, notes);
    const ProgressLine line(runner);
    const auto trace = runner.run(session.run);
    options.choices.check_trace(*trace);
    if (!options.words) return head_table(*trace);
    const std::string refusal = words_refusal(*trace);
    if (!refusal.empty()) throw InputError("--words: " + refusal);
    return head_table(merge_words(*trace)->trace);
  }
  requested.kept.segments = requested.kept.length = true;
  RunTokens input{.checkpoint = model_store()->checkpoint(options.model)};
  input.count = input.checkpoint->model.config.context;  // one set of values for all texts
  options.compatible.apply(session, requested, input, notes);
  return head_table(session.run, read_file(options.file), options.words, runner,
                    print_progress("measuring"));
}

void run(const StatisticsOptions& options) {
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (!to_stdout) check_writable(options.output);
  std::vector<std::string> notes;
  const HeadTable table = measure(options, notes);
  if (to_stdout) {
    print(to_csv(table));
    flush_output();
  } else {
    write_file(options.output, to_csv(table));
  }
  for (const std::string& note : notes) print_note(note);
  const std::string summary = count_text(static_cast<long long>(table.rows.size()), "head") +
                              " over " + count_text(table.tokens, table.words ? "word" : "token") +
                              " of " + count_text(table.texts, "text");
  std::fprintf(stderr, "%s\n", summary.c_str());
}

}  // namespace

void add_statistics(Command program) {
  Command command = program.subcommand("statistics",
                                       "Measure every head over a file: entropy, distance, share "
                                       "on the first, previous and same token, induction score");
  const auto options = std::make_shared<StatisticsOptions>();
  command
      .add("FILE", options->file,
           "Texts separated by blank lines; or tensors: FILE.npy, FILE.npz, FILE.safetensors")
      .required();
  command.flag("--words", options->words,
               "Measure between words: weights summed over the tokens of a key word, averaged over "
               "those of a query word");
  command.add("-o,--output", options->output, "Output file (CSV); default: standard output");
  command.add("-m,--model", options->model, "Model: bundled name, folder or GGUF file")
      .show_default();
  options->choices.add_to(command);
  options->compatible.add_to(command);
  command.add("--device,--backend", options->backend, "Device: auto, cpu or gpu").show_default();
  options->tensors.add_to(command);
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
