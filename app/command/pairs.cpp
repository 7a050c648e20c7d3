// attnscope pairs: salient pairs of words in a run, as CSV.
#include <cstdio>
#include <memory>
#include <optional>

#include "app/command/backends.h"
#include "app/command/commands.h"
#include "app/command/experiment_options.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/base/file.h"
#include "core/experiment/run.h"
#include "core/experiment/salient_pairs.h"
#include "core/figure/plain_text.h"
#include "core/figure/text_table.h"
#include "core/view/export/view_data.h"

namespace attnscope::command {
namespace {

struct PairsOptions {
  ExperimentOptions experiment;
  Index limit = 10;
  std::string output;
};

std::string to_csv(const std::vector<SalientPair>& pairs, const AddressParts& parts) {
  std::string csv;
  if (parts.stack) csv += "stack,";
  if (parts.step) csv += "step,";
  if (parts.segment) csv += "segment,";
  csv += "layer,head,query,key,query_word,key_word,words,weight,others,other_heads,score,habit\n";
  for (const SalientPair& pair : pairs) {
    const TracePart& part = pair.at.part;
    if (parts.stack) csv += name_of(part.stack) + ",";
    if (parts.step) csv += std::to_string(part.step) + ",";
    if (parts.segment) csv += std::to_string(part.segment) + ",";
    for (const Index number : {pair.at.layer, pair.at.head, pair.query, pair.key}) {
      csv += std::to_string(number) + ",";
    }
    csv += csv_field(pair.query_word) + "," + csv_field(pair.key_word) + "," +
           std::to_string(pair.words) + ",";
    for (const double number : {pair.weight, pair.other_weight, pair.other_heads, pair.score}) {
      csv += general(number, 6) + ",";
    }
    csv += name_of(pair.kind) + "\n";
  }
  return csv;
}

void run(const PairsOptions& options) {
  std::vector<std::string> notes;
  const Session session = options.experiment.compatible_session(notes);
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (!to_stdout) check_writable(options.output);
  ExperimentRun runner(backends());
  std::optional<ProgressLine> line(runner);
  std::shared_ptr<const Trace> trace;
  with_offer(session, [&] { trace = runner.run(session.run); });
  options.experiment.check_trace(*trace);
  const std::vector<SalientPair> pairs =
      find_salient_pairs(*trace, static_cast<std::size_t>(options.limit), &line->progress());
  line.reset();
  const std::string csv = to_csv(pairs, trace->parts);
  if (to_stdout) {
    print(csv);
    flush_output();
  } else {
    write_file(options.output, csv);
  }
  for (const std::string& note : notes) print_note(note);
  for (const std::string& note : trace->notes) print_note(note);
}

}  // namespace

void add_pairs(Command program) {
  Command command = program.subcommand(
      "pairs",
      "List the most salient pairs of words over all heads as CSV. The score grows "
      "with the contrast to other words and heads, with the distance, and with the "
      "surprisal of the key's word");
  const auto options = std::make_shared<PairsOptions>();
  options->experiment.add_to(command);
  options->experiment.offer_compatible(command);
  command.add("--limit,--most", options->limit, "Maximum number of pairs")
      .show_default()
      .from_to(Index{1}, Index{1000});
  command.add("-o,--output", options->output, "Output file (CSV); default: standard output");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
