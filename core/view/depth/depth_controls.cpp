#include "core/view/depth/depth_controls.h"

#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/model/exits.h"
#include "core/view/depth/depth_data.h"
#include "core/view/depth/exit_picture.h"
#include "core/view/depth/loss_table.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

// Restricts "show" to the pictures of a model without exits: "exits" shows its layers, too.
void remove_exits_choice(const ViewSettings& settings, ViewControls& controls) {
  const std::string show = view_values(settings, "depth").choice("show");
  for (Parameter& p : controls.parameters) {
    if (p.key != "show") continue;
    p.choices = {{show == "layers" ? "layers" : "exits", "layers"}, {"losses", "losses"}};
  }
}

// Removes controls that the selected picture (exits or logit lens) does not use.
void restrict_depth_controls(const ViewSettings& settings, const Trace* trace,
                             ViewControls& controls) {
  controls.layer = controls.head = controls.part = false;
  controls.colours = ViewControls::Colours::Sequential;
  controls.colour_ends = stretched_ends();
  if (trace == nullptr) return;
  const auto remove_parameters = [&](std::initializer_list<const char*> keys) {
    std::erase_if(controls.parameters,
                  [&](const Parameter& p) { return std::ranges::find(keys, p.key) != keys.end(); });
  };
  const bool has_exits = trace->config && trace->config->exits;
  if (!has_exits) {
    remove_parameters({"decay"});
    remove_exits_choice(settings, controls);
  }
  if (shows_exits(settings, *trace)) {
    remove_parameters({"measure", "colour", "every"});
    for (Parameter& p : controls.parameters) {
      if (p.key != "threshold") continue;
      p.initial = exit_threshold(Values());
      p.unset_label = brief(exit_threshold(Values()));
    }
    controls.hide_colours();
    const ExitRule& rule = exit_rule(trace->config->exits->id);
    if (!rule.confidence) controls.idle["threshold"] = rule.label + ": uses no threshold.";
    if (!rule.decays) controls.idle["decay"] = rule.label + ": the threshold is constant.";
    if (skipped_layers(*trace) && rule.confidence) {
      controls.idle["threshold"] =
          "In this run tokens exit at the threshold set next to the model. Drag the line, or set "
          "it there.";
    }
    return;
  }
  if (has_exits) remove_parameters({"decay"});
  if (shows_losses(settings)) {
    remove_parameters({"measure", "threshold", "colour", "every"});
    return;
  }
  if (!skipped_layers(*trace)) return;
  for (const char* key : {"measure", "threshold"}) {
    controls.idle[key] = "In this run tokens exited by the model's own rule.";
  }
}

std::vector<Parameter> depth_parameters() {
  return {
      {.key = "show",
       .label = "Show",
       .help = "For a model with early exits: where its tokens exit and how much that saves; the "
               "logit lens; or the losses of all layers and positions, and of further targets, "
               "which auxiliary losses train.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("exits"),
       .choices = {"exits", "layers", "losses"}},
      {.key = "measure",
       .label = "Confidence",
       .help = "Confidence of a layer: the margin between its two most likely tokens, the "
               "probability of the most likely one, or the cosine similarity of its state to "
               "the previous layer's (saturation).",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("margin"),
       .choices = {"margin", "probability", "saturation"}},
      {.key = "threshold",
       .symbol = "λ",
       .label = "Threshold",
       .help = "A token exits after the first layer that is at least this confident. Automatic: "
               "the lowest threshold from which on at least " +
               percent(kDefaultAgreement) +
               " of tokens exit with the last layer's prediction; for a model with early exits, " +
               brief(exit_threshold(Values())) + ".",
       .kind = Parameter::Kind::Real,
       .optional = true,
       .initial = 0.9,
       .limits = {.min = 0, .max = 1},
       .slider = {.min = 0, .max = 1}},
      {.key = "decay",
       .symbol = "τ",
       .label = "Decay",
       .help = "Decay of the exit threshold along the text; 0: constant.",
       .kind = Parameter::Kind::Real,
       .optional = true,
       .unset_label = "the model's",
       .initial = 0.0,
       .limits = {.min = 0, .max = Parameter::kMaxReal},
       .slider = {.min = 0, .max = 8}},
      {.key = "every",
       .label = "Layer step",
       .help = "Show every n-th layer, with the first, the last and the selected one. Automatic: "
               "as many layers as have space for their predictions; 1: all layers.",
       .kind = Parameter::Kind::Integer,
       .optional = true,
       .initial = Index{1},
       .limits = {.min = 1, .max = 1000},
       .slider = {.min = 1, .max = 16}},
      {.key = "colour",
       .label = "Colour by",
       .help = "The probability that each layer gives to its own prediction, or to the last "
               "layer's prediction.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("probability"),
       .choices = {"probability", "last guess"}}};
}

}  // namespace

ViewOptions depth_options() {
  return {.parameters = depth_parameters(), .restrict_controls = restrict_depth_controls};
}

}  // namespace attnscope
