// Finding "reference": run B of a comparison, or the run without interventions. Every view can show
// this run while Shift is held.
#include "core/experiment/finding.h"

namespace attnscope {

Finding reference_finding() {
  return {.id = Findings::reference.id,
          .summary = "Run B of a comparison, or the run without interventions.",
          .exists = [](const Session& session) { return reference_of(session).has_value(); },
          // Never reused as a finding: the cache of runs contains the reference.
          .is_reusable = [](const RunSpec&, const RunSpec&) { return false; },
          .with_run =
              [](const FinishedRun& run, Findings& results) {
                const bool with_findings = run.session.b.has_value();
                const Traces reference = run.observe(*reference_of(run.session), with_findings);
                results.set(Findings::reference, reference.trace);
                if (const auto lens = reference.findings.get(Findings::lens)) {
                  results.set(Findings::reference_lens, lens);
                }
                if (const auto lens = reference.findings.get(Findings::token_lens)) {
                  results.set(Findings::reference_token_lens, lens);
                }
                if (const auto study = reference.findings.get(Findings::training)) {
                  results.set(Findings::reference_training, study);
                }
              }};
}

}  // namespace attnscope
