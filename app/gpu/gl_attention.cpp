#include "app/gpu/gl_attention.h"

namespace attnscope {

GlAttention::~GlAttention() {
  // The job may outlive this object, but not the thread: ~GlThread() finishes all jobs.
  thread_->post([texture = texture_] { glDeleteTextures(1, &texture); });
}

Tensor GlAttention::download() const {
  const std::lock_guard lock(mutex_);
  if (host_copy_.defined()) return host_copy_;
  Tensor result(shape_);
  thread_->run_urgent([&] {
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture_);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RED, GL_FLOAT, result.data());
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    check_gl("downloading attention weights");
  });
  host_copy_ = result;
  return result;
}

Tensor GlAttention::rows(Index plane, Index first, Index every, Index count) const {
  {
    const std::lock_guard lock(mutex_);
    if (host_copy_.defined()) return rows_of(host_copy_, plane, first, every, count);
  }
  const Index columns = shape_.back();
  Tensor result({count, columns});
  thread_->run_urgent([&] {
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture_, 0,
                              static_cast<GLint>(plane));
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    for (Index n = 0; n < count; ++n) {
      glReadPixels(0, static_cast<GLint>(first + n * every), static_cast<GLsizei>(columns), 1,
                   GL_RED, GL_FLOAT, result.data() + n * columns);
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    check_gl("reading rows of attention weights");
  });
  return result;
}

}  // namespace attnscope
