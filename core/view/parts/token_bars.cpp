#include "core/view/parts/token_bars.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/figure/plain_text.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

constexpr double kRow = 1.5, kRowOfTwo = 1.9;  // em
constexpr double kTokenBarGap = 0.5;           // em between label, bar and number
constexpr double kMaxLabel = 0.34;             // fraction of the width
constexpr double kMinBar = 2;                  // em; next to shorter bars, numbers are abbreviated

// Text after a bar: its number; in comparisons both numbers, or only the second if `is_brief`.
std::string number_of(const TokenBars& bars, const TokenBar& bar, bool is_brief) {
  const auto text = [&](double number) { return bars.shares ? percent(number) : brief(number, 2); };
  if (!bars.two) return text(bar.first);
  return (is_brief ? "" : text(bar.first) + " ") + "→ " + text(bar.second);
}

// Draws a note after the bar if there is space, otherwise inside it if `allow_inside`.
void draw_note(Page& page, const std::string& note, Point at, double length, double width,
               bool allow_inside) {
  const double size = page.small(), gap = kTokenBarGap * page.em();
  if (note.empty()) return;
  const double note_width = page.width_of(note, size);
  if (length + gap + note_width <= width) {
    page.faint_text({at.x + length + gap, at.y}, note, size);
  } else if (allow_inside && note_width + 2 * gap <= length) {
    page.add(Text{{at.x + length - gap, at.y}, note, page.theme().background, size, Align::End});
  }
}

}  // namespace

std::vector<std::string> distinct_labels(const Page& page, std::vector<std::string> labels) {
  if (page.input().session.view.space_markers) return labels;
  std::map<std::string, std::set<std::string>> by_shown_text;
  for (const std::string& label : labels) {
    by_shown_text[without_space_markers(label)].insert(label);
  }
  for (std::string& label : labels) {
    if (by_shown_text[without_space_markers(label)].size() < 2) continue;
    const std::string_view marker = kSpaceMarker;
    for (std::size_t at = 0; (at = label.find(marker, at)) != std::string::npos;) {
      label.replace(at, marker.size(), " ");
    }
    label = "“" + label + "”";
  }
  return labels;
}

void draw_bars_title(Page& page, const Box& box, const std::vector<std::string>& titles,
                     double most) {
  const double em = page.em(), y = box.y + box.height / 2;
  const std::string title = page.fitting(titles, em, box.width);
  page.text({box.x, y}, title, em);
  if (!(most < 1)) return;
  const double space = box.width - page.width_of(title, em) - em;
  for (const std::string& scale : {"full bar: " + percent(most), "to " + percent(most)}) {
    if (page.width_of(scale, page.small()) > space) continue;
    return page.faint_text({box.right(), y}, scale, page.small(), Align::End);
  }
}

double token_bar_height(const Page& page, bool two) {
  return (two ? kRowOfTwo : kRow) * page.em();
}

std::vector<Box> draw_token_bars(Page& page, const Box& box, const TokenBars& bars) {
  const double em = page.em(), gap = kTokenBarGap * em, row = token_bar_height(page, bars.two);
  const auto rows =
      std::min(bars.bars.size(), static_cast<std::size_t>(std::max(0.0, box.height / row + 1e-6)));
  std::vector<std::string> labels;
  for (std::size_t n = 0; n < rows; ++n) labels.push_back(bars.bars[n].label);
  labels = distinct_labels(page, std::move(labels));
  double label_width = 0;
  for (const std::string& label : labels) {
    label_width = std::max(label_width, page.width_of(label, em));
  }
  label_width = std::min(label_width, kMaxLabel * box.width);
  const double left = box.x + label_width + gap;
  const auto width_beside = [&](bool is_brief) {
    double number_width = 0;
    for (std::size_t n = 0; n < rows; ++n) {
      const std::string text = number_of(bars, bars.bars[n], is_brief);
      number_width = std::max(number_width, page.width_of(text, page.small()));
    }
    return box.right() - number_width - gap - left;
  };
  const bool is_brief = bars.two && width_beside(false) < kMinBar * em;
  const double width = width_beside(is_brief);
  std::vector<Box> boxes;
  if (width < em) return boxes;
  for (std::size_t n = 0; n < rows; ++n) {
    const TokenBar& bar = bars.bars[n];
    const double top = box.y + static_cast<double>(n) * row, middle = top + row / 2;
    boxes.push_back({box.x, top, box.width, row});
    const bool is_marked = bars.marked == static_cast<Index>(n);
    const Colour ink = is_marked ? page.theme().accent : page.theme().text;
    page.add(Text{{left - gap, middle},
                  page.ellipsised(labels[n], em, label_width),
                  ink,
                  em,
                  Align::End,
                  0,
                  false});
    const auto length = [&](double value) {
      return std::clamp(value / bars.most, 0.0, 1.0) * width;
    };
    if (bars.two) {
      const double half = 0.38 * row;
      page.add(FilledBox{{left, middle - half, length(bar.first), half}, bars.first});
      page.add(FilledBox{{left, middle, length(bar.second), half}, bars.second});
    } else {
      page.add(FilledBox{{left, middle - 0.36 * row, length(bar.first), 0.72 * row},
                         is_marked ? page.theme().accent : bars.first});
    }
    draw_note(page, bar.note, {left, middle}, length(std::max(bar.first, bar.second)), width,
              !bars.two);
    page.faint_text({box.right(), middle}, number_of(bars, bar, is_brief), page.small(),
                    Align::End);
  }
  page.add(
      Line{{{left, box.y}, {left, box.y + static_cast<double>(rows) * row}}, page.theme().line, 1});
  return boxes;
}

}  // namespace attnscope
