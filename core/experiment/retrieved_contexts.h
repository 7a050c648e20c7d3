// Retrieved contexts of a run for display: usually more neighbours than the run used, with the
// words of their contexts.
#pragma once

#include <memory>
#include <vector>

#include "core/model/retrieval.h"

namespace attnscope {

// Maximum number of neighbours on the view's slider; a small store has fewer.
inline constexpr Index kMaxNeighboursShown = 64;

struct RetrievedContexts {
  std::shared_ptr<const Store> store;
  Neighbours neighbours;  // [L, k]
};

// A stored context as tokens. Each row of a store contains the token after its key, so that
// successive rows contain the text (without its first token).
struct ContextWords {
  std::vector<std::int32_t> before;  // last ids of the context, ending with the key's token
  std::int32_t value = 0;            // token after the key
  std::vector<std::int32_t> after;   // tokens after the value
  Index text = 0, position = 0;      // text index and position of the key's token
};
ContextWords context_words(const Store& store, Index row, Index max_before, Index max_after);

}  // namespace attnscope
