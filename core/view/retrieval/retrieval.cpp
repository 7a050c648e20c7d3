// Retrieval view: contexts retrieved for a prediction, and their effect on it.
#include "core/model/retrieval.h"

#include <algorithm>

#include "core/view/parts/bundled_example.h"
#include "core/view/parts/page.h"
#include "core/view/parts/reading.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "core/view/retrieval/retrieval_pictures.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kNoRetrieval =
    "This run has no retrieval: no store of contexts and no head with a searchable memory.";

bool has_retrieving_head(const Trace& trace) {
  return std::ranges::any_of(trace.attention, retrieves_keys);
}

ViewLayout lay_out(const ViewInput& input) {
  if (retrieves(input.trace)) return lay_out_neighbours(input);
  if (has_retrieving_head(input.trace)) return lay_out_fetched(input);
  Page page(input);
  return page.message(
      "No retrieval",
      "Create a store with “attnscope datastore --text FILE -o STORE” and open it under Structure, "
      "or choose memorizing attention, whose heads search earlier text.");
}

// Opens a bundled model and store with a text that the model has not seen.
void open_example(Session& session) {
  if (!open_bundled_model(session, "twin-rope")) return;
  session.run.text = "On the first of June Marta took the silver key from its nail";
  Values values = default_values(retrieval_head("knn").parameters);
  values.set("lambda", 0.5);
  values.set("temperature", 10.0);
  session.run.retrieval = RetrievalChoice{{"knn", std::move(values)}, "lighthouse"};
}

Parameter mixing_parameter(const char* key, const char* symbol, const char* label, const char* help,
                           double initial, double slider_max) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Real,
          .optional = true,
          .unset_label = "the run's",
          .initial = initial,
          .limits = {.min = 0, .max = Parameter::kMaxReal},
          .slider = {.min = 0, .max = slider_max}};
}

std::vector<Parameter> parameters() {
  Parameter lambda =
      mixing_parameter("lambda", "λ", "Interpolation weight",
                       "Weight of the neighbours in the mixture; needs no new run.", 0.25, 0.99);
  lambda.limits.max = 0.999;
  Parameter temperature = mixing_parameter("temperature", "τ", "Temperature",
                                           "Scale of the decay with distance.", 1, 50);
  temperature.limits.min_excluded = true;
  temperature.slider.min = 0.1;
  return {{.key = "k",
           .symbol = "k",
           .label = "Neighbours",
           .help = "Number of nearest contexts; needs no new run.",
           .optional = true,
           .unset_label = "the run's",
           .initial = Index{8},
           .limits = {.min = 1, .max = kMaxNeighboursShown},
           .slider = {.min = 1, .max = static_cast<double>(kMaxNeighboursShown)}},
          lambda,
          temperature,
          {.key = "token",
           .label = "Token",
           .help = "Token whose retrieval is shown, counted from 0. Click one in the text.",
           .optional = true,
           .unset_label = "the last",
           .initial = Index{0},
           .limits = {.min = 0, .max = 65535},
           .slider = {.min = 0, .max = 255}}};
}

void restrict_controls(const ViewSettings&, const Trace* trace, ViewControls& controls) {
  controls.hide_colours();
  if (trace == nullptr) return;
  for (Parameter& p : controls.parameters) {
    if (p.key == "token" && !trace->tokens.empty()) {
      p.slider.max = static_cast<double>(trace->tokens.size() - 1);
    }
  }
  if (retrieves(*trace)) {
    controls.layer = controls.head = controls.part = false;
    if (!trace->taps.contains("retrieval.gate")) return;
    controls.idle["k"] =
        "The gate mixes the number of states set in the run: change it next to the model.";
    controls.idle["lambda"] = controls.idle["temperature"] = "A gate determines their weight.";
    return;
  }
  controls.part = false;
  std::erase_if(controls.parameters, [](const Parameter& p) { return p.key != "token"; });
}

}  // namespace

void show_retrieval(Session& session, Index token) {
  set_view_value(session.view, "retrieval", "token", token);
}

View retrieval_view() {
  return {
      .id = "retrieval",
      .label = "Retrieval",
      .group = "Memory",
      .summary = "Contexts retrieved from a store or memory, and their effect on the prediction.",
      .lay_out = lay_out,
      .reading =
          fixed_reading("Retrieval from a store: stored contexts similar to the current one, with "
                        "the successor of each. These are mixed into the model's own prediction.",
                        {{"k", "number of neighbours."},
                         {"λ", "weight of the store in the mixture."},
                         {"τ", "temperature: low values favour the nearest."}}),
      .data = retrieval_data,
      .findings = {{Findings::contexts.id}},
      .options = {.parameters = parameters(), .restrict_controls = restrict_controls},
      .content = {.objection = [](const Trace& trace) -> std::string {
                    return retrieves(trace) || has_retrieving_head(trace) ? "" : kNoRetrieval;
                  },
                  .example = open_example}};
}

}  // namespace attnscope
