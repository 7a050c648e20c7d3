// What painters of a display list's items share: a box of somebody else's framebuffer, textures,
// and OpenGL's state for blending one triangle over what is there.
#pragma once

#include <epoxy/gl.h>

#include <memory>

namespace attnscope {

// In framebuffer pixels, y down from the top.
struct PixelBox {
  int x = 0, y = 0, width = 0, height = 0;
};

// A texture of one level, whose texels are not mixed. Made and destroyed with its context current.
class Texture {
 public:
  explicit Texture(GLenum target);  // bound to the unit that is active
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

// Nothing but colours is tested or written, and textures are uploaded from plain rows. For use
// under a SavedGlState.
void begin_painting(GLuint vertex_array);

// What is drawn next is blended over `box`, where `clip` lets it through.
void aim_at(const PixelBox& box, const PixelBox& clip, int framebuffer_height);

}  // namespace attnscope
