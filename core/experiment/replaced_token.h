// The same run with one token replaced by another: which numbers hang on a token, and which not.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedToken {
  std::string problem{};  // why there is no such run; empty: there is
  Index position = 0;     // in the tokens that are run
  std::int32_t before = 0, after = 0;
  std::shared_ptr<const Trace> without, with;  // both computed in the same place
};

// What the view "mechanism" asks for by its parameters picture=replaced, token and by; nothing: it
// shows something else. A position left out is that of the pinned query, else the middle of the
// text; a token left out is the one before in the vocabulary.
struct ReplaceWish {
  std::optional<Index> position, by{};
  bool operator==(const ReplaceWish&) const = default;
};
std::optional<ReplaceWish> replace_wish(const Experiment& experiment);

}  // namespace attnscope
