// What happened in a run: an immutable record, made of taps with addresses. Views only read it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/text/tokenizer.h"
#include "core/trace/address.h"

namespace attnscope {

struct ModelConfig;  // core/model/config.h

// The attention of one head group.
struct AttentionTap {
  Address address;
  std::vector<Index> heads;  // the group's heads, numbered within the layer
  Choice variant, encoding;
  OperationResult result;      // batch 1; `part` holds q, k, v
  Tensor q_plain, k_plain;     // before rotation: [h, L, d_k], [h_kv, L, d_k]
  NamedVars encoding_weights;  // what the encoding used: "pos.bias"; shared with the model
  bool causal = false;         // by request or by definition

  Index queries() const { return result.pattern->queries(); }
  Index keys() const { return result.pattern->keys(); }
  // Whether the whole map was kept: what was not is derived from q, k and the log-sum-exp.
  bool kept() const { return result.attention.defined() || result.device != nullptr; }
  // [L_q, L_k] of the head with this index within the group. InputError where it cannot be derived
  // or is too large to be made whole; then there are tiles.
  Tensor attention(Index head_in_group) const;
  // Rows [first, first + count) of it.  [count, L_k]
  Tensor rows(Index head_in_group, Index first, Index count) const;
};

struct TraceToken {
  std::int32_t id = 0;
  std::string bytes;               // what it stands for
  std::string label;               // how to show it, see visible()
  std::size_t begin = 0, end = 0;  // bytes of the run's text
  bool special = false;
};

struct Trace {
  std::string model;  // its name
  // The checkpoint's, before a person's choices; never null once a run has filled it in ...
  std::shared_ptr<const ModelConfig> trained;
  // ... and with the structure, but not the attention, that a person chose.
  std::shared_ptr<const ModelConfig> config;
  std::shared_ptr<const Tokenizer> tokenizer;  // null: there are only token ids
  std::vector<TraceToken> tokens;
  std::vector<TraceToken> key_tokens;   // of the keys, where these are others (L_q != L_k)
  std::vector<AttentionTap> attention;  // by address
  Tensor logits;                        // [L, vocabulary]
  Tensor token_bits;  // [L] -log2 of the probability that the tokens before it gave each token; NaN
                      // for the first; undefined without logits
  std::map<std::string, Tensor> taps;       // "embed", "layers.0.residual", "loss.total", ...
  std::map<std::string, IntTensor> counts;  // "halting.steps", "exit.layer", "retrieval.index"
  // What belongs to a layer and maybe a head group: "gate.attention" [L, d], "state" [h, ..].
  std::vector<Located<Tensor>> located;
  AddressParts parts;              // of its addresses that have a meaning
  std::string backend;             // what ran where: "CPU (2 threads, AVX-512)"
  double milliseconds = 0;         // of the forward pass
  std::vector<std::string> untrained;  // weights that the checkpoint lacks: initial values
  bool given = false;              // the attention comes from a file: nothing computed it
  std::vector<std::string> notes;  // what a viewer must know: untrained weights, cut text,
                                   // fully masked rows, a GPU that could not be used

  // The tap of a layer's head (numbered within the layer); null when there is none.
  const AttentionTap* find(Index layer, Index head, Index* head_in_group,
                           AttentionKind kind = AttentionKind::Self) const;
  Index layer_count() const;
  Index head_count(Index layer) const;
};

}  // namespace attnscope
