#include "app/window/widgets/fonts.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/base/file.h"

namespace attnscope::window {
namespace {

// Characters of the user interface and of western languages, rasterised at the start. Rasterising
// kRanges would take four times as long as everything else at the start.
constexpr ImWchar kCommonRanges[] = {
    0x0020, 0x007E, 0x00A1, 0x017F,                  // Latin
    0x02B0, 0x036F, 0x0370, 0x03FF,                  // modifiers and accents, Greek
    0x1D2C, 0x1D6A, 0x2070, 0x209C, 0x2C7C, 0x2C7D,  // super- and subscripts
    0x2010, 0x2027, 0x2030, 0x205E, 0x20A0, 0x20BF,  // punctuation, currencies
    0x2100, 0x214F, 0x2190, 0x2313, 0x23CE, 0x23CF,  // letters of mathematics, arrows, operators
    0x2400, 0x2426, 0x2580, 0x25FF,                  // control pictures, blocks and shapes
    0x26A0, 0x26A0, 0x2713, 0x2718, 0xFFFD, 0xFFFD, 0};

// Latin, Greek, Cyrillic, punctuation, super- and subscripts, arrows, mathematics, technical
// symbols, control pictures, blocks and shapes. Scripts that need shaping are missing, since
// unshaped letters would be wrong.
constexpr ImWchar kRanges[] = {0x0020, 0x007E, 0x00A1, 0x058F, 0x1D00, 0x1FFF, 0x2010,
                               0x2027, 0x2030, 0x205E, 0x2070, 0x27FF, 0x2900, 0x2AFF,
                               0x2C60, 0x2C7F, 0xFFFD, 0xFFFD, 0};

// `ranges`, which begin with ASCII, without 0 to 9.
template <std::size_t N>
constexpr std::array<ImWchar, N + 2> without_figures(const ImWchar (&ranges)[N]) {
  std::array<ImWchar, N + 2> result{ranges[0], '0' - 1, '9' + 1, ranges[1]};
  for (std::size_t i = 2; i < N; ++i) result[i + 2] = ranges[i];
  return result;
}
constexpr auto kCommonRangesWithoutFigures = without_figures(kCommonRanges);
constexpr auto kRangesWithoutFigures = without_figures(kRanges);
constexpr ImWchar kFigures[] = {'0', '9', 0};

constexpr const char *kFamily = "Inter", *kFallbackFamily = "DejaVu Sans";

// Line height of Inter in font sizes. Sizes in units below are line heights of Inter; other fonts
// get the font size that Inter has at that line height.
constexpr double kInterLineHeight = 1.21;
constexpr double kTinySize = 10, kSmallSize = 13, kTitleSize = 18, kLargeSize = 22;  // units
// Sizes of text and titles in a lecture.
constexpr std::array<std::array<double, 2>, 3> kLectureSizes = {
    {{24, 28}, {21, 25}, {kMinLectureSize, kLargeSize}}};

bool contains(const ImWchar* ranges, char32_t character) {
  for (; ranges[0] != 0; ranges += 2) {
    if (character >= ranges[0] && character <= ranges[1]) return true;
  }
  return false;
}

// File of the installed font nearest to a family and style; empty if there is none.
std::filesystem::path find_font(const char* family, const char* style, std::string& found_family) {
  FcPattern* pattern = FcPatternCreate();
  FcPatternAddString(pattern, FC_FAMILY, reinterpret_cast<const FcChar8*>(family));
  FcPatternAddString(pattern, FC_STYLE, reinterpret_cast<const FcChar8*>(style));
  FcConfigSubstitute(nullptr, pattern, FcMatchPattern);
  FcDefaultSubstitute(pattern);
  FcResult result = FcResultNoMatch;
  FcPattern* match = FcFontMatch(nullptr, pattern, &result);
  std::string path;
  FcChar8* text = nullptr;
  if (match != nullptr && FcPatternGetString(match, FC_FILE, 0, &text) == FcResultMatch) {
    path = reinterpret_cast<const char*>(text);
  }
  if (match != nullptr && FcPatternGetString(match, FC_FAMILY, 0, &text) == FcResultMatch) {
    found_family = reinterpret_cast<const char*>(text);
  }
  if (match != nullptr) FcPatternDestroy(match);
  FcPatternDestroy(pattern);
  return path;
}

// Reads the line height and the width of the widest figure.
void read_metrics(FontFace& face) {
  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) != 0) return;
  FT_Face font = nullptr;
  if (FT_New_Memory_Face(library, face.data.data(), static_cast<FT_Long>(face.data.size()), 0,
                         &font) == 0) {
    const double units = font->units_per_EM;
    if (units > 0) {
      face.line_height = (font->ascender - font->descender) / units;
      for (unsigned long figure = '0'; figure <= '9'; ++figure) {
        if (FT_Load_Char(font, figure, FT_LOAD_NO_SCALE) != 0) continue;
        const double advance = static_cast<double>(font->glyph->metrics.horiAdvance) / units;
        face.figure_advance = std::max(face.figure_advance, advance);
      }
    }
    FT_Done_Face(font);
  }
  FT_Done_FreeType(library);
}

