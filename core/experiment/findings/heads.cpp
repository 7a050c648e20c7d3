// Finding "heads": head statistics over a file of texts.
#include "core/base/file.h"
#include "core/experiment/finding.h"
#include "core/experiment/head_table.h"
#include "core/experiment/run.h"

namespace attnscope {
namespace {

// True if two runs have equal statistics, which do not depend on the text of the run.
bool has_equal_statistics(const RunSpec& previous, const RunSpec& current) {
  RunSpec adapted = previous;
  adapted.text = current.text;
  adapted.ids = current.ids;
  adapted.overlong = current.overlong;
  adapted.backend = current.backend;  // statistics do not depend on the device
  return adapted == current;
}

}  // namespace

Finding heads_finding() {
  return {.id = Findings::heads.id,
          .summary = "Head statistics over a file of texts.",
          .exists = [](const Session& session) { return session.run.tensors.file.empty(); },
          .is_reusable = has_equal_statistics,
          .outlives_view = true,
          .in_background =
              [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                 const FindingProgress& progress, Findings& results) {
                const auto& [file, in_words] = std::get<HeadTableSettings>(settings);
                results.set(Findings::heads, std::make_shared<const HeadTable>(head_table(
                                                 spec, read_file(file), in_words, run, progress)));
              }};
}

}  // namespace attnscope
