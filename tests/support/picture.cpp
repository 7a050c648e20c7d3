#include "tests/support/picture.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <vector>

namespace attnscope::testing {
namespace {

bool has_valid_entities(std::string_view text) {
  for (std::size_t position = text.find('&'); position != text.npos;
       position = text.find('&', position + 1)) {
    const std::string_view rest = text.substr(position + 1);
    const std::array<std::string_view, 5> entities{"amp;", "lt;", "gt;", "quot;", "apos;"};
    if (std::none_of(entities.begin(), entities.end(),
                     [&](std::string_view name) { return rest.starts_with(name); })) {
      return false;
    }
  }
  return true;
}

struct Tag {
  std::string name, error;
  bool is_closing = false, is_empty = false;  // </name>, <name/>
};

// Removes and returns a name at the front; empty if the text does not begin with a name.
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
  const auto fail = [&](const char* error) {
    tag.error = error;
    return tag;
  };
  if (source.size() < 3 || source.back() != '>') return fail("no closing >");
  std::string_view rest = source.substr(1, source.size() - 2);
  tag.is_closing = rest.starts_with('/');
  if (tag.is_closing) rest.remove_prefix(1);
  tag.is_empty = rest.ends_with('/');
  if (tag.is_empty) rest.remove_suffix(1);
  tag.name = consume_name(rest);
  if (tag.name.empty()) return fail("no name");
  while (true) {
    const std::size_t spaces = std::min(rest.find_first_not_of(" \n"), rest.size());
    rest.remove_prefix(spaces);
    if (rest.empty()) return tag;
    if (spaces == 0) return fail("no space before an attribute");
    if (consume_name(rest).empty()) return fail("no attribute name");
    if (rest.size() < 3 || rest[0] != '=' || (rest[1] != '"' && rest[1] != '\'')) {
      return fail("no quoted value");
    }
    const std::size_t end = rest.find(rest[1], 2);
    if (end == rest.npos) return fail("no closing quote");
    const std::string_view value = rest.substr(2, end - 2);
    if (value.find('<') != value.npos || !has_valid_entities(value))
      return fail("invalid attribute value");
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
  const std::size_t offset =
      4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
           static_cast<std::size_t>(x));
  return {image.rgba.at(offset), image.rgba.at(offset + 1), image.rgba.at(offset + 2),
          image.rgba.at(offset + 3)};
}

std::string xml_error(std::string_view text) {
  if (!text.starts_with("<?xml ")) return "no XML declaration";
  text.remove_prefix(text.find("?>") + 2);
  std::vector<std::string> open;
  bool is_complete = false;
  while (!text.empty()) {
    if (text[0] != '<') {
      const std::string_view text_run = text.substr(0, text.find('<'));
      if (!has_valid_entities(text_run)) return "bad entity in: " + std::string(text_run);
      if (open.empty() && text_run.find_first_not_of(" \n") != text_run.npos)
        return "text outside of the root";
      text.remove_prefix(text_run.size());
      continue;
    }
    const std::string_view source = text.substr(0, text.find('>') + 1);
    const std::string excerpt = std::string(source.substr(0, 200));
    const Tag tag = parse_tag(source);
    if (!tag.error.empty()) return tag.error + " in " + excerpt;
    if (is_complete) return "a second root";
    if (tag.is_closing) {
      if (open.empty() || open.back() != tag.name) return "no opening tag for: " + excerpt;
      open.pop_back();
    } else if (!tag.is_empty) {
      open.push_back(tag.name);
    }
    is_complete = open.empty();
    text.remove_prefix(source.size());
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace attnscope::testing
