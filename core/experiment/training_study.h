// Finding "training": the learning curve of the run's model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/training/learning_curve.h"

namespace attnscope {

struct TrainingStudy {
  LearningCurve curve;
  std::string folder{};            // of the training
  std::optional<Index> step{};     // of the model if it is a snapshot
  std::vector<Index> snapshots{};  // steps of the training's snapshots, ascending
  std::string problem{};           // reason for a missing curve; empty on success
};

// Trace::counts of runs whose model has a training log: [1], the step of a snapshot, else -1.
inline constexpr const char* kTrainingStep = "training.step";

struct Trace;
// Sets kTrainingStep if the training folder of `model`, a name or a folder, has a log.
void record_training_step(const std::string& model, Trace& trace);

}  // namespace attnscope
