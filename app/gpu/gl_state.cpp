#include "app/gpu/gl_state.h"

namespace attnscope {
namespace {

constexpr std::array<GLenum, 6> kSwitches{GL_BLEND,        GL_SCISSOR_TEST, GL_DEPTH_TEST,
                                          GL_STENCIL_TEST, GL_CULL_FACE,    GL_FRAMEBUFFER_SRGB};
constexpr std::array<GLenum, 6> kBlendKeys{GL_BLEND_SRC_RGB,      GL_BLEND_DST_RGB,
                                           GL_BLEND_SRC_ALPHA,    GL_BLEND_DST_ALPHA,
                                           GL_BLEND_EQUATION_RGB, GL_BLEND_EQUATION_ALPHA};
constexpr std::array<GLenum, 5> kUnpackKeys{GL_UNPACK_ALIGNMENT, GL_UNPACK_ROW_LENGTH,
                                            GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS,
                                            GL_UNPACK_SWAP_BYTES};

GLint get_integer(GLenum name) {
  GLint value = 0;
  glGetIntegerv(name, &value);
  return value;
}

GLuint to_unsigned(GLint value) {
  return static_cast<GLuint>(value);
}
GLenum to_enum(GLint value) {
  return static_cast<GLenum>(value);
}

}  // namespace

SavedGlState::SavedGlState()
    : program_(get_integer(GL_CURRENT_PROGRAM)),
      vertex_array_(get_integer(GL_VERTEX_ARRAY_BINDING)),
      framebuffer_(get_integer(GL_DRAW_FRAMEBUFFER_BINDING)),
      active_unit_(get_integer(GL_ACTIVE_TEXTURE)),
      unpack_buffer_(get_integer(GL_PIXEL_UNPACK_BUFFER_BINDING)) {
  for (std::size_t u = 0; u < units_.size(); ++u) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(u));
    units_[u] = {get_integer(GL_TEXTURE_BINDING_2D), get_integer(GL_TEXTURE_BINDING_2D_ARRAY),
                 get_integer(GL_SAMPLER_BINDING)};
  }
  glGetIntegerv(GL_VIEWPORT, viewport_.data());
  glGetIntegerv(GL_SCISSOR_BOX, scissor_.data());
  glGetBooleanv(GL_COLOR_WRITEMASK, colour_mask_.data());
  for (std::size_t n = 0; n < kBlendKeys.size(); ++n) blend_[n] = get_integer(kBlendKeys[n]);
  for (std::size_t n = 0; n < kSwitches.size(); ++n) enabled_[n] = glIsEnabled(kSwitches[n]);
  for (std::size_t n = 0; n < kUnpackKeys.size(); ++n) unpack_[n] = get_integer(kUnpackKeys[n]);
}

SavedGlState::~SavedGlState() {
  glUseProgram(to_unsigned(program_));
  glBindVertexArray(to_unsigned(vertex_array_));
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to_unsigned(framebuffer_));
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, to_unsigned(unpack_buffer_));
  for (std::size_t u = 0; u < units_.size(); ++u) {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(u));
    glBindTexture(GL_TEXTURE_2D, to_unsigned(units_[u].texture_2d));
    glBindTexture(GL_TEXTURE_2D_ARRAY, to_unsigned(units_[u].texture_array));
    glBindSampler(static_cast<GLuint>(u), to_unsigned(units_[u].sampler));
  }
  glActiveTexture(to_enum(active_unit_));
  glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
  glScissor(scissor_[0], scissor_[1], scissor_[2], scissor_[3]);
  glColorMask(colour_mask_[0], colour_mask_[1], colour_mask_[2], colour_mask_[3]);
  glBlendFuncSeparate(to_enum(blend_[0]), to_enum(blend_[1]), to_enum(blend_[2]),
                      to_enum(blend_[3]));
  glBlendEquationSeparate(to_enum(blend_[4]), to_enum(blend_[5]));
  for (std::size_t n = 0; n < kSwitches.size(); ++n) {
    (enabled_[n] == GL_TRUE ? glEnable : glDisable)(kSwitches[n]);
  }
  for (std::size_t n = 0; n < kUnpackKeys.size(); ++n) glPixelStorei(kUnpackKeys[n], unpack_[n]);
}

}  // namespace attnscope
