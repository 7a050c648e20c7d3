#include "app/window/font_texture.h"

#include <epoxy/gl.h>

#include <cstdint>

namespace attnscope::window {

void update_font_texture(const ImFontAtlas& atlas, const std::vector<TextureBox>& boxes) {
#if IMGUI_VERSION_NUM < 19200  // later versions update the texture themselves
  // TexID is a pointer before ImGui 1.91.4, and a number from then on.
  glBindTexture(GL_TEXTURE_2D, (GLuint)(std::intptr_t)atlas.TexID);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, atlas.TexWidth);
  for (const TextureBox& box : boxes) {
    glTexSubImage2D(GL_TEXTURE_2D, 0, box.x, box.y, box.width, box.height, GL_RGBA,
                    GL_UNSIGNED_BYTE, atlas.TexPixelsRGBA32 + box.y * atlas.TexWidth + box.x);
  }
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindTexture(GL_TEXTURE_2D, 0);
#else
  static_cast<void>(atlas);
  static_cast<void>(boxes);
#endif
}

}  // namespace attnscope::window
