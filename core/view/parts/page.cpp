#include "core/view/parts/page.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/text/tokenizer.h"
#include "core/view/parts/no_space.h"

namespace attnscope {
namespace {

constexpr double kRounding = 1e-6;   // pixels: tolerance, so that a text fits its measured width
constexpr double kCaptionGap = 0.9;  // em above the caption

// True for the first byte of a UTF-8 character.
bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Length in bytes of the first `count` characters.
std::size_t prefix_length(const std::string& text, std::size_t count) {
  std::size_t position = 0;
  while (position < text.size()) {
    if (begins_character(text[position]) && count-- == 0) break;
    ++position;
  }
  return position;
}

std::size_t character_count(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace

Page::Page(const ViewInput& input) : input_(input) {
  list_.width = input.canvas.width;
  list_.height = input.canvas.height;
  list_.background = input.canvas.theme.background;
}

double Page::width_of(const std::string& text, double size, bool bold) const {
  if (!hides_markers(text)) return input_.canvas.measure.width(text, size, bold);
  return input_.canvas.measure.width(without_space_markers(text), size, bold);
}

std::string Page::ellipsised(const std::string& text, double size, double max_width,
                             bool bold) const {
  max_width += kRounding;
  if (width_of(text, size, bold) <= max_width) return text;
  std::size_t fits = 0, too_many = character_count(text);
  const auto shortened = [&](std::size_t count) {
    return text.substr(0, prefix_length(text, count)) + "…";
  };
  while (too_many - fits > 1) {
    const std::size_t middle = (fits + too_many) / 2;
    (width_of(shortened(middle), size, bold) <= max_width ? fits : too_many) = middle;
  }
  if (fits == 0 && width_of("…", size, bold) > max_width) return "";
  return shortened(fits);
}

std::string Page::fitting(const std::vector<std::string>& candidates, double size,
                          double max_width) const {
  for (const std::string& candidate : candidates) {
    if (width_of(candidate, size) <= max_width) return candidate;
  }
  return candidates.empty() ? "" : ellipsised(candidates.back(), size, max_width);
}

std::vector<std::string> Page::wrapped(const std::string& text, double size, double max_width,
                                       std::size_t max_lines, bool bold) const {
  std::vector<std::string> lines;
  std::string line, word;
  std::istringstream words(text);
  const std::string separator = "·";
  while (words >> word) {
    const std::string longer = line.empty() ? word : line + " " + word;
    if (width_of(longer, size, bold) <= max_width) {
      line = longer;
      continue;
    }
    if (line.ends_with(" " + separator)) line.erase(line.size() - separator.size() - 1);
    if (!line.empty()) lines.push_back(std::exchange(line, ""));
    if (word == separator) continue;
    while (width_of(word, size, bold) > max_width && character_count(word) > 1) {
      std::size_t count = character_count(word) - 1;
      while (count > 1 &&
             width_of(word.substr(0, prefix_length(word, count)), size, bold) > max_width) {
        --count;
      }
      lines.push_back(word.substr(0, prefix_length(word, count)));
      word.erase(0, prefix_length(word, count));
    }
    line = word;
  }
  if (!line.empty()) lines.push_back(line);
  if (lines.size() <= max_lines) return lines;
  const std::string next = lines[max_lines];
  lines.resize(max_lines);
  lines.back() = ellipsised(lines.back() + " " + next, size, max_width, bold);
  return lines;
}

bool Page::hides_markers(const std::string& text) const {
  return !input_.session.view.space_markers && text.find(kSpaceMarker) != std::string::npos;
}

void Page::add(Item item) {
  if (auto* text = std::get_if<Text>(&item); text != nullptr && hides_markers(text->text)) {
    text->text = without_space_markers(text->text);
  }
  list_.items.push_back(std::move(item));
}

void Page::text(Point at, const std::string& text, double size, Align align, double angle) {
  add(Text{at, text, theme().text, size, align, angle});
}

void Page::faint_text(Point at, const std::string& text, double size, Align align, double angle) {
  add(Text{at, text, theme().faint_text, size, align, angle});
}

void Page::tag(Point at, const std::string& text, const Box& within) {
  constexpr double kOffset = 0.9, kHeight = 1.7, kPadding = 0.5;  // em
  const double width = width_of(text, em(), true) + 2 * kPadding * em();
  Box box{at.x + kOffset * em(), at.y + kOffset * em(), width, kHeight * em()};
  if (box.right() > within.right()) box.x = at.x - kOffset * em() - width;
  if (box.bottom() > within.bottom()) box.y = at.y - kOffset * em() - box.height;
  box.x = std::max(box.x, within.x);
  box.y = std::max(box.y, within.y);
  add(FilledBox{box, theme().background, 0.25 * em()});
  add(OutlinedBox{box, theme().accent, 1.5});
  add(Text{{box.x + width / 2, box.y + box.height / 2},
           text,
           theme().text,
           em(),
           Align::Middle,
           0,
           true});
}

namespace {

// `replacement` or, if that is empty, `fallback`; empty if not visible.
std::string text_or_default(bool is_visible, const std::string& replacement,
                            const std::string& fallback) {
  if (!is_visible) return "";
  return replacement.empty() ? fallback : replacement;
}

}  // namespace

Box Page::frame(const std::string& default_title, const std::string& default_caption) {
  constexpr double kTitleSize = 1.25;                                // in em
  constexpr double kMaxTitleHeight = 0.14, kMaxCaptionHeight = 0.3;  // fractions of the height
  const double gap = 0.6 * em();
  Box inside{gap, gap, input_.canvas.width - 2 * gap, input_.canvas.height - 2 * gap};
  if (!input_.figure.framed) return inside;

  const FigureParts& parts = input_.figure.parts;
  const std::string title = text_or_default(parts.title, parts.title_text, default_title);
  const std::string caption = text_or_default(parts.caption, parts.caption_text, default_caption);
  const double margin = 1.1 * em();
  inside = {margin, margin, input_.canvas.width - 2 * margin, input_.canvas.height - 2 * margin};
  const double title_size = kTitleSize * em(), title_line = title_size * kLineHeight;
  const auto lines_in = [](double height, double line) {
    return static_cast<std::size_t>(std::max(1.0, std::floor(height / line)));
  };
  double title_y = inside.y + title_line / 2;
  for (const std::string& line :
       wrapped(title, title_size, inside.width,
               lines_in(input_.canvas.height * kMaxTitleHeight, title_line), true)) {
    add(Text{{inside.x, title_y}, line, theme().text, title_size, Align::Start, 0, true});
    title_y += title_line;
  }
  const double title_height = title.empty() ? 0 : title_y - title_line / 2 - inside.y + gap;

  const double line_height = small() * kLineHeight;
  const std::vector<std::string> lines =
      wrapped(caption, small(), inside.width,
              lines_in(input_.canvas.height * kMaxCaptionHeight, line_height));
  const double caption_height = static_cast<double>(lines.size()) * line_height;
  caption_top_ = inside.bottom() - caption_height;
  caption_gap_ = lines.empty() ? 0 : kCaptionGap * em();
  caption_first_ = list_.items.size();
  double y = caption_top_ + line_height / 2;
  for (const std::string& line : lines) {
    faint_text({inside.x, y}, line, small());
    y += line_height;
  }
  caption_last_ = list_.items.size();
  const double used = title_height + caption_height + caption_gap_;
  return {inside.x, inside.y + title_height, inside.width, std::max(0.0, inside.height - used)};
}

double Page::top_margin(double space, double content) const {
  const bool is_cropped = input_.figure.framed && input_.figure.tight;
  return is_cropped ? 0 : std::max(0.0, (space - content) / 2);
}

DisplayList Page::take(double content_bottom) {
  const double spare = caption_top_ - content_bottom - caption_gap_;
  if (input_.figure.framed && input_.figure.tight && spare > 0) {
    for (std::size_t i = caption_first_; i < caption_last_; ++i) {
      std::get<Text>(list_.items[i]).at.y -= spare;
    }
    list_.height = std::ceil(list_.height - spare);
  }
  return std::move(list_);
}

ViewLayout Page::message(const std::string& headline, const std::string& advice,
                         const std::string& pending) {
  list_.items.clear();
  const double margin = std::min(2 * em(), 0.05 * input_.canvas.width);
  const double width = std::min(input_.canvas.width - 2 * margin, 36 * em());
  const double headline_size = 1.25 * em(), gap = 0.4 * em();
  struct Paragraph {
    std::vector<std::string> lines;
    double size;
    Colour colour;
  };
  std::vector<Paragraph> paragraphs{
      {wrapped(headline, headline_size, width), headline_size, theme().text},
      {wrapped(advice, em(), width), em(), theme().faint_text}};
  const auto height = [&] {
    double sum = gap;
    for (const Paragraph& p : paragraphs)
      sum += static_cast<double>(p.lines.size()) * p.size * kLineHeight;
    return sum;
  };
  // Drops lines from the end until the text fits.
  while (!paragraphs.empty() && height() > input_.canvas.height) {
    if (!paragraphs.back().lines.empty()) paragraphs.back().lines.pop_back();
    if (paragraphs.back().lines.empty()) paragraphs.pop_back();
  }
  double y = (input_.canvas.height - height()) / 2;
  for (const Paragraph& p : paragraphs) {
    for (const std::string& line : p.lines) {
      y += p.size * kLineHeight / 2;
      add(Text{{input_.canvas.width / 2, y},
               ellipsised(line, p.size, input_.canvas.width),
               p.colour,
               p.size,
               Align::Middle});
      y += p.size * kLineHeight / 2;
    }
    y += gap;
  }
  ViewLayout layout;
  layout.list = std::move(list_);
  layout.hit = [](Point) { return std::optional<Hit>(); };
  layout.refusal = headline + ". " + advice;
  layout.pending = pending;
  return layout;
}

ViewLayout no_space(Page& page) {
  return page.message(kNoSpace, "Make it larger, or the text smaller.");
}

Colour blend(Colour a, Colour b, double fraction) {
  const auto mix = [fraction](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + fraction * (to - from)));
  };
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), mix(a.a, b.a)};
}

Colour ink_on(Colour background) {
  // Relative luminance, roughly: the weights of Rec. 709 on the encoded values.
  const double luminance =
      (0.2126 * background.r + 0.7152 * background.g + 0.0722 * background.b) / 255;
  return luminance > 0.5 ? Colour{0, 0, 0, 255} : Colour{255, 255, 255, 255};
}

Colour translucent(Colour colour, double opacity) {
  colour.a = static_cast<std::uint8_t>(std::lround(colour.a * opacity));
  return colour;
}

}  // namespace attnscope
