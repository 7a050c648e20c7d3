// Findings "training" and "reference_training": learning curve of the run's model.
#include "core/base/error.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/snapshots.h"
#include "core/experiment/finding.h"
#include "core/experiment/training_study.h"

namespace attnscope {
namespace {

TrainingStudy training_study(const std::string& model) {
  TrainingStudy study;
  const std::filesystem::path folder = training_folder(model);
  study.folder = folder.string();
  study.step = snapshot_step(model);
  study.snapshots = snapshot_steps(folder);
  try {
    study.curve = read_learning_curve(folder, model_card(folder.string()).task);
    if (study.curve.rows.empty()) study.problem = "The training has no steps yet.";
  } catch (const InputError& e) {
    study.problem = e.what();
  }
  return study;
}

}  // namespace

void record_training_step(const std::string& model, Trace& trace) {
  if (!has_training_log(training_folder(model))) return;
  const Index step = snapshot_step(model).value_or(-1);
  trace.counts[kTrainingStep] = IntTensor::full({1}, static_cast<std::int32_t>(step));
}

Finding training_finding() {
  return {.id = Findings::training.id,
          .summary = "Learning curve of the model.",
          .exists = [](const Session& session) { return session.run.tensors.file.empty(); },
          .with_run =
              [](const FinishedRun& run, Findings& results) {
                if (!run.trace->counts.contains(kTrainingStep)) return;
                results.set(Findings::training, std::make_shared<const TrainingStudy>(
                                                    training_study(run.session.run.model)));
              }};
}

}  // namespace attnscope
