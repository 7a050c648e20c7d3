// Calibration of early-exit confidence thresholds, so that predictions change within a tolerance.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

enum class CalibrationMethod {
  // Learn then Test: fixed-sequence testing from the highest threshold down (Schuster et al., 2022,
  // Confident adaptive language modeling, arXiv:2207.07061). With probability at least 1 - level,
  // the fraction of tokens whose prediction differs from the full model's stays below the
  // tolerance.
  LearnThenTest,
  // Fewest layers while the loss exceeds the full model's by at most `tolerance` nats per token
  // (Elbayad et al., 2020, Depth-adaptive transformer, arXiv:1910.10073); no guarantee.
  GridSearch,
};
CalibrationMethod calibration_method(std::string_view name);  // "test", "grid"; InputError
std::string name_of(CalibrationMethod method);
// Method with which the model's exit rule was published.
CalibrationMethod default_method(const ModelConfig& config);

struct CalibrationRequest {
  CalibrationMethod method = CalibrationMethod::LearnThenTest;
  double tolerance = 0.1;
  double level = 0.05;      // maximum probability that the guarantee fails
  Index length = 0;         // tokens per window; 0: the context
  Index max_windows = 200;  // maximum number of evenly spaced windows per text
  std::vector<double> thresholds = descending_thresholds(20);

  static std::vector<double> descending_thresholds(Index steps);  // 1, .., 1/steps
};

// Measured effect of early exits on a text. Skipped layers are not computed.
struct ExitEffect {
  double threshold = 0;
  double changed_fraction = 0;  // fraction of tokens whose prediction differs from the full model's
  double loss = 0;              // nats per token
  double layers = 0;            // mean number of layers per token
};

struct CalibrationPoint {
  ExitEffect effect;
  // p-value of the hypothesis that more predictions change than tolerated; NaN: not tested.
  double p = std::numeric_limits<double>::quiet_NaN();
  bool accepted = false;  // the threshold satisfies the method's criterion
};

struct Calibration {
  CalibrationRequest request;
  std::string model, rule;  // name of the model, id of its exit rule
  Index layers = 0, windows = 0, tokens = 0;
  double full_loss = 0;  // nats per token, without exits
  std::vector<CalibrationPoint> points{};
  std::optional<double> threshold{};  // nullopt: no threshold is accepted
  // Validation on a second text: effect at `threshold`, and loss without exits.
  std::optional<ExitEffect> holdout{};
  double holdout_loss = 0;

  const CalibrationPoint* selected_point() const;  // point of `threshold`; null without a threshold
};

using CalibrationProgress = std::function<void(const Calibration&, double fraction)>;

// Reason why thresholds of this model cannot be calibrated; empty if they can.
std::string calibration_refusal(const Checkpoint& checkpoint);
std::string calibration_refusal(const ModelConfig& config);  // checks the configuration only

// Number of windows of a text; calibrate() needs two. Throws InputError if calibration_refusal()
// is not empty.
Index count_windows(const Checkpoint& checkpoint, std::string_view text,
                    const CalibrationRequest& request);
// "7 windows are too few for any guarantee: ..."; empty if the request has enough windows.
std::string too_few_windows(Index windows, const CalibrationRequest& request);

// Calibrates on `text` and validates on `holdout` unless that is empty. Adjacent windows are
// treated as independent. Throws InputError if calibration_refusal() is not empty, a text is
// shorter than two windows, or the request is invalid.
Calibration calibrate(const Checkpoint& checkpoint, std::string_view text, std::string_view holdout,
                      const CalibrationRequest& request, const CalibrationProgress& progress);

// CSV "threshold,differs,p,loss,layers,accepted", one line per threshold.
std::string to_csv(const Calibration& calibration);

// Result in one or two sentences.
std::string summary(const Calibration& calibration);

// Bundled text for a first calibration: a story of 2,500 words that no bundled model was trained
// on.
std::filesystem::path sample_calibration_text();

}  // namespace attnscope
