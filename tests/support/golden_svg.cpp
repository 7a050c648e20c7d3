#include "tests/support/golden_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/figure/heat_map.h"
#include "core/figure/plain_text.h"
#include "tests/support/golden.h"

namespace attnscope::testing {
namespace {

std::string format_number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::string(text) == "-0.0" ? "0.0" : text;
}

std::string coordinate(double value) {
  return format_number("%.1f", value);
}

std::string number(double value) {
  if (std::isnan(value)) return "none";
  const double size = std::abs(value);
  if (size < 5e-5) return "0.0000";
  return format_number(size < 100 ? "%.4f" : size < 1e4 ? "%.1f" : "%.4e", value);
}

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + value + "\"";
}

std::string box_attributes(const Box& box) {
  return attribute("x", coordinate(box.x)) + attribute("y", coordinate(box.y)) +
         attribute("width", coordinate(box.width)) + attribute("height", coordinate(box.height));
}

std::string colour_attributes(const std::string& name, Colour c) {
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  return attribute(name, text) +
         (c.a == 255 ? "" : attribute(name + "-opacity", format_number("%.2f", c.a / 255.0)));
}

std::string with_title(const std::string& element, const std::string& title) {
  return title.empty() ? element + "/>\n" : element + "><title>" + title + "</title></rect>\n";
}

struct Statistics {
  explicit Statistics(const Tensor& values) {
    double sum = 0;
    for (Index n = 0; n < values.size(); ++n) {
      const auto value = static_cast<double>(values[n]);
      if (!std::isfinite(value)) {
        ++missing;
        continue;
      }
      sum += value;
      min_value = std::min(min_value, value);
      max_value = std::max(max_value, value);
    }
    const Index count = values.size() - missing;
    if (count == 0) min_value = max_value = NAN;
    mean = count == 0 ? NAN : sum / static_cast<double>(count);
  }
  std::string text() const {
    return number(min_value) + " to " + number(max_value) + ", mean " + number(mean) +
           (missing == 0 ? "" : ", " + std::to_string(missing) + " missing");
  }
  double min_value = INFINITY, max_value = -INFINITY, mean = 0;
  Index missing = 0;
};

std::string size_text(Index rows, Index columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

std::string heat_map_title(const HeatMap& map) {
  const Tensor cells = heat_map_cells(map);
  std::string text = size_text(cells.dim(0), cells.dim(1)) + " cells";
  if (map.row != 0 || map.column != 0 || map.height != static_cast<double>(cells.dim(0)) ||
      map.width != static_cast<double>(cells.dim(1))) {
    text += ", shown from row " + coordinate(map.row) + " column " + coordinate(map.column) + ": " +
            coordinate(map.height) + " x " + coordinate(map.width);
  }
  if (map.hollow) return text + ", missing cells only";
  text += ", " + map.colour_map + " from " + number(map.least) + " to " + number(map.most);
  if (cells.size() == 0) return text;
  text += ", values " + Statistics(cells).text() + "; ";
  const Index rows = cells.dim(0), columns = cells.dim(1);
  const std::array<std::pair<Index, Index>, 4> samples{
      {{0, 0}, {rows / 2, columns / 4}, {rows - 1, columns / 2}, {rows - 1, columns - 1}}};
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const auto [row, column] = samples[n];
    text += (n == 0 ? "[" : ", [") + std::to_string(row) + "," + std::to_string(column) + "] " +
            number(static_cast<double>(cells(row, column)));
  }
  return text;
}

