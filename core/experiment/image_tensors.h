// Queries and keys of an image whose pixels attend to each other without a model. The operation is
// non-local means (Buades, Coll and Morel, 2005): it weights pixels by the similarity of their
// surroundings.
//
// Scores of pixels i and j, with p_i the n colour values around pixel i:
//   s_ij = -|p_i - p_j|^2 / (2 n sigma^2), up to a constant per row.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/experiment/imported_tensors.h"

namespace attnscope {

inline constexpr Index kMaxGridSide = 64;        // maximum side of the grid
inline constexpr Index kDefaultGridSide = 32;    // default longer side
inline constexpr double kSimilaritySigma = 0.1;  // for colours in [0, 1]

// Heads compare 1 x 1, 3 x 3 and 5 x 5 pixels around each pixel; the last head compares nothing:
// all its scores are equal, so that only the pattern matters.
inline constexpr Index kImageHeads = 4;

// Width and height of the grid. A requested side of 0 follows from the image's aspect ratio. Throws
// InputError if a requested side exceeds kMaxGridSide, or if the file is needed and not an image.
std::pair<Index, Index> image_grid(const TensorFiles& files);

// One layer: q and k [heads, L, d]; v [heads, L, 3] contains the colours. Throws InputError if the
// file is not an image, has token lists, or a side exceeds kMaxGridSide.
ImportedTensors image_tensors(const TensorFiles& files);

// As image_tensors(), for colours [height, width, 3].
ImportedTensors similarity_tensors(const Tensor& colours);

// The bundled image, and its default grid side.
std::filesystem::path sample_image();
inline constexpr Index kSampleGrid = 32;

std::string image_note();

}  // namespace attnscope
