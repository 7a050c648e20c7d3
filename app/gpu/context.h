// OpenGL contexts: at least OpenGL 4.3 core, which brought compute shaders.
//
// A GlContext may be created on one thread and used on another, by one thread at a time. Windows
// wrap theirs in a class of their own; make_headless_context() needs no display.
#pragma once

#include <memory>
#include <string>

namespace attnscope {

class GlContext {
 public:
  virtual ~GlContext() = default;
  virtual void make_current() = 0;  // on the calling thread; WorkError when the driver refuses
  virtual void release() = 0;       // the calling thread has no context afterwards

  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5". Must be current.
  std::string describe() const;
  // Throws WorkError with the reason when the current context lacks what attnscope needs: OpenGL
  // 4.3, compute shaders, eight storage buffers in one.
  void require_compute() const;
};

// A context without any window, by EGL's surfaceless platform; else by EGL's first device that
// gives one. Shares textures and buffers with `share`, which must be headless too. Current
// nowhere. WorkError says why there can be none: no EGL, no OpenGL 4.3, no compute shaders.
std::unique_ptr<GlContext> make_headless_context(const GlContext* share = nullptr);

// Throws WorkError "GPU: OpenGL: out of memory while DOING" when an error is pending. Needs a
// current context.
void check_gl(const char* doing);

}  // namespace attnscope
