#include "core/view/train/train_numbers.h"

#include "core/base/error.h"
#include "core/experiment/finding.h"
#include "core/view/parts/describe.h"

namespace attnscope {
namespace {

constexpr const char* kTrainAdvice =
    "Learning curves need the loss.csv of a training: train a model with Edit ▸ Train a model…, or "
    "with 'attnscope train', and open its folder.";

// Rows of the log as a matrix [steps, columns].
ViewData::Matrix log_matrix(const std::string& name, const LearningCurve& curve) {
  ViewData::Matrix matrix{name, {}, {}, {}};
  matrix.columns = {"loss",
                    "learning rate",
                    "tokens per second",
                    "held-out loss",
                    "held-out bits per byte",
                    "held-out accuracy",
                    "weight on expected keys",
                    "weight of uniform attention",
                    "gradient norm"};
  for (const std::string& layer : curve.layers) matrix.columns.push_back("gradient " + layer);
  const auto width = static_cast<Index>(matrix.columns.size());
  const std::size_t layers = curve.layers.size();
  matrix.values = Tensor::full({static_cast<Index>(curve.rows.size()), width}, NAN);
  for (std::size_t n = 0; n < curve.rows.size(); ++n) {
    const LossRow& row = curve.rows[n];
    matrix.rows.push_back("step " + std::to_string(row.step));
    std::vector<double> numbers{row.loss,
                                row.learning_rate,
                                row.tokens_per_second,
                                row.held_out.loss,
                                row.held_out.bits_per_byte,
                                row.held_out.accuracy,
                                row.expected.weight,
                                row.expected.uniform,
                                row.gradient_norm};
    for (std::size_t i = 0; i < std::min(layers, row.gradients.size()); ++i) {
      numbers.push_back(row.gradients[i]);
    }
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      matrix.values(static_cast<Index>(n), static_cast<Index>(c)) = static_cast<float>(numbers[c]);
    }
  }
  return matrix;
}

}  // namespace

Refusal training_refusal(const Trace& trace) {
  if (trace.counts.contains(kTrainingStep)) return {};
  return {"No training log", kTrainAdvice};
}

TrainingInput training_input(const ViewInput& input) {
  TrainingInput result;
  result.refusal = training_refusal(input.trace);
  if (result.refusal) return result;
  result.study = input.findings.get(Findings::training);
  result.reference = input.findings.get(Findings::reference_training);
  if (result.reference != nullptr && !result.reference->problem.empty()) result.reference = nullptr;
  if (result.study == nullptr) {
    result.refusal = {"Computing", "The learning curves appear here."};
  } else if (!result.study->problem.empty()) {
    result.refusal = {"No learning curve", as_sentence(capitalised(result.study->problem))};
  }
  return result;
}

ViewData training_data(const ViewInput& input) {
  const TrainingInput training = training_input(input);
  training.refusal.throw_if_refused();
  ViewData data;
  data.matrices.push_back(log_matrix("training", training.study->curve));
  if (training.reference) data.matrices.push_back(log_matrix("B", training.reference->curve));
  return data;
}

}  // namespace attnscope
