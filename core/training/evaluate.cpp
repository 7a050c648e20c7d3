#include "core/training/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/model/global_tokens.h"
#include "core/training/masking.h"

namespace attnscope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Window that predicts tokens [first + 1, first + length] and counts those from `counted_from` on.
struct Window {
  Index first, counted_from;
};

std::vector<Window> windows(Index predicted, Index length) {
  std::vector<Window> result;
  const Index stride = std::max<Index>(1, length / 2);
  for (Index first = 0, predicted_count = 0; predicted_count < predicted; first += stride) {
    const Index start = std::min(first, predicted - length);
    result.push_back({start, predicted_count + 1});
    predicted_count = start + length;
  }
  return result;
}

void add_batch(const Model& model, const Batch& batch, const IntTensor& targets,
               const ForwardOptions& options, Evaluation& evaluation) {
  const Output output = run(model, batch, options);
  evaluation.tally.add(predictions(output), targets);
  for (Index n = 0; n < output.exits.size(); ++n) {
    if (targets[n] < 0) continue;
    evaluation.layers += output.exits[n];
    ++evaluation.tokens_with_exits;
  }
  check_stop();
}

// Adds the counted predictions of a batch of windows.
void add_windows(const Model& model, const std::vector<std::int32_t>& tokens,
                 const std::vector<Window>& batch_windows, Index length,
                 const ForwardOptions& options, Evaluation& evaluation) {
  const Index count = static_cast<Index>(batch_windows.size());
  Batch batch;
  batch.ids = IntTensor({count, length});
  IntTensor targets({count, length});
  for (Index w = 0; w < count; ++w) {
    const Window& window = batch_windows[static_cast<std::size_t>(w)];
    for (Index i = 0; i < length; ++i) {
      const Index target = window.first + i + 1;
      batch.ids(w, i) = tokens[static_cast<std::size_t>(target - 1)];
      targets(w, i) = target >= window.counted_from ? tokens[static_cast<std::size_t>(target)] : -1;
    }
  }
  add_batch(model, batch, targets, options, evaluation);
}

void read_windows(const Model& model, const std::vector<std::int32_t>& tokens, Index length,
                  const ForwardOptions& options, Evaluation& evaluation) {
  // Exits skip layers only in batches of one window.
  const std::size_t batch_size = options.exit ? 1 : 8;
  const Index predicted = static_cast<Index>(tokens.size()) - 1;
  length = std::min(length > 0 ? length : model.config.context, predicted);
  const std::vector<Window> all_windows = windows(predicted, length);
  for (std::size_t first = 0; first < all_windows.size(); first += batch_size) {
    const std::size_t last = std::min(first + batch_size, all_windows.size());
    add_windows(model, tokens,
                {all_windows.begin() + static_cast<std::ptrdiff_t>(first),
                 all_windows.begin() + static_cast<std::ptrdiff_t>(last)},
                length, options, evaluation);
  }
}

void read_segments(const Model& model, const std::vector<std::int32_t>& tokens,
                   ForwardOptions options, Evaluation& evaluation) {
  const Index segment = model.config.segment, predicted = static_cast<Index>(tokens.size()) - 1;
  State memory;
  options.memory = &memory;
  for (Index first = 0; first < predicted; first += segment) {
    const Index count = std::min(segment, predicted - first);
    const auto start = tokens.begin() + first;
    Batch batch;
    batch.ids = IntTensor::from({1, count}, {start, start + count});
    add_batch(model, batch, IntTensor::from({1, count}, {start + 1, start + 1 + count}), options,
              evaluation);
  }
}

// Masks tokens in adjacent windows and evaluates their predictions.
void read_masked(const Model& model, const std::vector<std::int32_t>& tokens, Index length,
                 const ForwardOptions& options, Evaluation& evaluation) {
  constexpr std::uint64_t kSeed = 1;
  const Index count = static_cast<Index>(tokens.size());
  const Index longest = model.config.context - global_tokens(model.config);
  length = std::min(length > 0 ? length : longest, count);
  Random random(kSeed);
  for (Index first = 0; first < count; first += length) {
    const Index window_size = std::min(length, count - first);
    Batch batch;
    batch.ids = IntTensor({1, window_size});
    batch.targets = IntTensor({1, window_size});
    mask_tokens(tokens.data() + first, model_masking(model.config), random, 0, batch);
    batch = with_global_tokens(batch, model.config);
    const IntTensor targets = batch.targets;
    batch.targets = IntTensor();
    add_batch(model, batch, targets, options, evaluation);
  }
}

}  // namespace

void Evaluation::add(const Evaluation& other) {
  tally.add(other.tally);
  bytes += other.bytes;
  first_token_nats += other.first_token_nats;
  attnscope::add(by_length, other.by_length);
  layers += other.layers;
  tokens_with_exits += other.tokens_with_exits;
}

const Tensor& predictions(const Output& output) {
  return output.log_probabilities.defined() ? output.log_probabilities : output.logits.value();
}

double Evaluation::loss() const {
  return tally.score().loss;
}

double Evaluation::bits_per_byte() const {
  return bytes > 0 ? (tally.nats() + first_token_nats) / std::numbers::ln2 / bytes : kNaN;
}

double Evaluation::mean_layers() const {
  return tokens_with_exits > 0 ? layers / static_cast<double>(tokens_with_exits) : kNaN;
}

void check_predicts(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.model.config;
  if (!leaks_future(config) || is_masked_model(config)) return;
  throw InputError("model: expected a model with a causal mask, found " + checkpoint.name +
                   ", which sees its targets");
}

Evaluation evaluate_text(const Checkpoint& checkpoint, std::string_view text,
                         const EvaluationOptions& settings) {
  const Model& model = checkpoint.model;
  if (!checkpoint.tokenizer) throw InputError(checkpoint.tokenizer_problem);
  if (text.empty())
    throw InputError("text: expected at least one byte for bits per byte, found none");
  check_predicts(checkpoint);
  if (model.config.segment > 0 && settings.length > 0) {
    throw InputError("length: expected no length for a model with segments of " +
                     std::to_string(model.config.segment) + " tokens");
  }
  std::vector<std::int32_t> tokens;
  bool starts_with_special = false;
  for (const Token& token : checkpoint.tokenizer->encode(text)) {
    if (tokens.empty()) starts_with_special = token.special;
    tokens.push_back(token.id);
  }
  ForwardOptions options;
  options.exit = settings.exit;
  options.retrieval = settings.retrieval;
  options.backend = settings.backend;
  Evaluation evaluation;
  if (is_masked_model(model.config)) {
    read_masked(model, tokens, settings.length, options, evaluation);
    return evaluation;
  }
  evaluation.bytes = static_cast<double>(text.size());
  if (!starts_with_special) {
    evaluation.first_token_nats = std::log(static_cast<double>(model.config.vocabulary));
  }
  if (tokens.size() < 2) return evaluation;
  if (model.config.segment > 0) {
    read_segments(model, tokens, options, evaluation);
  } else {
    read_windows(model, tokens, settings.length, options, evaluation);
  }
  return evaluation;
}

double bits_per_byte(const Checkpoint& checkpoint, std::string_view text, Index length) {
  return evaluate_text(checkpoint, text, {.length = length}).bits_per_byte();
}

}  // namespace attnscope
