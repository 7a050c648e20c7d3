// What each layer would say if it were the last: its state through the final norm and the output
// projection (the logit lens: nostalgebraist, 2020), or through the classifier that it was trained
// with (exits with "own" classifiers), and how sure it is of that, by the measures
// that confident adaptive language modeling exits by (CALM: Schuster et al., 2022,
// arXiv:2207.07061).
#pragma once

#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/model/model.h"

namespace attnscope {

// One number a layer and position: [layers, L]. Of a recurrence over depth the layers of all steps,
// one after the other.
struct LogitLens {
  IntTensor guess;     // the likeliest next token
  Tensor probability;  // of the guess
  Tensor margin;       // to the second likeliest: the softmax response of CALM
  Tensor final_guess;  // the probability of what the last layer guesses
  Tensor saturation;   // the cosine of the layer's state and the one before it (the embedding's)
};

// What one layer's state gives, from 0, from the taps of a run in which no token left early; not of
// a recurrence over depth.  [L, vocabulary]
Tensor layer_logits(const Model& model, const Trace& trace, Index layer, const Stop& stop);

// From the taps of a run of this model. WorkError where the trace lacks them. The logits of all
// layers never exist at the same time: memory is that of one layer's for a few positions.
LogitLens logit_lens(const Model& model, const Trace& trace, const Stop& stop);

enum class Confidence { Margin, Probability, Saturation };

// For each position the first layer whose confidence reaches the threshold, else the last.  [L]
std::vector<Index> exit_layers(const LogitLens& lens, Confidence measure, double threshold);

struct ExitSummary {
  double saved = 0;      // share of the layers that need not run, 0..1
  double agreement = 0;  // share of positions whose guess at the exit is the last layer's
};
ExitSummary exit_summary(const LogitLens& lens, const std::vector<Index>& exits);

}  // namespace attnscope