// The installed font nearest to a family and style.
FontFace load_face(const char* family, const char* style) {
  FontFace face;
  const std::filesystem::path path = find_font(family, style, face.family);
  if (path.empty()) return face;
  std::string data;
  try {
    data = read_file(path);
  } catch (const std::exception&) {
    return {};  // like a font that is not installed
  }
  face.data.assign(data.begin(), data.end());
  read_metrics(face);
  return face;
}

// Adds a font. The atlas refers to `face.data`.
ImFont* add_font(ImFontAtlas& atlas, const FontFace& face, float pixels, ImFontConfig config,
                 const ImWchar* ranges) {
  if (face.data.empty()) return nullptr;
  config.FontDataOwnedByAtlas = false;
  // ImGui does not write to the data.
  return atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(face.data.data()),
                                    static_cast<int>(face.data.size()), pixels, &config, ranges);
}

}  // namespace

// All figures get the width of the widest figure, because Inter's figures differ in width. ImGui
// does not read the substitution tables that select the font's tabular figures.
ImFont* Fonts::bake(ImFontAtlas& atlas, double size, bool is_bold) {
  const FontFace& face = is_bold ? bold_ : regular_;
  const FontFace& fallback = is_bold ? fallback_bold_ : fallback_regular_;
  const double pixels = std::round(size * scale_ * face.line_height / kInterLineHeight);
  const double font_size = pixels / face.line_height;
  const ImWchar* ranges = loads_all_ ? kRanges : kCommonRanges;
  ImFontConfig config;
  config.OversampleH = scale_ > 1.2 ? 1 : 2;
  config.PixelSnapH = false;
  ImFontConfig figures = config;
  figures.GlyphMinAdvanceX = figures.GlyphMaxAdvanceX =
      static_cast<float>(face.figure_advance * font_size);
#if IMGUI_VERSION_NUM >= 19200
  config.GlyphExcludeRanges = kFigures;
#endif
  ImFont* font =
      add_font(atlas, face, static_cast<float>(pixels), config,
               loads_all_ ? kRangesWithoutFigures.data() : kCommonRangesWithoutFigures.data());
  if (font == nullptr) {
    font = atlas.AddFontDefault();
  } else {
    figures.MergeMode = true;
    add_font(atlas, face, static_cast<float>(pixels), figures, kFigures);
    if (fallback.family != face.family) {
      config.MergeMode = true;
      const double fallback_height = std::round(font_size * fallback.line_height);
      add_font(atlas, fallback, static_cast<float>(fallback_height), config, ranges);
    }
  }
  baked_.push_back({font, pixels, is_bold, font_size});
  return font;
}

