// Choosing the threshold at which tokens leave a model early, so that what is lost stays within
// what is tolerated.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

// How a threshold is chosen.
enum class CalibrationMethod {
  // Fixed-sequence testing, from the highest threshold down (Schuster et al., 2022, Confident
  // adaptive language modeling, arXiv:2207.07061): with a chance of at least 1 - level, the share
  // of tokens whose guess is not the full model's stays below the tolerance.
  LearnThenTest,
  // The fewest layers whose loss is at most the tolerance (nats per token) above the full model's
  // (Elbayad et al., 2020, Depth-adaptive transformer, arXiv:1910.10073): nothing is promised.
  GridSearch,
};
CalibrationMethod calibration_method(std::string_view name);  // "test", "grid"; InputError
std::string name_of(CalibrationMethod method);
// What the model's rule was published with.
CalibrationMethod usual_method(const ModelConfig& config);

struct CalibrationRequest {
  CalibrationMethod method = CalibrationMethod::LearnThenTest;
  double tolerance = 0.1;
  double level = 0.05;       // the risk that is taken that the promise does not hold
  Index length = 0;          // tokens of a window; 0: the context
  Index most_windows = 200;  // of a text, evenly spread
  std::vector<double> thresholds = falling_thresholds(20);

  static std::vector<double> falling_thresholds(Index steps);  // 1, .., 1/steps
};

// What leaving at a threshold does to a text, with work really left out.
struct ExitEffect {
  double threshold = 0;
  double differs = 0;  // share of tokens whose guess is not the full model's
  double loss = 0;     // nats per token
  double layers = 0;   // that a token takes, in the mean
};

struct CalibrationPoint {
  ExitEffect effect;
  // Of the hypothesis that more than the tolerance differs; NaN: it was not tested.
  double p = std::numeric_limits<double>::quiet_NaN();
  bool accepted = false;  // may be chosen
};

struct Calibration {
  CalibrationRequest request;
  std::string model, rule;  // names
  Index layers = 0, windows = 0, tokens = 0;
  double full_loss = 0;  // nats per token, without exits
  std::vector<CalibrationPoint> points{};
  std::optional<double> threshold{};  // none: no threshold keeps within the tolerance
  // On other text, at that threshold: what was found, and without exits.
  std::optional<ExitEffect> other{};
  double other_full_loss = 0;
  Index other_windows = 0;

  const CalibrationPoint* chosen() const;
};

using CalibrationProgress = std::function<void(const Calibration&, double share)>;

// Why thresholds of this model cannot be calibrated; empty: they can.
std::string calibration_refusal(const Checkpoint& checkpoint);
std::string calibration_refusal(const ModelConfig& config);  // where there are no weights yet

// How many windows of a text would be read; calibrate() needs two. InputError where
// calibration_refusal() says so.
Index count_windows(const Checkpoint& checkpoint, std::string_view text,
                    const CalibrationRequest& request, const Stop& stop);
// "7 windows are too few to promise anything: ..."; empty: they may do for this request.
std::string too_few_windows(Index windows, const CalibrationRequest& request);

// `other`: a text that nothing was chosen by; empty: none. Windows stand side by side and count as
// independent. InputError where calibration_refusal() says so, a text is too short for two windows,
// or a number of the request has no meaning.
Calibration calibrate(const Checkpoint& checkpoint, std::string_view text, std::string_view other,
                      const CalibrationRequest& request, const CalibrationProgress& progress,
                      const Stop& stop);

// "threshold,differs,p,loss,layers,accepted": a line a threshold.
std::string to_csv(const Calibration& calibration);

// What was found, in one or two sentences.
std::string summary(const Calibration& calibration);

}  // namespace attnscope
