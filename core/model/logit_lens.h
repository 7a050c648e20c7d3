// Logit lens: the next-token prediction of each layer.
//
// Applies the final norm and the output projection to every layer's state (nostalgebraist, 2020),
// or the layer's own exit classifier if the model has one (exits.h), and measures confidence as in
// confident adaptive language modeling (CALM: Schuster et al., 2022, arXiv:2207.07061).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

// All members have one number per layer and position, [layers, L]. A recurrence over depth has a
// row for every layer of every step.
struct LogitLens {
  IntTensor guess;                 // most likely next token
  Tensor probability;              // probability of the guess
  Tensor margin;                   // highest minus second highest probability (softmax response)
  Tensor final_guess_probability;  // probability, at this layer, of the last layer's guess
  Tensor saturation;               // cosine between input and output state of the layer
  // Probability of the text's next token. NaN at the last position; undefined if the run has no
  // next tokens.
  Tensor target_probability{};
  // Probability of the token m positions after the next one, m = 1, 2, ...: further targets of a
  // model that was trained with them (auxiliary losses). NaN beyond the text; may be undefined.
  Tensor later_target_probability{};  // [further targets, L]
};

// Mean of −log2 p in bits over the numbers of each row of `probability` [n, L] that are not NaN;
// NaN for rows without numbers. Of LogitLens::target_probability, these are the losses of
// intermediate layers and positions, and of later_target_probability those of further targets
// (Al-Rfou et al., 2018, arXiv:1808.04444).  [n]
std::vector<double> mean_bits(const Tensor& probability);

// Logits of a layer (from 0), computed from the taps of a run without early exits or recurrence
// over depth.  [L, vocabulary]
Tensor layer_logits(const Model& model, const Trace& trace, Index layer);

// Uses the taps of a run of this model; throws WorkError if taps are missing. Processes one layer
// and a few positions at a time to limit memory.
LogitLens logit_lens(const Model& model, const Trace& trace);

// The logit lens of single positions, computed when they are first read. Thread-safe.
class TokenLens {
 public:
  // `trace`: a run of `model`, as for logit_lens().
  TokenLens(std::shared_ptr<const Model> model, std::shared_ptr<const Trace> trace);
  explicit TokenLens(LogitLens lens);  // a lens that is known already
  // A position from 0 to length() - 1. All members are [layers, 1]; `saturation` is undefined.
  LogitLens at(Index position) const;
  Index length() const { return length_; }  // L

 private:
  Index length_;
  std::function<LogitLens(Index position)> compute_;
  mutable std::mutex mutex_;
  mutable std::map<Index, LogitLens> known_;  // by position
};

enum class Confidence { Margin, Probability, Saturation };

// First layer whose confidence reaches the threshold, else the last, for each position.  [L]
std::vector<Index> exit_layers(const LogitLens& lens, Confidence measure, double threshold);

struct ExitSummary {
  double saved = 0;      // fraction of layers that are skipped
  double agreement = 0;  // fraction of positions whose guess equals the last layer's
};
ExitSummary exit_summary(const LogitLens& lens, const std::vector<Index>& exits);

// Lowest multiple of 0.001 such that, at this and all higher thresholds, at least the fraction
// `agreement` of positions exits with the last layer's guess; 1 if there is none.
double agreeing_threshold(const LogitLens& lens, Confidence measure, double agreement);

// Fraction of positions at which each layer's guess equals the last layer's.  [layers]
std::vector<double> layer_agreement(const LogitLens& lens);

}  // namespace attnscope
