// Random letters as source, and as target the same letters in order, reversed or sorted. A network
// without attention must keep all of them in one state, which has no room for long sequences
// (Cho et al., 2014, arXiv:1409.1259; Bahdanau et al., 2014, arXiv:1409.0473).
#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/training/task.h"
#include "core/training/text_pairs.h"

namespace attnscope {
namespace {

constexpr std::int32_t kLettersStart = 256;
constexpr std::uint64_t kLettersLengthSeed = 0x6c656e677468;  // for the length of each step
constexpr std::uint64_t kLettersScoreSeed = 0x636f7079;       // differs from training seeds

// Target of a source.
using Rearrangement = std::string (*)(std::string letters);

std::string copied(std::string letters) {
  return letters;
}

std::string reversed(std::string letters) {
  std::ranges::reverse(letters);
  return letters;
}

std::string sorted(std::string letters) {
  std::ranges::sort(letters);
  return letters;
}

class LettersTask final : public Task {
 public:
  LettersTask(const TrainingPlan& plan, Rearrangement rearrange)
      : max_length_(sequence_length(plan) - 1),
        rearrange_(rearrange),
        step_(static_cast<std::uint64_t>(plan.batch)),
        seed_(plan.seed) {}

  std::shared_ptr<const Tokenizer> tokenizer() const override { return byte_tokenizer(); }

  Batch batch(std::uint64_t number, Index count) override {
    Random step_random(derived_seed(derived_seed(seed_, kLettersLengthSeed), number / step_));
    const Index length =
        1 + static_cast<Index>(step_random.below(static_cast<std::uint64_t>(max_length_)));
    std::vector<TextPair> pairs;
    for (Index b = 0; b < count; ++b) {
      Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
      pairs.push_back(draw_pair(random, length));
    }
    return pair_batch(pairs, kLettersStart);
  }

  // Loss per letter, and share of targets without an error.
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

  TextPair draw_pair(Random& random, Index length) const {
    std::string letters;
    for (Index n = 0; n < length; ++n) letters += static_cast<char>('a' + random.below(26));
    return {letters, rearrange_(letters)};
  }

  TallyByLength tally(const Checkpoint& checkpoint, Index count) const {
    Random random(derived_seed(seed_, kLettersScoreSeed));
    std::vector<TextPair> pairs;
    for (Index length = 1; length <= max_length_; ++length) {
      for (Index n = 0; n < count; ++n) pairs.push_back(draw_pair(random, length));
    }
    return tally_pairs(checkpoint.model, pairs, kLettersStart);
  }

  Index max_length_;
  Rearrangement rearrange_;
  std::uint64_t step_, seed_;
};

void check_letters(const TrainingPlan& plan) {
  check_byte_pairs(plan);
  if (sequence_length(plan) < 2) {
    throw InputError("model.context: expected at least 2 tokens for a letter and its end, found " +
                     std::to_string(sequence_length(plan)));
  }
}

template <Rearrangement rearrange>
TaskInfo letters_task(std::string id, std::string label, std::string summary,
                      ExpectedMap expected) {
  return {.id = std::move(id),
          .label = std::move(label),
          .summary = std::move(summary),
          .reads = Reads::SourceAndTarget,
          .files = "",
          .check = check_letters,
          .make = [](const TrainingPlan& plan) -> std::unique_ptr<Task> {
            return std::make_unique<LettersTask>(plan, rearrange);
          },
          .expected = std::move(expected)};
}

// Map of target positions onto the source positions for which `position` is true.
template <class Position>
ExpectedMap letters_map(std::string description, Position position) {
  return {std::move(description), AttentionKind::Cross, [position](const Batch& batch) {
            const Index length = batch.source.shape().back(), rows = batch.length();
            ExpectedKeys keys(static_cast<std::size_t>(rows));
            for (Index i = 0; i < std::min(rows, length); ++i) {
              for (Index j = 0; j < length; ++j) {
                if (position(batch, i, j, length)) keys[static_cast<std::size_t>(i)].push_back(j);
              }
            }
            return keys;
          }};
}

}  // namespace

TaskInfo copy_task() {
  return letters_task<copied>(
      "copy", "Copy", "random letters to copy from source to target",
      letters_map("the source letter at the same position",
                  [](const Batch&, Index i, Index j, Index) { return i == j; }));
}

TaskInfo reverse_task() {
  return letters_task<reversed>("reverse", "Reverse", "random letters to reverse",
                                letters_map("the source letter at the same distance from the end",
                                            [](const Batch&, Index i, Index j, Index length) {
                                              return i + j == length - 1;
                                            }));
}

TaskInfo sort_task() {
  return letters_task<sorted>("sort", "Sort", "random letters to sort by the alphabet",
                              letters_map("the source letters that equal the next letter",
                                          [](const Batch& batch, Index i, Index j, Index) {
                                            return batch.source[j] == batch.targets[i];
                                          }));
}

}  // namespace attnscope
