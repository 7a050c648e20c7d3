// Predicts each token of text files from the preceding tokens. Tokens are learned from the training
// text by byte-pair encoding.
#include <algorithm>

#include "core/autodiff/operations_reduce.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/checkpoint/model_store.h"
#include "core/training/evaluate.h"
#include "core/training/stream.h"
#include "core/training/task.h"
#include "core/training/texts.h"

namespace attnscope {
namespace {

constexpr std::size_t kSampledBytes = std::size_t{1} << 16;  // scored bytes per text in training
constexpr std::uint64_t kHeldOutSeed = 0x68656c642d6f7574;   // differs from training seeds

class TextTask final : public TextualTask {
 public:
  TextTask(const TrainingPlan& plan, Texts texts, std::shared_ptr<const Tokenizer> tokenizer)
      : TextualTask(std::move(tokenizer)),
        texts_(std::move(texts)),
        stream_(encode_texts(texts_.training, *tokenizer_), sequence_length(plan), plan.seed),
        batch_(plan.batch),
        score_batches_(plan.score_batches),
        length_(sequence_length(plan)),
        held_out_(encode_texts(texts_.held_out, *tokenizer_)) {
    texts_.training.clear();
    if (!plan.retrieval) return;
    retrieval_.emplace(*plan.retrieval, model_store()->contexts(plan.retrieval->store), plan.model);
  }

  Batch batch(std::uint64_t number, Index count) override {
    Batch batch;
    stream_.batch(number, count, batch.ids, batch.targets);
    return batch;
  }

  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    Score score;
    if (texts_.held_out.empty()) return score;
    double bits = 0, bytes = 0;
    for (const std::string& text : texts_.held_out) {
      const auto part =
          std::string_view(text).substr(0, use_all ? std::string::npos : kSampledBytes);
      const EvaluationOptions options{.retrieval = retrieval_ ? &*retrieval_ : nullptr};
      bits += evaluate_text(checkpoint, part, options).bits_per_byte() *
              static_cast<double>(part.size());
      bytes += static_cast<double>(part.size());
    }
    score.bits_per_byte = bits / bytes;
    score.loss = held_out_loss(checkpoint.model);
    return score;
  }

 private:
  // Mean loss of batches of random windows, which are the same in every call. NaN without windows.
  double held_out_loss(const Model& model) const {
    const auto predictable = static_cast<Index>(held_out_.size()) - 1;
    const Index length = std::min(length_, predictable);
    if (length < 1 || score_batches_ == 0) return std::numeric_limits<double>::quiet_NaN();
    Random random(kHeldOutSeed);
    double sum = 0;
    for (Index b = 0; b < score_batches_; ++b) {
      IntTensor inputs, targets;
      random_windows(held_out_, batch_, length, random, inputs, targets);
      ForwardOptions options;
      options.retrieval = retrieval_ ? &*retrieval_ : nullptr;
      Batch batch;
      batch.ids = inputs;
      const Output output = run(model, batch, options);
      const Tensor& scores = predictions(output);
      const Var rows(scores.reshaped({targets.size(), scores.dim(-1)}));
      const Var loss = cross_entropy(rows, targets.reshaped({targets.size()}));
      sum += static_cast<double>(loss.value()[0]);
      check_stop();
    }
    return sum / static_cast<double>(score_batches_);
  }

  std::optional<Retrieval> retrieval_;
  Texts texts_;
  TokenStream stream_;
  Index batch_, score_batches_, length_;
  std::vector<std::int32_t> held_out_;  // all held-out texts, concatenated
};

void check_text(const TrainingPlan&) {}

std::unique_ptr<Task> make_text(const TrainingPlan& plan) {
  Texts texts = read_texts(plan);
  auto tokenizer = make_tokenizer(plan, texts);
  return std::make_unique<TextTask>(plan, std::move(texts), std::move(tokenizer));
}

}  // namespace

TaskInfo text_task() {
  return {.id = "text",
          .label = "Own text file",
          .summary = "next-token prediction on text files",
          .files = "text files",
          .bundled_file = "texts/mill.txt",
          .check = check_text,
          .make = make_text};
}

}  // namespace attnscope