class ReadableSvg {
 public:
  explicit ReadableSvg(const DisplayList& list) {
    text_ =
        "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", coordinate(list.width)) +
        attribute("height", coordinate(list.height)) +
        attribute("font-family", "DejaVu Sans, sans-serif") +
        attribute("style", "background:" + colour_attributes("", list.background).substr(3, 7)) +
        ">\n";
    for (std::size_t n = 0; n < list.items.size();) {
      const std::size_t dashes = count_dashes(list.items, n);
      if (dashes >= kDashes) {
        add_dashes(list.items, n, dashes);
        n += dashes;
      } else {
        std::visit(*this, list.items[n++]);
      }
    }
    for (; open_clips_ > 0; --open_clips_) text_ += "</g>\n";
  }
  void add(const std::string& line) { text_ += line; }
  std::string finish() { return std::move(text_) + "</svg>\n"; }

  void operator()(const FilledBox& item) {
    text_ += "<rect" + box_attributes(item.box) +
             (item.radius > 0 ? attribute("rx", coordinate(item.radius)) : "") +
             colour_attributes("fill", item.colour) + "/>\n";
  }
  void operator()(const OutlinedBox& item) {
    text_ += "<rect" + box_attributes(item.box) + attribute("fill", "none") +
             colour_attributes("stroke", item.colour) + stroke_width(item.thickness) + "/>\n";
  }
  void operator()(const Line& item) {
    std::string points;
    for (const Point& p : item.points) {
      points += (points.empty() ? "" : " ") + coordinate(p.x) + "," + coordinate(p.y);
    }
    text_ += "<polyline" + attribute("points", points) + attribute("fill", "none") +
             colour_attributes("stroke", item.colour) + stroke_width(item.thickness) + "/>\n";
  }
  void operator()(const Text& item) {
    const char* const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    // Rotates the text about its anchor, then shifts it down to the baseline.
    text_ += "<text" + attribute("x", coordinate(item.at.x)) +
             attribute("y", coordinate(item.at.y)) +
             attribute("dy", coordinate(kBaselineShift * item.size)) +
             (item.angle == 0 ? ""
                              : attribute("transform", "rotate(" + coordinate(-item.angle) + " " +
                                                           coordinate(item.at.x) + " " +
                                                           coordinate(item.at.y) + ")")) +
             attribute("font-size", coordinate(item.size)) + anchors[static_cast<int>(item.align)] +
             (item.bold ? " font-weight=\"bold\"" : "") + colour_attributes("fill", item.colour) +
             ">" + markup(item.text) + "</text>\n";
  }
  void operator()(const HeatMap& item) {
    text_ += with_title("<rect" + box_attributes(item.box) + attribute("class", "heat-map") +
                            attribute("fill-opacity", "0.1"),
                        heat_map_title(item));
  }
  void operator()(const ColourImage& item) {
    const std::string size = item.colours.empty()
                                 ? "empty"
                                 : size_text(item.colours.dim(0), item.colours.dim(1)) +
                                       " pixels, " + Statistics(item.colours).text();
    text_ += with_title("<rect" + box_attributes(item.box) + attribute("class", "image") +
                            attribute("fill-opacity", "0.1"),
                        size);
  }
  void operator()(const Clip& item) {
    if (!item.box) {
      text_ += open_clips_ > 0 ? "</g>\n" : "";
      open_clips_ = std::max(0, open_clips_ - 1);
      return;
    }
    const Box& b = *item.box;
    const auto corner = [](double x, double y) { return coordinate(x) + "," + coordinate(y); };
    text_ +=
        "<g" +
        attribute("style", "clip-path:path('M" + corner(b.x, b.y) + " H" + coordinate(b.right()) +
                               " V" + coordinate(b.bottom()) + " H" + coordinate(b.x) + " Z')") +
        ">\n";
    ++open_clips_;
  }

 private:
  // At least kDashes consecutive lines of one style are a dashed line, which is written as one
  // element.
  static constexpr std::size_t kDashes = 8;
  static std::size_t count_dashes(const std::vector<Item>& items, std::size_t first) {
    const auto* begin = std::get_if<Line>(&items[first]);
    std::size_t count = 0;
    for (; begin != nullptr && first + count < items.size(); ++count) {
      const auto* line = std::get_if<Line>(&items[first + count]);
      if (line == nullptr || line->points.size() > 4 || line->colour != begin->colour ||
          line->thickness != begin->thickness) {
        break;
      }
    }
    return count;
  }
  void add_dashes(const std::vector<Item>& items, std::size_t first, std::size_t count) {
    std::string path;
    for (std::size_t n = first; n < first + count; ++n) {
      char command = 'M';
      for (const Point& p : std::get<Line>(items[n]).points) {
        path += (path.empty() ? "" : " ") + (command + coordinate(p.x)) + "," + coordinate(p.y);
        command = 'L';
      }
    }
    const auto& line = std::get<Line>(items[first]);
    text_ += "<path" + attribute("d", path) + attribute("fill", "none") +
             colour_attributes("stroke", line.colour) + stroke_width(line.thickness) + "/>\n";
  }
  static std::string stroke_width(double thickness) {
    return thickness == 1 ? "" : attribute("stroke-width", format_number("%.2f", thickness));
  }

  std::string text_;
  int open_clips_ = 0;
};

