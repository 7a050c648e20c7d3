// Text files with masked tokens, predicted from the tokens on both sides. The mask token has the
// id after the tokens learned from the text; global tokens follow.
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/global_tokens.h"
#include "core/training/masking.h"
#include "core/training/stream.h"
#include "core/training/tally.h"
#include "core/training/task.h"
#include "core/training/texts.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kMaskSeed = 0x6d61736b;  // differs from the seed of the windows' order
constexpr std::uint64_t kMaskedScoreSeed = 0x6d68656c64;  // windows and masks of scores
constexpr Index kMaskIds = 1;

class MaskedTask final : public TextualTask {
 public:
  MaskedTask(const TrainingPlan& plan, const Texts& texts,
             std::shared_ptr<const Tokenizer> tokenizer)
      : TextualTask(std::move(tokenizer)),
        config_(plan.from.empty() ? config(plan.model) : plan.model),
        seed_(derived_seed(plan.seed, kMaskSeed)),
        length_(sequence_length(plan) - global_tokens(plan.model)),
        sample_size_(plan.score_batches * plan.batch),
        stream_(encode_texts(texts.training, *tokenizer_), length_, plan.seed),
        held_out_(encode_texts(texts.held_out, *tokenizer_)) {}

  ModelConfig config(const ModelConfig& planned) const override {
    ModelConfig config = TextualTask::config(planned);
    config.architecture.values.set("mask", config.vocabulary);
    config.vocabulary += kMaskIds + global_tokens(planned);
    return config;
  }

  Batch batch(std::uint64_t number, Index count) override {
    Batch batch;
    IntTensor unmasked;
    stream_.batch(number, count, unmasked, batch.targets);  // next-token targets are not used
    batch.ids = IntTensor(unmasked.shape());
    for (Index b = 0; b < count; ++b) {
      Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
      mask_tokens(unmasked.data() + b * length_, model_masking(config_), random, b, batch);
    }
    return with_global_tokens(batch, config_);
  }

  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    const auto predictable = static_cast<Index>(held_out_.size()) - 1;
    const Index length = std::min(length_, predictable);
    if (length < 1) return {};
    constexpr Index kBatch = 8;
    const Index windows = use_all ? std::max(sample_size_, predictable / length) : sample_size_;
    Random random(kMaskedScoreSeed);
    Tally tally;
    for (Index first = 0; first < windows; first += kBatch) {
      const Index count = std::min(kBatch, windows - first);
      IntTensor unmasked;
      Batch batch;
      random_windows(held_out_, count, length, random, unmasked, batch.targets);
      batch.ids = IntTensor(unmasked.shape());
      for (Index b = 0; b < count; ++b) {
        mask_tokens(unmasked.data() + b * length, model_masking(config_), random, b, batch);
      }
      batch = with_global_tokens(batch, config_);
      ForwardOptions options;
      tally.add(forward(checkpoint.model, batch.ids, options).value(), batch.targets);
      check_stop();
    }
    return tally.score();
  }

 private:
  ModelConfig config_;
  std::uint64_t seed_;
  Index length_, sample_size_;
  TokenStream stream_;
  std::vector<std::int32_t> held_out_;
};

void check_masked(const TrainingPlan& plan) {
  const Masking masking = model_masking(plan.model);
  if (sequence_length(plan) <= global_tokens(plan.model)) {
    throw InputError("sequence: expected more than the " +
                     std::to_string(global_tokens(plan.model)) + " global tokens, found " +
                     std::to_string(sequence_length(plan)));
  }
  if (masking.mask + kMaskIds == masking.vocabulary || !plan.from.empty()) return;
  throw InputError("model.architecture.mask: expected the last id, " +
                   std::to_string(masking.vocabulary - kMaskIds) +
                   " (not a token of the text), found " + std::to_string(masking.mask));
}

std::unique_ptr<Task> make_masked(const TrainingPlan& plan) {
  const Texts texts = read_texts(plan);
  auto tokenizer = make_tokenizer(plan, texts, kMaskIds + global_tokens(plan.model));
  return std::make_unique<MaskedTask>(plan, texts, std::move(tokenizer));
}

}  // namespace

TaskInfo masked_task() {
  return {.id = "masked",
          .label = "Hidden words",
          .summary = "masked-token prediction on text files",
          .masks_tokens = true,
          .files = "text files",
          .bundled_file = "texts/mill.txt",
          .check = check_masked,
          .make = make_masked};
}

}  // namespace attnscope
