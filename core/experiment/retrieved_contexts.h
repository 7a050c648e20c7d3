// Retrieved contexts of a run for display: usually more neighbours than the run used, with the
// words of their contexts.
#pragma once

#include <memory>
#include <vector>

#include "core/model/retrieval.h"

namespace attnscope {

// Maximum of the view's slider; limited by the size of the store.
inline constexpr Index kMaxNeighboursShown = 64;

struct RetrievedContexts {
  std::shared_ptr<const Store> store;
  Neighbours neighbours;  // [L, k]
};

// A stored context as tokens. A store contains the token after each key, so rows in text order
// contain the text itself (without its first token).
struct ContextWords {
  std::vector<std::int32_t> before;  // last ids of the context, ending with the key's token
  std::int32_t value = 0;            // token after the key
  std::vector<std::int32_t> after;   // tokens after the value
  Index text = 0, position = 0;      // text index and position of the key's token
};
ContextWords context_words(const Store& store, Index row, Index max_before, Index max_after);

}  // namespace attnscope
