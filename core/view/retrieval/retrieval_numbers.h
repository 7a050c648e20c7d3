// What the Retrieval view shows, in numbers.
#pragma once

#include <memory>
#include <vector>

#include "core/experiment/found_contexts.h"
#include "core/view/view.h"

namespace attnscope {

// How neighbours are mixed in: by the view's sliders, else as the run was.
struct MixSetting {
  Index k = 8;
  double lambda = 0.25, temperature = 1;  // of a mixture (knn)
  bool gated = false;                     // a gate lets them in instead (spalm); k is the run's
};
MixSetting mix_setting(const ViewInput& input, const FoundContexts& found);

// After one token: what the model says, what followed its neighbours, and both together.
struct MixedRow {
  std::vector<double> neighbours;           // [k] the share of each
  std::vector<double> model, store, mixed;  // [vocabulary]
  double gate = 1;  // of a gated mixture: how much of the model's own state stays
};
// A gated mixture is the run's own; the other is worked out anew from what was recorded.
MixedRow mixed_row(const Trace& trace, const FoundContexts& found, const MixSetting& setting,
                   Index token);

// Of the model alone.  [L, vocabulary]
Tensor model_log_probabilities(const Trace& trace);

// Bits of each token with the model alone and with retrieval, [2, L]; NaN for the first.
Tensor retrieval_bits(const ViewInput& input, const FoundContexts& found,
                      const MixSetting& setting);
// The mean over the tokens of one of its rows.
double mean_bits(const Tensor& bits, Index row);

// A head that looks keys up among what was stored (memorizing attention).
bool looks_up(const AttentionTap& tap);
bool retrieves(const Trace& trace);  // predictions are mixed with what was retrieved

// What a token fetched: stored tokens with their weights, the heaviest first.
struct Fetched {
  const AttentionTap* tap = nullptr;  // null: no head of this run looks anything up
  Index head = 0, row = 0;            // in the tap
  Index token = 0;                    // of the text
  Index stored = 0;                   // keys that there were
  struct Key {
    Index token = -1;  // of the text; -1: not known
    Index column = 0;
    double weight = 0;
  };
  std::vector<Key> keys;
  double share = 0;  // of the token's attention that goes to the store
};
// That head where its layer looks things up, else the same of the first layer that does.
Fetched fetched_by(const Trace& trace, Index layer, Index head, Index token);

// A text from labels of tokens, "␣the␣boat" as " the boat".
std::string with_spaces(std::string text);
std::string words_of_labels(const Trace& trace, const std::vector<std::int32_t>& ids);
std::string fetched_label(const Trace& trace, const Fetched& found, const Fetched::Key& key);

// The token that is shown: the view's, else the pinned one, else the last (`with_next`: that has a
// next one).
Index retrieving_token(const ViewInput& input, bool with_next);

ViewData retrieval_data(const ViewInput& input);

}  // namespace attnscope
