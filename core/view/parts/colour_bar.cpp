#include "core/view/parts/colour_bar.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/figure/ticks.h"

namespace attnscope {
namespace {

constexpr double kGapWidth = 1.0;         // em
constexpr double kBarWidth = 0.95;        // em
constexpr double kBarNumberGap = 0.5;     // em from the bar to the numbers
constexpr double kTitleWidth = 1.6;       // em
constexpr double kBarTitleMiddle = 0.7;   // em from the outer edge
constexpr double kBarTickDistance = 2.6;  // em
constexpr double kNumberLine = 1.2;       // minimum distance of numbers, in their font size

// Draws the range's colours in `box`, the largest at the top or on the right.
void draw_colours(Page& page, const Box& box, const std::string& colour_map, bool is_horizontal) {
  constexpr Index kColours = 256;
  HeatMap colours;
  colours.box = box;
  colours.values = Tensor(is_horizontal ? Shape{1, kColours} : Shape{kColours, 1});
  for (Index i = 0; i < kColours; ++i) {
    const float position = static_cast<float>(i) / (kColours - 1);
    colours.values[i] = is_horizontal ? position : 1 - position;
  }
  colours.height = static_cast<double>(colours.values.dim(0));
  colours.width = static_cast<double>(colours.values.dim(1));
  colours.colour_map = colour_map;
  page.add(std::move(colours));
  page.add(OutlinedBox{box, page.theme().line, 1});
}

bool is_diverging(const ColourRange& range) {
  return colour_map(range.colour_map).diverging();
}

// Position of a magnitude, from 0 (lower end, or middle of diverging colours) to 1 (upper end).
double magnitude_position(const ColourRange& range, double magnitude) {
  if (range.scale == ColourRange::Scale::Log) {
    if (!(magnitude > range.smallest)) return 0;
    return std::min(1.0,
                    std::log(magnitude / range.smallest) / std::log(range.most / range.smallest));
  }
  if (!(magnitude > 0) || range.ranked.empty()) return 0;
  const auto above = std::upper_bound(range.ranked.begin(), range.ranked.end(), magnitude);
  return static_cast<double>(above - range.ranked.begin()) /
         static_cast<double>(range.ranked.size());
}

double magnitude_at(const ColourRange& range, double position) {
  if (range.scale == ColourRange::Scale::Log) {
    return range.smallest * std::pow(range.most / range.smallest, position);
  }
  if (range.ranked.empty() || position <= 0) return 0;
  const auto rank = static_cast<std::size_t>(
      std::ceil(position * static_cast<double>(range.ranked.size()) - 1e-9));
  return static_cast<double>(range.ranked[std::min(rank, range.ranked.size()) - 1]);
}

// Ticks in ascending order; for diverging colours, mirrored about the middle.
std::vector<Tick> mirror_if_diverging(const std::vector<std::pair<double, std::string>>& upper,
                                      const ColourRange& range) {
  std::vector<Tick> ticks;
  if (!is_diverging(range)) {
    for (const auto& [position, text] : upper) ticks.push_back({position, text});
    return ticks;
  }
  for (auto tick = upper.rbegin(); tick != upper.rend(); ++tick) {
    if (tick->first > 0) ticks.push_back({0.5 - tick->first / 2, "−" + tick->second});
  }
  const bool has_middle = !upper.empty() && upper.front().first <= 0;
  ticks.push_back({0.5, has_middle && range.scale == ColourRange::Scale::Log
                            ? "±" + upper.front().second
                            : "0"});
  for (const auto& [position, text] : upper) {
    if (position > 0) ticks.push_back({0.5 + position / 2, text});
  }
  return ticks;
}

// Short enough for the space beside a bar: "0.25", "3e-5".
std::string short_text(double number) {
  constexpr double kFewDigits = 0.0095;
  return brief(number, std::abs(number) < kFewDigits ? 1 : 2);
}

// Powers of ten, or every n-th power if there are more than `count`. A range of less than two
// decades also has ticks at 2 and 5 times a power.
std::vector<Tick> log_ticks(const ColourRange& range, int count) {
  const double low = std::log10(range.smallest), high = std::log10(range.most);
  const double step = std::max(1.0, std::ceil((high - low) / std::max(1, count)));
  std::vector<std::pair<double, std::string>> upper;
  const bool is_narrow = high - low < 2;
  for (double power = std::floor(low); power <= high; power += step) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !is_narrow) break;
      const double number = factor * std::pow(10, power);
      const double position =
          std::log(number / range.smallest) / std::log(range.most / range.smallest);
      if (position < -1e-9 || position > 1 + 1e-9) continue;
      upper.emplace_back(std::clamp(position, 0.0, 1.0), short_text(number));
    }
  }
  return mirror_if_diverging(upper, range);
}

