// Peak memory of tensors during a piece of work.
#pragma once

#include <functional>

#include "core/tensor/storage.h"

namespace attnscope::testing {

// Peak bytes of tensors during the second call of `work`, beyond those alive before it. The first
// call allocates what stays: gradients, for example.
inline double peak_storage(const std::function<void()>& work) {
  work();
  const std::size_t live_before = storage_statistics().live_bytes;
  reset_peak_storage();
  work();
  return static_cast<double>(storage_statistics().peak_bytes - live_before);
}

}  // namespace attnscope::testing
