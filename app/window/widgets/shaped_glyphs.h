// Glyphs for text that ImGui cannot lay out itself: words of scripts that join letters or run from
// right to left, letters with combining accents, emoji, characters that the baked fonts lack.
//
// Each such piece of text gets a character of the private use area (a *code*) in every font of the
// atlas. Measuring, wrapping, clipping and drawing then work as for any other character.
// Pango rasterises a glyph when a frame first shows it in a font. ImGui 1.92 and
// later cannot change glyphs in this way; with these versions, no text gets a code.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::window {

struct TextureBox {  // pixels
  int x = 0, y = 0, width = 0, height = 0;
};

class ShapedGlyphs {
 public:
  struct Face {
    ImFont* font;
    double size;  // font size in pixels: not ImGui's size, which is a line height
    bool is_bold;
  };

  // Reserves texture space. Call before the atlas is built.
  void reserve(ImFontAtlas& atlas);
  // Adds the glyphs of all codes to the fonts. Call after the atlas is built.
  void attach(ImFontAtlas& atlas, std::vector<Face> faces);

  // Code, as UTF-8, of a piece of text without spaces; nullopt if all codes are in use or there is
  // no atlas. `advances`: widths of the regular and the bold text, in font sizes.
  std::optional<std::string> code(std::string_view text, bool is_rtl, const double (&advances)[2]);

  // Rasterises the glyphs that the frame shows for the first time. Returns true if there were any:
  // lay out the frame again before showing it.
  bool rasterise_missing(const ImDrawData& data);
  // Boxes of the atlas's pixels that have changed since the last call.
  std::vector<TextureBox> take_changes();

  // True if codes or texture space ran out. The next reserve() and attach() make space.
  bool is_exhausted() const { return is_exhausted_; }

 private:
  struct Piece {
    std::string text;
    bool is_rtl;
    double advances[2];
  };
  void add(const Piece& piece, std::size_t index);
  void rasterise(std::size_t face, std::size_t index);
  std::optional<TextureBox> allocate(int width, int height);

  ImFontAtlas* atlas_ = nullptr;
  std::vector<Face> faces_;
  std::vector<Piece> pieces_;  // a code is kFirstCode plus an index
  std::map<std::pair<std::string, bool>, std::size_t, std::less<>> index_;
  TextureBox region_{};      // texture space for the glyphs
  int rectangle_ = -1;       // the region's id in the atlas
  int region_height_ = 256;  // pixels
  int x_ = 0, y_ = 0, row_height_ = 0;
  std::vector<TextureBox> changes_;
  bool is_exhausted_ = false;
  bool is_full_ = false;   // texture space ran out
  bool is_fresh_ = false;  // all codes were released, and no frame has been complete since then
};

}  // namespace attnscope::window
