// A picture whose pixels attend to each other without any model: non-local means (Buades, Coll and
// Morel, 2005), which weighs pixels by how alike their surroundings are, as an attention operation.
//
// With p_i the colours of the surroundings of pixel i, of which n there are,
//   s_ij = -|p_i - p_j|^2 / (2 n sigma^2), up to what is the same in a whole row.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/experiment/own_tensors.h"

namespace attnscope {

inline constexpr Index kMostPixelSide = 64;    // of the grid
inline constexpr Index kUsualPixelSide = 32;   // the longer one, where nothing is asked for
inline constexpr double kLikenessSigma = 0.1;  // of colours from 0 to 1

// What the heads compare: the pixel alone, 3 x 3, 5 x 5 pixels around it, and nothing, so that all
// keys are alike and the pattern alone counts.
inline constexpr Index kPictureHeads = 4;

// [width, height] of the grid: as asked for, what was left out so that the picture keeps its
// shape. InputError where the file is no picture.
std::pair<Index, Index> picture_grid(const TensorFiles& files);

// q and k [1 layer][heads, L, d], v [.., 3]: the colours.  InputError as above, or of a side above
// kMostPixelSide.
OwnTensors picture_tensors(const TensorFiles& files);

// colours: [height, width, 3].  q and k as above, for tests and for picture_tensors().
OwnTensors likeness_tensors(const Tensor& colours);

// The bundled picture, and a grid that suits it.
std::filesystem::path sample_picture();
inline constexpr Index kSampleGrid = 32;

// What must be known of its numbers.
std::string picture_note();

}  // namespace attnscope
