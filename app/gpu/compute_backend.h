// GPU backend: computes attention parts with the compute shaders in shaders/.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gpu/gl_thread.h"
#include "core/attention/backend.h"

namespace attnscope {

struct ComputeDevice;

// Thread-safe; runs are serialised. A backend and its results can be destroyed without a context.
//
// A run splits its part into chunks of rows that take a few milliseconds each. Between chunks it
// serves downloads and checks for cancellation.
class ComputeBackend : public Backend {
 public:
  // Moves the context to a new thread. Throws WorkError if the context lacks required features.
  explicit ComputeBackend(std::unique_ptr<GlContext> context);
  ~ComputeBackend() override;

  std::string name() const override;  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"
  // True for a renderer without a GPU: Mesa's llvmpipe, softpipe and swrast, SwiftShader.
  bool is_software() const;
  std::string refusal(const Part& part, const ResultRequest& wanted) const override;
  PartResult run(const Part& part, const ResultRequest& wanted) override;

  // Selects shared-memory or register shaders (shaders/attention.glsl); default: registers.
  void use_shared_memory(bool shared);

  // Number of compute dispatches so far; tests assert that shaders ran.
  std::int64_t dispatch_count() const;
  // Maximum number of scores per chunk; smaller values yield more chunks (tests).
  void set_max_scores(std::int64_t scores);

 private:
  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<ComputeDevice> device_;  // created and destroyed on thread_; shared with tiles
};

}  // namespace attnscope
