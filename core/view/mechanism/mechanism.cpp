// Mechanism: how the method of the shown head works, step by step.
#include "core/view/mechanism/mechanism.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/parts/describe.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "mechanism";
constexpr const char* kAutomatic = "automatic";

// The one that is asked for; null: it does not fit this head.
const Mechanism* chosen_mechanism(const ViewSettings& settings, const AttentionTap& tap) {
  const std::string picture = view_values(settings, kId).choice("picture");
  if (picture == kAutomatic) return &mechanism_of(tap);
  const Mechanism& asked = *std::ranges::find(mechanisms(), picture, &Mechanism::id);
  return asked.fits(tap) ? &asked : nullptr;
}

ViewLayout refuse(Page& page, const AttentionTap& tap) {
  const std::string picture = view_values(page.input().experiment.view, kId).choice("picture");
  const Mechanism& asked = *std::ranges::find(mechanisms(), picture, &Mechanism::id);
  std::string why = asked.objection ? asked.objection(tap) : "";
  if (why.empty()) why = "It shows " + asked.about + ", which is not what this variant does.";
  return page.message("No picture “" + asked.label + "” of " + variant(tap.variant.id).label,
                      why + " Choose Picture: Automatic.");
}

ViewLayout lay_out_mechanism(const ViewInput& input) {
  Page page(input);
  const Found found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  const ViewSettings& settings = input.experiment.view;
  const Mechanism* chosen = chosen_mechanism(settings, tap);
  if (chosen == nullptr) return refuse(page, tap);
  const Mechanism& mechanism = *chosen;
  const Box inside = page.frame(
      head_title(input),
      caption(input.trace, "How " + place_words(input.trace, settings) + " works, " +
                               mechanism.about + ": " + describe(input.trace, tap) + "."));
  MechanismLayout drawn = mechanism.draw(page, inside, {input, tap, found.head});
  if (drawn.no_space) return no_space(page);
  if (!drawn.refusal.empty()) return Page(input).message("Nothing to show", drawn.refusal);
  ViewLayout layout;
  layout.hit = [pair_at = drawn.pair_at, layer = settings.layer,
                head = settings.head](Point p) -> std::optional<Hit> {
    const std::optional<Pair> pair = pair_at ? pair_at(p) : std::nullopt;
    if (!pair) return std::nullopt;
    return Hit{layer, head, pair->query, pair->key};
  };
  layout.handles = std::move(drawn.handles);
  layout.pending = drawn.pending;
  layout.list = page.take(drawn.bottom);
  return layout;
}

ViewReading mechanism_reading(const ViewSettings& settings, const Trace* trace) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  const Mechanism* mechanism = tap != nullptr ? chosen_mechanism(settings, *tap) : nullptr;
  if (mechanism == nullptr) return {"How the chosen variant works, step by step, on your text."};
  return {"How " + variant(tap->variant.id).label + " works on this text: " + mechanism->about +
          ". Follow the numbered sentences; point at a token to see its own part."};
}

ViewData mechanism_data(const ViewInput& input) {
  const Found found = needed_tap(input);
  const Mechanism* chosen = chosen_mechanism(input.experiment.view, *found.tap);
  if (chosen == nullptr) {
    throw InputError("picture: expected one that shows " + variant(found.tap->variant.id).label +
                     ", or automatic");
  }
  return {chosen->data({input, *found.tap, found.head})};
}

