// Pair of runs that differ in one token, for showing which numbers depend on it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/experiment/session.h"
#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedToken {
  std::string problem{};  // reason for a missing run; empty on success
  Index position = 0;     // among the tokens that are run
  std::int32_t before = 0, after = 0;
  std::shared_ptr<const Trace> without, with;  // on the same device
};

// Request of the view "mechanism" with picture=replaced, from its parameters token and by; nullopt
// if it shows another picture. Default position: the pinned query, otherwise the middle of the
// text; default token: the preceding one in the vocabulary.
struct ReplaceRequest {
  std::optional<Index> position, by{};
  bool operator==(const ReplaceRequest&) const = default;
};
std::optional<ReplaceRequest> replace_request(const RunView& viewed);

}  // namespace attnscope
