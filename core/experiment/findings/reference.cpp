// The run beside it: what it is compared with, or the same without interventions. It may be looked
// at in every view, while Shift is held.
#include "core/experiment/finding.h"

namespace attnscope {

Finding reference_finding() {
  return {.id = Findings::reference.id,
          .summary = "The run that it is compared with, or the same without interventions.",
          .exists = [](const Experiment& e) { return reference_of(e).has_value(); },
          // It is another run, which is kept or not by itself.
          .holds = [](const Experiment&, const Experiment&) { return false; },
          .with_run =
              [](const RunToRead& run, Findings& results) {
                const bool alone = !run.experiment.others.empty();
                const Traces beside = run.observe(*reference_of(run.experiment), alone);
                results.set(Findings::reference, std::make_shared<const Traces>(beside));
              }};
}

}  // namespace attnscope
