#include "core/figure/heat_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/figure/colour_map.h"

namespace attnscope {
namespace {

constexpr float kNoCell = std::numeric_limits<float>::quiet_NaN();

// True if `a` takes precedence over `b`, which may be NaN.
template <bool magnitude>
bool takes_precedence(float a, float b) {
  if (std::isnan(b)) return true;
  if constexpr (magnitude) {
    const float size_a = std::abs(a), size_b = std::abs(b);
    return size_a > size_b || (size_a == size_b && a > b);
  }
  return a > b;
}

template <bool magnitude>
void pool(const Tensor& cells, const std::vector<CellRange>& rows,
          const std::vector<CellRange>& columns, Tensor& pixels) {
  const Index height = pixels.dim(0), width = pixels.dim(1), stride = cells.dim(1);
  const Index left = columns.front().first, right = std::max(left, columns.back().last);
  // Minimum work per thread.
  constexpr Index kMinCells = 1 << 18;
  const Index cells_of_row = std::max<Index>(1, (right - left) * (1 + cells.dim(0) / height));
  parallel_for(height, std::max<Index>(1, kMinCells / cells_of_row), [&](Index begin, Index end) {
    std::vector<float> line(
        static_cast<std::size_t>(right - left));  // best value of each column in the pixel's rows
    for (Index y = begin; y < end; ++y) {
      std::fill(line.begin(), line.end(), kNoCell);
      const CellRange& row_cells = rows[static_cast<std::size_t>(y)];
      for (Index r = row_cells.first; r < row_cells.last; ++r) {
        const float* source = cells.data() + r * stride + left;
        for (std::size_t c = 0; c < line.size(); ++c) {
          if (takes_precedence<magnitude>(source[c], line[c])) line[c] = source[c];
        }
      }
      for (Index x = 0; x < width; ++x) {
        const CellRange& column_cells = columns[static_cast<std::size_t>(x)];
        float best = kNoCell;
        for (Index c = column_cells.first; c < column_cells.last; ++c) {
          const float value = line[static_cast<std::size_t>(c - left)];
          if (takes_precedence<magnitude>(value, best)) best = value;
        }
        pixels(y, x) = best;
      }
    }
  });
}

}  // namespace

std::vector<CellRange> cells_of_pixels(double start, double extent, int pixels, Index count,
                                       bool pooled) {
  constexpr double kRounding = 1e-9;  // a pixel that ends at the edge of a cell does not overlap it
  const bool pools_cells = pooled && extent > pixels;
  std::vector<CellRange> result(static_cast<std::size_t>(pixels));
  for (int p = 0; p < pixels; ++p) {
    const double low = start + extent * p / pixels;
    const double high = start + extent * (p + 1) / pixels;
    const double first = std::floor(pools_cells ? low + kRounding : (low + high) / 2);
    const double last = pools_cells ? std::ceil(high - kRounding) : first + 1;
    CellRange& cells = result[static_cast<std::size_t>(p)];
    cells.first = static_cast<Index>(std::clamp(first, 0.0, static_cast<double>(count)));
    cells.last = static_cast<Index>(std::clamp(last, 0.0, static_cast<double>(count)));
  }
  return result;
}

Tensor heat_map_cells(const HeatMap& map) {
  if (!map.device) return map.values;
  const Tensor planes = map.device->download();
  return planes.slice(map.plane, 1).reshaped({planes.dim(-2), planes.dim(-1)});  // [rows, columns]
}

Tensor heat_map_pixels(const HeatMap& map, int width, int height) {
  const Tensor cells = heat_map_cells(map);
  Tensor pixels = Tensor::full({height, width}, kNoCell);
  if (cells.empty() || pixels.empty() || !(map.width > 0) || !(map.height > 0)) return pixels;
  const auto rows = cells_of_pixels(map.row, map.height, height, cells.dim(0), map.max_pooled);
  const auto columns = cells_of_pixels(map.column, map.width, width, cells.dim(1), map.max_pooled);
  if (colour_map(map.colour_map).diverging()) {
    pool<true>(cells, rows, columns, pixels);
  } else {
    pool<false>(cells, rows, columns, pixels);
  }
  return pixels;
}

Image rasterise(const HeatMap& map, int width, int height) {
  const Tensor pixels = heat_map_pixels(map, width, height);
  const ColourMap& colours = colour_map(map.colour_map);
  const double range = map.most - map.least;
  Image image{width, height,
              std::vector<std::uint8_t>(static_cast<std::size_t>(pixels.size()) * 4)};
  parallel_for(pixels.size(), 1 << 18, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double value = pixels[i];
      const double fraction = range > 0 ? (value - map.least) / range : 0;
      const Colour cell_colour = map.hollow ? Colour{0, 0, 0, 0} : colours.at(fraction);
      const Colour c = std::isnan(value) ? map.missing : cell_colour;
      std::uint8_t* out = image.rgba.data() + 4 * i;
      out[0] = c.r;
      out[1] = c.g;
      out[2] = c.b;
      out[3] = c.a;
    }
  });
  return image;
}

}  // namespace attnscope
