// How information comes from a key to a query through several layers, step by step.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// The layers of a part, one after the other, from the first again where more are asked for; any
// head counts, and what a token knows it keeps (the residual connection).
class LayerChain {
 public:
  static constexpr Index kMostLength = 1024;
  // Nothing where tokens do not look at the same tokens in every layer (memory, cross-attention),
  // or there are more than kMostLength. Of several heads with the same right, `head` of a layer is
  // named.
  static std::optional<LayerChain> of(const Trace& trace, const TracePart& part, Index head);

  Index length() const { return length_; }
  Index layers() const { return static_cast<Index>(layers_.size()); }
  // How many layers a picture follows: those there are, but neither one alone nor too many.
  Index shown_layers() const;

  struct Sight {
    Index key;
    const AttentionTap* tap;
    Index head;  // within the tap's group
    int rule;
  };
  // What a query sees in a layer; a key once for every head that sees it.
  void sights(Index layer, Index query, const std::function<void(const Sight&)>& see) const;

 private:
  struct Eye {
    const AttentionTap* tap;
    Index head;
  };
  std::vector<std::vector<Eye>> layers_;
  Index length_ = 0;
};

// A step of a path, from `key` before a layer to `query` after it.
struct Hop {
  Index query = 0, key = 0;
  int rule = -1;       // -1: it stays where it is
  std::string name{};  // of the rule
  Index head = -1;     // numbered within the layer
};

// What a query hears of, after so many layers.
struct Heard {
  using Tokens = std::vector<char>;  // [L], 1 where
  std::vector<Tokens> cone;     // [layers + 1]: what a token knows after so many layers gets there
  std::vector<Tokens> between;  // likewise those on a way from the key
  std::vector<Hop> path;        // a hop a layer, from the first one; empty: the key is not heard
};
Heard heard_by(const LayerChain& chain, Index query, Index key, Index layers);

}  // namespace attnscope
