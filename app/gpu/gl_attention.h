// Attention weights in GPU memory: an R32F texture array with a layer per head.
#pragma once

#include <epoxy/gl.h>

#include <memory>
#include <mutex>

#include "app/gpu/gl_thread.h"
#include "core/attention/backend.h"

namespace attnscope {

class GlAttention : public DeviceTensor {
 public:
  // Takes ownership of the texture. All commands that write the texture must have finished, since
  // contexts that share objects with the context of `thread` read it without waiting.
  GlAttention(std::shared_ptr<GlThread> thread, GLuint texture, Shape shape)
      : thread_(std::move(thread)), texture_(texture), shape_(std::move(shape)) {}
  ~GlAttention() override;
  GlAttention(const GlAttention&) = delete;
  GlAttention& operator=(const GlAttention&) = delete;

  Shape shape() const override { return shape_; }
  // Callable from any thread, with or without a context. Throws WorkError if the device fails.
  Tensor download() const override;
  Tensor rows(Index plane, Index first, Index every, Index count) const override;

  // GL_TEXTURE_2D_ARRAY with B h layers, owned by this object. Texel (c, i): query i, key c.
  GLuint texture() const { return texture_; }

 private:
  std::shared_ptr<GlThread> thread_;
  GLuint texture_;
  Shape shape_;  // [B h, L_q, L_k]
  mutable std::mutex mutex_;
  mutable Tensor host_copy_;
};

}  // namespace attnscope
