#include "core/figure/png.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n"sv;
constexpr std::size_t kMostText = std::size_t{64} << 20;  // bytes of one text, uncompressed
constexpr std::size_t kMostKeyword = 79;

std::string big_endian(std::size_t value) {
  std::string bytes(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>((value >> (24 - 8 * i)) & 0xff);
  return bytes;
}

std::size_t from_big_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::size_t checksum(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  png += big_endian(data.size());
  const std::size_t begin = png.size();
  png += type;
  png += data;
  png += big_endian(checksum(std::string_view(png).substr(begin)));
}

void append_text(std::string& png, const std::string& keyword, const std::string& text) {
  const bool printable =
      std::all_of(keyword.begin(), keyword.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (keyword.empty() || keyword.size() > kMostKeyword || !printable) {
    throw InputError("picture metadata: expected a keyword of 1 to 79 ASCII characters, found \"" +
                     keyword + "\"");
  }
  std::string data = keyword;
  data += "\0\0\0\0\0"sv;  // end of keyword, not compressed, method, no language, no translation
  std::copy_if(text.begin(), text.end(), std::back_inserter(data), [](char c) { return c != 0; });
  append_chunk(png, "iTXt", data);
}

// Scan lines as PNG filters them, here with filter 0 (none).
std::string scan_lines(const Image& image, bool opaque) {
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  std::string lines(height * (1 + width * (opaque ? 3 : 4)), '\0');
  char* out = lines.data();
  const std::uint8_t* in = image.rgba.data();
  for (std::size_t y = 0; y < height; ++y) {
    *out++ = 0;
    for (std::size_t x = 0; x < width; ++x, in += 4) {
      *out++ = static_cast<char>(in[0]);
      *out++ = static_cast<char>(in[1]);
      *out++ = static_cast<char>(in[2]);
      if (!opaque) *out++ = static_cast<char>(in[3]);
    }
  }
  return lines;
}

std::string deflated(const std::string& bytes) {
  constexpr int kFastest = 1;
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kFastest);
  if (status != Z_OK) throw WorkError("picture: zlib failed with status " + std::to_string(status));
  result.resize(size);
  return result;
}

// Nothing when the stream is damaged or its text is larger than kMostText.
std::optional<std::string> inflated(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK && text.size() <= kMostText) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || text.size() > kMostText) return std::nullopt;
  return text;
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

// Takes the bytes up to a NUL off the front of `rest`.
std::optional<std::string_view> take_string(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return taken;
}

// The text of a tEXt, zTXt or iTXt chunk after its keyword; nothing when it is malformed.
std::optional<std::string> chunk_text(std::string_view type, std::string_view rest) {
  if (type == "tEXt") return utf8_from_latin1(rest);
  if (type == "zTXt") {
    if (rest.empty() || rest[0] != 0) return std::nullopt;  // compression method 0: zlib
    const std::optional<std::string> latin1 = inflated(rest.substr(1));
    if (!latin1) return std::nullopt;
    return utf8_from_latin1(*latin1);
  }
  if (rest.size() < 2 || rest[0] < 0 || rest[0] > 1 || rest[1] != 0) return std::nullopt;
  const bool compressed = rest[0] == 1;
  rest.remove_prefix(2);
  if (!take_string(rest) || !take_string(rest)) return std::nullopt;  // language, translation
  if (compressed) return inflated(rest);
  return std::string(rest);
}

}  // namespace

std::string encode_png(const Image& image, const PictureMetadata& metadata, double dots_per_inch) {
  bool opaque = true;
  for (std::size_t i = 3; i < image.rgba.size() && opaque; i += 4) opaque = image.rgba[i] == 255;
  std::string header = big_endian(static_cast<std::size_t>(image.width)) +
                       big_endian(static_cast<std::size_t>(image.height));
  header += '\x08';                    // bits a channel
  header += opaque ? '\x02' : '\x06';  // RGB or RGBA
  header += "\0\0\0"sv;                // zlib, the five filters, not interlaced
  std::string png(kSignature);
  append_chunk(png, "IHDR", header);
  if (dots_per_inch > 0) {
    constexpr double kMetresPerInch = 0.0254;
    const auto per_metre = static_cast<std::size_t>(std::lround(dots_per_inch / kMetresPerInch));
    append_chunk(png, "pHYs", big_endian(per_metre) + big_endian(per_metre) + '\x01');
  }
  for (const auto& [keyword, text] : metadata) append_text(png, keyword, text);
  append_chunk(png, "IDAT", deflated(scan_lines(image, opaque)));
  append_chunk(png, "IEND", "");
  return png;
}

bool is_png(std::string_view bytes) {
  return bytes.starts_with(kSignature);
}

PictureMetadata read_png_metadata(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  const std::string name = path.string();
  std::string_view rest = file;
  if (!is_png(rest)) {
    throw InputError(name + ": expected a PNG file, found no PNG signature");
  }
  rest.remove_prefix(kSignature.size());
  PictureMetadata metadata;
  constexpr std::size_t kAround = 12;  // length, type and checksum of a chunk
  for (bool first = true;; first = false) {
    const std::string at = " at byte " + std::to_string(file.size() - rest.size());
    if (rest.size() < kAround || from_big_endian(rest) > rest.size() - kAround) {
      throw InputError(name + ": cut short: expected a whole chunk" + at + ", found " +
                       std::to_string(rest.size()) + " bytes");
    }
    const std::size_t length = from_big_endian(rest);
    const std::string_view type = rest.substr(4, 4), data = rest.substr(8, length);
    if (from_big_endian(rest.substr(8 + length)) != checksum(rest.substr(4, 4 + length))) {
      throw InputError(name + ": damaged: the chunk" + at + " has a wrong checksum");
    }
    if (first && type != "IHDR") {
      throw InputError(name + ": damaged: expected the chunk IHDR" + at);
    }
    if (type == "IEND") return metadata;
    if (type == "tEXt" || type == "zTXt" || type == "iTXt") {
      std::string_view text = data;
      const std::optional<std::string_view> keyword = take_string(text);
      const std::optional<std::string> value =
          keyword ? chunk_text(type, text) : std::optional<std::string>();
      if (!value) throw InputError(name + ": damaged: malformed text chunk" + at);
      metadata[utf8_from_latin1(*keyword)] = *value;
    }
    rest.remove_prefix(length + kAround);
  }
}

}  // namespace attnscope
