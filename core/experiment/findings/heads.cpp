// Finding "heads": head statistics over a file of texts.
#include "core/base/file.h"
#include "core/experiment/finding.h"
#include "core/experiment/head_table.h"
#include "core/experiment/run.h"

namespace attnscope {
namespace {

// True if both runs have equal statistics, which do not depend on the text of the run.
bool same_heads(const RunSpec& before, const RunSpec& now) {
  RunSpec adapted = before;
  adapted.text = now.text;
  adapted.ids = now.ids;
  adapted.overlong = now.overlong;
  adapted.backend = now.backend;  // statistics do not depend on the device
  return adapted == now;
}

}  // namespace

Finding heads_finding() {
  return {.id = Findings::heads.id,
          .summary = "Head statistics over a file of texts.",
          .exists = [](const Session& e) { return e.run.tensors.file.empty(); },
          .is_reusable = same_heads,
          .outlives_view = true,
          .in_background =
              [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                 const FindingProgress& progress, Findings& results) {
                const auto& [file, words] = std::get<HeadTableSettings>(settings);
                results.set(Findings::heads, std::make_shared<const HeadTable>(head_table(
                                                 spec, read_file(file), words, run, progress)));
              }};
}

}  // namespace attnscope
