#include "app/gpu/box_painting.h"

namespace attnscope {

Texture::Texture(GLenum target) : target_(target) {
  glGenTextures(1, &name_);
  glBindTexture(target_, name_);
  glTexParameteri(target_, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(target_, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(target_, GL_TEXTURE_MAX_LEVEL, 0);
}

void bind(GLuint unit, GLenum target, GLuint texture) {
  glActiveTexture(GL_TEXTURE0 + unit);
  glBindTexture(target, texture);
  glBindSampler(unit, 0);
}

void begin_painting(GLuint vertex_array) {
  for (const GLenum capability :
       {GL_DEPTH_TEST, GL_STENCIL_TEST, GL_CULL_FACE, GL_FRAMEBUFFER_SRGB}) {
    glDisable(capability);
  }
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glBindVertexArray(vertex_array);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (const GLenum parameter :
       {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SWAP_BYTES}) {
    glPixelStorei(parameter, 0);
  }
}

void set_target_box(const PixelBox& box, const PixelBox& clip, int framebuffer_height) {
  glViewport(box.x, framebuffer_height - box.y - box.height, box.width, box.height);
  glEnable(GL_SCISSOR_TEST);
  glScissor(clip.x, framebuffer_height - clip.y - clip.height, clip.width, clip.height);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
}

}  // namespace attnscope
