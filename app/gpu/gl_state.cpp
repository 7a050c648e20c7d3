#include "app/gpu/gl_state.h"

namespace attnscope {
namespace {

constexpr std::array<GLenum, 6> kSwitches{GL_BLEND,        GL_SCISSOR_TEST, GL_DEPTH_TEST,
                                          GL_STENCIL_TEST, GL_CULL_FACE,    GL_FRAMEBUFFER_SRGB};
constexpr std::array<GLenum, 6> kBlend{GL_BLEND_SRC_RGB,      GL_BLEND_DST_RGB,
                                       GL_BLEND_SRC_ALPHA,    GL_BLEND_DST_ALPHA,
                                       GL_BLEND_EQUATION_RGB, GL_BLEND_EQUATION_ALPHA};
constexpr std::array<GLenum, 5> kUnpack{GL_UNPACK_ALIGNMENT, GL_UNPACK_ROW_LENGTH,
                                        GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS,
                                        GL_UNPACK_SWAP_BYTES};

GLint integer(GLenum name) {
  GLint value = 0;
  glGetIntegerv(name, &value);
  return value;
}

GLuint unsigned_of(GLint value) {
  return static_cast<GLuint>(value);
}
GLenum enum_of(GLint value) {
  return static_cast<GLenum>(value);
}

}  // namespace

SavedGlState::SavedGlState()
    : program_(integer(GL_CURRENT_PROGRAM)),
      vertex_array_(integer(GL_VERTEX_ARRAY_BINDING)),
      framebuffer_(integer(GL_DRAW_FRAMEBUFFER_BINDING)),
      active_unit_(integer(GL_ACTIVE_TEXTURE)),
      unpack_buffer_(integer(GL_PIXEL_UNPACK_BUFFER_BINDING)) {
  for (std::size_t u = 0; u < units_.size(); ++u) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(u));
    units_[u] = {integer(GL_TEXTURE_BINDING_2D), integer(GL_TEXTURE_BINDING_2D_ARRAY),
                 integer(GL_SAMPLER_BINDING)};
  }
  glGetIntegerv(GL_VIEWPORT, viewport_.data());
  glGetIntegerv(GL_SCISSOR_BOX, scissor_.data());
  glGetBooleanv(GL_COLOR_WRITEMASK, colour_mask_.data());
  for (std::size_t n = 0; n < kBlend.size(); ++n) blend_[n] = integer(kBlend[n]);
  for (std::size_t n = 0; n < kSwitches.size(); ++n) enabled_[n] = glIsEnabled(kSwitches[n]);
  for (std::size_t n = 0; n < kUnpack.size(); ++n) unpack_[n] = integer(kUnpack[n]);
}

SavedGlState::~SavedGlState() {
  glUseProgram(unsigned_of(program_));
  glBindVertexArray(unsigned_of(vertex_array_));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, unsigned_of(framebuffer_));
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, unsigned_of(unpack_buffer_));
  for (std::size_t u = 0; u < units_.size(); ++u) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(u));
    glBindTexture(GL_TEXTURE_2D, unsigned_of(units_[u].texture_2d));
    glBindTexture(GL_TEXTURE_2D_ARRAY, unsigned_of(units_[u].texture_array));
    glBindSampler(static_cast<GLuint>(u), unsigned_of(units_[u].sampler));
  }
  glActiveTexture(enum_of(active_unit_));
  glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
  glScissor(scissor_[0], scissor_[1], scissor_[2], scissor_[3]);
  glColorMask(colour_mask_[0], colour_mask_[1], colour_mask_[2], colour_mask_[3]);
  glBlendFuncSeparate(enum_of(blend_[0]), enum_of(blend_[1]), enum_of(blend_[2]),
                      enum_of(blend_[3]));
  glBlendEquationSeparate(enum_of(blend_[4]), enum_of(blend_[5]));
  for (std::size_t n = 0; n < kSwitches.size(); ++n) {
    (enabled_[n] == GL_TRUE ? glEnable : glDisable)(kSwitches[n]);
  }
  for (std::size_t n = 0; n < kUnpack.size(); ++n) glPixelStorei(kUnpack[n], unpack_[n]);
}

}  // namespace attnscope
