#include "core/figure/gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxColours = 255;  // the 256th index means "as in the previous frame"
constexpr int kChannels = 4;              // channels of an Image

using Rgb = std::array<std::uint8_t, 3>;

std::uint32_t pack_rgb(const std::uint8_t* pixel) {
  return static_cast<std::uint32_t>(pixel[0]) << 16 | static_cast<std::uint32_t>(pixel[1]) << 8 |
         static_cast<std::uint32_t>(pixel[2]);
}

Rgb unpack_rgb(std::uint32_t key) {
  return {static_cast<std::uint8_t>(key >> 16), static_cast<std::uint8_t>(key >> 8 & 0xff),
          static_cast<std::uint8_t>(key & 0xff)};
}

struct ColourCount {
  Rgb colour;
  double count;
};

// Colours [first, last). `channel`: channel of the largest extent.
struct CutBox {
  std::size_t first, last;
  int channel = 0;
  double weight = 0;  // extent times the square root of the pixel count: priority of the next cut
};

CutBox measure_box(const std::vector<ColourCount>& colours, std::size_t first, std::size_t last) {
  CutBox box{first, last};
  double pixels = 0;
  int extent = 0;
  for (std::size_t i = first; i < last; ++i) pixels += colours[i].count;
  for (int channel = 0; channel < 3; ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    int minimum = 255, maximum = 0;
    for (std::size_t i = first; i < last; ++i) {
      minimum = std::min<int>(minimum, colours[i].colour[c]);
      maximum = std::max<int>(maximum, colours[i].colour[c]);
    }
    if (maximum - minimum > extent) {
      extent = maximum - minimum;
      box.channel = channel;
    }
  }
  box.weight = extent * std::sqrt(pixels);
  return box;
}

std::pair<CutBox, CutBox> cut(std::vector<ColourCount>& colours, const CutBox& box) {
  const auto channel = static_cast<std::size_t>(box.channel);
  const auto first = colours.begin() + static_cast<std::ptrdiff_t>(box.first);
  const auto last = colours.begin() + static_cast<std::ptrdiff_t>(box.last);
  std::sort(first, last, [channel](const ColourCount& a, const ColourCount& b) {
    return a.colour[channel] < b.colour[channel];
  });
  double pixels = 0, lower_pixels = 0;
  for (auto colour = first; colour != last; ++colour) pixels += colour->count;
  std::size_t middle = box.first + 1;
  for (std::size_t i = box.first; i + 1 < box.last; ++i) {
    lower_pixels += colours[i].count;
    middle = i + 1;
    if (lower_pixels >= pixels / 2) break;
  }
  return {measure_box(colours, box.first, middle), measure_box(colours, middle, box.last)};
}

Rgb mean_colour(const std::vector<ColourCount>& colours, const CutBox& box) {
  std::array<double, 3> sum{};
  double pixels = 0;
  for (std::size_t i = box.first; i < box.last; ++i) {
    for (std::size_t c = 0; c < 3; ++c) sum[c] += colours[i].count * colours[i].colour[c];
    pixels += colours[i].count;
  }
  Rgb mean{};
  for (std::size_t c = 0; c < 3; ++c) {
    mean[c] = static_cast<std::uint8_t>(std::lround(sum[c] / pixels));
  }
  return mean;
}

int write_bytes(GifFileType* gif, const GifByteType* bytes, int count) {
  static_cast<std::string*>(gif->UserData)
      ->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  return count;
}

using MapPtr = std::unique_ptr<ColorMapObject, decltype(&GifFreeMapObject)>;

}  // namespace

Palette compute_palette(const std::vector<Image>& pictures) {
  std::set<std::uint32_t> exact_colours;
  std::vector<double> counts(1 << 15, 0.0);
  std::vector<std::array<double, 3>> sums(1 << 15);
  for (const Image& picture : pictures) {
    std::uint32_t last_key = 0xffffffff;
    for (std::size_t offset = 0; offset + kChannels <= picture.rgba.size(); offset += kChannels) {
      const std::uint8_t* pixel = picture.rgba.data() + offset;
      const std::uint32_t key = pack_rgb(pixel);
      if (exact_colours.size() <= kMaxColours && key != last_key) exact_colours.insert(key);
      last_key = key;
      const std::size_t bin = (key >> 19 & 31) << 10 | (key >> 11 & 31) << 5 | (key >> 3 & 31);
      counts[bin] += 1;
      for (std::size_t c = 0; c < 3; ++c) sums[bin][c] += pixel[c];
    }
  }
  Palette palette;
  if (exact_colours.size() <= kMaxColours) {
    for (const std::uint32_t key : exact_colours) palette.colours.push_back(unpack_rgb(key));
    return palette;
  }
  std::vector<ColourCount> colours;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] == 0) continue;
    ColourCount entry{{}, counts[bin]};
    for (std::size_t c = 0; c < 3; ++c) {
      entry.colour[c] = static_cast<std::uint8_t>(std::lround(sums[bin][c] / counts[bin]));
    }
    colours.push_back(entry);
  }
  std::vector<CutBox> boxes{measure_box(colours, 0, colours.size())};
  while (boxes.size() < kMaxColours) {
    const auto widest =
        std::max_element(boxes.begin(), boxes.end(),
                         [](const CutBox& a, const CutBox& b) { return a.weight < b.weight; });
    if (!(widest->weight > 0) || widest->last - widest->first < 2) break;
    const auto [low, high] = cut(colours, *widest);
    *widest = low;
    boxes.push_back(high);
  }
  for (const CutBox& box : boxes) palette.colours.push_back(mean_colour(colours, box));
  return palette;
}

