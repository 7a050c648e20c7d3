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
    const Box chain_box{x, box.y, width, kChainHeight * em};
    const Colour fill = chain[n].is_start ? page.theme().accent
                                          : blend(page.theme().background, page.theme().line, 0.45);
    page.add(FilledBox{chain_box, fill, 0.4 * em});
    const std::vector<std::string> lines =
        page.wrapped(chain[n].text, size, width - 2 * kInBox * em, kChainLines);
    double y = chain_box.y + chain_box.height / 2 -
               (static_cast<double>(lines.size()) - 1) / 2 * kLineHeight * size;
    for (const std::string& line : lines) {
      page.add(Text{{chain_box.x + width / 2, y}, line, ink_on(fill), size, Align::Middle});
      y += kLineHeight * size;
    }
    if (n + 1 < chain.size()) {
      const double middle = chain_box.y + chain_box.height / 2;
      for (Line& line :
           arrow({chain_box.right() + 0.3 * em, middle},
                 {chain_box.right() + (kArrow - 0.3) * em, middle}, page.theme().faint_text, 2)) {
        page.add(std::move(line));
      }
    }
    x += width + kArrow * em;
  }
}

}  // namespace attnscope
