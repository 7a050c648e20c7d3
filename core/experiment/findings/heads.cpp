// What heads do over a file of texts (ViewSettings::statistics_file), whatever text is run.
#include "core/base/file.h"
#include "core/experiment/finding.h"
#include "core/experiment/head_table.h"
#include "core/experiment/runner.h"

namespace attnscope {

namespace {

bool has_texts(const Experiment& experiment) {
  return !experiment.view.statistics_file.empty() && experiment.tensors.file.empty();
}

// The same heads over the same texts.
bool same_measuring(const Experiment& a, const Experiment& b) {
  Experiment other = a;
  other.text = b.text;
  other.ids = b.ids;
  other.overlong = b.overlong;
  other.others = b.others;
  other.backend = b.backend;  // what heads do is the same everywhere
  return same_run(other, b) && a.view.statistics_file == b.view.statistics_file &&
         a.view.words == b.view.words;
}

}  // namespace

Finding heads_finding() {
  return {.id = Findings::heads.id,
          .summary = "What every head does over a file of texts.",
          .exists = has_texts,
          .holds = same_measuring,
          .beside_runs = [](const Experiment& experiment, ExperimentRun& run,
                            const FindingProgress& progress, const Stop& stop, Findings& results) {
            const std::string texts = read_file(experiment.view.statistics_file);
            results.set(Findings::heads, std::make_shared<const HeadTable>(
                                             head_table(experiment, texts, run, progress, stop)));
          }};
}

}  // namespace attnscope
