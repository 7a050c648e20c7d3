#include "core/training/calibrate.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/risk_bound.h"
#include "core/base/error.h"
#include "core/base/home.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/training/evaluate.h"

namespace attnscope {
namespace {

// Tokens of a window and their targets.
struct CalibrationWindow {
  IntTensor ids, targets;               // [1, L]
  std::vector<std::int32_t> guesses{};  // most likely tokens of the full model, [L]
};

// Returns the end of the chunk of text that begins at `first`. A chunk ends before a single space
// between two words, because all tokenizers split a text there.
std::size_t chunk_end(std::string_view text, std::size_t first) {
  constexpr std::size_t kMinChunk = std::size_t{1} << 16;  // bytes
  const auto is_space = [](char c) { return c == ' ' || c == '\n'; };
  for (std::size_t end = first + kMinChunk; end + 1 < text.size(); ++end) {
    if (is_space(text[end]) && !is_space(text[end - 1]) && !is_space(text[end + 1])) return end;
  }
  return text.size();
}

// Tokenises in chunks, so that a long text can be cancelled. Drops special tokens within the text.
std::vector<std::int32_t> tokenise(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  for (std::size_t first = 0, end = 0; end < text.size(); first = end) {
    check_stop();
    end = chunk_end(text, first);
    const std::vector<Token> tokens = tokenizer.encode(text.substr(first, end - first));
    for (const Token& token : tokens) {
      const bool is_inner = token.special && (token.begin > 0 ? end < text.size() : first > 0);
      if (!is_inner) ids.push_back(token.id);
    }
  }
  check_stop();
  return ids;
}

Index window_length(const Checkpoint& checkpoint, const CalibrationRequest& request) {
  return request.length > 0 ? request.length : checkpoint.model.config.context;
}
// Number of windows of `length` tokens, each of which is followed by another token.
Index full_windows(std::size_t tokens, Index length) {
  return std::max<Index>(static_cast<Index>(tokens) - 1, 0) / length;
}

std::vector<CalibrationWindow> make_windows(const Checkpoint& checkpoint, std::string_view text,
                                            const CalibrationRequest& request) {
  const std::vector<std::int32_t> tokens = tokenise(*checkpoint.tokenizer, text);
  const Index length = window_length(checkpoint, request);
  const Index available = full_windows(tokens.size(), length);
  if (available < 2) {
    throw InputError("text: expected at least " + std::to_string(2 * length + 1) +
                     " tokens (two windows), found " + std::to_string(tokens.size()));
  }
  const Index count = std::min(available, request.max_windows);
  std::vector<CalibrationWindow> windows;
  for (Index w = 0; w < count; ++w) {
    const auto first = tokens.begin() + w * available / count * length;
    windows.push_back({IntTensor::from({1, length}, {first, first + length}),
                       IntTensor::from({1, length}, {first + 1, first + length + 1})});
  }
  return windows;
}

std::vector<std::int32_t> most_likely_tokens(const Tensor& logits) {
  const Index vocabulary = logits.dim(-1), rows = logits.size() / vocabulary;
  std::vector<std::int32_t> best;
  for (Index r = 0; r < rows; ++r) {
    const float* row = logits.data() + r * vocabulary;
    best.push_back(static_cast<std::int32_t>(std::max_element(row, row + vocabulary) - row));
  }
  return best;
}

Output run_window(const Model& model, const CalibrationWindow& window,
                  std::optional<double> threshold) {
  Batch batch;
  batch.ids = window.ids;
  ForwardOptions options;
  options.exit = threshold;
  Output output = run(model, batch, options);
  check_stop();
  return output;
}

// Runs the model without exits. Stores its predictions in the windows and returns its loss.
double run_full_model(const Model& model, std::vector<CalibrationWindow>& windows) {
  Tally tally;
  for (CalibrationWindow& window : windows) {
    const Output output = run_window(model, window, std::nullopt);
    window.guesses = most_likely_tokens(output.logits.value());
    tally.add(output.logits.value(), window.targets);
  }
  return tally.score().loss;
}

// Measures the effect of exits at a threshold. Requires the windows' predictions.
ExitEffect measure_exits(const Model& model, const std::vector<CalibrationWindow>& windows,
                         double threshold) {
  ExitEffect effect{.threshold = threshold};
  Tally tally;
  double tokens = 0;
  for (const CalibrationWindow& window : windows) {
    const Output output = run_window(model, window, threshold);
    tally.add(output.logits.value(), window.targets);
    const std::vector<std::int32_t> guesses = most_likely_tokens(output.logits.value());
    for (std::size_t i = 0; i < guesses.size(); ++i) {
      if (guesses[i] != window.guesses[i]) ++effect.changed_fraction;
      ++tokens;
    }
    for (const std::int32_t layer : output.exits) effect.layers += layer;
  }
  effect.loss = tally.score().loss;
  effect.changed_fraction /= tokens;  // windows are equally long
  effect.layers /= tokens;
  return effect;
}

void check_request(const CalibrationRequest& request) {
  const auto expect = [](bool is_valid, const char* message) {
    if (!is_valid) throw InputError(message);
  };
  const bool is_test = request.method == CalibrationMethod::LearnThenTest;
  expect(request.tolerance > 0 && (!is_test || request.tolerance < 1),
         "tolerance: expected a number above 0 (and below 1 for a share)");
  expect(request.level > 0 && request.level < 1, "level: expected a number above 0 and below 1");
  expect(request.length >= 0, "length: expected at least 1 token");
  expect(request.max_windows >= 2, "windows: expected at least 2");
  expect(!request.thresholds.empty() && std::ranges::is_sorted(request.thresholds, std::greater()),
         "thresholds: expected descending numbers");
}

// Fixed-sequence testing: tests thresholds in descending order, each at the full level, and accepts
// them until a test fails. P(all accepted thresholds meet the tolerance) >= 1 - level.
void accept_by_test(Calibration& calibration) {
  bool all_accepted = true;
  for (CalibrationPoint& point : calibration.points) {
    point.p = hoeffding_bentkus(point.effect.changed_fraction, calibration.windows,
                                calibration.request.tolerance);
    all_accepted = all_accepted && point.p <= calibration.request.level;
    point.accepted = all_accepted = all_accepted && std::isfinite(point.effect.loss);
    if (all_accepted) calibration.threshold = point.effect.threshold;
  }
}

void accept_by_loss(Calibration& calibration) {
  double fewest_layers = std::numeric_limits<double>::infinity();
  for (CalibrationPoint& point : calibration.points) {
    point.accepted = point.effect.loss <= calibration.full_loss + calibration.request.tolerance;
    if (!point.accepted || !(point.effect.layers < fewest_layers)) continue;
    fewest_layers = point.effect.layers;
    calibration.threshold = point.effect.threshold;
  }
}

}  // namespace

CalibrationMethod calibration_method(std::string_view name) {
  if (name == "test") return CalibrationMethod::LearnThenTest;
  if (name == "grid") return CalibrationMethod::GridSearch;
  throw InputError("method: expected one of test, grid, found \"" + std::string(name) + "\"");
}

std::string name_of(CalibrationMethod method) {
  return method == CalibrationMethod::LearnThenTest ? "test" : "grid";
}

CalibrationMethod default_method(const ModelConfig& config) {
  const bool has_distribution = config.exits && exit_rule(config.exits->id).makes_distribution;
  return has_distribution ? CalibrationMethod::GridSearch : CalibrationMethod::LearnThenTest;
}

std::vector<double> CalibrationRequest::descending_thresholds(Index steps) {
  std::vector<double> thresholds;
  for (Index n = steps; n > 0; --n) {
    thresholds.push_back(static_cast<double>(n) / static_cast<double>(steps));
  }
  return thresholds;
}

const CalibrationPoint* Calibration::selected_point() const {
  if (!threshold) return nullptr;
  const auto found = std::ranges::find(
      points, *threshold, [](const CalibrationPoint& p) { return p.effect.threshold; });
  return found == points.end() ? nullptr : &*found;
}

std::string calibration_refusal(const ModelConfig& config) {
  if (!config.exits) {
    return "the model has no early exits: choose exits, or a model that was trained with "
           "them";
  }
  const ExitRule& rule = exit_rule(config.exits->id);
  if (rule.distribution_at >= 0) {
    return "with the exits \"" + rule.label +
           "\" tokens exit at the most likely layer: there is no threshold to calibrate";
  }
  const Architecture& model_architecture = architecture(config.architecture.id);
  if (model_architecture.reads == Reads::Tokens) return "";
  return "thresholds are calibrated on a single text, but \"" + model_architecture.label +
         "\" reads more than one text";
}

std::string calibration_refusal(const Checkpoint& checkpoint) {
  const std::string reason = calibration_refusal(checkpoint.model.config);
  if (!reason.empty()) return checkpoint.name + ": " + reason;
  return checkpoint.tokenizer ? "" : checkpoint.tokenizer_problem;
}

Index count_windows(const Checkpoint& checkpoint, std::string_view text,
                    const CalibrationRequest& request) {
  const std::string refusal = calibration_refusal(checkpoint);
  if (!refusal.empty()) throw InputError(refusal);
  const std::size_t tokens = tokenise(*checkpoint.tokenizer, text).size();
  return std::min(full_windows(tokens, window_length(checkpoint, request)), request.max_windows);
}

Calibration calibrate(const Checkpoint& checkpoint, std::string_view text, std::string_view holdout,
                      const CalibrationRequest& request, const CalibrationProgress& progress) {
  const std::string refusal = calibration_refusal(checkpoint);
  if (!refusal.empty()) throw InputError(refusal);
  check_predicts(checkpoint);
  check_request(request);
  const Model& model = checkpoint.model;
  std::vector<CalibrationWindow> windows = make_windows(checkpoint, text, request);
  std::vector<CalibrationWindow> validation;
  if (!holdout.empty()) validation = make_windows(checkpoint, holdout, request);
  Calibration calibration{.request = request,
                          .model = checkpoint.name,
                          .rule = model.config.exits->id,
                          .layers = model.config.layers,
                          .windows = static_cast<Index>(windows.size())};
  calibration.tokens = calibration.windows * windows.front().ids.size();
  calibration.full_loss = run_full_model(model, windows);
  if (!std::isfinite(calibration.full_loss)) {
    throw WorkError("the model's logits are not finite");
  }
  const auto steps = static_cast<double>(request.thresholds.size() + (validation.empty() ? 1 : 3));
  const auto report = [&](double steps_done) {
    if (progress) progress(calibration, steps_done / steps);
  };
  report(1);
  for (const double threshold : request.thresholds) {
    calibration.points.push_back({measure_exits(model, windows, threshold)});
    report(1 + static_cast<double>(calibration.points.size()));
  }
  if (request.method == CalibrationMethod::LearnThenTest) {
    accept_by_test(calibration);
  } else {
    accept_by_loss(calibration);
  }
  if (!validation.empty() && calibration.threshold) {
    calibration.holdout_loss = run_full_model(model, validation);
    calibration.holdout = measure_exits(model, validation, *calibration.threshold);
  }
  report(steps);
  return calibration;
}

std::filesystem::path sample_calibration_text() {
  return home_folder() / "assets" / "texts" / "mill.txt";
}

}  // namespace attnscope
