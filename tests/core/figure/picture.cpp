#include "tests/core/figure/picture.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
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

bool entities_ok(std::string_view text) {
  for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    const std::array<std::string_view, 5> known{"amp;", "lt;", "gt;", "quot;", "apos;"};
    if (std::none_of(known.begin(), known.end(),
                     [&](std::string_view name) { return rest.starts_with(name); })) {
      return false;
    }
  }
  return true;
}

struct Tag {
  std::string name, fault;
  bool closes = false, empty = false;  // </name>, <name/>
};

// Takes a name off the front; empty where there is none.
std::string take_name(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) != 0 ||
                               std::string_view("_:.-").find(rest[end]) != rest.npos)) {
    ++end;
  }
  const std::string name(rest.substr(0, end));
  rest.remove_prefix(end);
  return name;
}

Tag parse_tag(std::string_view source) {
  Tag tag;
  const auto failed = [&](const char* fault) {
    tag.fault = fault;
    return tag;
  };
  if (source.size() < 3 || source.back() != '>') return failed("no end");
  std::string_view rest = source.substr(1, source.size() - 2);
  tag.closes = rest.starts_with('/');
  if (tag.closes) rest.remove_prefix(1);
  tag.empty = rest.ends_with('/');
  if (tag.empty) rest.remove_suffix(1);
  tag.name = take_name(rest);
  if (tag.name.empty()) return failed("no name");
  while (true) {
    const std::size_t spaces = std::min(rest.find_first_not_of(" \n"), rest.size());
    rest.remove_prefix(spaces);
    if (rest.empty()) return tag;
    if (spaces == 0) return failed("no space before an attribute");
    if (take_name(rest).empty()) return failed("no attribute name");
    if (rest.size() < 3 || rest[0] != '=' || (rest[1] != '"' && rest[1] != '\'')) {
      return failed("no quoted value");
    }
    const std::size_t end = rest.find(rest[1], 2);
    if (end == rest.npos) return failed("no closing quote");
    const std::string_view value = rest.substr(2, end - 2);
    if (value.find('<') != value.npos || !entities_ok(value)) return failed("bad value");
    rest.remove_prefix(end + 1);
  }
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
  if (!text.starts_with("<?xml ")) return "no XML declaration";
  text.remove_prefix(text.find("?>") + 2);
  std::vector<std::string> open;
  bool closed = false;
  while (!text.empty()) {
    if (text[0] != '<') {
      const std::string_view run = text.substr(0, text.find('<'));
      if (!entities_ok(run)) return "bad entity in: " + std::string(run);
      if (open.empty() && run.find_first_not_of(" \n") != run.npos) return "text outside";
      text.remove_prefix(run.size());
      continue;
    }
    const std::string_view source = text.substr(0, text.find('>') + 1);
    const std::string shown = std::string(source.substr(0, 200));
    const Tag tag = parse_tag(source);
    if (!tag.fault.empty()) return tag.fault + " in " + shown;
    if (closed) return "a second root";
    if (tag.closes) {
      if (open.empty() || open.back() != tag.name) return "not open: " + shown;
      open.pop_back();
    } else if (!tag.empty) {
      open.push_back(tag.name);
    }
    closed = open.empty();
    text.remove_prefix(source.size());
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace attnscope::testing
