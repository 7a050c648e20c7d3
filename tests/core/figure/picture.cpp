#include "tests/core/figure/picture.h"

#include <zlib.h>

#include <array>
#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <vector>

namespace attnscope::testing {
namespace {

std::size_t number(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

}  // namespace

Image decode_png(std::string_view png) {
  std::string compressed;
  std::string_view header;
  std::size_t at = 8;
  while (at + 12 <= png.size()) {
    const std::size_t length = number(png.substr(at));
    const std::string_view type = png.substr(at + 4, 4), data = png.substr(at + 8, length);
    if (type == "IHDR") header = data;
    if (type == "IDAT") compressed += data;
    at += 12 + length;
  }
  if (at != png.size() || header.size() != 13) throw std::runtime_error("broken chunks");
  Image image{static_cast<int>(number(header)), static_cast<int>(number(header.substr(4))), {}};
  if (header[8] != 8 || (header[9] != 2 && header[9] != 6)) throw std::runtime_error("colour type");
  const std::size_t channels = header[9] == 2 ? 3 : 4;
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  const std::size_t stride = width * channels;
  std::vector<unsigned char> lines(height * (stride + 1));
  uLongf size = lines.size();
  if (uncompress(lines.data(), &size, reinterpret_cast<const Bytef*>(compressed.data()),
                 compressed.size()) != Z_OK ||
      size != lines.size()) {
    throw std::runtime_error("broken IDAT");
  }
  std::vector<unsigned char> above(stride, 0);
  for (std::size_t y = 0; y < height; ++y) {
    const unsigned char* line = lines.data() + y * (stride + 1);
    std::vector<unsigned char> row(stride);
    for (std::size_t i = 0; i < stride; ++i) {
      const int a = i >= channels ? row[i - channels] : 0, b = above[i];
      const int c = i >= channels ? above[i - channels] : 0;
      const std::array<int, 5> predicted{0, a, b, (a + b) / 2, paeth(a, b, c)};
      row[i] = static_cast<unsigned char>(line[i + 1] + predicted.at(line[0]));
    }
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t k = 0; k < 4; ++k) {
        image.rgba.push_back(k < channels ? row[x * channels + k] : 255);
      }
    }
    above = row;
  }
  return image;
}

Colour pixel(const Image& image, int x, int y) {
  const std::size_t at = 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                              static_cast<std::size_t>(x));
  return {image.rgba.at(at), image.rgba.at(at + 1), image.rgba.at(at + 2), image.rgba.at(at + 3)};
}

std::string xml_fault(std::string_view text) {
  static const std::regex tag(
      R"(<(/?)([A-Za-z][\w:.-]*)((?:\s+[A-Za-z][\w:.-]*=(?:"[^"<]*"|'[^'<]*'))*)\s*(/?)>)",
      std::regex::optimize);
  static const std::regex entity("&(amp|lt|gt|quot|apos);");
  const auto entities_ok = [](const std::string& part) {
    return std::regex_replace(part, entity, "").find('&') == std::string::npos;
  };
  if (!text.starts_with("<?xml ")) return "no XML declaration";
  text.remove_prefix(text.find("?>") + 2);
  std::vector<std::string> open;
  bool closed = false;
  while (!text.empty()) {
    if (text[0] != '<') {
      const std::string run(text.substr(0, text.find('<')));
      if (!entities_ok(run)) return "bad entity in: " + run;
      if (open.empty() && run.find_first_not_of(" \n") != std::string::npos) return "text outside";
      text.remove_prefix(run.size());
      continue;
    }
    const std::string source(text.substr(0, text.find('>') + 1));
    std::smatch match;
    if (!std::regex_match(source, match, tag)) return "bad tag: " + source.substr(0, 200);
    if (!entities_ok(source)) return "bad entity in: " + source.substr(0, 200);
    if (closed) return "a second root";
    if (match[1].length() > 0) {
      if (open.empty() || open.back() != match[2]) return "not open: " + source;
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2]);
    }
    closed = open.empty();
    text.remove_prefix(source.size());
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace attnscope::testing
