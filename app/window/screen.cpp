#include "app/window/screen.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/gpu/context.h"
#include "core/base/error.h"

namespace attnscope::window {
namespace {

void clear(const PixelBox& box, int height, const ImVec4& colour) {
  glEnable(GL_SCISSOR_TEST);
  glScissor(box.x, height - box.y - box.height, box.width, box.height);
  glClearColor(colour.x, colour.y, colour.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace

Screen::~Screen() {
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteRenderbuffers(1, &colour_buffer_);
  glDeleteTextures(1, &copied_texture_);
}

void Screen::resize(int width, int height) {
  if (framebuffer_ == 0) {
    glGenFramebuffers(1, &framebuffer_);
    glGenRenderbuffers(1, &colour_buffer_);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  if (width == width_ && height == height_) return;
  glBindRenderbuffer(GL_RENDERBUFFER, colour_buffer_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_buffer_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    throw WorkError("GPU: no framebuffer of " + std::to_string(width) + " x " +
                    std::to_string(height) + " pixels");
  }
  width_ = width;
  height_ = height;
  damage_.invalidate();
}

void Screen::show(ImDrawData& data, const ImVec4& background) {
  const int width = static_cast<int>(data.DisplaySize.x * data.FramebufferScale.x);
  const int height = static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y);
  if (width <= 0 || height <= 0) return;  // the window is minimised
  resize(width, height);
  const ImU32 new_background = ImGui::ColorConvertFloat4ToU32(background);
  if (std::exchange(background_, new_background) != new_background) damage_.invalidate();
  const std::vector<PixelBox> boxes = damage_.update(data);
  clip_to_boxes(data, boxes);
  for (const PixelBox& box : boxes) clear(box, height, background);
  ImGui_ImplOpenGL3_RenderDrawData(&data);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl("drawing the window");
}

Image Screen::picture() const {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  Image image = read_framebuffer(width_, height_);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  return image;
}

unsigned int Screen::copy_region(const PixelBox& box) {
  if (copied_texture_ == 0) glGenTextures(1, &copied_texture_);
  glBindTexture(GL_TEXTURE_2D, copied_texture_);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, box.x, height_ - box.y - box.height, box.width,
                   box.height, 0);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  glBindTexture(GL_TEXTURE_2D, 0);
  check_gl("copying the window's picture");
  return copied_texture_;
}

Image Screen::draw_from_scratch(ImDrawData& data, const ImVec4& background) {
  const int width = static_cast<int>(data.DisplaySize.x * data.FramebufferScale.x);
  const int height = static_cast<int>(data.DisplaySize.y * data.FramebufferScale.y);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);  // the back buffer, which show() overwrites
  clear({0, 0, width, height}, height, background);
  ImGui_ImplOpenGL3_RenderDrawData(&data);
  return read_framebuffer(width, height);
}

int count_differing_pixels(const Image& a, const Image& b) {
  constexpr int kRounding = 2;  // colour levels; interpolation may start at another corner
  const std::size_t pixels = std::min(a.rgba.size(), b.rgba.size()) / 4;
  const auto width = static_cast<std::size_t>(a.width);
  const auto differs = [&](std::size_t pixel) {
    const std::size_t offset = 4 * pixel;
    return pixel < pixels && !std::equal(&a.rgba[offset], &a.rgba[offset] + 3, &b.rgba[offset],
                                         [](int x, int y) { return std::abs(x - y) <= kRounding; });
  };
  int count = 0;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    if (!differs(pixel)) continue;
    const bool is_isolated = !(pixel > 0 && differs(pixel - 1)) && !differs(pixel + 1) &&
                             !(pixel >= width && differs(pixel - width)) && !differs(pixel + width);
    if (!is_isolated) ++count;
  }
  return count;
}

}  // namespace attnscope::window