// The choices that this head offers, with the one that is chosen. Whether there is a choice.
bool restrict_pictures(Parameter& picture, const AttentionTap& tap, const std::string& chosen) {
  const std::vector<std::string> all = picture.choices, labels = picture.choice_labels;
  picture.choices.clear();
  picture.choice_labels.clear();
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto mechanism = std::ranges::find(mechanisms(), all[n], &Mechanism::id);
    const bool fits = mechanism == mechanisms().end() || mechanism->fits(tap);
    if (!fits && all[n] != chosen) continue;
    picture.choices.push_back(all[n]);
    picture.choice_labels.push_back(labels[n]);
  }
  constexpr std::size_t kAlone = 2;  // automatic is the same as the one that fits
  return picture.choices.size() > kAlone || chosen != kAutomatic;
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  if (tap == nullptr) return;
  const Mechanism* mechanism = chosen_mechanism(settings, *tap);
  if (mechanism == nullptr || !mechanism->weights) {
    controls.colours = ViewControls::Colours::None;
    controls.colour_ends.clear();
  } else if (mechanism->to_largest) {
    controls.colour_ends.clear();
  }
  const auto changes = [&](const std::string& key) {
    return mechanism != nullptr &&
           std::ranges::find(mechanism->parameters, key) != mechanism->parameters.end();
  };
  const std::string chosen = view_values(settings, kId).choice("picture");
  std::erase_if(controls.parameters, [&](Parameter& p) {
    return p.key == "picture" ? !restrict_pictures(p, *tap, chosen) : !changes(p.key);
  });
  for (Parameter& p : controls.parameters) {
    if (p.key == "token") p.slider_most = static_cast<double>(tap->queries() - 1);
  }
  if (mechanism == nullptr || !mechanism->plays || tap->queries() < 2) {
    controls.animation.reset();
  } else {
    controls.animation->to = static_cast<double>(tap->queries() - 1);
  }
}

Parameter picture_parameter() {
  Parameter p{.key = "picture",
              .label = "Picture",
              .help = "Which of the pictures that fit this variant.",
              .kind = Parameter::Kind::Choice,
              .initial = std::string(kAutomatic),
              .choices = {kAutomatic},
              .choice_labels = {"Automatic"}};
  for (const Mechanism& m : mechanisms()) {
    p.choices.push_back(m.id);
    p.choice_labels.push_back(m.label);
  }
  return p;
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
      lsh_mechanism(),           routing_mechanism(),    sinkhorn_mechanism(), settling_mechanism(),
      approximation_mechanism(), recurrence_mechanism(), errors_mechanism(),   made_mechanism(),
      convolution_mechanism(),   edges_mechanism(),      rules_mechanism(),    paths_mechanism(),
      replaced_mechanism()};
  return list;
}

const Mechanism& mechanism_of(const AttentionTap& tap) {
  const auto leads = std::ranges::find_if(
      mechanisms(), [&](const Mechanism& m) { return m.leads && m.fits(tap) && m.leads(tap); });
  if (leads != mechanisms().end()) return *leads;
  return *std::ranges::find_if(mechanisms(), [&](const Mechanism& m) { return m.fits(tap); });
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
  view.parameters = {picture_parameter(),
                     {.key = "token",
                      .label = "Token",
                      .help = "The token at which the method is shown, or which is replaced; by "
                              "default the pinned one.",
                      .optional = true,
                      .left_out = "pinned",
                      .initial = Index{0},
                      .slider_most = 64},
                     {.key = "round",
                      .label = "Round",
                      .help = "Which round of hashing is sorted, of LSH.",
                      .initial = Index{1},
                      .least = 1,
                      .most = 4096,
                      .slider_least = 1,
                      .slider_most = 8}};
  view.parameters.push_back({.key = "by",
                             .label = "By",
                             .help = "The number of the token that takes the other's place; by "
                                     "default the one before it in the vocabulary.",
                             .optional = true,
                             .left_out = "its neighbour",
                             .initial = Index{0},
                             .slider_most = 2047});
  view.animation = Animation{"token", 0, 64, 12};
  view.findings = {Findings::errors.id, Findings::replaced.id};
  view.data = mechanism_data;
  view.example = show_hashing;
  view.restrict_controls = restrict_controls;
  view.group = "Method";
  view.reading = mechanism_reading;
  view.objection = objection_without_attention;
  return view;
}

}  // namespace attnscope
