// Losses of the compressive memory by layer and segment.
#include <algorithm>
#include <cmath>

#include "core/analysis/memory_losses.h"
#include "core/figure/plain_text.h"
#include "core/view/memory/memory_panels.h"
#include "core/view/parts/number_table.h"

namespace attnscope {
namespace {

constexpr double kLossLine = 1.4;  // em: line of text
constexpr int kLossDigits = 3;

std::string loss_title(const MemoryLoss& loss) {
  return loss.name == "auto_encoding" ? "Auto-encoding loss" : "Attention reconstruction loss";
}

std::vector<std::string> loss_formulas(const MemoryLoss& loss) {
  const std::string weight = "; weight " + brief(loss.weight);
  if (loss.name == "auto_encoding") {
    return {"mean square of old − g(f_c(old)): old rows, and those restored from compressed rows" +
                weight,
            "mean square of old − g(f_c(old))" + weight, "‖old − g(f_c(old))‖²"};
  }
  return {
      "mean square of attn(h, old) − attn(h, f_c(old)): the segment attends to the old rows, "
      "and to compressed ones" +
          weight,
      "mean square of attn(h, old) − attn(h, f_c(old))" + weight,
      "‖attn(h, old) − attn(h, f_c(old))‖²"};
}

// Rows are layers; columns are segments and, after a gap, their mean.
NumberTable loss_table(const MemoryLoss& loss, Index selected_segment) {
  const Index layers = loss.values.dim(0), segments = loss.values.dim(1);
  NumberTable table;
  table.values = Tensor({layers, segments + 1});
  double most = 0;
  for (Index layer = 0; layer < layers; ++layer) {
    table.rows.push_back("layer " + std::to_string(layer));
    for (Index segment = 0; segment < segments; ++segment) {
      const float value = loss.values(layer, segment);
      table.values(layer, segment) = value > 0 ? value : NAN;  // 0: nothing was compressed
      if (value > 0) most = std::max(most, static_cast<double>(value));
    }
    table.values(layer, segments) = static_cast<float>(loss.mean(layer));
  }
  for (Index segment = 0; segment < segments; ++segment) {
    const std::string number = std::to_string(segment);
    table.columns.push_back({"segment " + number, number});
  }
  table.columns.push_back({"mean"});
  table.column_gaps = {segments};
  table.selected_column = selected_segment;
  table.range.most = most > 0 ? most : 1;
  table.bar_titles = {"loss", ""};
  table.format = [](double value) { return brief(value, kLossDigits); };
  return table;
}

}  // namespace

double draw_memory_losses(Page& page, const Box& box, const ShownMemory& memory) {
  const std::vector<MemoryLoss> losses = memory_losses(memory.trace);
  const double em = page.em();
  if (losses.empty()) {
    draw_panel_title(page, box, {"Auxiliary losses of the memory", "Auxiliary losses"});
    const std::vector<std::string> lines = page.wrapped(
        "This run has none: they belong to the variant Compressive memory with "
        "attention_reconstruction or auto_encoding above 0.",
        page.small(), box.width);
    double y = box.y + panel_title_height(page) + 0.5 * em;
    for (const std::string& line : lines) {
      page.faint_text({box.x, y}, line, page.small());
      y += kLossLine * em;
    }
    return y - box.y;
  }
  double y = box.y;
  const double height = (box.height - kLossLine * em) / static_cast<double>(losses.size());
  for (const MemoryLoss& loss : losses) {
    const double above = panel_title_height(page) + kLossLine * em;
    const PlacedTable table(page, {box.x, y + above, box.width, height - above - em},
                            loss_table(loss, memory.segment));
    if (!table.fits()) break;
    draw_panel_title(page, {box.x, y, box.width, above},
                     {loss_title(loss) + " by layer and segment", loss_title(loss)});
    page.faint_text({box.x, y + above - 0.7 * em},
                    page.fitting(loss_formulas(loss), page.small(), box.width), page.small());
    table.draw(page);
    y = table.bottom() + em;
  }
  if (y > box.y) {
    page.faint_text({box.x, y - 0.2 * em},
                    page.fitting({"–: nothing is compressed after the segment. Framed: the segment "
                                  "of this view.",
                                  "–: nothing is compressed"},
                                 page.small(), box.width),
                    page.small());
    y += kLossLine * em;
  }
  return y - box.y;
}

}  // namespace attnscope
