// Numbers behind the Retrieval view.
#pragma once

#include <memory>
#include <vector>

#include "core/experiment/retrieved_contexts.h"
#include "core/view/view.h"

namespace attnscope {

// Mixing parameters of the view; those of the run where the view sets none.
struct MixSetting {
  Index k = 8;
  double lambda = 0.25, temperature = 1;  // kNN interpolation
  bool gated = false;                     // SPALM gate, which uses k of the run
};
MixSetting mix_setting(const ViewInput& input, const RetrievedContexts& contexts);

// Distributions after one token: model, neighbours' successors, mixture.
struct MixedRow {
  std::vector<double> neighbours;           // [k] weights
  std::vector<double> model, store, mixed;  // [vocabulary]
  double gate = 1;                          // gated mixture: weight of the model's own state
};
// Reads a gated mixture from the run; computes an interpolation from the retrieved contexts.
MixedRow mixed_row(const Trace& trace, const RetrievedContexts& contexts, const MixSetting& setting,
                   Index token);

// Log-probabilities of the model without retrieval.  [L, vocabulary]
Tensor model_log_probabilities(const Trace& trace);

// Bits of each token without and with retrieval, [2, L]; NaN for the first token.
Tensor retrieval_bits(const ViewInput& input, const RetrievedContexts& contexts,
                      const MixSetting& setting);
// Mean over the tokens of one row.
double mean_bits(const Tensor& bits, Index row);

// True for heads that retrieve keys from a memory (memorizing attention).
bool retrieves_keys(const AttentionTap& tap);
bool retrieves(const Trace& trace);  // the run mixes predictions with retrieval

// Keys that a token retrieved, by descending weight.
struct RetrievedKeys {
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
// Keys retrieved by the head; if it retrieves none, by the first head group that does.
RetrievedKeys retrieved_keys(const Trace& trace, Index layer, Index head, Index token);

// Text from token labels: "␣the␣boat" as " the boat".
std::string with_spaces(std::string text);
std::string words_of_labels(const Trace& trace, const std::vector<std::int32_t>& ids);
std::string fetched_label(const Trace& trace, const RetrievedKeys& found,
                          const RetrievedKeys::Key& key);

// Token to show: the view's parameter, else the last token. `with_next`: the view's parameter, else
// the pinned token, else the last one with a successor.
Index retrieving_token(const ViewInput& input, bool with_next);

ViewData retrieval_data(const ViewInput& input);

}  // namespace attnscope
