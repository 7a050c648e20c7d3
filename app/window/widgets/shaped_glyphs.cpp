#include "app/window/widgets/shaped_glyphs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "app/window/utf8.h"
#include "core/figure/text_shaping.h"

namespace attnscope::window {
namespace {

constexpr unsigned kFirstCode = 0xE000, kCodes = 0xF8FF - kFirstCode + 1;  // private use area
constexpr int kMaxRegionHeight = 4096;                                     // pixels
constexpr int kRegionMargin = 48;  // pixels of the texture's width that the region leaves free
constexpr int kGap = 1;            // pixels between glyphs

// Texture coordinates of at least kMissing mark a glyph that is not rasterised yet: x - kMissing is
// the index of its face, y the index of its piece of text. Vertices in draw lists keep them.
constexpr float kMissing = 2;

}  // namespace

#if IMGUI_VERSION_NUM < 19200

void ShapedGlyphs::reserve(ImFontAtlas& atlas) {
  if (is_full_) region_height_ = std::min(2 * region_height_, kMaxRegionHeight);
  if (is_exhausted_ && (!is_full_ || region_height_ == kMaxRegionHeight)) {
    pieces_.clear();
    index_.clear();
    is_fresh_ = true;
  }
  is_exhausted_ = is_full_ = false;
  rectangle_ = atlas.AddCustomRectRegular(atlas.TexDesiredWidth - kRegionMargin, region_height_);
}

void ShapedGlyphs::attach(ImFontAtlas& atlas, std::vector<Face> faces) {
  atlas_ = &atlas;
  faces_ = std::move(faces);
  const ImFontAtlasCustomRect& rectangle = *atlas.GetCustomRectByIndex(rectangle_);
  region_ = {rectangle.X, rectangle.Y, rectangle.Width, rectangle.Height};
  x_ = y_ = row_height_ = 0;
  changes_.clear();
  for (std::size_t i = 0; i < pieces_.size(); ++i) add(pieces_[i], i);
}

std::optional<std::string> ShapedGlyphs::code(std::string_view text, bool is_rtl,
                                              const double (&advances)[2]) {
  if (atlas_ == nullptr) return std::nullopt;
  const std::pair<std::string, bool> key(text, is_rtl);
  const auto found = index_.find(key);
  if (found != index_.end()) {
    return to_utf8(static_cast<char32_t>(kFirstCode + found->second));
  }
  const std::size_t index = pieces_.size();
  if (index == kCodes) {
    is_exhausted_ = !is_fresh_;  // if fresh, one frame needs more codes than there are
    return std::nullopt;
  }
  pieces_.push_back({key.first, is_rtl, {advances[0], advances[1]}});
  index_.emplace(key, index);
  add(pieces_.back(), index);
  return to_utf8(static_cast<char32_t>(kFirstCode + index));
}

// Updates the font's tables in place, because ImFont::BuildLookupTable() would visit all glyphs.
void ShapedGlyphs::add(const Piece& piece, std::size_t index) {
  const auto character = static_cast<ImWchar>(kFirstCode + index);
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    ImFont& font = *faces_[f].font;
    const auto advance =
        static_cast<float>(piece.advances[faces_[f].is_bold ? 1 : 0] * faces_[f].size);
    const float column = kMissing + static_cast<float>(f), row = static_cast<float>(index);
    const std::ptrdiff_t fallback = font.FallbackGlyph - font.Glyphs.Data;
    font.AddGlyph(nullptr, character, 0, 0, std::max(advance, 1.0F), font.FontSize, column, row,
                  column, row, advance);
    font.FallbackGlyph = font.Glyphs.Data + fallback;  // the glyphs may have moved
    font.GrowIndex(static_cast<int>(character) + 1);
    font.IndexAdvanceX[character] = advance;
    font.IndexLookup[character] = static_cast<ImWchar>(font.Glyphs.Size - 1);
    font.DirtyLookupTables = false;
  }
}

bool ShapedGlyphs::rasterise_missing(const ImDrawData& data) {
  if (pieces_.empty()) return false;
  std::set<std::pair<std::size_t, std::size_t>> missing;  // face and piece
  for (int n = 0; n < data.CmdListsCount; ++n) {
    for (const ImDrawVert& v : data.CmdLists[n]->VtxBuffer) {
      if (v.uv.x < kMissing) continue;
      missing.emplace(std::lround(v.uv.x - kMissing), std::lround(v.uv.y));
    }
  }
  for (const auto& [face, index] : missing) {
    if (!is_exhausted_) rasterise(face, index);
  }
  if (missing.empty()) is_fresh_ = false;
  return !missing.empty();
}

void ShapedGlyphs::rasterise(std::size_t face_index, std::size_t index) {
  const Face& face = faces_[face_index];
  const Piece& piece = pieces_[index];
  const TextRaster raster = rasterise_line(piece.text, piece.is_rtl, face.size, face.is_bold);
  const Image& image = raster.image;
  ImFont& font = *face.font;
  ImFontGlyph& glyph = font.Glyphs[font.IndexLookup[static_cast<int>(kFirstCode + index)]];
  const std::optional<TextureBox> box = allocate(image.width, image.height);
  if (!box && is_fresh_ && region_height_ == kMaxRegionHeight) {
    // The frame needs too much space: leaves the glyph empty.
    glyph.U0 = glyph.U1 = glyph.V0 = glyph.V1 = 0;
    glyph.Visible = 0;
    return;
  }
  if (!box) {
    is_exhausted_ = is_full_ = true;
    return;
  }
  for (int y = 0; y < image.height; ++y) {
    const auto width = static_cast<std::size_t>(image.width);
    std::memcpy(atlas_->TexPixelsRGBA32 + (box->y + y) * atlas_->TexWidth + box->x,
                image.rgba.data() + static_cast<std::size_t>(y) * width * 4, width * 4);
  }
  changes_.push_back(*box);
  glyph.Colored = raster.is_coloured;
  glyph.X0 = static_cast<float>(raster.left);
  glyph.Y0 = std::round(font.Ascent) + static_cast<float>(raster.top);
  glyph.X1 = glyph.X0 + static_cast<float>(image.width);
  glyph.Y1 = glyph.Y0 + static_cast<float>(image.height);
  glyph.U0 = static_cast<float>(box->x) * atlas_->TexUvScale.x;
  glyph.V0 = static_cast<float>(box->y) * atlas_->TexUvScale.y;
  glyph.U1 = static_cast<float>(box->x + box->width) * atlas_->TexUvScale.x;
  glyph.V1 = static_cast<float>(box->y + box->height) * atlas_->TexUvScale.y;
}

// Fills the region row by row.
std::optional<TextureBox> ShapedGlyphs::allocate(int width, int height) {
  if (x_ + width > region_.width) {
    x_ = 0;
    y_ += row_height_ + kGap;
    row_height_ = 0;
  }
  if (width > region_.width || y_ + height > region_.height) return std::nullopt;
  const TextureBox box{region_.x + x_, region_.y + y_, width, height};
  x_ += width + kGap;
  row_height_ = std::max(row_height_, height);
  return box;
}

#else

void ShapedGlyphs::reserve(ImFontAtlas&) {}

void ShapedGlyphs::attach(ImFontAtlas&, std::vector<Face>) {}

std::optional<std::string> ShapedGlyphs::code(std::string_view, bool, const double (&)[2]) {
  return std::nullopt;
}

bool ShapedGlyphs::rasterise_missing(const ImDrawData&) {
  return false;
}

#endif

std::vector<TextureBox> ShapedGlyphs::take_changes() {
  return std::exchange(changes_, {});
}

}  // namespace attnscope::window
