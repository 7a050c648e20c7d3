#include "core/training/drawn_task.h"

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr Index kSampleSize = 256, kFullSize = 2048;  // numbers of scored sequences
constexpr std::uint64_t kScoreSeed = 0x7265706561;    // differs from training seeds

class DrawnTask final : public TextualTask {
 public:
  DrawnTask(std::shared_ptr<const Tokenizer> tokenizer, DrawnSequences training,
            DrawnSequences held_out)
      : TextualTask(std::move(tokenizer)),
        training_(std::move(training)),
        held_out_(std::move(held_out)) {}

  Batch batch(std::uint64_t number, Index count) override {
    Batch batch;
    training_.batch(number, count, batch.ids, batch.targets);
    return batch;
  }

  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    return score_of(checkpoint.model, held_out_, use_all ? kFullSize : kSampleSize);
  }

 private:
  DrawnSequences training_, held_out_;
};

}  // namespace

std::unique_ptr<Task> drawn_task(std::shared_ptr<const Tokenizer> tokenizer, std::uint64_t seed,
                                 const SequenceFactory& sequences) {
  return std::make_unique<DrawnTask>(std::move(tokenizer), sequences(seed),
                                     sequences(derived_seed(seed, kScoreSeed)));
}

void check_drawn(const TrainingPlan& plan) {
  if (!plan.held_out.empty() || plan.held_out_share > 0) {
    throw InputError("held_out: expected no held-out files, since the task \"" + plan.task +
                     "\" generates its held-out sequences");
  }
}

void check_drawn_bytes(const TrainingPlan& plan, Index min_length) {
  check_drawn(plan);
  if (!plan.text.empty()) {
    throw InputError("text: expected no files, since the task \"" + plan.task +
                     "\" generates its sequences");
  }
  if (plan.model.vocabulary != kByteTokens) {
    throw InputError("model.vocabulary: expected " + std::to_string(kByteTokens) +
                     " (bytes), found " + std::to_string(plan.model.vocabulary));
  }
  if (sequence_length(plan) < min_length) {
    throw InputError("model.context: expected at least " + std::to_string(min_length) +
                     " tokens for the task \"" + plan.task + "\", found " +
                     std::to_string(sequence_length(plan)));
  }
}

}  // namespace attnscope
