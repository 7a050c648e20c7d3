#include "app/gpu/gl_attention.h"

namespace attnscope {

GlAttention::~GlAttention() {
  // The job outlives this object, not the thread: the thread's last owner waits for its jobs.
  thread_->post([texture = texture_] { glDeleteTextures(1, &texture); });
}

Tensor GlAttention::download() const {
  const std::lock_guard lock(mutex_);
  if (downloaded_.defined()) return downloaded_;
  Tensor result(shape_);
  thread_->run_soon([&] {
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture_);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RED, GL_FLOAT, result.data());
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    check_gl("downloading attention");
  });
  downloaded_ = result;
  return result;
}

}  // namespace attnscope
