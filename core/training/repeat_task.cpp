// Repeated random sequences of tokens. The tokens are bytes, or learned from text files as for the
// task "text", so that the model reads any text.
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/training/repeat.h"
#include "core/training/task.h"
#include "core/training/texts.h"

namespace attnscope {

namespace {

constexpr Index kBytes = 256;
constexpr Index kSampled = 256, kScored = 2048;     // sequences of a score on the way, at the end
constexpr std::uint64_t kScoreSeed = 0x7265706561;  // other sequences than the training's

class RepeatTask final : public TextualTask {
 public:
  RepeatTask(const TrainingPlan& plan, std::shared_ptr<const Tokenizer> tokenizer)
      : TextualTask(std::move(tokenizer)),
        training_(tokenizer_->vocabulary_size(), sequence_length(plan), plan.seed),
        held_out_(tokenizer_->vocabulary_size(), sequence_length(plan),
                  mixed_seed(plan.seed, kScoreSeed)) {}

  Batch batch(std::uint64_t number, Index count) override {
    Batch batch;
    training_.batch(number, count, batch.ids, batch.targets);
    return batch;
  }

  Score score(const Checkpoint& checkpoint, bool all, const Stop& stop) const override {
    return repeat_score(checkpoint.model, held_out_, all ? kScored : kSampled, stop);
  }

 private:
  RepeatStream training_, held_out_;
};

void check_repeat(const TrainingPlan& plan) {
  if (plan.text.empty() && plan.model.vocabulary != kBytes) {
    throw InputError("text: expected files to learn " + std::to_string(plan.model.vocabulary) +
                     " tokens from (or model.vocabulary " + std::to_string(kBytes) + ": bytes)");
  }
  if (!plan.held_out.empty() || plan.held_out_share > 0) {
    throw InputError("held_out: the task \"repeat\" draws the sequences that it holds out");
  }
  RepeatStream(plan.model.vocabulary, sequence_length(plan), plan.seed);  // refuses short sequences
}

std::unique_ptr<Task> make_repeat(const TrainingPlan& plan, const Stop& stop) {
  auto tokenizer =
      plan.text.empty() ? byte_tokenizer() : make_tokenizer(plan, read_texts(plan), stop);
  return std::make_unique<RepeatTask>(plan, std::move(tokenizer));
}

}  // namespace

TaskInfo repeat_task() {
  return {.id = "repeat",
          .summary = "random tokens of which the end repeats what came before",
          .files = "",
          .check = check_repeat,
          .make = make_repeat};
}

}  // namespace attnscope
