#include "core/view/intervene/switch_board.h"

#include <algorithm>

#include "core/view/parts/fact_table.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {
namespace {

constexpr double kCell = 1.9;     // em: desired distance of switches
constexpr double kMinCell = 0.5;  // em
constexpr double kTop = 3.0;      // em: title and head numbers
constexpr double kLeft = 6.4;     // em: "layer 11" and its switch

// The part whose heads have switches. A switch applies to its head in all steps and segments.
TracePart switched_part(const Trace& trace) {
  return trace.part({Stack::Decoder, AttentionKind::Self});
}

Index max_head_count(const Trace& trace) {
  Index heads = 0;
  for (const HeadRef& ref : trace.heads(switched_part(trace)))
    heads = std::max(heads, ref.head + 1);
  return heads;
}

void toggle_switch(Session& session, Index layer, Index head) {
  Intervention off;
  off.layer = layer;
  off.head = head;
  auto& list = session.run.interventions;
  if (std::erase(list, off) == 0) list.push_back(off);
}

void draw_switch(Page& page, const Box& box, bool is_on, bool is_layer_off) {
  const double gap = std::min(0.12 * box.width, 2.0);
  const Box inner{box.x + gap, box.y + gap, box.width - 2 * gap, box.height - 2 * gap};
  const Theme& theme = page.theme();
  if (is_on) {
    const Colour fill = blend(theme.background, first_colour(), is_layer_off ? 0.25 : 0.8);
    page.add(FilledBox{inner, fill, 0.15 * inner.width});
    return;
  }
  page.add(OutlinedBox{inner, theme.accent, 1});
  page.add(Line{{{inner.x, inner.y}, {inner.right(), inner.bottom()}}, theme.accent, 1.5});
  page.add(Line{{{inner.x, inner.bottom()}, {inner.right(), inner.y}}, theme.accent, 1.5});
}

std::string describe_toggle(const std::string& target, bool is_on) {
  return is_on ? "Switch " + target + " off." : "Switch " + target + " on again.";
}

}  // namespace

BoardSize switch_board_size(const Page& page, const Trace& trace, double max_width,
                            double max_height) {
  const double em = page.em();
  const auto heads = static_cast<double>(std::max<Index>(1, max_head_count(trace)));
  const auto layers =
      static_cast<double>(std::max<Index>(1, trace.layer_count(switched_part(trace))));
  BoardSize size;
  size.cell =
      std::min({kCell * em, (max_width - kLeft * em) / heads, (max_height - kTop * em) / layers});
  if (size.cell < kMinCell * em) return {};
  size.width = kLeft * em + heads * size.cell;
  size.height = kTop * em + layers * size.cell;
  return size;
}

std::vector<Handle> draw_switch_board(Page& page, Point corner, const BoardSize& size,
                                      const Trace& trace) {
  const double em = page.em(), cell = size.cell;
  const ViewInput& input = page.input();
  const Interventions& interventions = input.session.run.interventions;
  const double x = corner.x + kLeft * em, y = corner.y + kTop * em;
  std::vector<Handle> handles;
  page.text({corner.x, corner.y + 0.6 * em}, "Switches", em);
  page.faint_text({x, corner.y + 0.6 * em},
                  page.ellipsised("head", page.small(), corner.x + size.width - x), page.small());
  const Index step = label_step(cell, page.width_of("00", page.small()) + 0.4 * em);
  for (Index head = 0; head < max_head_count(trace); head += step) {
    page.faint_text({x + (static_cast<double>(head) + 0.5) * cell, y - 0.7 * em},
                    std::to_string(head), page.small(), Align::Middle);
  }
  const Index row_step = label_step(cell, 1.2 * em);
  const TracePart part = switched_part(trace);
  for (Index layer = 0; layer < trace.layer_count(part); ++layer) {
    const double top = y + static_cast<double>(layer) * cell, middle = top + cell / 2;
    const bool is_layer_on = !is_off(interventions, layer);
    const std::string name = "layer " + std::to_string(layer);
    if (layer % row_step == 0) page.faint_text({corner.x, middle}, name, page.small());
    const double side = std::min(cell, 1.4 * em);
    const Box layer_switch{x - side - 0.5 * em, middle - side / 2, side, side};
    draw_switch(page, layer_switch, is_layer_on, false);
    handles.push_back({layer_switch,
                       describe_toggle("all of " + name, is_layer_on),
                       {},
                       [layer](Session& session) { toggle_switch(session, layer, -1); }});
    for (Index head = 0; head < trace.head_count(part, layer); ++head) {
      const Box box{x + static_cast<double>(head) * cell, top, cell, cell};
      const bool is_on = !is_off(interventions, layer, head);
      draw_switch(page, box, is_on, !is_layer_on);
      const ViewSettings& view = input.session.view;
      if (!input.figure.framed && view.layer == layer && view.head == head) {
        page.add(OutlinedBox{box, page.theme().text, 1});
      }
      handles.push_back({box,
                         describe_toggle("head " + std::to_string(head) + " of " + name, is_on),
                         {},
                         [layer, head](Session& session) { toggle_switch(session, layer, head); }});
    }
  }
  return handles;
}

}  // namespace attnscope
