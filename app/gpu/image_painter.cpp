#include "app/gpu/image_painter.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "app/gpu/context.h"
#include "app/gpu/gl_state.h"
#include "app/gpu/shader.h"
#include "core/base/error.h"
#include "core/base/home.h"
#include "core/figure/image.h"

namespace attnscope {
namespace {

constexpr GLint kImageSampler = 0, kImageCorner = 2,
                kImageSize = 3;  // locations in colour_image.frag

}  // namespace

struct ImagePainter::State {
  State() : shaders(home_folder() / "shaders") {
    glGenVertexArrays(1, &vertex_array);
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &max_size);
  }
  ~State() { glDeleteVertexArrays(1, &vertex_array); }

  using Key = std::tuple<const void*, Index, Index, Index>;
  static Key key_of(const Tensor& colours) {
    return {colours.data(), colours.dim(0), colours.dim(1), colours.dim(2)};
  }
  struct CachedTexture {
    Tensor colours;  // keeps the address in the key valid
    TexturePtr texture;
    bool was_drawn = true;  // drawn in the current frame
  };

  ShaderLibrary shaders;
  GLuint vertex_array = 0;
  GLint max_size = 0;
  std::map<Key, CachedTexture> images;

  GLuint texture_of(const Tensor& colours);
};

GLuint ImagePainter::State::texture_of(const Tensor& colours) {
  const Key key = key_of(colours);
  if (const auto found = images.find(key); found != images.end()) {
    found->second.was_drawn = true;
    return found->second.texture->name();
  }
  const Image image = image_of(colours);
  if (image.width > max_size || image.height > max_size) {
    throw WorkError("GPU: an image of " + std::to_string(image.width) + " x " +
                    std::to_string(image.height) + " pixels: expected at most " +
                    std::to_string(max_size));
  }
  glActiveTexture(GL_TEXTURE0);
  auto texture = std::make_shared<Texture>(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, image.width, image.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
               image.rgba.data());
  constexpr GLint kAllLevels = 1000;  // OpenGL default
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, kAllLevels);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glGenerateMipmap(GL_TEXTURE_2D);
  images[key] = {colours, texture};
  return texture->name();
}

ImagePainter::ImagePainter() = default;
ImagePainter::~ImagePainter() = default;

void ImagePainter::draw(const ColourImage& item, const PixelBox& box, const PixelBox& clip,
                        int framebuffer_height) {
  if (item.colours.empty() || box.width <= 0 || box.height <= 0) return;
  if (clip.width <= 0 || clip.height <= 0) {
    if (!state_) return;
    const auto found = state_->images.find(State::key_of(item.colours));
    if (found != state_->images.end()) found->second.was_drawn = true;
    return;
  }
  const SavedGlState saved;
  if (!state_) state_ = std::make_unique<State>();
  begin_painting(state_->vertex_array);
  const GLuint texture = state_->texture_of(item.colours);
  set_target_box(box, clip, framebuffer_height);
  glUseProgram(state_->shaders.drawing("box.vert", "colour_image.frag"));
  bind(0, GL_TEXTURE_2D, texture);
  glUniform1i(kImageSampler, 0);
  glUniform2i(kImageCorner, box.x, framebuffer_height - box.y);
  glUniform2i(kImageSize, box.width, box.height);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  check_gl("drawing an image");
}

void ImagePainter::end_frame() {
  if (!state_) return;
  for (auto image = state_->images.begin(); image != state_->images.end();) {
    const bool was_drawn = std::exchange(image->second.was_drawn, false);
    image = was_drawn ? std::next(image) : state_->images.erase(image);
  }
}

int ImagePainter::cached_textures() const {
  return state_ ? static_cast<int>(state_->images.size()) : 0;
}

}  // namespace attnscope
