// Numbers in German words: the source is digits, the target letters, both as bytes. Targets begin
// and end with the start id. A tenth of the numbers from 100 on is held out.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/training/number_words.h"
#include "core/training/tally.h"
#include "core/training/task.h"

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

// Batch of numbers with equally many digits. Shorter words are padded; padding is not counted.
Batch make_batch(const std::vector<Index>& numbers, std::int32_t start) {
  std::vector<std::string> words;
  std::size_t longest = 0;
  for (const Index number : numbers) {
    words.push_back(german_number(number));
    longest = std::max(longest, words.back().size());
  }
  const auto count = static_cast<Index>(numbers.size()), length = static_cast<Index>(longest) + 1;
  const auto digits = static_cast<Index>(std::to_string(numbers.front()).size());
  Batch batch;
  batch.source = IntTensor({count, digits});
  batch.ids = IntTensor::full({count, length}, start);
  batch.targets = IntTensor::full({count, length}, -1);
  const auto byte = [](char c) { return static_cast<std::int32_t>(static_cast<unsigned char>(c)); };
  for (Index b = 0; b < count; ++b) {
    const std::string source = std::to_string(numbers[static_cast<std::size_t>(b)]);
    const std::string& target = words[static_cast<std::size_t>(b)];
    std::ranges::transform(source, batch.source.data() + b * digits, byte);
    std::ranges::transform(target, batch.ids.data() + b * length + 1, byte);
    std::ranges::transform(target, batch.targets.data() + b * length, byte);
    batch.targets(b, static_cast<Index>(target.size())) = start;
  }
  return batch;
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
    std::vector<Index> numbers;
    for (Index b = 0; b < count; ++b) {
      Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
      const Index smallest = min_number(digits);
      const auto choices = static_cast<std::uint64_t>(end_number(digits) - smallest);
      Index drawn_number = 0;
      do {
        drawn_number = smallest + static_cast<Index>(random.below(choices));
      } while (is_held_out(drawn_number));
      numbers.push_back(drawn_number);
    }
    return make_batch(numbers, kByteIds);
  }

  // Loss per letter, and fraction of numbers whose words are entirely correct. This fraction equals
  // the accuracy of greedy decoding.
  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    constexpr std::size_t kBatch = 32, kSampledNumbers = 256;
    const std::size_t stride =
        use_all ? 1 : std::max<std::size_t>(1, held_out_.size() / kSampledNumbers);
    Tally letters;
    double numbers = 0, correct = 0;
    for (std::size_t index = 0; index < held_out_.size();) {
      std::vector<Index> batch_numbers;
      const std::size_t digits = std::to_string(held_out_[index]).size();
      while (index < held_out_.size() && batch_numbers.size() < kBatch &&
             std::to_string(held_out_[index]).size() == digits) {
        batch_numbers.push_back(held_out_[index]);
        index += stride;
      }
      const Batch batch = make_batch(batch_numbers, kByteIds);
      Batch inputs = batch;
      inputs.targets = IntTensor();
      ForwardOptions options;
      const Tensor logits = run(checkpoint.model, inputs, options).logits.value();
      for (Index b = 0; b < logits.dim(0); ++b) {
        Tally word;
        word.add(logits.slice(b, 1), batch.targets.slice(b, 1));
        if (word.correct_count() == word.count()) ++correct;
      }
      letters.add(logits, batch.targets);
      numbers += static_cast<double>(batch_numbers.size());
      check_stop();
    }
    Score score = letters.score();
    if (numbers > 0) score.accuracy = correct / numbers;
    return score;
  }

 private:
  Index digits_;
  std::uint64_t step_;
  std::uint64_t seed_;
  std::vector<Index> held_out_;
};

void check_numbers(const TrainingPlan& plan) {
  if (!plan.text.empty() || !plan.held_out.empty() || plan.held_out_share > 0) {
    throw InputError("text: expected no files, since the task \"numbers\" generates its numbers");
  }
  const Index start = plan.model.architecture.values.integer("start");
  if (plan.model.vocabulary != kByteIds + 1 || start != kByteIds) {
    throw InputError("model.vocabulary: expected 257 (bytes, and the start id 256), found " +
                     std::to_string(plan.model.vocabulary) + " with the start id " +
                     std::to_string(start));
  }
  if (max_digits(sequence_length(plan)) == 0) {
    throw InputError("model.context: expected at least " + std::to_string(max_word_bytes(1) + 1) +
                     " tokens for a word, found " + std::to_string(sequence_length(plan)));
  }
}

}  // namespace

TaskInfo numbers_task() {
  return {.id = "numbers",
          .summary = "numbers in German words: 24 is vierundzwanzig",
          .reads = Reads::SourceAndTarget,
          .files = "",
          .check = check_numbers,
          .make = [](const TrainingPlan& plan) -> std::unique_ptr<Task> {
            return std::make_unique<NumbersTask>(plan);
          }};
}

}  // namespace attnscope
