// Path of information from a key to a query through several layers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// The layers of a part in order, repeated cyclically if more are requested. Any head counts, and
// the residual connection keeps a token's information.
class LayerChain {
 public:
  static constexpr Index kMostLength = 1024;
  // Empty unless all layers attend within the same tokens (no memory or cross-attention), or above
  // kMostLength. Among equivalent heads of a layer, `head` is named.
  static std::optional<LayerChain> of(const Trace& trace, const TracePart& part, Index head);

  Index length() const { return length_; }
  Index layers() const { return static_cast<Index>(layers_.size()); }
  // Number of layers in pictures: those of the model, at least two, within limits.
  Index shown_layers() const;

  struct Sight {
    Index key;
    const AttentionTap* tap;
    Index head;  // within the tap's group
    int rule;
  };
  // Visits the keys of a query in a layer, once for each head that attends to them.
  void sights(Index layer, Index query, const std::function<void(const Sight&)>& see) const;

 private:
  struct Eye {
    const AttentionTap* tap;
    Index head;
  };
  std::vector<std::vector<Eye>> layers_;
  Index length_ = 0;
};

// A hop of a path, from `key` before a layer to `query` after it.
struct Hop {
  Index query = 0, key = 0;
  int rule = -1;       // -1: residual connection
  std::string name{};  // of the rule
  Index head = -1;     // index within the layer
};

// Receptive field of a query.
struct ReceptiveField {
  using Tokens = std::vector<char>;  // [L], 1 for members
  std::vector<Tokens> cone;     // [layers + 1]: tokens whose state at that level reaches the query
  std::vector<Tokens> between;  // likewise those on a path from the key
  std::vector<Hop> path;  // one hop per layer, from the first; empty: the key does not reach it
};
ReceptiveField heard_by(const LayerChain& chain, Index query, Index key, Index layers);

}  // namespace attnscope
