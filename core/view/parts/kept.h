// What views work out of a run, once.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// What `make` makes of what `source` points at (of a run: source_of()), kept from frame to frame
// where there is a cache for that. `name`: for everything that it depends on beside the source.
template <class Make>
std::shared_ptr<const std::invoke_result_t<const Make&>> kept(
    const ViewInput& input, const std::shared_ptr<const void>& source, const std::string& name,
    const Make& make) {
  if (input.cache != nullptr && source != nullptr) return input.cache->numbers(source, name, make);
  return std::make_shared<const std::invoke_result_t<const Make&>>(make());
}

// Likewise a matrix, which takes no memory twice; of the run itself, where `source` is left out.
inline Tensor kept_matrix(const ViewInput& input, const std::string& name,
                          const std::function<Tensor()>& make,
                          const std::shared_ptr<const void>& source = nullptr) {
  if (input.cache == nullptr) return make();
  return input.cache->matrix(source != nullptr ? source : source_of(input.trace), name, make);
}

}  // namespace attnscope
