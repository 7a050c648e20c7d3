// Mechanism view: selects and draws the illustration of the shown head's variant.
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

// The selected mechanism; null if it does not fit this head.
const Mechanism* selected_mechanism(const ViewSettings& settings, const AttentionTap& tap) {
  const std::string picture = view_values(settings, kId).choice("picture");
  if (picture == kAutomatic) return &default_mechanism(tap);
  const Mechanism& selected = *std::ranges::find(mechanisms(), picture, &Mechanism::id);
  return selected.fits(tap) ? &selected : nullptr;
}

ViewLayout refuse(Page& page, const AttentionTap& tap) {
  const std::string picture = view_values(page.input().session.view, kId).choice("picture");
  const Mechanism& selected = *std::ranges::find(mechanisms(), picture, &Mechanism::id);
  std::string reason = selected.objection ? selected.objection(tap) : "";
  if (reason.empty())
    reason = "It shows " + selected.content + ", which does not apply to this variant.";
  return page.message("No picture “" + selected.label + "” of " + variant(tap.variant.id).label,
                      reason + " Choose Picture: Automatic.");
}

ViewLayout lay_out_mechanism(const ViewInput& input) {
  Page page(input);
  const SelectedTap head_tap = find_tap(input);
  if (head_tap.tap == nullptr) return page.message(head_tap.headline, head_tap.advice);
  const AttentionTap& tap = *head_tap.tap;
  const ViewSettings& settings = input.session.view;
  const Mechanism* selected = selected_mechanism(settings, tap);
  if (selected == nullptr) return refuse(page, tap);
  const Mechanism& mechanism = *selected;
  const Box inside = page.frame(
      title_with_head(input),
      caption(input.trace, "How " + describe_head(input.trace, settings) + " works, " +
                               mechanism.content + ": " + describe(input.trace, tap) + "."));
  MechanismLayout picture = mechanism.draw(page, inside, {input, tap, head_tap.head});
  if (picture.is_too_small) return no_space(page);
  if (!picture.refusal.empty()) return Page(input).message("Nothing to show", picture.refusal);
  ViewLayout layout;
  layout.hit = [pair_at = picture.pair_at, layer = settings.layer,
                head = settings.head](Point p) -> std::optional<Hit> {
    const std::optional<Pair> pair = pair_at ? pair_at(p) : std::nullopt;
    if (!pair) return std::nullopt;
    return Hit{layer, head, pair->query, pair->key};
  };
  layout.handles = std::move(picture.handles);
  layout.pending = picture.pending;
  layout.list = page.take(picture.bottom);
  return layout;
}

ViewReading mechanism_reading(const ViewSettings& settings, const Trace* trace) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  const Mechanism* mechanism = tap != nullptr ? selected_mechanism(settings, *tap) : nullptr;
  if (mechanism == nullptr) return {"The selected variant, step by step, on your text."};
  return {variant(tap->variant.id).label + " on this text: " + mechanism->content +
          ". Follow the numbered sentences; point at a token to see its part."};
}

ViewData mechanism_data(const ViewInput& input) {
  const SelectedTap head_tap = require_tap(input);
  const Mechanism* selected = selected_mechanism(input.session.view, *head_tap.tap);
  if (selected == nullptr) {
    throw InputError("picture: expected a picture of " + variant(head_tap.tap->variant.id).label +
                     ", or \"automatic\"");
  }
  return {selected->data({input, *head_tap.tap, head_tap.head})};
}

// Limits the choices to pictures that fit this head. True if several remain or a picture is
// selected.
bool restrict_pictures(Parameter& picture, const AttentionTap& tap, const std::string& id) {
  std::erase_if(picture.choices, [&](const ParameterChoice& choice) {
    const auto mechanism = std::ranges::find(mechanisms(), choice.id, &Mechanism::id);
    return mechanism != mechanisms().end() && !mechanism->fits(tap) && choice.id != id;
  });
  constexpr std::size_t kSinglePicture = 2;  // "automatic" and the only picture that fits
  return picture.choices.size() > kSinglePicture || id != kAutomatic;
}

std::optional<Animation> animation_of(const Mechanism* mechanism, const AttentionTap& tap,
                                      const ViewSettings& settings) {
  if (mechanism == nullptr) return {};
  if (mechanism->animation) return mechanism->animation(tap, settings);
  if (!mechanism->steps_through_tokens || tap.queries() < 2) return {};
  return Animation{"token", 0, static_cast<double>(tap.queries() - 1), 12};
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  if (tap == nullptr) return;
  const Mechanism* mechanism = selected_mechanism(settings, *tap);
  if (mechanism == nullptr || !mechanism->shows_weights) {
    controls.hide_colours();
  } else if (mechanism->scales_to_largest) {
    controls.colour_ends.clear();
  }
  const auto has_effect = [&](const std::string& key) {
    return mechanism != nullptr &&
           std::ranges::find(mechanism->parameters, key) != mechanism->parameters.end();
  };
  const std::string picture = view_values(settings, kId).choice("picture");
  std::erase_if(controls.parameters, [&](Parameter& p) {
    return p.key == "picture" ? !restrict_pictures(p, *tap, picture) : !has_effect(p.key);
  });
  for (Parameter& p : controls.parameters) {
    if (p.key == "token") p.slider.max = static_cast<double>(tap->queries() - 1);
  }
  controls.animation = animation_of(mechanism, *tap, settings);
  for (Parameter& p : controls.parameters) {
    if (p.key == "tile" && controls.animation) p.slider.max = controls.animation->to;
  }
}

