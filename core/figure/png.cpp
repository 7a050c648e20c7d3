#include "core/figure/png.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"

namespace attnscope {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n"sv;
constexpr std::size_t kMaxKeyword = 79;

// State of libpng, which reports errors by longjmp() and so skips destructors. The functions that
// call setjmp() therefore have only trivially destructible locals, and their callers own the state.
struct PngState {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string error;
  std::string_view unread;  // rest of the file
  std::string written;
  png_alloc_size_t memory = 0;  // bytes allocated by libpng
};

PngState& get_state(png_structp png) {
  return *static_cast<PngState*>(png_get_error_ptr(png));
}

[[noreturn]] void fail(png_structp png, png_const_charp reason) {
  get_state(png).error = reason;
  png_longjmp(png, 1);
}

// Reports malformed text as an error; libpng itself only warns and continues.
void warn(png_structp png, png_const_charp reason) {
  const std::string_view message = reason;
  for (const std::string_view chunk : {"tEXt"sv, "zTXt"sv, "iTXt"sv}) {
    if (message.starts_with(chunk))
      get_state(png).error = "malformed text chunk: " + std::string(message);
  }
}

png_voidp allocate(png_structp png, png_alloc_size_t size) {
  PngState& state = *static_cast<PngState*>(png_get_mem_ptr(png));
  if (size > limits::kMaxPngTextMemory - state.memory) return nullptr;
  state.memory += size;
  return std::malloc(size);
}

void release(png_structp, png_voidp memory) {
  std::free(memory);
}

void read(png_structp png, png_bytep to, std::size_t count) {
  std::string_view& unread = static_cast<PngState*>(png_get_io_ptr(png))->unread;
  if (count > unread.size()) png_error(png, "truncated");
  std::memcpy(to, unread.data(), count);
  unread.remove_prefix(count);
}

void write(png_structp png, png_bytep bytes, std::size_t count) {
  static_cast<PngState*>(png_get_io_ptr(png))
      ->written.append(reinterpret_cast<const char*>(bytes), count);
}

void check_keyword(const std::string& keyword) {
  const bool is_printable =
      std::all_of(keyword.begin(), keyword.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (keyword.empty() || keyword.size() > kMaxKeyword || !is_printable) {
    throw InputError("picture metadata: expected a keyword of 1 to 79 ASCII characters, found \"" +
                     keyword + "\"");
  }
}

// Text chunks that point into `metadata` and `keywords`, because libpng requires non-const strings.
std::vector<png_text> make_texts(PictureMetadata& metadata, std::vector<std::string>& keywords) {
  std::vector<png_text> texts;
  keywords.reserve(metadata.size());
  for (auto& [keyword, value] : metadata) {
    check_keyword(keyword);
    std::erase(value, '\0');
    keywords.push_back(keyword);
    png_text text{};
    text.compression = PNG_ITXT_COMPRESSION_NONE;
    text.key = keywords.back().data();
    text.text = value.data();
    text.itxt_length = value.size();
    texts.push_back(text);
  }
  return texts;
}

bool write_all(PngState& state, const Image& image, bool is_opaque, double dots_per_inch,
               std::vector<png_text>& texts) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_write_fn(state.png, &state, write, nullptr);
  png_set_user_limits(state.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_compression_level(state.png, 1);
  png_set_filter(state.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  png_set_compression_buffer_size(state.png, std::size_t{1} << 20);  // usually a single IDAT chunk
  png_set_IHDR(state.png, state.info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8,
               is_opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (dots_per_inch > 0) {
    constexpr double kMetresPerInch = 0.0254;
    const auto per_metre = static_cast<png_uint_32>(std::lround(dots_per_inch / kMetresPerInch));
    png_set_pHYs(state.png, state.info, per_metre, per_metre, PNG_RESOLUTION_METER);
  }
  png_set_text(state.png, state.info, texts.data(), static_cast<int>(texts.size()));
  png_write_info(state.png, state.info);
  if (is_opaque) png_set_filler(state.png, 0, PNG_FILLER_AFTER);  // drops the fourth byte
  for (int y = 0; y < image.height; ++y) {
    png_write_row(state.png, image.rgba.data() + static_cast<std::ptrdiff_t>(y) * image.width * 4);
  }
  png_write_end(state.png, nullptr);
  return true;
}

// Reads all chunks with their checksums, because text may follow the pixels. Skips the pixels.
bool read_all(PngState& state) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_read_fn(state.png, &state, read);
  png_set_user_limits(state.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(state.png, limits::kMaxPngText);
  png_set_crc_action(state.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_read_info(state.png, state.info);
  constexpr auto max_side = static_cast<png_uint_32>(limits::kMaxImageSide);
  if (png_get_image_width(state.png, state.info) > max_side ||
      png_get_image_height(state.png, state.info) > max_side) {  // rows are allocated next
    png_error(state.png, "image too large");
  }
  png_start_read_image(state.png);
  png_read_end(state.png, state.info);
  return true;
}

std::string utf8_from_latin1(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

}  // namespace

std::string encode_png(const Image& image, const PictureMetadata& metadata, double dots_per_inch) {
  bool opaque = true;
  for (std::size_t i = 3; i < image.rgba.size() && opaque; i += 4) opaque = image.rgba[i] == 255;
  PictureMetadata metadata_copy = metadata;
  std::vector<std::string> keywords;
  std::vector<png_text> texts = make_texts(metadata_copy, keywords);
  PngState state;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, fail, warn);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  const bool ok = state.info != nullptr && write_all(state, image, opaque, dots_per_inch, texts);
  png_destroy_write_struct(&state.png, &state.info);
  if (!ok || !state.error.empty()) throw WorkError("picture: libpng failed: " + state.error);
  return std::move(state.written);
}

bool is_png(std::string_view bytes) {
  return bytes.starts_with(kSignature);
}

PictureMetadata read_png_metadata(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  const std::string name = path.string();
  if (!is_png(file)) throw InputError(name + ": expected a PNG file, found no PNG signature");
  PngState state;
  state.unread = file;
  state.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &state, fail, warn, &state, allocate,
                                       release);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  const bool succeeded = state.info != nullptr && read_all(state);
  PictureMetadata metadata;
  png_textp texts = nullptr;
  const int count = succeeded ? png_get_text(state.png, state.info, &texts, nullptr) : 0;
  for (int i = 0; i < count; ++i) {
    const png_text& text = texts[i];
    const bool is_utf8 = text.compression >= PNG_ITXT_COMPRESSION_NONE;
    const std::string_view value(text.text, is_utf8 ? text.itxt_length : text.text_length);
    metadata[utf8_from_latin1(text.key)] = is_utf8 ? std::string(value) : utf8_from_latin1(value);
  }
  png_destroy_read_struct(&state.png, &state.info, nullptr);
  if (!succeeded || !state.error.empty()) {
    const std::string position = std::to_string(file.size() - state.unread.size());
    throw InputError(name + ": truncated or damaged before byte " + position + ": " + state.error);
  }
  return metadata;
}

}  // namespace attnscope
