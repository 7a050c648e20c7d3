// Finding "reference": run B of a comparison, or the run without interventions. Every view can show
// it while Shift is held.
#include "core/experiment/finding.h"

namespace attnscope {

Finding reference_finding() {
  return {.id = Findings::reference.id,
          .summary = "Run B of a comparison, or the run without interventions.",
          .exists = [](const Session& e) { return reference_of(e).has_value(); },
          // Has its own entry in the cache of runs.
          .is_reusable = [](const RunSpec&, const RunSpec&) { return false; },
          .with_run =
              [](const FinishedRun& run, Findings& results) {
                const bool alone = run.session.b.has_value();
                const Traces reference = run.observe(*reference_of(run.session), alone);
                results.set(Findings::reference, reference.trace);
                if (const auto lens = reference.findings.get(Findings::lens)) {
                  results.set(Findings::reference_lens, lens);
                }
              }};
}

}  // namespace attnscope
