#include "tests/support/picture.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <vector>

namespace attnscope::testing {
namespace {

bool entities_ok(std::string_view text) {
  for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    const std::array<std::string_view, 5> entities{"amp;", "lt;", "gt;", "quot;", "apos;"};
    if (std::none_of(entities.begin(), entities.end(),
                     [&](std::string_view name) { return rest.starts_with(name); })) {
      return false;
    }
  }
  return true;
}

struct Tag {
  std::string name, layout_error;
  bool closes = false, empty = false;  // </name>, <name/>
};

// Removes a name from the front; empty if there is none.
std::string consume_name(std::string_view& rest) {
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
  const auto with_fault = [&](const char* layout_error) {
    tag.layout_error = layout_error;
    return tag;
  };
  if (source.size() < 3 || source.back() != '>') return with_fault("no end");
  std::string_view rest = source.substr(1, source.size() - 2);
  tag.closes = rest.starts_with('/');
  if (tag.closes) rest.remove_prefix(1);
  tag.empty = rest.ends_with('/');
  if (tag.empty) rest.remove_suffix(1);
  tag.name = consume_name(rest);
  if (tag.name.empty()) return with_fault("no name");
  while (true) {
    const std::size_t spaces = std::min(rest.find_first_not_of(" \n"), rest.size());
    rest.remove_prefix(spaces);
    if (rest.empty()) return tag;
    if (spaces == 0) return with_fault("no space before an attribute");
    if (consume_name(rest).empty()) return with_fault("no attribute name");
    if (rest.size() < 3 || rest[0] != '=' || (rest[1] != '"' && rest[1] != '\'')) {
      return with_fault("no quoted value");
    }
    const std::size_t end = rest.find(rest[1], 2);
    if (end == rest.npos) return with_fault("no closing quote");
    const std::string_view value = rest.substr(2, end - 2);
    if (value.find('<') != value.npos || !entities_ok(value)) return with_fault("bad value");
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

Image decode_png(std::string_view png) {
  png_image decoder{};
  decoder.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&decoder, png.data(), png.size()) == 0) {
    throw std::runtime_error(decoder.message);
  }
  decoder.format = PNG_FORMAT_RGBA;
  Image image{static_cast<int>(decoder.width), static_cast<int>(decoder.height), {}};
  image.rgba.resize(PNG_IMAGE_SIZE(decoder));
  if (png_image_finish_read(&decoder, nullptr, image.rgba.data(), 0, nullptr) == 0) {
    throw std::runtime_error(decoder.message);
  }
  return image;
}

Colour pixel(const Image& image, int x, int y) {
  const std::size_t at = 4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                              static_cast<std::size_t>(x));
  return {image.rgba.at(at), image.rgba.at(at + 1), image.rgba.at(at + 2), image.rgba.at(at + 3)};
}

std::string xml_error(std::string_view text) {
  if (!text.starts_with("<?xml ")) return "no XML declaration";
  text.remove_prefix(text.find("?>") + 2);
  std::vector<std::string> open;
  bool is_complete = false;
  while (!text.empty()) {
    if (text[0] != '<') {
      const std::string_view run = text.substr(0, text.find('<'));
      if (!entities_ok(run)) return "bad entity in: " + std::string(run);
      if (open.empty() && run.find_first_not_of(" \n") != run.npos) return "text outside";
      text.remove_prefix(run.size());
      continue;
    }
    const std::string_view source = text.substr(0, text.find('>') + 1);
    const std::string excerpt = std::string(source.substr(0, 200));
    const Tag tag = parse_tag(source);
    if (!tag.layout_error.empty()) return tag.layout_error + " in " + excerpt;
    if (is_complete) return "a second root";
    if (tag.closes) {
      if (open.empty() || open.back() != tag.name) return "not open: " + excerpt;
      open.pop_back();
    } else if (!tag.empty) {
      open.push_back(tag.name);
    }
    is_complete = open.empty();
    text.remove_prefix(source.size());
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace attnscope::testing
