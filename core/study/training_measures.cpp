// Measures of a training.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/model/weights.h"
#include "core/study/study_measure.h"
#include "core/tensor/storage.h"
#include "core/training/task.h"
#include "core/training/trainer.h"

namespace attnscope {
namespace {

MeasureFunction make_score(JsonObject&) {
  return [](const MeasureInput& input) -> StudyRows {
    const StudyTraining& training = *input.training;
    return {
        {{{"loss", training.score.loss},
          {"bits_per_byte", training.score.bits_per_byte},
          {"accuracy", training.score.accuracy},
          {"training_loss", training.loss},
          {"seconds", training.seconds},
          {"peak_bytes", training.peak_bytes},
          {"parameters", static_cast<double>(parameter_count(input.checkpoint()->model.config))}},
         {}}};
  };
}

// Means over intervals of steps, and the newest score in each.
MeasureFunction make_curve(JsonObject& options) {
  const Index points = options.integer_or("points", 20, 2, 200);
  return [points](const MeasureInput& input) {
    LossLog log(input.plan->folder);
    log.load_steps(input.plan->steps);
    const std::vector<LossRow>& rows = log.rows();
    const std::size_t size =
        std::max<std::size_t>(1, rows.size() / static_cast<std::size_t>(points));
    StudyRows result;
    double sum = 0;
    std::size_t count = 0;
    Score score;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += rows[i].loss;
      ++count;
      if (!std::isnan(rows[i].held_out.loss)) score = rows[i].held_out;
      if (count < size && i + 1 < rows.size()) continue;
      result.push_back({{{"step", static_cast<double>(rows[i].step)},
                         {"training_loss", sum / static_cast<double>(count)},
                         {"loss", score.loss},
                         {"bits_per_byte", score.bits_per_byte},
                         {"accuracy", score.accuracy}},
                        {}});
      sum = 0;
      count = 0;
    }
    return result;
  };
}

// Norms of the gradient before the first update, by layer.
MeasureFunction make_gradients(JsonObject&) {
  return [](const MeasureInput& input) {
    TrainingPlan plan = *input.plan;
    plan.folder /= "gradients";  // has no training state
    Trainer trainer(plan);
    const LossRow row = trainer.step();
    StudyRows rows;
    const std::vector<std::string>& names = trainer.log().layers();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].starts_with("layers.")) continue;
      rows.push_back({{{"layer", std::stod(names[i].substr(7))}, {"gradient", row.gradients[i]}},
                      {{"weights", names[i]}}});
    }
    return rows;
  };
}

// Memory and time of training steps, without the first, which allocates.
MeasureFunction make_step(JsonObject& options) {
  const Index steps = options.integer_or("steps", 2, 1, 100);
  return [steps](const MeasureInput& input) -> StudyRows {
    TrainingPlan plan = *input.plan;
    plan.folder /= "step";  // has no training state
    Trainer trainer(plan);
    trainer.step();
    reset_peak_storage();
    const auto start = std::chrono::steady_clock::now();
    for (Index n = 0; n < steps; ++n) trainer.step();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return {{{{"peak_bytes", static_cast<double>(storage_statistics().peak_bytes)},
              {"seconds", seconds.count() / static_cast<double>(steps)}},
             {}}};
  };
}

// Score of the measured model on a task, which may differ from that of the training.
MeasureFunction make_task(JsonObject& options) {
  const std::string id = options.text("task");
  if (!task(id).files.empty()) options.fail("task", "a task with generated data");
  const Index length = options.integer_or("length", 0, 0, kMaxIndex);
  const bool by_length = options.flag_or("by_length", false);
  return [id, length, by_length](const MeasureInput& input) {
    const std::shared_ptr<const Checkpoint> checkpoint = input.checkpoint();
    const TaskInfo& info = task(id);
    TrainingPlan plan;
    plan.task = id;
    plan.model = checkpoint->model.config;
    if (length > 0) plan.model.context = length;
    check_model(info, plan.model);
    info.check(plan);
    const std::unique_ptr<Task> scored = info.make(plan);
    StudyRows rows;
    if (by_length) {
      for (const auto& [source, tally] : scored->tally_by_length(*checkpoint)) {
        rows.push_back({{{"length", static_cast<double>(source)},
                         {"accuracy", tally.match_share()},
                         {"loss", tally.tokens.score().loss}},
                        {}});
      }
      return rows;
    }
    const Score score = scored->score(*checkpoint, true);
    rows.push_back({{{"loss", score.loss}, {"accuracy", score.accuracy}}, {}});
    return rows;
  };
}

}  // namespace

std::vector<StudyMeasure> training_measures() {
  return {
      {"score", "held-out score, time and memory of the training",
       "loss, bits_per_byte, accuracy, training_loss, seconds, peak_bytes, parameters",
       MeasureNeeds::Training, make_score},
      {"curve", "losses and scores by step", "step, training_loss, loss, bits_per_byte, accuracy",
       MeasureNeeds::Training, make_curve},
      {"gradients", "norm of the first gradient of each layer, without training", "layer, gradient",
       MeasureNeeds::Plan, make_gradients},
      {"step", "memory and seconds of a training step, without training", "peak_bytes, seconds",
       MeasureNeeds::Plan, make_step},
      {"task", "score on a task, as a whole or by source length", "loss, accuracy, length",
       MeasureNeeds::Model, make_task},
  };
}

}  // namespace attnscope
