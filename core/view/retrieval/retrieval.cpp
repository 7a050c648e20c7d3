// Retrieval: what was looked up for a prediction, and what came of it.
#include "core/model/retrieval.h"

#include <algorithm>

#include "core/checkpoint/checkpoint.h"
#include "core/view/parts/example.h"
#include "core/view/parts/page.h"
#include "core/view/parts/reading.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "core/view/retrieval/retrieval_pictures.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kNothing =
    "This run looks nothing up: it has no store of contexts and no head that searches a memory.";

bool has_lookup(const Trace& trace) {
  return std::ranges::any_of(trace.attention, looks_up);
}

ViewLayout lay_out(const ViewInput& input) {
  if (retrieves(input.trace)) return lay_out_neighbours(input);
  if (has_lookup(input.trace)) return lay_out_fetched(input);
  Page page(input);
  return page.message("Nothing is looked up",
                      "Make a store of a text with attnscope datastore --text FILE -o STORE and "
                      "open it under Structure, or choose memorizing attention, whose heads search "
                      "what was read before.");
}

// A story that the model never read, looked up in the bundled store.
void example(Experiment& experiment) {
  if (!use_bundled(experiment, "twin-rope")) return;
  experiment.text = "On the first of June Marta took the silver key from its nail";
  Values values = default_values(mixer("knn").parameters);
  values.set("lambda", 0.5);
  values.set("temperature", 10.0);
  experiment.retrieval = RetrievalChoice{{"knn", std::move(values)}, "lighthouse"};
}

Parameter mixed_by(const char* key, const char* symbol, const char* label, const char* help,
                   double initial, double slider_most) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Real,
          .optional = true,
          .left_out = "the run's",
          .initial = initial,
          .least = 0,
          .most = Parameter::kMostReal,
          .slider_least = 0,
          .slider_most = slider_most};
}

std::vector<Parameter> parameters() {
  Parameter lambda =
      mixed_by("lambda", "λ", "Share of the store",
               "How much the neighbours count in the mixture, without another run.", 0.25, 0.99);
  lambda.most = 0.999;
  Parameter temperature = mixed_by("temperature", "τ", "Temperature",
                                   "How fast a neighbour counts less with its distance.", 1, 50);
  temperature.least_excluded = true;
  temperature.slider_least = 0.1;
  return {{.key = "k",
           .symbol = "k",
           .label = "Neighbours",
           .help = "How many of the nearest contexts count, without another run.",
           .optional = true,
           .left_out = "the run's",
           .initial = Index{8},
           .least = 1,
           .most = kMostNeighboursShown,
           .slider_least = 1,
           .slider_most = static_cast<double>(kMostNeighboursShown)},
          lambda,
          temperature,
          {.key = "token",
           .label = "Token",
           .help = "The token whose search is shown, counted from 0. Click one in the text.",
           .optional = true,
           .left_out = "the last",
           .initial = Index{0},
           .least = 0,
           .most = 65535,
           .slider_least = 0,
           .slider_most = 255}};
}

void restrict_controls(const ViewSettings&, const Trace* trace, ViewControls& controls) {
  controls.colours = ViewControls::Colours::None;
  controls.colour_ends.clear();
  if (trace == nullptr) return;
  for (Parameter& p : controls.parameters) {
    if (p.key == "token" && !trace->tokens.empty()) {
      p.slider_most = static_cast<double>(trace->tokens.size() - 1);
    }
  }
  if (retrieves(*trace)) {
    controls.layer = controls.head = controls.part = false;
    if (!trace->taps.contains("retrieval.gate")) return;
    controls.idle["k"] =
        "A gate mixes the states of as many as the run took: set it beside the "
        "model.";
    controls.idle["lambda"] = controls.idle["temperature"] = "A gate says how much they count.";
    return;
  }
  controls.part = false;
  std::erase_if(controls.parameters, [](const Parameter& p) { return p.key != "token"; });
}

}  // namespace

View retrieval_view() {
  View view{"retrieval", "Retrieval",
            "What was looked up in a store or a memory, and what it changes in the prediction.",
            false, lay_out};
  view.parameters = parameters();
  view.findings = {Findings::contexts.id};
  view.data = retrieval_data;
  view.example = example;
  view.restrict_controls = restrict_controls;
  view.group = "Memory";
  view.reading = reads_as(
      "What was looked up in a store: stored contexts that are like the present one, with the "
      "token that followed each. Those are mixed into the model's own prediction.",
      {{"k", "how many neighbours count."},
       {"λ", "the share of the store in the mixture."},
       {"τ", "temperature: low, and the nearest count alone."}});
  view.objection = [](const Trace& trace) -> std::string {
    return retrieves(trace) || has_lookup(trace) ? "" : kNothing;
  };
  return view;
}

}  // namespace attnscope