std::vector<Tick> rank_ticks(const ColourRange& range, int count) {
  const int steps = std::clamp(is_diverging(range) ? count / 2 : count, 1, 4);
  std::vector<std::pair<double, std::string>> upper;
  for (int i = 0; i <= steps; ++i) {
    const double position = static_cast<double>(i) / steps;
    upper.emplace_back(position, short_text(magnitude_at(range, position)));
  }
  return mirror_if_diverging(upper, range);
}

}  // namespace

double ColourRange::position(double number) const {
  if (std::isnan(number)) return number;
  if (scale == Scale::Linear) {
    return most > least ? std::clamp((number - least) / (most - least), 0.0, 1.0) : 0;
  }
  const double fraction = magnitude_position(*this, std::abs(number));
  if (!is_diverging(*this)) return number > 0 ? fraction : 0;
  return number < 0 ? 0.5 - fraction / 2 : 0.5 + fraction / 2;
}

std::vector<float> sampled_ranks(const Tensor& numbers) {
  constexpr std::size_t kMaxSteps = 4096, kMaxSorted = std::size_t{1} << 20;
  std::vector<float> magnitudes;
  // Sampling suffices for very many numbers: ranks are shown in 256 colours.
  const auto count = static_cast<std::size_t>(numbers.size());
  const std::size_t step = 1 + count / kMaxSorted;
  for (std::size_t i = 0; i < count; i += step) {
    const float magnitude = std::abs(numbers[static_cast<Index>(i)]);
    if (magnitude > 0 && std::isfinite(magnitude)) magnitudes.push_back(magnitude);
  }
  std::sort(magnitudes.begin(), magnitudes.end());
  if (magnitudes.size() <= kMaxSteps) return magnitudes;
  std::vector<float> steps(kMaxSteps);
  for (std::size_t i = 0; i < kMaxSteps; ++i) {
    steps[i] = magnitudes[(i + 1) * magnitudes.size() / kMaxSteps - 1];
  }
  return steps;
}

Scaled scaled(const Tensor& numbers, const ColourRange& range) {
  if (range.scale == ColourRange::Scale::Linear) return {numbers, range.least, range.most};
  Tensor positions(numbers.shape());
  parallel_for(numbers.size(), 1 << 16, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      positions[i] = static_cast<float>(range.position(static_cast<double>(numbers[i])));
    }
  });
  // Heat maps pool diverging colours by magnitude, so zero must stay zero.
  if (!is_diverging(range)) return {positions, 0, 1};
  for (float& position : positions) position = 2 * position - 1;
  return {positions, -1, 1};
}

namespace {

std::vector<Tick> linear_ticks(const ColourRange& range, int count) {
  const std::vector<double> numbers = round_ticks(range.least, range.most, count);
  const double step = numbers.size() > 1 ? numbers[1] - numbers[0] : range.most - range.least;
  std::vector<Tick> ticks;
  for (const double number : numbers) {
    ticks.push_back({(number - range.least) / (range.most - range.least), tick_text(number, step)});
  }
  // A single tick at zero does not show the extent: use the limits.
  const std::size_t min_ticks = is_diverging(range) ? 3 : 2;
  if (ticks.size() < min_ticks && range.least < range.most) {
    ticks = {{0, short_text(range.least)}, {1, short_text(range.most)}};
    if (is_diverging(range)) ticks.insert(ticks.begin() + 1, {0.5, "0"});
  }
  // A nonzero minimum gets a tick, replacing one that is too near.
  if (range.least > 0 && !ticks.empty() && ticks.front().position > 0) {
    if (ticks.front().position < 0.5 / std::max(1, count)) ticks.erase(ticks.begin());
    ticks.insert(ticks.begin(), {0, brief(range.least, 2)});
  }
  return ticks;
}

// Replaces the ticks near exceeded ends by "≥ 0.22" and "≤ −0.22".
void mark_exceeded_ends(const ColourRange& range, int count, std::vector<Tick>& ticks) {
  const double min_gap = 0.9 / std::max(1, count);
  while (!ticks.empty() && ticks.back().position > 1 - min_gap) ticks.pop_back();
  ticks.push_back({1, "≥ " + short_text(range.most)});
  if (!(range.least < 0)) return;
  while (ticks.size() > 1 && ticks.front().position < min_gap) ticks.erase(ticks.begin());
  ticks.insert(ticks.begin(), {0, "≤ −" + short_text(range.most)});
}

}  // namespace

