// evaluate_file(): evaluation of input files.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/input/input_file.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/training/evaluate.h"
#include "core/training/pictures.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

// Reads lines of source, tab and target.
std::vector<TextPair> read_pairs(const fs::path& file) {
  std::vector<TextPair> pairs;
  const std::string text = read_file(file);
  std::string_view remaining = text;
  for (Index number = 1; !remaining.empty(); ++number) {
    const std::string_view line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(remaining.size(), line.size() + 1));
    const auto tab = line.find('\t');
    if (tab == std::string_view::npos || tab == 0 || tab + 1 == line.size()) {
      throw InputError(file.string() + ": line " + std::to_string(number) +
                       ": expected a source, a tab and its target, found \"" + std::string(line) +
                       "\"");
    }
    pairs.push_back({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))});
  }
  if (pairs.empty()) {
    throw InputError(file.string() + ": expected lines of a source, a tab and its target");
  }
  return pairs;
}

// Token ids of a text. keep_special: includes special tokens of the tokenizer (BOS).
std::vector<std::int32_t> encode(const Tokenizer& tokenizer, const std::string& text,
                                 bool keep_special) {
  std::vector<std::int32_t> ids;
  for (const Token& token : tokenizer.encode(text)) {
    if (keep_special || !token.special) ids.push_back(token.id);
  }
  return ids;
}

IntTensor row(const std::vector<std::int32_t>& ids) {
  return IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
}

void count_exits(const Output& output, Evaluation& evaluation) {
  for (const std::int32_t layer : output.exits) {
    evaluation.layers += layer;
    ++evaluation.tokens_with_exits;
  }
}

Evaluation evaluate_pairs(const Checkpoint& checkpoint, const fs::path& file,
                          const EvaluationOptions& settings) {
  if (!checkpoint.tokenizer) throw InputError(checkpoint.tokenizer_problem);
  const Values& values = checkpoint.model.config.architecture.values;
  const auto start = static_cast<std::int32_t>(values.integer("start"));
  const std::int32_t end = checkpoint.end_tokens.empty() ? start : checkpoint.end_tokens.front();
  ForwardOptions options;
  options.exit = settings.exit;
  options.backend = settings.backend;
  Evaluation evaluation;
  for (const TextPair& pair : read_pairs(file)) {
    std::vector<std::int32_t> targets = encode(*checkpoint.output_tokenizer(), pair.target, false);
    std::vector<std::int32_t> inputs{start};
    inputs.insert(inputs.end(), targets.begin(), targets.end());
    targets.push_back(end);
    Batch batch;
    batch.source = row(encode(*checkpoint.tokenizer, pair.source, true));
    batch.ids = row(inputs);
    const Output output = run(checkpoint.model, batch, options);
    PairTally line_tally;
    line_tally.add(output.logits.value(), row(targets));
    evaluation.tally.add(line_tally.tokens);
    evaluation.by_length[batch.source.dim(1)].add(line_tally);
    evaluation.bytes += static_cast<double>(pair.target.size());
    count_exits(output, evaluation);
    check_stop();
  }
  return evaluation;
}

Evaluation evaluate_pictures(const Checkpoint& checkpoint, const fs::path& file,
                             const EvaluationOptions& settings) {
  const ModelConfig& config = checkpoint.model.config;
  ForwardOptions options;
  options.exit = settings.exit;
  options.backend = settings.backend;
  Evaluation evaluation;
  for (const std::vector<std::int32_t>& pixels : picture_ids(file, config)) {
    Batch batch = picture_batch({&pixels}, config);
    const IntTensor targets = batch.targets;
    batch.targets = IntTensor();
    const Output output = run(checkpoint.model, batch, options);
    evaluation.tally.add(output.logits.value(), targets);
    count_exits(output, evaluation);
    check_stop();
  }
  return evaluation;
}

Evaluation evaluate_trajectory(const Checkpoint& checkpoint, const fs::path& file) {
  const InputFile input = read_input_file(file);
  if (!input.trajectory) {
    throw InputError(file.string() + ": expected returns, states and actions, found pixels");
  }
  const TrajectoryInput& steps = *input.trajectory;
  const Index count = steps.returns.dim(0);
  Batch batch;
  batch.returns = steps.returns.reshaped({1, count});
  batch.states = steps.states.reshaped({1, count, steps.states.dim(1)});
  if (!steps.actions.defined()) {
    throw InputError(file.string() + ": actions: expected action ids, found continuous actions");
  }
  batch.actions = steps.actions.reshaped({1, count});
  ForwardOptions options;
  Evaluation evaluation;
  evaluation.tally.add(run(checkpoint.model, batch, options).logits.value(), batch.actions);
  return evaluation;
}

}  // namespace

Evaluation evaluate_file(const Checkpoint& checkpoint, const fs::path& file,
                         const EvaluationOptions& settings) {
  check_predicts(checkpoint);
  const ModelConfig& config = checkpoint.model.config;
  const Reads reads = architecture(config.architecture.id).reads;
  const bool is_text = reads == Reads::Tokens && input_kind(config.input.id).is_text;
  if (!is_text && settings.length > 0) {
    throw InputError("length: expected no length, since " + config.architecture.id +
                     " does not read windows");
  }
  if (reads == Reads::SourceAndTarget) return evaluate_pairs(checkpoint, file, settings);
  if (reads == Reads::Trajectories) return evaluate_trajectory(checkpoint, file);
  if (!is_text) return evaluate_pictures(checkpoint, file, settings);
  const std::string text = read_file(file);
  if (text.empty()) throw InputError(file.string() + ": expected a text, found an empty file");
  return evaluate_text(checkpoint, text, settings);
}

}  // namespace attnscope
