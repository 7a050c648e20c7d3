// Numbers in German words: the source is digits, the target letters, both as bytes. Targets begin
// and end with the start id. A tenth of the numbers from 100 on is held out.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/training/number_words.h"
#include "core/training/task.h"
#include "core/training/text_pairs.h"

namespace attnscope {
namespace {

constexpr Index kByteIds = 256;
constexpr Index kHeldOutFrom = 100, kHeldOutOneIn = 10;
constexpr std::uint64_t kDigitsSeed = 0x646967697473;  // for the number of digits of each step

Index min_number(Index digits) {  // smallest number with this many digits
  Index smallest = 0;
  for (Index d = 1; d < digits; ++d) smallest = std::max<Index>(10, 10 * smallest);
  return smallest;
}

Index end_number(Index digits) {  // smallest number with more digits
  return min_number(digits + 1);
}

Index max_word_bytes(Index digits) {  // maximum length of the words for `digits` digits
  constexpr Index kLongest[] = {7, 37, 737, 7737, 37737, 737737};
  return static_cast<Index>(german_number(kLongest[digits - 1]).size());
}

// Maximum number of digits such that words and end id fit in `length` tokens; may be 0.
Index max_digits(Index length) {
  Index digits = 0;
  while (digits < kMaxNumberDigits && max_word_bytes(digits + 1) + 1 <= length) ++digits;
  return digits;
}

bool is_held_out(Index number) {
  return number >= kHeldOutFrom &&
         derived_seed(0, static_cast<std::uint64_t>(number)) % kHeldOutOneIn == 0;
}

TextPair pair_of(Index number) {
  return {std::to_string(number), german_number(number)};
}

class NumbersTask final : public Task {
 public:
  explicit NumbersTask(const TrainingPlan& plan)
      : digits_(max_digits(sequence_length(plan))),
        step_(static_cast<std::uint64_t>(plan.batch)),
        seed_(plan.seed) {
    for (Index d = 1; d <= digits_; ++d) {
      for (Index n = min_number(d); n < end_number(d); ++n) {
        if (is_held_out(n)) held_out_.push_back(n);
      }
    }
  }

  std::shared_ptr<const Tokenizer> tokenizer() const override { return byte_tokenizer(); }

  // All numbers of a step have equally many digits, so that the encoder sees no padding. Longer
  // numbers are drawn more often.
  Batch batch(std::uint64_t number, Index count) override {
    Random step_random(derived_seed(derived_seed(seed_, kDigitsSeed), number / step_));
    const auto weights = static_cast<std::uint64_t>(digits_ * (digits_ + 1) / 2);
    const auto draw = static_cast<Index>(step_random.below(weights));
    Index digits = 1;
    while (digits * (digits + 1) / 2 <= draw) ++digits;
    std::vector<TextPair> pairs;
    for (Index b = 0; b < count; ++b) {
      Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
      const Index smallest = min_number(digits);
      const auto choices = static_cast<std::uint64_t>(end_number(digits) - smallest);
      Index drawn_number = 0;
      do {
        drawn_number = smallest + static_cast<Index>(random.below(choices));
      } while (is_held_out(drawn_number));
      pairs.push_back(pair_of(drawn_number));
    }
    return pair_batch(pairs, kByteIds);
  }

  // Loss per letter, and fraction of numbers whose words are entirely correct. This fraction equals
  // the accuracy of greedy decoding.
  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    constexpr std::size_t kSampledNumbers = 256;
    const std::size_t stride =
        use_all ? 1 : std::max<std::size_t>(1, held_out_.size() / kSampledNumbers);
    return pair_score(tally(checkpoint, [=](std::size_t) { return stride; }));
  }

  TallyByLength tally_by_length(const Checkpoint& checkpoint) const override {
    constexpr std::size_t kNumbersPerLength = 2000;
    std::map<std::size_t, std::size_t> counts;
    for (const Index number : held_out_) ++counts[std::to_string(number).size()];
    return tally(checkpoint, [&](std::size_t digits) {
      return std::max<std::size_t>(1, counts[digits] / kNumbersPerLength);
    });
  }

 private:
  // Evaluates every `stride`th held-out number; the stride may depend on the number of digits.
  TallyByLength tally(const Checkpoint& checkpoint,
                      const std::function<std::size_t(std::size_t digits)>& stride) const {
    std::vector<TextPair> pairs;
    for (std::size_t n = 0; n < held_out_.size(); n += stride(pairs.back().source.size())) {
      pairs.push_back(pair_of(held_out_[n]));
    }
    return tally_pairs(checkpoint.model, pairs, kByteIds);
  }

  Index digits_;
  std::uint64_t step_;
  std::uint64_t seed_;
  std::vector<Index> held_out_;
};

void check_numbers(const TrainingPlan& plan) {
  check_byte_pairs(plan);
  if (max_digits(sequence_length(plan)) == 0) {
    throw InputError("model.context: expected at least " + std::to_string(max_word_bytes(1) + 1) +
                     " tokens for a word, found " + std::to_string(sequence_length(plan)));
  }
}

}  // namespace

TaskInfo numbers_task() {
  return {.id = "numbers",
          .label = "Numbers to words",
          .summary = "numbers in German words: 24 is vierundzwanzig",
          .reads = Reads::SourceAndTarget,
          .files = "",
          .check = check_numbers,
          .make = [](const TrainingPlan& plan) -> std::unique_ptr<Task> {
            return std::make_unique<NumbersTask>(plan);
          }};
}

}  // namespace attnscope
