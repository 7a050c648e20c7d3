#include "app/window/widgets/fonts.h"

#include <fontconfig/fontconfig.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "app/window/utf8.h"

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

constexpr double kTinySize = 10, kSmallSize = 12, kTitleSize = 17, kLargeSize = 22;  // units
// Sizes of text and titles in a lecture.
constexpr std::array<std::array<double, 2>, 3> kLectureSizes = {
    {{24, 28}, {21, 25}, {kMinLectureSize, kLargeSize}}};

struct FontFile {
  std::string path, family;
};

bool contains(const ImWchar* ranges, char32_t character) {
  for (; ranges[0] != 0; ranges += 2) {
    if (character >= ranges[0] && character <= ranges[1]) return true;
  }
  return false;
}

// Font file of DejaVu Sans, or of the system's substitute; an empty path if there is none.
FontFile find_font(const char* style) {
  FcPattern* pattern = FcPatternCreate();
  FcPatternAddString(pattern, FC_FAMILY, reinterpret_cast<const FcChar8*>("DejaVu Sans"));
  FcPatternAddString(pattern, FC_STYLE, reinterpret_cast<const FcChar8*>(style));
  FcConfigSubstitute(nullptr, pattern, FcMatchPattern);
  FcDefaultSubstitute(pattern);
  FcResult result = FcResultNoMatch;
  FcPattern* match = FcFontMatch(nullptr, pattern, &result);
  FontFile file;
  FcChar8* text = nullptr;
  if (match != nullptr && FcPatternGetString(match, FC_FILE, 0, &text) == FcResultMatch) {
    file.path = reinterpret_cast<const char*>(text);
  }
  if (match != nullptr && FcPatternGetString(match, FC_FAMILY, 0, &text) == FcResultMatch) {
    file.family = reinterpret_cast<const char*>(text);
  }
  if (match != nullptr) FcPatternDestroy(match);
  FcPatternDestroy(pattern);
  return file;
}

}  // namespace

void Fonts::load(ImFontAtlas& atlas, double scale, bool with_lecture) {
  atlas.Clear();
  scale_ = scale;
#if IMGUI_VERSION_NUM >= 19200
  atlas.TexMinWidth = scale > 1.2 ? 4096 : 2048;
#else
  atlas.TexDesiredWidth = scale > 1.2 ? 4096 : 2048;
#endif
  baked_.clear();
  lecture.clear();
  loads_all_ |= lacks_glyphs_;
  lacks_glyphs_ = false;
  const FontFile regular_file = find_font("Book"), bold_file = find_font("Bold");
  notice_ = regular_file.family == "DejaVu Sans"
                ? ""
                : "Font DejaVu Sans is not installed (package fonts-dejavu): some symbols may "
                  "be missing.";
  const auto bake = [&](double size, bool is_bold) {
    const std::string& path = is_bold ? bold_file.path : regular_file.path;
    const double pixels = std::round(size * scale);
    ImFontConfig config;
    config.OversampleH = scale > 1.2 ? 1 : 2;
    config.PixelSnapH = false;
    ImFont* font = nullptr;
    if (!path.empty()) {
      font = atlas.AddFontFromFileTTF(path.c_str(), static_cast<float>(pixels), &config,
                                      loads_all_ ? kRanges : kCommonRanges);
    }
    if (font == nullptr) font = atlas.AddFontDefault();
    baked_.push_back({font, pixels, is_bold});
    return font;
  };
  body = bake(kBodySize, false);
  bold = bake(kBodySize, true);
  small = bake(kSmallSize, false);
  title = bake(kTitleSize, true);
  bake(kTitleSize, false);
  ImFont* large = bake(kLargeSize, true);
  bake(kSmallSize, true);
  tiny = bake(kTinySize, false);
  if (with_lecture) {
    for (const auto& [text_size, title_size] : kLectureSizes) {
      ImFont* text = bake(text_size, false);
      lecture.push_back({text, title_size == kLargeSize ? large : bake(title_size, true)});
    }
  }
#if IMGUI_VERSION_NUM < 19200  // newer versions rasterise glyphs on demand
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsRGBA32(&pixels, &width, &height);  // the caller's texture uses these pixels
#endif
}

void Fonts::report_missing(char32_t character) {
  lacks_glyphs_ |= !loads_all_ && contains(kRanges, character) && !is_common(character);
}

bool Fonts::is_common(char32_t character) {
  return contains(kCommonRanges, character);
}

ImFont* Fonts::nearest(double pixels, bool is_bold) const {
  ImFont* best = body;
  double min_distance = HUGE_VAL;
  for (const Baked& b : baked_) {
    // Downscaling looks better than upscaling.
    const double distance = b.pixels >= pixels ? b.pixels - pixels : 1.5 * (pixels - b.pixels);
    if (b.is_bold == is_bold && distance < min_distance) {
      min_distance = distance;
      best = b.font;
    }
  }
  return best;
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

bool is_drawable(char32_t character) {
  if (character == '\n' || character == '\t') return true;
  if (character > 0xFFFF) return false;  // ImGui's characters have 16 bits
  ImFont* font = ImGui::GetIO().Fonts->Fonts[0];
#if IMGUI_VERSION_NUM >= 19200
  return font->IsGlyphInFont(static_cast<ImWchar>(character));
#else
  if (font->FindGlyphNoFallback(static_cast<ImWchar>(character)) != nullptr) return true;
  if (auto* fonts = static_cast<Fonts*>(ImGui::GetIO().UserData)) fonts->report_missing(character);
  return false;
#endif
}

std::string on_screen(std::string_view text) {
  constexpr const char* kBetweenCodes = " ";
  std::string result;
  result.reserve(text.size());
  std::array<char, 16> code;
  bool follows_code = false;  // then a space separates code points
  for (std::size_t position = 0; position < text.size();) {
    const CodePoint code_point = code_point_at(text, position);
    const std::string_view bytes = text.substr(position, code_point.bytes);
    position += code_point.bytes;
    bool is_code = false;
    if (code_point.value == 0xFFFD && code_point.bytes == 1) {
      std::snprintf(code.data(), code.size(), "0x%02X", static_cast<unsigned char>(bytes[0]));
      result += code.data();
    } else if (is_drawable(code_point.value)) {
      result += bytes;
    } else {
      std::snprintf(code.data(), code.size(), "U+%04X", static_cast<unsigned>(code_point.value));
      if (follows_code) result += kBetweenCodes;
      result += code.data();
      is_code = true;
    }
    follows_code = is_code;
  }
  return result;
}

double ScreenMeasure::width(const std::string& text, double size, bool bold) const {
  const std::string visible = on_screen(text);
  const ImVec2 extent =
      fonts_.nearest(size * scale_, bold)
          ->CalcTextSizeA(static_cast<float>(size * scale_), FLT_MAX, 0, visible.c_str());
  return extent.x / scale_;
}

}  // namespace attnscope::window
