// Findings "lens" and "token_lens": the logit lens of all positions, or of those that are read.
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/finding.h"
#include "core/model/architecture.h"
#include "core/model/logit_lens.h"

namespace attnscope {
namespace {

// Imported tensors have no model.
bool has_checkpoint(const Session& session) {
  return session.run.tensors.file.empty();
}

bool has_lens(const FinishedRun& run) {
  const ModelConfig& config = run.checkpoint->model.config;
  // Without logits, no output layer decodes states.
  return architecture(config.architecture.id).has_self_attention && run.trace->logits.defined();
}

}  // namespace

Finding lens_finding() {
  return {.id = Findings::lens.id,
          .summary = "Logit lens: predictions of every layer.",
          .exists = has_checkpoint,
          .with_run = [](const FinishedRun& run, Findings& results) {
            if (!has_lens(run)) return;
            results.set(Findings::lens, std::make_shared<const LogitLens>(
                                            logit_lens(run.checkpoint->model, *run.trace)));
          }};
}

Finding token_lens_finding() {
  return {.id = Findings::token_lens.id,
          .summary = "Logit lens of single tokens, computed when a view shows them.",
          .exists = has_checkpoint,
          .with_run = [](const FinishedRun& run, Findings& results) {
            if (!has_lens(run)) return;
            // The trace keeps the checkpoint.
            const std::shared_ptr<const Model> model(run.trace->trained, &run.checkpoint->model);
            results.set(Findings::token_lens, std::make_shared<const TokenLens>(model, run.trace));
          }};
}

}  // namespace attnscope
