// Text files with masked tokens, predicted from both sides. The mask is the last id, after the
// tokens learned from the text.
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/training/masking.h"
#include "core/training/stream.h"
#include "core/training/tally.h"
#include "core/training/task.h"
#include "core/training/texts.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kHidingSeed = 0x6d61736b;       // differs from the order's seed
constexpr std::uint64_t kMaskedHeldOut = 0x6d68656c64;  // windows and masks of scores
constexpr Index kMaskIds = 1;

class MaskedTask final : public TextualTask {
 public:
  MaskedTask(const TrainingPlan& plan, const Texts& texts,
             std::shared_ptr<const Tokenizer> tokenizer)
      : TextualTask(std::move(tokenizer)),
        config_(config(plan.model)),
        seed_(derived_seed(plan.seed, kHidingSeed)),
        length_(sequence_length(plan)),
        sampled_(plan.score_batches * plan.batch),
        stream_(tokens_of(texts.training, *tokenizer_), length_, plan.seed),
        held_out_(tokens_of(texts.held_out, *tokenizer_)) {}

  ModelConfig config(const ModelConfig& planned) const override {
    ModelConfig config = TextualTask::config(planned);
    config.architecture.values.set("mask", config.vocabulary);
    config.vocabulary += kMaskIds;
    return config;
  }

  Batch batch(std::uint64_t number, Index count) override {
    Batch batch;
    IntTensor whole;
    stream_.batch(number, count, whole, batch.targets);  // next-token targets are not used
    batch.ids = IntTensor(whole.shape());
    for (Index b = 0; b < count; ++b) {
      Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
      mask_tokens(whole.data() + b * length_, masking_of(config_), random, b, batch);
    }
    return batch;
  }

  Score score(const Checkpoint& checkpoint, bool all) const override {
    const auto most = static_cast<Index>(held_out_.size()) - 1;
    const Index length = std::min(length_, most);
    if (length < 1) return {};
    constexpr Index kAtATime = 8;
    const Index windows = all ? std::max(sampled_, most / length) : sampled_;
    Random random(kMaskedHeldOut);
    Tally tally;
    for (Index done = 0; done < windows; done += kAtATime) {
      const Index count = std::min(kAtATime, windows - done);
      IntTensor whole;
      Batch batch;
      random_windows(held_out_, count, length, random, whole, batch.targets);
      batch.ids = IntTensor(whole.shape());
      for (Index b = 0; b < count; ++b) {
        mask_tokens(whole.data() + b * length, masking_of(config_), random, b, batch);
      }
      ForwardOptions options;
      tally.add(forward(checkpoint.model, batch.ids, options).value(), batch.targets);
      check_stop();
    }
    return tally.score();
  }

 private:
  ModelConfig config_;
  std::uint64_t seed_;
  Index length_, sampled_;
  TokenStream stream_;
  std::vector<std::int32_t> held_out_;
};

void check_masked(const TrainingPlan& plan) {
  const Masking masking = masking_of(plan.model);
  if (masking.mask + kMaskIds == plan.model.vocabulary) return;
  throw InputError("model.architecture.mask: expected the last id, " +
                   std::to_string(plan.model.vocabulary - kMaskIds) +
                   ", which is no token of the text, found " + std::to_string(masking.mask));
}

std::unique_ptr<Task> make_masked(const TrainingPlan& plan) {
  const Texts texts = read_texts(plan);
  auto tokenizer = make_tokenizer(plan, texts, kMaskIds);
  return std::make_unique<MaskedTask>(plan, texts, std::move(tokenizer));
}

}  // namespace

TaskInfo masked_task() {
  return {.id = "masked",
          .summary = "masked-token prediction on text files",
          .masks_tokens = true,
          .files = "text files",
          .check = check_masked,
          .make = make_masked};
}

}  // namespace attnscope
