// The logit lens: what every layer would say if it were the last.
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/finding.h"
#include "core/model/architecture.h"
#include "core/model/logit_lens.h"

namespace attnscope {

Finding lens_finding() {
  return {.id = Findings::lens.id,
          .summary = "What every layer would say if it were the last.",
          // Tensors come without a model.
          .exists = [](const Experiment& e) { return e.tensors.file.empty(); },
          .holds = [](const Experiment&, const Experiment&) { return true; },
          .with_run =
              [](const RunToRead& run, Findings& results) {
                const ModelConfig& config = run.checkpoint->model.config;
                if (!architecture(config.architecture.id).has_self_attention) return;
                if (!run.trace->logits.defined()) return;  // nothing says what states mean
                results.set(Findings::lens, std::make_shared<const LogitLens>(logit_lens(
                                                run.checkpoint->model, *run.trace, run.stop)));
              }};
}

}  // namespace attnscope
