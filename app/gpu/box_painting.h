// Common parts of HeatMapPainter and ImagePainter: target boxes, textures, and the OpenGL state for
// blending one triangle over the existing pixels.
#pragma once

#include <epoxy/gl.h>

#include <memory>

namespace attnscope {

// Box in framebuffer pixels; y points downwards from the top edge.
struct PixelBox {
  int x = 0, y = 0, width = 0, height = 0;
};

// A single-level texture with nearest filtering. Create and destroy it with its context current.
class Texture {
 public:
  explicit Texture(GLenum target);  // binds the texture to the active unit
  ~Texture() { glDeleteTextures(1, &name_); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  GLuint name() const { return name_; }

 private:
  GLenum target_;
  GLuint name_ = 0;
};
using TexturePtr = std::shared_ptr<Texture>;

void bind(GLuint unit, GLenum target, GLuint texture);

// Disables depth test, stencil test and culling. Sets unpacking of rows without padding. Use within
// a SavedGlState.
void begin_painting(GLuint vertex_array);

// Sets viewport, scissor and blending: the next draw fills `box` within `clip`.
void set_target_box(const PixelBox& box, const PixelBox& clip, int framebuffer_height);

}  // namespace attnscope