std::vector<Tick> ticks_of(const ColourRange& range, int count) {
  if (range.scale == ColourRange::Scale::Rank) return rank_ticks(range, count);
  const bool log = range.scale == ColourRange::Scale::Log;
  std::vector<Tick> ticks = log ? log_ticks(range, count) : linear_ticks(range, count);
  if (range.passed && range.most > 0) mark_exceeded_ends(range, count, ticks);
  return ticks;
}

double colour_bar_width(const Page& page) {
  if (!page.has_colour_bar()) return 0;
  const double numbers = page.width_of("0.0000", page.small());
  return (kGapWidth + kBarWidth + kBarNumberGap + kTitleWidth) * page.em() + numbers;
}

void draw_colour_bar(Page& page, const Box& box, const ColourRange& range,
                     const std::vector<std::string>& titles) {
  if (!page.has_colour_bar()) return;
  const double em = page.em();
  const Box bar{box.x + kGapWidth * em, box.y, kBarWidth * em, box.height};
  draw_colours(page, bar, range.colour_map, false);

  const int count = std::max(1, static_cast<int>(bar.height / (kBarTickDistance * em)));
  const double size = page.small(), x = bar.right() + kBarNumberGap * em;
  const std::vector<Tick> ticks = ticks_of(range, count);
  double longest = 0;
  for (std::size_t n = 0; n < ticks.size(); ++n) {
    const Tick& tick = ticks[n];
    const double y = bar.bottom() - tick.position * bar.height;
    // Short bars omit the inner ticks, then the lowest one.
    const bool is_inner = n > 0 && n + 1 < ticks.size();
    const double end_distance = std::min(tick.position, 1 - tick.position) * bar.height;
    if (is_inner && ticks.size() <= 3 && end_distance < kNumberLine * size) continue;
    const bool is_lowest = n == 0 && ticks.size() > 1;
    if (is_lowest && (ticks.back().position - tick.position) * bar.height < kNumberLine * size)
      continue;
    page.add(Line{{{bar.right(), y}, {bar.right() + 0.3 * em, y}}, page.theme().line, 1});
    page.text({x, y}, tick.text, size);
    longest = std::max(longest, page.width_of(tick.text, size));
  }
  // Omits the title if the numbers leave no space.
  const double middle = x + longest + (kTitleWidth - kBarTitleMiddle) * em;
  if (middle + em / 2 > box.right()) return;
  page.faint_text({middle, bar.y + bar.height / 2}, page.fitting(titles, em, bar.height), em,
                  Align::Middle, 90);
}

namespace {
constexpr double kFlatBar = 0.7;       // em: height of the bar
constexpr double kFlatLine = 1.25;     // em: height of the line of numbers, and of the title
constexpr double kFlatDistance = 4.2;  // em: minimum distance of numbers
}  // namespace

double horizontal_colour_bar_height(const Page& page) {
  if (!page.has_colour_bar()) return 0;
  return (kFlatBar + 2 * kFlatLine) * page.em();
}

void draw_horizontal_colour_bar(Page& page, Point at, double width, const ColourRange& range,
                                const std::vector<std::string>& titles) {
  if (!page.has_colour_bar()) return;
  const double em = page.em(), size = page.small();
  const Box bar{at.x, at.y, width, kFlatBar * em};
  draw_colours(page, bar, range.colour_map, true);
  // At least one tick to each side of zero.
  constexpr std::size_t kMinTicks = 3;
  constexpr int kMaxCount = 10;
  int count = std::max(1, static_cast<int>(width / (kFlatDistance * em)));
  std::vector<Tick> ticks = ticks_of(range, count);
  while (ticks.size() < kMinTicks && ++count < kMaxCount) ticks = ticks_of(range, count);
  double free_from = bar.x - em;
  for (const Tick& tick : ticks) {
    const double half = page.width_of(tick.text, size) / 2;
    const double x = bar.x + tick.position * width;
    // Numbers at the ends stay within the bar.
    const double middle = std::clamp(x, bar.x + half, std::max(bar.x + half, bar.right() - half));
    if (middle - half < free_from || middle + half > bar.right() + 1) continue;
    free_from = middle + half + 0.4 * em;
    page.add(Line{{{x, bar.bottom()}, {x, bar.bottom() + 0.25 * em}}, page.theme().line, 1});
    page.text({middle, bar.bottom() + (0.3 + kFlatLine / 2) * em}, tick.text, size, Align::Middle);
  }
  page.faint_text({bar.x + width / 2, bar.bottom() + (0.15 + 1.5 * kFlatLine) * em},
                  page.fitting(titles, size, width), size, Align::Middle);
}

}  // namespace attnscope
