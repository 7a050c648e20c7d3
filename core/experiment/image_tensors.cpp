#include "core/experiment/image_tensors.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/home.h"
#include "core/input/image_file.h"

namespace attnscope {
namespace {

constexpr Index kMaxRadius = 2;  // in pixels
constexpr Index kSurroundings = (2 * kMaxRadius + 1) * (2 * kMaxRadius + 1);
constexpr Index kMaxValues = 3 * kSurroundings;  // values of the largest neighbourhood
constexpr Index kWidth = kMaxValues + 1;         // d_k

// Writes the colours around a pixel, minus medium grey so that their squares stay small; outside
// the image, edge pixels are repeated. Returns the number of values.
Index read_surroundings(const Tensor& colours, Index row, Index column, Index radius, double* out) {
  Index count = 0;
  for (Index row_offset = -radius; row_offset <= radius; ++row_offset) {
    for (Index column_offset = -radius; column_offset <= radius; ++column_offset) {
      const Index r = std::clamp<Index>(row + row_offset, 0, colours.dim(0) - 1);
      const Index c = std::clamp<Index>(column + column_offset, 0, colours.dim(1) - 1);
      for (Index channel = 0; channel < 3; ++channel) {
        out[count++] = static_cast<double>(colours(r, c, channel)) - 0.5;
      }
    }
  }
  return count;
}

}  // namespace

std::pair<Index, Index> image_grid(const TensorFiles& files) {
  Index width = files.width, height = files.height;
  for (const Index side : {width, height}) {
    if (side <= kMaxGridSide) continue;
    throw InputError("grid: expected at most " + std::to_string(kMaxGridSide) +
                     " pixels a side, found " + std::to_string(side));
  }
  if (width > 0 && height > 0) return {width, height};
  const auto [stored_width, stored_height] =
      files.embedded ? parse_image_size(files.embedded->file, files.file) : image_size(files.file);
  const double aspect = static_cast<double>(stored_height) / static_cast<double>(stored_width);
  const auto side = [](double pixels) {
    return std::clamp<Index>(std::lround(pixels), 1, kMaxGridSide);
  };
  const auto default_side = static_cast<double>(kDefaultGridSide);
  if (height > 0) return {side(static_cast<double>(height) / aspect), height};
  if (width == 0 && aspect > 1) return {side(default_side / aspect), kDefaultGridSide};
  if (width == 0) width = kDefaultGridSide;
  return {width, side(static_cast<double>(width) * aspect)};
}

ImportedTensors similarity_tensors(const Tensor& colours) {
  const Index height = colours.dim(0), width = colours.dim(1), length = height * width;
  Tensor q = Tensor::zeros({kImageHeads, length, kWidth});  // [h, L, d]
  Tensor k = Tensor::zeros({kImageHeads, length, kWidth});
  Tensor v({kImageHeads, length, 3});
  // Scores are q . k / sqrt(d) = (p_i . p_j - |p_j|^2 / 2) / (n sigma^2).
  const double scale =
      std::sqrt(static_cast<double>(kWidth)) / (kSimilaritySigma * kSimilaritySigma);
  std::vector<double> p(static_cast<std::size_t>(kMaxValues));
  for (Index head = 0; head < kImageHeads; ++head) {
    for (Index i = 0; i < length; ++i) {
      for (Index c = 0; c < 3; ++c) v(head, i, c) = colours[3 * i + c];
      if (head > kMaxRadius) continue;  // the head that compares nothing
      const Index count = read_surroundings(colours, i / width, i % width, head, p.data());
      double square = 0;
      for (Index n = 0; n < count; ++n) {
        const double value = p[static_cast<std::size_t>(n)];
        q(head, i, n) = static_cast<float>(value * scale / static_cast<double>(count));
        k(head, i, n) = static_cast<float>(value);
        square += value * value;
      }
      q(head, i, kMaxValues) = static_cast<float>(scale / static_cast<double>(count));
      k(head, i, kMaxValues) = static_cast<float>(-square / 2);
    }
  }
  ImportedTensors tensors;
  tensors.q = {q};
  tensors.k = {k};
  tensors.v = {v};
  return tensors;
}

ImportedTensors image_tensors(const TensorFiles& files) {
  if (!files.tokens.empty() || !files.key_tokens.empty()) {
    throw InputError("tokens: expected no token list with an image, whose tokens are its pixels");
  }
  const auto [width, height] = image_grid(files);
  auto grid = std::make_shared<PixelGrid>();
  grid->width = width;
  grid->height = height;
  grid->colours = files.embedded
                      ? parse_image_colours(files.embedded->file, files.file, width, height)
                      : image_colours(files.file, width, height);
  ImportedTensors tensors = similarity_tensors(grid->colours);
  for (Index i = 0; i < width * height; ++i) {
    tensors.tokens.push_back(std::to_string(i / width) + "," + std::to_string(i % width));
  }
  tensors.pixels = std::move(grid);
  return tensors;
}

std::filesystem::path sample_image() {
  return home_folder() / "assets" / "pictures" / "hills.png";
}

std::string image_note() {
  return "no model: weights are similarities of the surroundings of two pixels "
         "(non-local means): 1 × 1 in head 0, 3 × 3 in head 1, 5 × 5 in head 2; in "
         "head 3 all scores are equal, so that only the pattern matters";
}

}  // namespace attnscope
