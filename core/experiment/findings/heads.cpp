// Finding "heads": head statistics over a file of texts (ViewSettings::statistics_file).
#include "core/base/file.h"
#include "core/experiment/finding.h"
#include "core/experiment/head_table.h"
#include "core/experiment/runner.h"

namespace attnscope {

namespace {

bool has_texts(const Session& session) {
  return !session.view.statistics_file.empty() && session.run.tensors.file.empty();
}

// True if both measure the same heads over the same texts.
bool same_measuring(const Session& a, const Session& b) {
  RunSpec other = a.run;
  other.text = b.run.text;
  other.ids = b.run.ids;
  other.overlong = b.run.overlong;
  other.backend = b.run.backend;  // statistics do not depend on the device
  return other == b.run && a.view.statistics_file == b.view.statistics_file &&
         a.view.words == b.view.words;
}

}  // namespace

Finding heads_finding() {
  return {.id = Findings::heads.id,
          .summary = "Head statistics over a file of texts.",
          .exists = has_texts,
          .is_reusable = same_measuring,
          .in_background = [](const Session& session, ExperimentRun& run,
                              const FindingProgress& progress, Findings& results) {
            const std::string texts = read_file(session.view.statistics_file);
            results.set(Findings::heads, std::make_shared<const HeadTable>(
                                             head_table(session, texts, run, progress)));
          }};
}

}  // namespace attnscope
