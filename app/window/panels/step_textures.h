// Textures of a lesson's step pictures. The owner's OpenGL context must be current.
#pragma once

#include <map>
#include <string>

#include "app/window/jobs/step_pictures.h"

namespace attnscope::window {

// Width over height of the textures.
inline constexpr double kStepPictureRatio = 1.5;

class StepTextures {
 public:
  StepTextures() = default;
  ~StepTextures();
  StepTextures(const StepTextures&) = delete;
  StepTextures& operator=(const StepTextures&) = delete;

  void update(const StepPictures& pictures);  // creates missing textures
  // Texture of a step of the running lesson, top row first; 0: not ready, or no content.
  unsigned int texture(std::size_t step) const;

 private:
  std::map<std::string, unsigned int> textures_;  // by picture key; 0: no content
  std::vector<std::string> keys_;                 // keys of the running lesson's steps
};

}  // namespace attnscope::window