void Fonts::load(ImFontAtlas& atlas, double scale, bool with_lecture) {
  atlas.Clear();
  atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
  scale_ = scale;
#if IMGUI_VERSION_NUM >= 19200
  atlas.TexMinWidth = scale > 1.2 ? 4096 : 2048;
#else
  atlas.TexDesiredWidth = scale > 1.2 ? 4096 : 2048;
#endif
  baked_.clear();
  lecture.clear();
  lines_.clear();
  loads_all_ |= lacks_glyphs_;
  lacks_glyphs_ = false;
  if (regular_.data.empty()) {
    regular_ = load_face(kFamily, "Regular");
    bold_ = load_face(kFamily, "Bold");
    fallback_regular_ = load_face(kFallbackFamily, "Book");
    fallback_bold_ = load_face(kFallbackFamily, "Bold");
    if (regular_.family != kFamily) {
      regular_ = fallback_regular_;
      bold_ = fallback_bold_;
    }
    if (fallback_regular_.family != kFallbackFamily) {
      notice_ =
          "Font DejaVu Sans is not installed (package fonts-dejavu): some symbols may be missing.";
    }
  }
  body = bake(atlas, kBodySize, false);
  bold = bake(atlas, kBodySize, true);
  small = bake(atlas, kSmallSize, false);
  title = bake(atlas, kTitleSize, true);
  bake(atlas, kTitleSize, false);
  ImFont* large = bake(atlas, kLargeSize, true);
  bake(atlas, kSmallSize, true);
  tiny = bake(atlas, kTinySize, false);
  if (with_lecture) {
    for (const auto& [text_size, title_size] : kLectureSizes) {
      ImFont* text = bake(atlas, text_size, false);
      lecture.push_back({text, title_size == kLargeSize ? large : bake(atlas, title_size, true)});
    }
  }
#if IMGUI_VERSION_NUM < 19200  // newer versions rasterise glyphs on demand
  shaped_.reserve(atlas);
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsRGBA32(&pixels, &width, &height);  // the caller's texture uses these pixels
  std::vector<ShapedGlyphs::Face> faces;
  for (const Baked& b : baked_) faces.push_back({b.font, b.font_size, b.is_bold});
  shaped_.attach(atlas, std::move(faces));
#endif
}

void Fonts::report_missing(char32_t character) {
  lacks_glyphs_ |= !loads_all_ && contains(kRanges, character) && !is_common(character);
}

bool Fonts::rasterise_missing(const ImDrawData& data) {
  const bool was_incomplete = shaped_.rasterise_missing(data);
  return was_incomplete || lacks_glyphs();
}

bool Fonts::is_common(char32_t character) {
  return contains(kCommonRanges, character);
}

ImFont* Fonts::nearest(double line_height, bool is_bold) const {
  ImFont* best = body;
  double min_distance = HUGE_VAL;
  for (const Baked& b : baked_) {
    // Downscaling looks better than upscaling.
    const double difference = b.line_height - line_height;
    const double distance = difference >= 0 ? difference : -1.5 * difference;
    if (b.is_bold == is_bold && distance < min_distance) {
      min_distance = distance;
      best = b.font;
    }
  }
  return best;
}

Fonts::Sized Fonts::sized(double font_size, bool is_bold) const {
  const double line_height = font_size * (is_bold ? bold_ : regular_).line_height;
  return {nearest(line_height, is_bold), static_cast<float>(line_height)};
}

// ImGui 1.92 moved glyph metrics out of ImFont.
float baked_size(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  return font->LegacySize;
#else
  return font->FontSize;
#endif
}

float ascent(ImFont* font, float size) {
#if IMGUI_VERSION_NUM >= 19200
  return font->GetFontBaked(size)->Ascent;
#else
  return font->Ascent * size / font->FontSize;
#endif
}

float advance(ImFont* font, float size, char32_t character) {
#if IMGUI_VERSION_NUM >= 19200
  return font->GetFontBaked(size)->GetCharAdvance(static_cast<ImWchar>(character));
#else
  return font->GetCharAdvance(static_cast<ImWchar>(character)) * size / font->FontSize;
#endif
}

double ScreenMeasure::width(const std::string& text, double size, bool bold) const {
  const std::string visible = on_screen(text);
  const Fonts::Sized sized = fonts_.sized(size * scale_, bold);
  const ImVec2 extent = sized.font->CalcTextSizeA(sized.size, FLT_MAX, 0, visible.c_str());
  return extent.x / scale_;
}

}  // namespace attnscope::window
