// attnscope experiment: checks a claim of an article by runs over one or two parameters.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/command/commands.h"
#include "app/command/output.h"
#include "app/command/text_progress.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/study/study_run.h"

namespace attnscope::command {
namespace {

struct StudyOptions {
  std::vector<std::string> experiments;
  std::string folder;
  bool quick = false, all = false;
};

void run(const StudyOptions& options) {
  if (options.all == !options.experiments.empty()) {
    throw InputError("experiment: expected names or files of experiments, or --all");
  }
  if (options.folder.empty()) throw InputError("experiment: expected a folder: -o FOLDER");
  const std::vector<std::string> names = options.all ? bundled_studies() : options.experiments;
  std::vector<Study> studies;
  for (const std::string& name : names) studies.push_back(find_study(name, options.quick));
  std::string problem;  // the first
  std::size_t problems = 0;
  for (const Study& study : studies) {
    const auto print_step = print_fraction(study.id);
    const std::filesystem::path folder = studies.size() == 1
                                             ? std::filesystem::path(options.folder)
                                             : std::filesystem::path(options.folder) / study.id;
    const StudyResult result = run_study(
        study, folder, [&](const StudyProgress& progress) { print_step(progress.fraction); });
    if (problems == 0 && !result.problems.empty()) {
      problem = study.id + ": " + result.problems.front();
    }
    problems += result.problems.size();
    print(study.id + ": " + conclusion(study, result.rows) + "\n");
    flush_output();
  }
  if (problems > 1)
    problem += " (and " + count_text(static_cast<long long>(problems) - 1, "more point") + ")";
  if (problems > 0) throw WorkError(problem);
}

}  // namespace

void add_experiment(Command program) {
  Command command = program.subcommand(
      "experiment",
      "Check a claim of an article: runs over one or two parameters, then a curve, a table and a "
      "sentence. Ctrl-C stops; the same command continues");
  const auto options = std::make_shared<StudyOptions>();
  command.add("experiments", options->experiments,
              "Experiments: names of 'attnscope list experiments', or definitions (JSON)");
  command.flag("--all", options->all, "All bundled experiments");
  command.flag("--quick", options->quick,
               "Fewer steps and values, as each definition says: a first look");
  command.add("-o,--folder", options->folder,
              "Folder for results.csv, figure.png, figure.svg, conclusion.txt and the trained "
              "models; with several experiments, a folder in it for each");
  command.action([options] { run(*options); });
}

}  // namespace attnscope::command
