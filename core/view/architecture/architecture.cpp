// Architecture view: the model of the run as the figure of a paper, drawn from its config. Each box
// opens the view that shows its part.
#include <algorithm>

#include "core/base/error.h"
#include "core/model/config.h"
#include "core/view/architecture/diagram_drawing.h"
#include "core/view/architecture/diagram_words.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "architecture";
constexpr const char* kNoModel = "The attention was read from a file: there is no model to draw.";

std::string architecture_objection(const Trace& trace) {
  const bool has_layers = trace.config && trace.config->width > 0 && !trace.config->groups.empty();
  return has_layers && !trace.is_imported ? "" : kNoModel;
}

// View that shows a part, else an alternative view; null if neither exists.
const View* view_of(const DiagramPart& part) {
  const auto find_view = [](const std::string& id) -> const View* {
    const auto found = std::ranges::find(views(), id, &View::id);
    return found == views().end() ? nullptr : &*found;
  };
  if (const View* own_view = find_view(part.view)) return own_view;
  return part.view == "alignment" ? find_view("map") : nullptr;
}

Handle handle_of(const DiagramPart& part, const Box& box) {
  const View* target = view_of(part);
  std::string help = part.help;
  if (part.parameters > 0) help += "\n" + format_parameters(part.parameters) + " parameters.";
  if (target != nullptr) help += "\nClick: " + target->label;
  Handle handle{.area = box, .help = help};
  if (target == nullptr && !part.select) return handle;
  handle.click = [select = part.select,
                  id = target != nullptr ? target->id : ""](Session& session) {
    if (select) select(session);
    if (!id.empty()) session.view.id = id;
  };
  return handle;
}

ViewLayout lay_out_architecture(const ViewInput& input) {
  Page page(input);
  const std::string objection = architecture_objection(input.trace);
  if (!objection.empty()) {
    return page.message("No model to draw", objection + " Choose a model and a text.");
  }
  Diagram full_diagram = model_diagram(input.trace, input.session);
  const std::string total = format_parameters(full_diagram.parameters) + " parameters";
  const Box inside = page.frame(
      picture_title(input.trace),
      caption(input.trace, "The model as it ran, from input (bottom) to prediction: " + total +
                               "; the count of each box is at its top right."));
  Box figure = inside;
  if (!input.figure.framed) {
    const double line = 1.6 * page.em();
    page.faint_text({inside.x, inside.y + line / 2},
                    page.fitting({total + "; the count of each box is at its top right. Click a "
                                          "box to open its view.",
                                  total + ". Click a box to open its view.", total},
                                 page.small(), inside.width),
                    page.small());
    figure.y += line;
    figure.height -= line;
  }
  const std::optional<PlacedDiagram> placed = place_diagram(page, figure, std::move(full_diagram));
  if (!placed) return no_space(page);
  const auto& [diagram, placement] = *placed;
  draw_diagram(page, diagram, placement);
  ViewLayout layout;
  layout.hit = [](Point) -> std::optional<Hit> { return std::nullopt; };
  for (const PlacedPart& part : placed_parts(diagram, placement)) {
    if (!part.part->help.empty()) layout.handles.push_back(handle_of(*part.part, part.box));
  }
  layout.list = page.take(placement.bottom);
  return layout;
}

// Parameter counts of the boxes; identical layers are counted once.
ViewData architecture_data(const ViewInput& input) {
  const std::string objection = architecture_objection(input.trace);
  if (!objection.empty()) throw InputError("architecture: " + objection);
  const Diagram diagram = model_diagram(input.trace, input.session);
  std::vector<std::string> names;
  std::vector<float> counts;
  for (const DiagramColumn& column : diagram.columns) {
    for (const DiagramRow& row : column.rows) {
      const auto add = [&](const DiagramPart& part) {
        if (part.parameters == 0) return;
        names.push_back((column.title.empty() ? "" : column.title + ": ") + part.title);
        counts.push_back(static_cast<float>(part.parameters));
      };
      std::ranges::for_each(row.parts, add);
      if (row.left) add(*row.left);
      if (row.right) add(*row.right);
    }
  }
  names.push_back("all");
  counts.push_back(static_cast<float>(diagram.parameters));
  Tensor values({static_cast<Index>(counts.size()), 1});
  std::ranges::copy(counts, values.begin());
  return {{{"parameters", values, names, {"parameters"}, {"part"}}}};
}

}  // namespace

View architecture_view() {
  return {.id = kId,
          .label = "Architecture",
          .group = "Model",
          .summary = "The model as a figure: its parts, their sizes, and the views that show them.",
          .lay_out = lay_out_architecture,
          .reading =
              fixed_reading("The model as in the figure of a paper, from the text at the bottom to "
                            "the probabilities at the top. Click a box to see that part at work.",
                            {}),
          .data = architecture_data,
          .options = {.restrict_controls = without_colours},
          .content = {.objection = architecture_objection}};
}

}  // namespace attnscope
