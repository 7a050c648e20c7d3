// Bits per byte by window length: extrapolation beyond the length of training.
//
// Press et al., 2022, Train Short, Test Long, arXiv:2108.12409.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/training/evaluate.h"

namespace attnscope {

// Kind of a model's positions (Ext: absolute against relative positions).
enum class PositionKind { None, Absolute, Relative, Mixed };
const char* name_of(PositionKind kind);  // "absolute"

// Result of one model at one window length.
struct LengthPoint {
  Index length = 0;  // tokens per window
  double bits_per_byte = std::numeric_limits<double>::quiet_NaN();
  double loss = std::numeric_limits<double>::quiet_NaN();  // nats per token
  std::string missing{};  // reason why the point could not be evaluated; else empty
};

struct LengthSeries {
  std::string model;     // Checkpoint::name
  std::string position;  // label of the encoding, such as "ALiBi, linear bias"
  PositionKind kind = PositionKind::None;
  Index trained_length = 0;         // context of training, in tokens
  std::vector<LengthPoint> points;  // those evaluated so far, lengths ascending
};

struct LengthCurves {
  std::vector<Index> lengths;  // requested, ascending
  double bytes = 0;            // of all texts
  std::vector<LengthSeries> series;
  bool stopped = false;  // cancelled before the end
};

// Reason why a model has no bits per byte by window length; empty if it has.
std::string lengths_refusal(const ModelConfig& config);

// Called after each point with the results so far and the completed fraction in [0, 1].
using LengthProgress = std::function<void(const LengthCurves&, double fraction)>;

// Evaluates each text with evaluate_text() at each length instead of settings.length, sorted and
// without repetitions, and adds the results of all texts. A length that a model or text does not
// allow is a missing point. Returns the results so far if cancelled. Throws InputError for a model
// with a lengths_refusal() or without a tokenizer, and if a model allows none of the lengths.
LengthCurves evaluate_lengths(const std::vector<std::shared_ptr<const Checkpoint>>& models,
                              const std::vector<std::string>& texts,
                              const std::vector<Index>& lengths,
                              const EvaluationOptions& settings = {},
                              const LengthProgress& progress = {});

}  // namespace attnscope
