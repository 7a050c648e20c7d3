// Finding "lens": the logit lens.
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/finding.h"
#include "core/model/architecture.h"
#include "core/model/logit_lens.h"

namespace attnscope {

Finding lens_finding() {
  return {.id = Findings::lens.id,
          .summary = "Logit lens: predictions of every layer.",
          // Imported tensors have no model.
          .exists = [](const Session& session) { return session.run.tensors.file.empty(); },
          .with_run =
              [](const FinishedRun& run, Findings& results) {
                const ModelConfig& config = run.checkpoint->model.config;
                if (!architecture(config.architecture.id).has_self_attention) return;
                if (!run.trace->logits.defined()) return;  // no output layer to decode states
                results.set(Findings::lens, std::make_shared<const LogitLens>(
                                                logit_lens(run.checkpoint->model, *run.trace)));
              }};
}

}  // namespace attnscope
