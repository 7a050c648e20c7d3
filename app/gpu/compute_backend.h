// Parts of attention computed by the compute shaders under shaders/.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gpu/gl_thread.h"
#include "core/attention/backend.h"

namespace attnscope {

struct ComputeDevice;

// Safe to use from any thread; runs come one after the other. Deleting it (or what it returned)
// never needs a current context.
//
// A run is a series of chunks of rows, each a few milliseconds long; between them the device
// serves downloads and looks whether to stop.
class ComputeBackend : public Backend {
 public:
  // Takes the context to a thread of its own. WorkError when it is not good enough.
  explicit ComputeBackend(std::unique_ptr<GlContext> context);
  ~ComputeBackend() override;

  std::string name() const override;  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"
  std::string refusal(const Part& part, const Wanted& wanted) const override;
  PartResult run(const Part& part, const Wanted& wanted, const Stop& stop) override;

  // Which of two kinds of shaders runs, see shaders/attention.glsl; registers at first.
  void use_shared_memory(bool shared);

  // How many compute dispatches were made so far; tests assert that shaders ran.
  std::int64_t dispatch_count() const;
  // Scores that a chunk may hold at most; smaller ones make more chunks (tests).
  void set_most_scores(std::int64_t scores);

 private:
  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<ComputeDevice> device_;  // made and deleted on the thread; tiles share it
};

}  // namespace attnscope
