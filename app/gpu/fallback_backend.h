// A backend that falls back to another one, and says so.
#pragma once

#include <mutex>
#include <string>

#include "core/attention/backend.h"

namespace attnscope {

class FallbackBackend : public Backend {
 public:
  FallbackBackend(Backend& first, Backend& second) : first_(first), second_(second) {}

  // "NVIDIA H200, OpenGL 4.6"; once the second one had to help, since begin():
  // "CPU (2 threads, AVX-512) for 3 of 4 operations (GPU: REASON), else NVIDIA H200, OpenGL 4.6".
  std::string name() const override;
  std::string refusal(const Part& part, const Wanted& wanted) const override;
  PartResult run(const Part& part, const Wanted& wanted, const Stop& stop) override;

  void begin();  // a new run: forgets what happened before

 private:
  Backend &first_, &second_;
  mutable std::mutex mutex_;
  int runs_ = 0, fallen_back_ = 0;
  std::string reason_;
};

}  // namespace attnscope
