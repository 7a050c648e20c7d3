#include "app/gpu/compute_device.h"

#include "core/base/error.h"
#include "core/base/home.h"

namespace attnscope {
namespace {

constexpr std::int64_t kMaxScratchBytes = 64 << 20;

}  // namespace

AttentionTexture::AttentionTexture(Index layers, Index rows, Index columns) {
  glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D_ARRAY, name_);
  glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_R32F, static_cast<GLsizei>(columns),
                 static_cast<GLsizei>(rows), static_cast<GLsizei>(layers));
  glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
  clear(layers);
  check_gl("allocating attention weights");
}

// Uses a framebuffer, since OpenGL 4.3 has no glClearTexImage.
void AttentionTexture::clear(Index layers) const {
  constexpr GLfloat zero[4] = {0, 0, 0, 0};
  GLuint framebuffer = 0;
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  for (Index layer = 0; layer < layers; ++layer) {
    glFramebufferTextureLayer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name_, 0,
                              static_cast<GLint>(layer));
    glClearBufferfv(GL_COLOR, 0, zero);
  }
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glDeleteFramebuffers(1, &framebuffer);
}

DeviceLimits DeviceLimits::of_current_context() {
  GLint64 bytes = 0;
  GLint size = 0, layers = 0;
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &bytes);
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
  glGetIntegerv(GL_MAX_ARRAY_TEXTURE_LAYERS, &layers);
  check_gl("querying limits");
  return {bytes, size, layers};
}

bool texture_fits(const DeviceLimits& limits, Index layers, Index rows, Index columns) {
  if (columns > limits.texture_size || rows > limits.texture_size ||
      layers > limits.texture_layers) {
    return false;
  }
  // A proxy texture checks the size without allocation.
  glTexImage3D(GL_PROXY_TEXTURE_2D_ARRAY, 0, GL_R32F, static_cast<GLsizei>(columns),
               static_cast<GLsizei>(rows), static_cast<GLsizei>(layers), 0, GL_RED, GL_FLOAT,
               nullptr);
  GLint width = 0;
  glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D_ARRAY, 0, GL_TEXTURE_WIDTH, &width);
  const GLenum error = glGetError();
  if (error == GL_CONTEXT_LOST) throw WorkError("GPU: OpenGL: context lost while checking a size");
  return error == GL_NO_ERROR && width == columns;
}

ComputeDevice::ComputeDevice(GlThread& gl_thread)
    : thread(gl_thread),
      limits(DeviceLimits::of_current_context()),
      max_scores(std::min(limits.buffer_bytes, kMaxScratchBytes) /
                 static_cast<std::int64_t>(sizeof(float))),
      shaders(home_folder() / "shaders") {}

}  // namespace attnscope