std::string hit_text(const Hit& hit) {
  std::string text = "layer " + std::to_string(hit.layer) + " head " + std::to_string(hit.head);
  if (hit.query >= 0) text += " query " + std::to_string(hit.query);
  if (hit.key >= 0) text += " key " + std::to_string(hit.key);
  if (hit.of_reference) text += " of reference";
  if (!hit.shown.empty()) text += ": " + hit.shown;
  return text;
}

}  // namespace

double PlainMeasure::width(const std::string& text, double size, bool bold) const {
  int letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return 0.56 * size * letters * (bold ? 1.1 : 1);
}

std::string readable_svg(const DisplayList& list) {
  return ReadableSvg(list).finish();
}

std::string readable_svg(const ViewLayout& layout) {
  ReadableSvg svg(layout.list);
  const std::string no_fill = attribute("fill", "none");
  if (layout.plot.width > 0) {
    svg.add(with_title("<rect" + box_attributes(layout.plot) + attribute("class", "plot") + no_fill,
                       "rows from " + coordinate(layout.row) + ": " + coordinate(layout.height) +
                           " of " + std::to_string(layout.rows) + ", columns from " +
                           coordinate(layout.column) + ": " + coordinate(layout.width) + " of " +
                           std::to_string(layout.columns)));
  }
  for (const Handle& handle : layout.handles) {
    svg.add(
        with_title("<rect" + box_attributes(handle.area) + attribute("class", "handle") + no_fill,
                   markup(handle.help)));
  }
  constexpr int kSteps = 3;
  const Box area =
      layout.plot.width > 0 ? layout.plot : Box{0, 0, layout.list.width, layout.list.height};
  for (int n = 0; n < kSteps * kSteps; ++n) {
    const Point p{area.x + (n % kSteps + 0.45) / kSteps * area.width,
                  area.y + (static_cast<double>(n / kSteps) + 0.45) / kSteps * area.height};
    const std::optional<Hit> hit = layout.hit(p);
    if (!hit) continue;
    svg.add("<circle" + attribute("cx", coordinate(p.x)) + attribute("cy", coordinate(p.y)) +
            attribute("r", "2") + attribute("class", "hit") + no_fill + "><title>" +
            markup(hit_text(*hit)) + "</title></circle>\n");
  }
  return svg.finish();
}

::testing::AssertionResult matches_golden_svg(const DisplayList& list, const std::string& path) {
  return matches_golden_rounded(readable_svg(list), path);
}

::testing::AssertionResult matches_golden_svg(const ViewLayout& layout, const std::string& path) {
  return matches_golden_rounded(readable_svg(layout), path);
}

ViewLayout lay_out_plain(const Trace& trace, const Session& session, const Findings& findings,
                         const PageStyle& style) {
  const PlainMeasure measure;
  const ViewInput input{.trace = trace,
                        .session = session,
                        .findings = findings,
                        .canvas = {.width = style.width,
                                   .height = style.height,
                                   .theme = style.dark ? Theme::dark() : Theme::light(),
                                   .measure = measure},
                        .figure = {.framed = style.framed},
                        .interaction = {.pointer = style.pointer}};
  return view(session.view.id).lay_out(input);
}

std::string describe_data(const Trace& trace, const Session& session, const Findings& findings) {
  const View& current_view = view(session.view.id);
  if (!current_view.data) return "";
  const PlainMeasure measure;
  const ViewInput input{.trace = trace,
                        .session = session,
                        .findings = findings,
                        .canvas = {.theme = Theme::light(), .measure = measure}};
  std::string text;
  try {
    for (const ViewData::Matrix& matrix : current_view.data(input).matrices) {
      text += "  " + matrix.name + " " + to_string(matrix.values.shape()) + ": " +
              Statistics(matrix.values).text();
      if (!matrix.rows.empty()) {
        text += "; rows " + matrix.rows.front() + " to " + matrix.rows.back();
      }
      text += "\n";
    }
  } catch (const InputError& e) {
    text = std::string("  error: ") + e.what() + "\n";
  }
  return text;
}

}  // namespace attnscope::testing
