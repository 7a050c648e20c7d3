// Numbers behind the Retrieval view.
#pragma once

#include <memory>
#include <vector>

#include "core/experiment/retrieved_contexts.h"
#include "core/view/view.h"

namespace attnscope {

// Mixing parameters of the view. Parameters that the view leaves unset are the run's.
struct MixSetting {
  Index k = 8;
  double lambda = 0.25, temperature = 1;  // kNN interpolation
  bool is_gated = false;                  // SPALM gate; k is the run's, not the view's
};
MixSetting mix_setting(const ViewInput& input, const RetrievedContexts& contexts);

// Distributions after one token: model, neighbours' successors, mixture.
struct MixedRow {
  std::vector<double> neighbours;           // weight of each neighbour  [k]
  std::vector<double> model, store, mixed;  // [vocabulary]
  double gate = 1;                          // weight of the model's state in a gated mixture
};
// A gated mixture is read from the run; an interpolation is computed from the retrieved contexts.
MixedRow mixed_row(const Trace& trace, const RetrievedContexts& contexts, const MixSetting& setting,
                   Index token);

// Log-probabilities of the model without retrieval.  [L, vocabulary]
Tensor model_log_probabilities(const Trace& trace);

// Bits of each token: row 0 without retrieval, row 1 with it. NaN for the first token.  [2, L]
Tensor retrieval_bits(const ViewInput& input, const RetrievedContexts& contexts,
                      const MixSetting& setting);
// Mean bits of all tokens but the first, without retrieval (`row` 0) or with it (1).
double mean_bits(const Tensor& bits, Index row);

// True for heads that retrieve keys from a memory (memorizing attention).
bool retrieves_keys(const AttentionTap& tap);
bool retrieves(const Trace& trace);  // the run mixes its predictions with a store's

// Keys that a token retrieved, by descending weight.
struct RetrievedKeys {
  const AttentionTap* tap = nullptr;  // null: no head retrieves
  Index head = 0, row = 0;            // head and row within the tap
  Index token = 0;                    // index in the text
  Index stored_count = 0;             // number of keys in the memory
  struct Key {
    Index token = -1;  // index in the text; -1: the key is not in this text
    Index column = 0;
    double weight = 0;
  };
  std::vector<Key> keys;
  double memory_fraction = 0;  // fraction of the token's attention that the memory gets
};
// Keys that the head retrieved for `token`. If the head does not retrieve, uses the first head of
// the first group that does.
RetrievedKeys retrieved_keys(const Trace& trace, Index layer, Index head, Index token);

// Replaces space markers of token labels by spaces: "␣the␣boat" becomes " the boat".
std::string with_spaces(std::string text);
std::string text_of_tokens(const Trace& trace, const std::vector<std::int32_t>& ids);
std::string retrieved_key_label(const Trace& trace, const RetrievedKeys& retrieved,
                                const RetrievedKeys::Key& key);

// Token whose retrieval is shown: the view's parameter, else the last token. If `needs_successor`:
// the view's parameter, else the pinned token, else the last token with a successor.
Index retrieving_token(const ViewInput& input, bool needs_successor);

ViewData retrieval_data(const ViewInput& input);

}  // namespace attnscope
