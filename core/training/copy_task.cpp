// Copies: the source is a sequence of random letters, and the target the same letters. A network
// without attention must keep all of them in one state, which has no room for long sequences
// (Cho et al., 2014, arXiv:1409.1259; Bahdanau et al., 2014, arXiv:1409.0473).
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/training/task.h"
#include "core/training/text_pairs.h"

namespace attnscope {
namespace {

constexpr std::int32_t kCopyStart = 256;
constexpr std::uint64_t kCopyLengthSeed = 0x6c656e677468;  // for the length of each step
constexpr std::uint64_t kCopyScoreSeed = 0x636f7079;       // differs from training seeds

TextPair draw_pair(Random& random, Index length) {
  std::string letters;
  for (Index n = 0; n < length; ++n) letters += static_cast<char>('a' + random.below(26));
  return {letters, letters};
}

class CopyTask final : public Task {
 public:
  explicit CopyTask(const TrainingPlan& plan)
      : max_length_(sequence_length(plan) - 1),
        step_(static_cast<std::uint64_t>(plan.batch)),
        seed_(plan.seed) {}

  std::shared_ptr<const Tokenizer> tokenizer() const override { return byte_tokenizer(); }

  Batch batch(std::uint64_t number, Index count) override {
    Random step_random(derived_seed(derived_seed(seed_, kCopyLengthSeed), number / step_));
    const Index length =
        1 + static_cast<Index>(step_random.below(static_cast<std::uint64_t>(max_length_)));
    std::vector<TextPair> pairs;
    for (Index b = 0; b < count; ++b) {
      Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
      pairs.push_back(draw_pair(random, length));
    }
    return pair_batch(pairs, kCopyStart);
  }

  // Loss per letter, and share of sequences copied without an error.
  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    constexpr Index kSample = 256;
    return pair_score(
        tally(checkpoint, use_all ? kFull : std::max<Index>(1, kSample / max_length_)));
  }

  TallyByLength tally_by_length(const Checkpoint& checkpoint) const override {
    return tally(checkpoint, kFull);
  }

 private:
  static constexpr Index kFull = 256;  // sequences of each length

  TallyByLength tally(const Checkpoint& checkpoint, Index count) const {
    Random random(derived_seed(seed_, kCopyScoreSeed));
    std::vector<TextPair> pairs;
    for (Index length = 1; length <= max_length_; ++length) {
      for (Index n = 0; n < count; ++n) pairs.push_back(draw_pair(random, length));
    }
    return tally_pairs(checkpoint.model, pairs, kCopyStart);
  }

  Index max_length_;
  std::uint64_t step_, seed_;
};

void check_copy(const TrainingPlan& plan) {
  check_byte_pairs(plan);
  if (sequence_length(plan) < 2) {
    throw InputError("model.context: expected at least 2 tokens for a letter and its end, found " +
                     std::to_string(sequence_length(plan)));
  }
}

}  // namespace

TaskInfo copy_task() {
  return {.id = "copy",
          .summary = "random letters to copy from source to target",
          .reads = Reads::SourceAndTarget,
          .files = "",
          .check = check_copy,
          .make = [](const TrainingPlan& plan) -> std::unique_ptr<Task> {
            return std::make_unique<CopyTask>(plan);
          }};
}

}  // namespace attnscope
