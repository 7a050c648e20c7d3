#include "core/view/mechanism/boxes.h"

#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr double kChainHeight = 4.6, kArrow = 2.2, kInBox = 0.5;  // em
constexpr std::size_t kChainLines = 3;

}  // namespace

double chain_height(const Page& page) {
  return kChainHeight * page.em();
}

void draw_chain(Page& page, const Box& box, const std::vector<ChainBox>& chain) {
  const double em = page.em(), size = page.small();
  const auto count = static_cast<double>(chain.size());
  const double width = (box.width - (count - 1) * kArrow * em) / count;
  if (width < 3 * em) return;
  double x = box.x;
  for (std::size_t n = 0; n < chain.size(); ++n) {
    const Box own{x, box.y, width, kChainHeight * em};
    const Colour ground = chain[n].accent ? page.theme().accent
                                          : blend(page.theme().background, page.theme().line, 0.45);
    page.add(FilledBox{own, ground, 0.4 * em});
    const std::vector<std::string> lines =
        page.wrapped(chain[n].text, size, width - 2 * kInBox * em, kChainLines);
    double y =
        own.y + own.height / 2 - (static_cast<double>(lines.size()) - 1) / 2 * kLineHeight * size;
    for (const std::string& line : lines) {
      page.add(Text{{own.x + width / 2, y}, line, ink_on(ground), size, Align::Middle});
      y += kLineHeight * size;
    }
    if (n + 1 < chain.size()) {
      const double middle = own.y + own.height / 2;
      for (Line& line :
           arrow({own.right() + 0.3 * em, middle}, {own.right() + (kArrow - 0.3) * em, middle},
                 page.theme().faint_text, 2)) {
        page.add(std::move(line));
      }
    }
    x += width + kArrow * em;
  }
}

}  // namespace attnscope
