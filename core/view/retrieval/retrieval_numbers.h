// Numbers behind the Retrieval view.
#pragma once

#include <memory>
#include <vector>

#include "core/experiment/retrieved_contexts.h"
#include "core/view/view.h"

namespace attnscope {

// Mixing parameters: the view's, else the run's.
struct MixSetting {
  Index k = 8;
  double lambda = 0.25, temperature = 1;  // kNN interpolation
  bool gated = false;                     // SPALM gate; k is the run's
};
MixSetting mix_setting(const ViewInput& input, const RetrievedContexts& found);

// Distributions after one token: model, neighbours' successors, mixture.
struct MixedRow {
  std::vector<double> neighbours;           // [k] weights
  std::vector<double> model, store, mixed;  // [vocabulary]
  double gate = 1;                          // gated mixture: weight of the model's own state
};
// A gated mixture is taken from the run; an interpolation is computed from the record.
MixedRow mixed_row(const Trace& trace, const RetrievedContexts& found, const MixSetting& setting,
                   Index token);

// Log-probabilities of the model without retrieval.  [L, vocabulary]
Tensor model_log_probabilities(const Trace& trace);

// Bits of each token without and with retrieval, [2, L]; NaN for the first token.
Tensor retrieval_bits(const ViewInput& input, const RetrievedContexts& found,
                      const MixSetting& setting);
// Mean over the tokens of one row.
double mean_bits(const Tensor& bits, Index row);

// True for heads that retrieve keys from a memory (memorizing attention).
bool looks_up(const AttentionTap& tap);
bool retrieves(const Trace& trace);  // the run mixes predictions with retrieval

// Keys that a token retrieved, by descending weight.
struct Fetched {
  const AttentionTap* tap = nullptr;  // null: no head retrieves
  Index head = 0, row = 0;            // in the tap
  Index token = 0;                    // of the text
  Index stored = 0;                   // number of stored keys
  struct Key {
    Index token = -1;  // of the text; -1: unknown
    Index column = 0;
    double weight = 0;
  };
  std::vector<Key> keys;
  double share = 0;  // share of attention on the memory
};
// The given head if its layer retrieves, else that head in the first layer that does.
Fetched fetched_by(const Trace& trace, Index layer, Index head, Index token);

// Text from token labels: "␣the␣boat" as " the boat".
std::string with_spaces(std::string text);
std::string words_of_labels(const Trace& trace, const std::vector<std::int32_t>& ids);
std::string fetched_label(const Trace& trace, const Fetched& found, const Fetched::Key& key);

// Token to show: the view's, else the pinned one, else the last (`with_next`: that has a
// successor).
Index retrieving_token(const ViewInput& input, bool with_next);

ViewData retrieval_data(const ViewInput& input);

}  // namespace attnscope
