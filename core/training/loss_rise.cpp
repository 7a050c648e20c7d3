#include "core/training/loss_rise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/stop.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

constexpr std::size_t kWindow = 20;         // steps before a rise
constexpr double kDeviations = 5;           // of the losses in the window
constexpr double kMinShare = 0.2;           // of the mean
constexpr std::size_t kMaxTexts = 3;        // in a description
constexpr std::size_t kMaxCharacters = 60;  // of a sequence in a description

std::string sequence_text(const Batch& batch, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return "";
  const IntTensor& ids = batch.source.defined() ? batch.source : batch.ids;
  if (!ids.defined()) return "";
  std::vector<std::int32_t> text;  // without mask and start ids, which the tokenizer may lack
  for (const std::int32_t id : ids) {
    if (id >= 0 && id < tokenizer->vocabulary_size()) text.push_back(id);
  }
  return tokenizer->decode(text);
}

// Sequences of a step's batch with their losses, the largest first.
std::vector<LossRise::Sequence> sequence_losses(const Checkpoint& checkpoint, Task& task,
                                                Index step, Index batch_size) {
  std::vector<LossRise::Sequence> sequences;
  for (Index b = 0; b < batch_size; ++b) {
    const Batch batch = task.batch(static_cast<std::uint64_t>((step - 1) * batch_size + b), 1);
    const Output output = run(checkpoint.model, batch, {});
    sequences.push_back({sequence_text(batch, checkpoint.tokenizer.get()),
                         static_cast<double>(output.losses.front().value.value()[0])});
    check_stop();
  }
  std::ranges::sort(sequences, std::greater<>{}, &LossRise::Sequence::loss);
  return sequences;
}

double mean_loss(const std::vector<LossRise::Sequence>& sequences) {
  double sum = 0;
  for (const LossRise::Sequence& sequence : sequences) sum += sequence.loss;
  return sum / static_cast<double>(sequences.size());
}

}  // namespace

double mean_before_rise(const std::vector<LossRow>& rows, double loss) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (rows.size() < kWindow) return none;
  double sum = 0, squares = 0;
  for (std::size_t i = rows.size() - kWindow; i < rows.size(); ++i) {
    sum += rows[i].loss;
    squares += rows[i].loss * rows[i].loss;
  }
  const double mean = sum / kWindow;
  const double deviation = std::sqrt(std::max(0.0, squares / kWindow - mean * mean));
  const double limit = mean + std::max(kDeviations * deviation, kMinShare * std::abs(mean));
  return loss > limit ? mean : none;
}

LossRise explain_rise(const LossRow& before, double loss, double mean, const Checkpoint& checkpoint,
                      Task& task, Index batch_size) {
  const Index step = before.step + 1;
  LossRise rise{step, loss, mean, step, false, {}};
  std::vector<LossRise::Sequence> previous =
      sequence_losses(checkpoint, task, before.step, batch_size);
  rise.is_update = mean_loss(previous) > before.loss;
  if (rise.is_update) rise.batch_step = before.step;
  rise.sequences =
      rise.is_update ? std::move(previous) : sequence_losses(checkpoint, task, step, batch_size);
  return rise;
}

std::string describe(const LossRise& rise) {
  std::string text = "step " + std::to_string(rise.step) + ": loss " + fixed(rise.loss, 2) + ", " +
                     fixed(rise.mean, 2) + " before; " +
                     (rise.is_update ? "raised by the update with the batch of step "
                                     : "raised by the hard batch of step ") +
                     std::to_string(rise.batch_step);
  for (std::size_t i = 0; i < std::min(kMaxTexts, rise.sequences.size()); ++i) {
    const LossRise::Sequence& sequence = rise.sequences[i];
    if (sequence.text.empty()) continue;
    text += (i == 0 ? ": \"" : ", \"") +
            visible(std::string_view(sequence.text).substr(0, kMaxCharacters)) + "\" (" +
            fixed(sequence.loss, 2) + ")";
  }
  return text;
}

}  // namespace attnscope