Parameter picture_parameter() {
  Parameter p{.key = "picture",
              .label = "Picture",
              .help = "One of the pictures for this variant.",
              .kind = Parameter::Kind::Choice,
              .initial = std::string(kAutomatic),
              .choices = {{kAutomatic, "Automatic"}}};
  for (const Mechanism& m : mechanisms()) p.choices.emplace_back(m.id, m.label);
  return p;
}

Parameter tile_side_parameter(const char* key, const char* label, const char* symbol) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = "Side of FlashAttention's tiles; by default a quarter of the text.",
          .optional = true,
          .unset_label = "a quarter",
          .initial = Index{4},
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 64}};
}

}  // namespace

Tensor cached_numbers(const HeadInput& in, const CacheKey& key,
                      const std::function<Tensor()>& compute) {
  if (in.input.cache == nullptr) return compute();
  // Settings and patterns are unique to a run.
  std::shared_ptr<const void> source = in.tap.vectors.settings();
  if (!source) source = in.tap.result.pattern;
  return in.input.cache->matrix(source, key.with(in.head), compute);
}

const std::vector<Mechanism>& mechanisms() {
  static const std::vector<Mechanism> list{
      lsh_mechanism(),     routing_mechanism(),   sinkhorn_mechanism(),      capsules_mechanism(),
      windows_mechanism(), settling_mechanism(),  approximation_mechanism(), recurrence_mechanism(),
      errors_mechanism(),  generated_mechanism(), convolution_mechanism(),   edges_mechanism(),
      rules_mechanism(),   paths_mechanism(),     replaced_mechanism(),      lookup_mechanism(),
      sharing_mechanism(), tiles_mechanism()};
  return list;
}

const Mechanism& default_mechanism(const AttentionTap& tap) {
  const auto preferred = std::ranges::find_if(mechanisms(), [&](const Mechanism& m) {
    return m.is_preferred && m.fits(tap) && m.is_preferred(tap);
  });
  if (preferred != mechanisms().end()) return *preferred;
  return *std::ranges::find_if(mechanisms(), [&](const Mechanism& m) { return m.fits(tap); });
}

namespace {

// Selects LSH, whose illustration shows more than its pattern.
void show_hashing(Session& session) {
  if (session.run.variant) return;
  const Variant& lsh = variant("lsh");
  session.run.variant = Choice{lsh.id, default_values(lsh.parameters)};
  session.run.variant->values.set("chunk", Index{8});
}

std::vector<ViewFinding> mechanism_findings() {
  std::vector<ViewFinding> findings;
  for (const Mechanism& m : mechanisms()) {
    if (!m.finding) continue;
    findings.push_back(
        {m.finding->id, [&m](const RunView& viewed) -> std::optional<FindingSettings> {
           const bool is_selected = view_values(viewed.view, kId).choice("picture") == m.id;
           return is_selected ? m.finding->settings(viewed) : std::nullopt;
         }});
  }
  return findings;
}

}  // namespace

View mechanism_view() {
  return {
      .id = kId,
      .label = "Mechanism",
      .group = "Method",
      .summary = "The variant of the shown head, step by step, on the tokens of the text.",
      .lay_out = lay_out_mechanism,
      .reading = mechanism_reading,
      .data = mechanism_data,
      .findings = mechanism_findings(),
      .options =
          {.parameters =
               {picture_parameter(),
                {.key = "token",
                 .label = "Token",
                 .help = "The token to show or replace; by default the pinned one.",
                 .optional = true,
                 .unset_label = "pinned",
                 .initial = Index{0},
                 .slider = {.max = 64}},
                {.key = "round",
                 .label = "Round",
                 .help = "The hashing round to show, for LSH.",
                 .initial = Index{1},
                 .limits = {.min = 1, .max = 4096},
                 .slider = {.min = 1, .max = 8}},
                {.key = "by",
                 .label = "Replaced by",
                 .help =
                     "Id of the replacement token; by default the previous one in the vocabulary.",
                 .optional = true,
                 .unset_label = "its neighbour",
                 .initial = Index{0},
                 .slider = {.max = 2047}},
                {.key = "tile",
                 .label = "Tile",
                 .help = "The tile in progress, for FlashAttention; by default the middle one.",
                 .optional = true,
                 .unset_label = "middle",
                 .initial = Index{1},
                 .limits = {.min = 1},
                 .slider = {.min = 1, .max = 16}},
                tile_side_parameter("tile_rows", "Queries per tile", "B_r"),
                tile_side_parameter("tile_columns", "Keys per tile", "B_c")},
           .animation = Animation{"token", 0, 64, 12},
           .restrict_controls = restrict_controls},
      .content = {.objection = objection_without_attention, .example = show_hashing}};
}

}  // namespace attnscope
