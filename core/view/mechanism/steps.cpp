#include "core/view/mechanism/steps.h"

#include <algorithm>

#include "core/view/parts/fact_table.h"

namespace attnscope {
namespace {

constexpr double kStepLine = 2;        // em
constexpr double kBeforeWords = 0.55;  // em between number and words

}  // namespace

double step_height(const Page& page) {
  return kStepLine * page.em();
}

Box draw_step(Page& page, const Box& box, int number, const std::vector<std::string>& words) {
  const double em = page.em(), middle = box.y + 0.45 * step_height(page);
  const std::string name = std::to_string(number);
  const double from = badge_width(page, name) + kBeforeWords * em;
  draw_badge(page, {box.x, middle}, name, page.theme().accent);
  const std::string text = page.fitting(words, em, box.width - from);
  page.add(Text{{box.x + from, middle}, text, page.theme().text, em, Align::Start});
  const double taken = std::min(step_height(page), box.height);
  return {box.x, box.y + taken, box.width, box.height - taken};
}

}  // namespace attnscope
