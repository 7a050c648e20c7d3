// Gates view: gate values by token of every mechanism with gates. These are GTrXL residual gates
// (Parisotto et al., 2019), memorizing's mix of memory and segment (Wu et al., 2022), SPALM's mix
// of retrieval and the model's state (Yogatama et al., 2021).
#include <cmath>

#include "core/view/gates/gate_panels.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

class Gates {
 public:
  Gates(const ViewInput& input, Page& page, const GatePlaces& places)
      : input_(input), page_(page), places_(places), chart_(place_gate_chart(page, places)) {}

  ViewLayout lay_out(const Box& inside) {
    const double em = page_.em();
    page_.text({inside.x, places_.top + 0.7 * em},
               page_.fitting(gates_summary(places_.sets, places_.tokens), em, inside.width), em);
    draw_gate_maps(page_, places_, hovered_token());
    double bottom = places_.bottom, gap = 0.8 * em;
    if (places_.chart_height > 0) {
      draw_gate_chart(page_, places_, chart_);
      if (!chart_.chart.empty()) {
        bottom += places_.chart_height;
        gap = 0.7 * em;
      }
    }
    if (places_.chart_height == 0 || !chart_.chart.empty()) draw_hovered(bottom + gap);
    return finish(bottom);
  }

 private:
  Index hovered_token() const {
    for (const MatrixPlot& m : places_.maps) {
      if (m.hovered_column >= 0) return m.hovered_column;
    }
    const Chart& chart = chart_.chart;
    if (input_.interaction.pointer && !chart.empty() &&
        chart.plot.contains(*input_.interaction.pointer)) {
      const double i = std::round(chart.value_x(input_.interaction.pointer->x));
      if (i >= 0 && i < static_cast<double>(places_.length())) return static_cast<Index>(i);
    }
    return -1;
  }

  // Writes the numbers of the hovered or pinned token.
  void draw_hovered(double y) {
    Index token = hovered_token();
    if (token < 0) token = places_.pinned_token();
    std::string text;
    if (token >= 0) {
      text = "“" + places_.tokens[static_cast<std::size_t>(token)].label + "”";
      for (std::size_t n = 0; n < places_.sets.size(); ++n) {
        text += (n == 0 ? ": " : "; ") +
                describe_token_gates(places_.sets[n], places_.shown_row(input_, n), token);
      }
    } else if (places_.sets.front().id == "memory" && !input_.figure.framed) {
      text = "grey: memory is empty";
    }
    if (text.empty()) return;
    page_.faint_text({places_.left(), y},
                     page_.fitting({text}, page_.small(), places_.width() + places_.bars),
                     page_.small());
  }

  ViewLayout finish(double bottom) {
    const MatrixPlot& first = places_.maps.front();
    ViewLayout layout;
    layout.plot = {first.plot.x, first.plot.y, first.plot.width,
                   places_.maps.back().plot.bottom() - first.plot.y};
    layout.column = first.column;
    layout.width = first.width;
    layout.height = 1;
    layout.rows = 1;
    layout.columns = places_.length();
    layout.hit = gate_hits(input_, places_);
    layout.handles = gate_handles(places_);
    layout.list = page_.take(bottom + GateMeasures::line * page_.em());
    return layout;
  }

  const ViewInput& input_;
  Page& page_;
  const GatePlaces& places_;
  const GateChart chart_;
};

ViewLayout lay_out_gates(const ViewInput& input) {
  Page page(input);
  if (const Refusal nothing = check_has_attention(input)) return nothing.message(page);
  if (const Refusal refusal = gates_refusal(input.trace)) return refusal.message(page);
  const auto sets = selected_gates(input);
  if (const Refusal refusal = gates_refusal(*sets)) return refusal.message(page);
  const Box inside =
      page.frame(input.trace.model + " · gates", caption(input.trace, describe_gates(*sets)));
  const std::optional<GatePlaces> places = place_gates(page, inside, *sets, gate_tokens(input));
  return places ? Gates(input, page, *places).lay_out(inside) : no_space(page);
}

void open_gates_example(Session& session) {
  open_bundled_model(session, "recall-gated");
}

}  // namespace

View gates_view() {
  return {
      .id = "gates",
      .label = "Gates",
      .group = "Memory",
      .summary =
          "Gate values by token: GTrXL residual gates, Memorizing's mix of memory and segment, "
          "SPALM's mix of retrieval and model.",
      .lay_out = lay_out_gates,
      .reading = fixed_reading(
          "A gate, between 0 and 1, controls how much of a new value passes, for "
          "each token and layer. Bright is open.",
          {{"z",
            "GTrXL: share of the state that the block's output replaces; near 0 the "
            "layer is skipped."},
           {"g", "Memorizing: weight of memory; SPALM: weight of the model's state."}}),
      .data = gates_data,
      .options = {.restrict_controls =
                      [](const ViewSettings&, const Trace*, ViewControls& controls) {
                        controls.colours = ViewControls::Colours::Sequential;
                        controls.colour_ends = stretched_ends();
                      }},
      .content = {.objection = [](const Trace& trace) { return gates_refusal(trace).sentence(); },
                  .example = open_gates_example},
      .cells = {.zoom = true}};
}

}  // namespace attnscope
