// Results that views derive from a run, cached between frames.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// Result of `make`, cached if the input has a cache. `source`: what the result is derived from
// (source_of() for a run). `key`: everything else that the result depends on.
template <class Make>
std::shared_ptr<const std::invoke_result_t<const Make&>> cached_numbers(
    const ViewInput& input, const std::shared_ptr<const void>& source, const CacheKey& key,
    const Make& make) {
  if (input.cache != nullptr && source != nullptr) return input.cache->numbers(source, key, make);
  return std::make_shared<const std::invoke_result_t<const Make&>>(make());
}

// Matrix computed by `make`, cached like cached_numbers(); `source` defaults to the run.
inline Tensor cached_matrix(const ViewInput& input, const CacheKey& key,
                            const std::function<Tensor()>& make,
                            const std::shared_ptr<const void>& source = nullptr) {
  if (input.cache == nullptr) return make();
  return input.cache->matrix(source != nullptr ? source : source_of(input.trace), key, make);
}

}  // namespace attnscope
