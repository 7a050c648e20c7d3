// Non-text inputs (option --input) from safetensors files:
//   pixels [height, width] I32                          an image
//   returns [T], states [T, s] F32, actions [T] I32     a trajectory; action -1: not yet taken;
//                                                       later steps are ignored
//   returns, states, actions [T or T - 1, a] F32        a trajectory with continuous actions; with
//                                                       T - 1, the last one is not yet taken
#pragma once

#include <filesystem>
#include <optional>

#include "core/tensor/tensor.h"

namespace attnscope {

struct TrajectoryInput {
  Tensor returns, states;  // [T], [T, s]
  IntTensor actions;       // [T]; undefined with continuous actions
  Tensor moves{};          // [T, a] continuous actions, NaN: not yet taken; undefined without
};

struct InputFile {
  std::optional<IntTensor> pixels;
  std::optional<TrajectoryInput> trajectory;
};

// Throws InputError with the file, the tensor, and the expected and found contents.
InputFile read_input_file(const std::filesystem::path& path);

}  // namespace attnscope
