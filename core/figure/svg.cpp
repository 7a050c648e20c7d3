#include "core/figure/svg.h"

#include <algorithm>
#include <cmath>

#include "core/base/base64.h"
#include "core/figure/heat_map.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"

namespace attnscope {
namespace {

std::string attribute(std::string_view name, double value) {
  std::string number = fixed(value, 3);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return " " + std::string(name) + "=\"" + number + "\"";
}

std::string box_attributes(const Box& box) {
  return attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
         attribute("height", box.height);
}

std::string colour_attributes(std::string_view name, const Colour& c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = " " + std::string(name) + "=\"#";
  for (const std::uint8_t v : {c.r, c.g, c.b}) {
    text += kDigits[v >> 4];
    text += kDigits[v & 15];
  }
  text += '"';
  if (c.a != 255) text += attribute(std::string(name) + "-opacity", c.a / 255.0);
  return text;
}

class SvgWriter {
 public:
  explicit SvgWriter(const DisplayList& list, const PictureMetadata& metadata) {
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" +
           std::string(" xmlns:xlink=\"http://www.w3.org/1999/xlink\"") +
           attribute("width", list.width) + attribute("height", list.height) + " viewBox=\"0 0 " +
           fixed(list.width, 2) + " " + fixed(list.height, 2) +
           "\" font-family=\"Inter, 'DejaVu Sans', Verdana, sans-serif\" "
           "style=\"font-feature-settings:'tnum','calt' 0\">\n";
    for (const auto& [keyword, text] : metadata) {
      const std::string tag = keyword == "Title" ? "title" : "metadata";
      const std::string id = keyword == "Title" ? "" : " id=\"" + markup(keyword) + "\"";
      out_ += "<" + tag + id + ">" + markup(text) + "</" + tag + ">\n";
    }
    (*this)(FilledBox{{0, 0, list.width, list.height}, list.background});
    for (const Item& item : list.items) std::visit(*this, item);
    while (open_clips_ > 0) close_clip();
    out_ += "</svg>\n";
  }

  std::string take() { return std::move(out_); }

  void operator()(const FilledBox& item) {
    out_ += "<rect" + box_attributes(item.box) + colour_attributes("fill", item.colour);
    if (item.radius > 0) out_ += attribute("rx", item.radius);
    out_ += "/>\n";
  }

  void operator()(const OutlinedBox& item) {
    out_ += "<rect" + box_attributes(item.box) + " fill=\"none\"" +
            colour_attributes("stroke", item.colour) + attribute("stroke-width", item.thickness) +
            "/>\n";
  }

  void operator()(const Line& item) {
    out_ += "<polyline fill=\"none\" points=\"";
    for (const Point& p : item.points) out_ += fixed(p.x, 2) + "," + fixed(p.y, 2) + " ";
    if (!item.points.empty()) out_.pop_back();
    out_ += "\"" + colour_attributes("stroke", item.colour) +
            attribute("stroke-width", item.thickness) +
            " stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n";
  }

  void operator()(const Text& item) {
    // The text is rotated about the anchor, then moved down to the baseline in the rotated frame.
    const std::string transform = "translate(" + fixed(item.at.x, 2) + "," + fixed(item.at.y, 2) +
                                  ")" +
                                  (item.angle == 0 ? "" : " rotate(" + fixed(-item.angle, 2) + ")");
    out_ += "<text xml:space=\"preserve\" transform=\"" + transform + "\"" +
            attribute("y", kBaselineShift * item.size) + attribute("font-size", item.size) +
            colour_attributes("fill", item.colour);
    if (item.bold) out_ += " font-weight=\"bold\"";
    if (item.align == Align::Middle) out_ += " text-anchor=\"middle\"";
    if (item.align == Align::End) out_ += " text-anchor=\"end\"";
    out_ += ">" + markup(item.text) + "</text>\n";
  }

  void operator()(const HeatMap& item) {
    const int width = static_cast<int>(std::ceil(item.box.width * kVectorPixels));
    const int height = static_cast<int>(std::ceil(item.box.height * kVectorPixels));
    if (width < 1 || height < 1) return;
    stretch(rasterise(item, width, height), item.box);
  }

  void operator()(const ColourImage& item) {
    if (item.colours.empty()) return;
    const Image image = image_of(item.colours);
    // Some SVG viewers ignore image-rendering and would blur the cells.
    const int width = static_cast<int>(std::ceil(item.box.width * kVectorPixels));
    const int height = static_cast<int>(std::ceil(item.box.height * kVectorPixels));
    const bool is_enlarged = width > image.width && height > image.height;
    stretch(is_enlarged ? resized(image, width, height) : image, item.box);
  }

  void operator()(const Clip& item) {
    if (!item.box) {
      if (open_clips_ > 0) close_clip();
      return;
    }
    const std::string id = "clip" + std::to_string(++clip_count_);
    out_ += "<clipPath id=\"" + id + "\"><rect" + box_attributes(*item.box) +
            "/></clipPath>\n<g clip-path=\"url(#" + id + ")\">\n";
    ++open_clips_;
  }

 private:
  void stretch(const Image& image, const Box& box) {
    out_ += "<image" + box_attributes(box) +
            " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\""
            " xlink:href=\"data:image/png;base64," +
            to_base64(encode_png(image, {})) + "\"/>\n";
  }

  void close_clip() {
    out_ += "</g>\n";
    --open_clips_;
  }

  std::string out_;
  int clip_count_ = 0, open_clips_ = 0;
};

}  // namespace

std::string encode_svg(const DisplayList& list, const PictureMetadata& metadata) {
  return SvgWriter(list, metadata).take();
}

}  // namespace attnscope
