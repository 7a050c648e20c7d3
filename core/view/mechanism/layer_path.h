// Path of information from a key to a query through several layers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Layers of a part in order, repeated cyclically if a caller requests more layers. Information
// passes through any head of a layer, or through the residual connection.
class LayerChain {
 public:
  static constexpr Index kMaxLength = 1024;
  // Returns nullopt if there are no layers, if a layer attends to other tokens (memory,
  // cross-attention), or if there are more than kMaxLength tokens. Paths name `head` if it is among
  // the heads that attend to a key.
  static std::optional<LayerChain> create(const Trace& trace, const TracePart& part, Index head);

  Index length() const { return length_; }
  Index layers() const { return static_cast<Index>(layers_.size()); }
  // Number of layers to draw: all layers of the model, clamped to a legible range.
  Index shown_layers() const;

  struct AttendedKey {
    Index key;
    const AttentionTap* tap;
    Index head;  // index within the tap's group
    int rule;
  };
  // Visits each key of a query in a layer, once for each head that attends to the key. Heads of a
  // tap that share a pattern count as one head.
  void visit_keys(Index layer, Index query,
                  const std::function<void(const AttendedKey&)>& visit) const;

 private:
  struct LayerHead {
    const AttentionTap* tap;
    Index head;
  };
  std::vector<std::vector<LayerHead>> layers_;
  Index length_ = 0;
};

// A hop of a path, from `key` before a layer to `query` after it.
struct Hop {
  Index query = 0, key = 0;
  int rule = -1;       // -1: residual connection
  std::string name{};  // name of the rule
  Index head = -1;     // index within the layer
};

// Receptive field of a query.
struct ReceptiveField {
  using Tokens = std::vector<char>;  // [L], 1 for members
  std::vector<Tokens> cone;     // [layers + 1]: tokens whose state at a level reaches the query
  std::vector<Tokens> on_path;  // members of `cone` that the key reaches
  std::vector<Hop> path;        // a hop per layer, first layer first; empty if there is no path
};
ReceptiveField receptive_field(const LayerChain& chain, Index query, Index key, Index layers);

}  // namespace attnscope
