// Inputs that are no text: what --input names. Safetensors with
//   pixels [height, width] I32                               an image
//   returns [T], states [T, s] F32, actions [T] I32          a trajectory; action -1: not taken
//   yet,
//                                                            and what comes after counts no more
#pragma once

#include <filesystem>
#include <optional>

#include "core/tensor/tensor.h"

namespace attnscope {

struct TrajectoryInput {
  Tensor returns, states;  // [T], [T, s]
  IntTensor actions;       // [T]
};

struct InputFile {
  std::optional<IntTensor> pixels;
  std::optional<TrajectoryInput> trajectory;
};

// InputError names the file and tensor, what was expected and what was found.
InputFile read_input_file(const std::filesystem::path& path);

}  // namespace attnscope
