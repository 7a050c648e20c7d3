// Mechanism: how the method of the shown head works, step by step.
#include "core/view/mechanism/mechanism.h"

#include <algorithm>

#include "core/view/mechanism/mechanism_list.h"
#include "core/view/parts/describe.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "mechanism";

ViewLayout lay_out_mechanism(const ViewInput& input) {
  Page page(input);
  const Found found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  const ViewSettings& settings = input.experiment.view;
  const Mechanism& mechanism = shown_mechanism(settings, tap);
  const Box inside = page.frame(
      head_title(input),
      caption(input.trace, "How " + place_words(input.trace, settings) + " works, " +
                               mechanism.about + ": " + describe(input.trace, tap) + "."));
  MechanismLayout drawn = mechanism.draw(page, inside, {input, tap, found.head});
  if (drawn.no_space) return no_space(page);
  if (!drawn.refusal.empty()) {
    Page empty(input);
    ViewLayout refused =
        empty.message(drawn.pending ? "Not yet" : "Nothing to show", drawn.refusal);
    if (drawn.pending) refused.pending = drawn.refusal;
    return refused;
  }
  ViewLayout layout;
  layout.hit = [pair_at = drawn.pair_at, layer = settings.layer,
                head = settings.head](Point p) -> std::optional<Hit> {
    const std::optional<Pair> pair = pair_at ? pair_at(p) : std::nullopt;
    if (!pair) return std::nullopt;
    return Hit{layer, head, pair->query, pair->key};
  };
  layout.handles = std::move(drawn.handles);
  layout.list = page.take(drawn.bottom);
  return layout;
}

ViewData mechanism_data(const ViewInput& input) {
  const Found found = needed_tap(input);
  const ViewSettings& settings = input.experiment.view;
  return {shown_mechanism(settings, *found.tap).data({input, *found.tap, found.head})};
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  if (tap == nullptr) return;
  const Mechanism& mechanism = shown_mechanism(settings, *tap);
  if (!mechanism.weights) {
    controls.colours = ViewControls::Colours::None;
  }
  if (!mechanism.weights || mechanism.to_largest) controls.normalise = false;
  std::erase_if(controls.parameters, [&](const Parameter& p) {
    return p.key != "show" &&
           std::ranges::find(mechanism.parameters, p.key) == mechanism.parameters.end();
  });
}

}  // namespace

Tensor kept(const MechanismOf& of, const std::string& name, const std::function<Tensor()>& make) {
  if (of.input.cache == nullptr) return make();
  // Another one for each run.
  std::shared_ptr<const void> source = of.tap.result.part;
  if (!source) source = of.tap.result.pattern;
  return of.input.cache->matrix(source, name + " " + std::to_string(of.head), make);
}

const std::vector<Mechanism>& mechanisms() {
  static const std::vector<Mechanism> list{
      lsh_mechanism(),  routing_mechanism(),     sinkhorn_mechanism(), approximation_mechanism(),
      made_mechanism(), convolution_mechanism(), rules_mechanism()};
  return list;
}

const Mechanism& mechanism_of(const AttentionTap& tap) {
  return *std::ranges::find_if(mechanisms(), [&](const Mechanism& m) { return m.fits(tap); });
}

const Mechanism& shown_mechanism(const ViewSettings& settings, const AttentionTap& tap) {
  static const std::vector<Mechanism> of_any{paths_mechanism(), replaced_mechanism()};
  const std::string show = view_values(settings, kId).choice("show");
  const auto asked = std::ranges::find(of_any, show, &Mechanism::id);
  return asked != of_any.end() ? *asked : mechanism_of(tap);
}

namespace {

// A method whose picture tells more than which pairs are allowed.
void show_hashing(Experiment& experiment) {
  if (experiment.variant) return;
  const Variant& lsh = variant("lsh");
  experiment.variant = Choice{lsh.id, default_values(lsh.parameters)};
}

}  // namespace

View mechanism_view() {
  View view{kId, "Mechanism",
            "How the variant of the shown head works, step by step, on the tokens of the text.",
            false, lay_out_mechanism};
  using Kind = Parameter::Kind;
  view.parameters = {
      {.key = "show",
       .label = "Show",
       .help = "How the method works; how information comes from token to token through several "
               "layers; or what changes when one token is replaced, from a run more.",
       .kind = Kind::Choice,
       .initial = std::string("method"),
       .choices = {"method", "paths", "replaced"},
       .choice_labels = {"the method", "paths", "a token replaced"}},
      {.key = "round",
       .label = "Round",
       .help = "Which round of hashing is sorted, of LSH.",
       .initial = Index{1},
       .least = 1,
       .most = 4096,
       .slider_least = 1,
       .slider_most = 8},
      {.key = "token",
       .label = "Token",
       .help = "Which token is replaced, counted from 0; by default the pinned query, else the one "
               "in the middle.",
       .kind = Kind::Integer,
       .optional = true,
       .left_out = "pinned, or the middle",
       .initial = Index{0},
       .slider_most = 64},
      {.key = "by",
       .label = "By",
       .help = "The number of the token that takes its place; by default the one before it in the "
               "vocabulary.",
       .kind = Kind::Integer,
       .optional = true,
       .left_out = "its neighbour",
       .initial = Index{0},
       .slider_most = 2047}};
  view.findings = {Findings::replaced.id};
  view.data = mechanism_data;
  view.example = show_hashing;
  view.restrict_controls = restrict_controls;
  return view;
}

}  // namespace attnscope
