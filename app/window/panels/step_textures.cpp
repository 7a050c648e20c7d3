#include "app/window/panels/step_textures.h"

#include <epoxy/gl.h>

namespace attnscope::window {
namespace {

unsigned int create_texture(const Image& image) {
  if (image.width == 0) return 0;
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, image.width, image.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
               image.rgba.data());
  glGenerateMipmap(GL_TEXTURE_2D);
  glBindTexture(GL_TEXTURE_2D, 0);
  return name;
}

}  // namespace

StepTextures::~StepTextures() {
  for (const auto& [key, texture] : textures_) glDeleteTextures(1, &texture);
}

void StepTextures::update(const StepPictures& pictures) {
  for (const auto& [key, image] : pictures.images) {
    if (!textures_.contains(key)) textures_[key] = create_texture(*image);
  }
  keys_ = pictures.keys;
}

unsigned int StepTextures::texture(std::size_t step) const {
  if (step >= keys_.size()) return 0;
  const auto it = textures_.find(keys_[step]);
  return it != textures_.end() ? it->second : 0;
}

}  // namespace attnscope::window
