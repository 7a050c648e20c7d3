// Saving and restoring OpenGL state.
#pragma once

#include <epoxy/gl.h>

#include <array>

namespace attnscope {

// The destructor restores the state that painters change: program, vertex array, framebuffer,
// viewport, scissor, blending, 2D and array textures of the first units, unpacking.
class SavedGlState {
 public:
  static constexpr int texture_units = 2;

  SavedGlState();
  ~SavedGlState();
  SavedGlState(const SavedGlState&) = delete;
  SavedGlState& operator=(const SavedGlState&) = delete;

 private:
  struct Unit {
    GLint texture_2d, texture_array, sampler;
  };
  GLint program_, vertex_array_, framebuffer_, active_unit_, unpack_buffer_;
  std::array<Unit, texture_units> units_;
  std::array<GLint, 4> viewport_, scissor_;
  std::array<GLint, 6> blend_;  // colour and alpha functions, equations
  std::array<GLboolean, 4> colour_mask_;
  std::array<GLboolean, 6> enabled_;
  std::array<GLint, 5> unpack_;
};

}  // namespace attnscope