struct GifEncoder::State {
  std::string bytes;
  GifFileType* gif = nullptr;
  int width = 0, height = 0, delay_hundredths = 0;
  GifByteType unchanged_index = 0;  // index that means "as in the previous frame"
  std::vector<Rgb> colours;
  std::map<std::uint32_t, GifByteType> nearest;  // palette index by packed colour
  std::vector<GifByteType> previous;             // palette indices of the previous frame

  void check(int status) const {
    if (status == GIF_ERROR) {
      const char* reason = GifErrorString(gif->Error);
      throw WorkError(std::string("GIF: ") + (reason ? reason : "cannot be written"));
    }
  }

  GifByteType palette_index(const std::uint8_t* pixel) {
    const auto [entry, is_new] = nearest.try_emplace(pack_rgb(pixel), GifByteType{0});
    if (!is_new) return entry->second;
    int min_distance = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < colours.size(); ++i) {
      int distance = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const int d = int{pixel[c]} - int{colours[i][c]};
        distance += d * d;
      }
      if (distance >= min_distance) continue;
      min_distance = distance;
      entry->second = static_cast<GifByteType>(i);
    }
    return entry->second;
  }
};

GifEncoder::GifEncoder(int width, int height, const Palette& palette, double seconds_per_frame)
    : state_(std::make_unique<State>()) {
  constexpr double kHundredths = 100, kMaxDelay = 65535;
  constexpr int kMaxSide = 65535, kTableSize = 256, kBits = 8;
  State& state = *state_;
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
    throw InputError("GIF: expected 1 to 65535 pixels a side, found " + std::to_string(width) +
                     " x " + std::to_string(height));
  }
  if (palette.colours.empty() || palette.colours.size() > kMaxColours) {
    throw std::logic_error("GIF palette: expected 1 to 255 colours");
  }
  state.width = width;
  state.height = height;
  state.delay_hundredths =
      static_cast<int>(std::lround(std::clamp(seconds_per_frame * kHundredths, 1.0, kMaxDelay)));
  state.colours = palette.colours;
  state.unchanged_index = static_cast<GifByteType>(palette.colours.size());
  std::vector<GifColorType> colours(kTableSize, GifColorType{0, 0, 0});
  for (std::size_t i = 0; i < state.colours.size(); ++i) {
    colours[i] = {state.colours[i][0], state.colours[i][1], state.colours[i][2]};
  }
  const MapPtr map(GifMakeMapObject(kTableSize, colours.data()), GifFreeMapObject);
  int error = 0;
  state.gif = EGifOpen(&state.bytes, write_bytes, &error);
  if (!map || !state.gif) throw WorkError("GIF: out of memory");
  EGifSetGifVersion(state.gif, true);
  state.check(EGifPutScreenDesc(state.gif, width, height, kBits, 0, map.get()));
  // Netscape extension: loop forever.
  const char name[] = "NETSCAPE2.0";
  const GifByteType endless[] = {1, 0, 0};
  state.check(EGifPutExtensionLeader(state.gif, APPLICATION_EXT_FUNC_CODE));
  state.check(EGifPutExtensionBlock(state.gif, sizeof name - 1, name));
  state.check(EGifPutExtensionBlock(state.gif, sizeof endless, endless));
  state.check(EGifPutExtensionTrailer(state.gif));
}

GifEncoder::~GifEncoder() {
  int error = 0;
  if (state_->gif) EGifCloseFile(state_->gif, &error);
}

void GifEncoder::add(const Image& frame) {
  State& state = *state_;
  if (frame.width != state.width || frame.height != state.height) {
    throw std::logic_error("GIF frames: expected the same size");
  }
  const auto count = static_cast<std::size_t>(state.width) * static_cast<std::size_t>(state.height);
  std::vector<GifByteType> indices(count);
  std::uint32_t last_key = 0xffffffff;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* pixel = frame.rgba.data() + i * kChannels;
    const std::uint32_t key = pack_rgb(pixel);
    indices[i] = key == last_key ? indices[i - 1] : state.palette_index(pixel);
    last_key = key;
  }
  GraphicsControlBlock control{
      DISPOSE_DO_NOT, false, state.delay_hundredths,
      state.previous.empty() ? NO_TRANSPARENT_COLOR : int{state.unchanged_index}};
  GifByteType block[4];
  EGifGCBToExtension(&control, block);
  state.check(EGifPutExtension(state.gif, GRAPHICS_EXT_FUNC_CODE, sizeof block, block));
  state.check(EGifPutImageDesc(state.gif, 0, 0, state.width, state.height, false, nullptr));
  std::vector<GifByteType> line(static_cast<std::size_t>(state.width));
  for (std::size_t y = 0; y < count; y += line.size()) {
    for (std::size_t x = 0; x < line.size(); ++x) {
      const bool is_unchanged = !state.previous.empty() && state.previous[y + x] == indices[y + x];
      line[x] = is_unchanged ? state.unchanged_index : indices[y + x];
    }
    state.check(EGifPutLine(state.gif, line.data(), state.width));
  }
  state.previous = std::move(indices);
}

std::string GifEncoder::finish() {
  int error = 0;
  const int status = EGifCloseFile(state_->gif, &error);
  state_->gif = nullptr;
  if (status == GIF_ERROR) throw WorkError("GIF: cannot be finished");
  return std::move(state_->bytes);
}

}  // namespace attnscope
