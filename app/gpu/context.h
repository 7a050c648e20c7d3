// OpenGL contexts: OpenGL 4.3 core or later, the first version with compute shaders.
//
// A GlContext can be created on one thread and used on another, by one thread at a time. Windows
// have their own subclass; make_headless_context() needs no display.
#pragma once

#include <memory>
#include <string>

namespace attnscope {

class GlContext {
 public:
  virtual ~GlContext() = default;
  virtual void make_current() = 0;  // on the calling thread; throws WorkError on failure
  virtual void release() = 0;       // leaves the calling thread without a context

  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5". The context must be current.
  std::string describe() const;
  // Throws WorkError unless the current context has OpenGL 4.3 and eight storage buffers per
  // shader.
  void require_compute() const;
};

// Creates a context without a window, on the first EGL device with OpenGL 4.3, or else on Mesa's
// surfaceless platform. Shares textures and buffers with `shared`, which must be headless, too.
// Does not make the context current. Throws WorkError without EGL or OpenGL 4.3.
std::unique_ptr<GlContext> make_headless_context(const GlContext* shared = nullptr);

// Throws WorkError "GPU: OpenGL: out of memory while ACTIVITY" if an OpenGL error is pending.
// Requires a current context.
void check_gl(const char* activity);

}  // namespace attnscope
