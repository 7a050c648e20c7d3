#include "core/view/mechanism/steps.h"

#include <algorithm>

#include "core/view/parts/fact_table.h"

namespace attnscope {
namespace {

constexpr double kStepLine = 2;      // em
constexpr double kNumberGap = 0.55;  // em between number and sentence

constexpr double kBetweenParts = 1;  // em
constexpr double kWideBox = 1.1;     // width / height

}  // namespace

Box below(const Box& box, double height) {
  return {box.x, box.y + height, box.width, std::max(0.0, box.height - height)};
}

std::pair<Box, Box> split(const Page& page, const Box& box, double fraction) {
  const double gap = kBetweenParts * page.em();
  Box first = box, second = box;
  if (box.width >= kWideBox * box.height) {
    first.width = fraction * (box.width - gap);
    second.width = box.width - gap - first.width;
    second.x = box.right() - second.width;
  } else {
    first.height = fraction * (box.height - gap);
    second.height = box.height - gap - first.height;
    second.y = box.bottom() - second.height;
  }
  return {first, second};
}

double step_height(const Page& page) {
  return kStepLine * page.em();
}

Box draw_step(Page& page, const Box& box, int number, const std::vector<std::string>& sentences) {
  const double em = page.em(), middle = box.y + 0.45 * step_height(page);
  const std::string name = std::to_string(number);
  const double text_start = badge_width(page, name) + kNumberGap * em;
  draw_badge(page, {box.x, middle}, name, page.theme().accent);
  const std::string text = page.fitting(sentences, em, box.width - text_start);
  page.add(Text{{box.x + text_start, middle}, text, page.theme().text, em, Align::Start});
  const double used_height = std::min(step_height(page), box.height);
  return {box.x, box.y + used_height, box.width, box.height - used_height};
}

}  // namespace attnscope
