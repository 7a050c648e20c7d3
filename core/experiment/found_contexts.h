// What a run retrieved from, for pictures: more neighbours than the run took, and the words of
// their contexts.
#pragma once

#include <memory>
#include <vector>

#include "core/model/retrieval.h"

namespace attnscope {

// As many neighbours as the view's slider reaches, or the store has.
inline constexpr Index kMostNeighboursShown = 64;

struct FoundContexts {
  std::shared_ptr<const Store> store;
  Neighbours neighbours;  // [L, k]
};

// A stored context in words: a store keeps what followed each token, and so, where its rows stand
// in the order of a text, that text itself (without the first token).
struct ContextWords {
  std::vector<std::int32_t> before;  // the last ids of the context, the key's own token last
  std::int32_t value = 0;            // what followed
  std::vector<std::int32_t> after;   // what came then
  Index text = 0, position = 0;      // of the key's token
};
ContextWords context_words(const Store& store, Index row, Index before, Index after);

}  // namespace attnscope
