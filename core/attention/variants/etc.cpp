// etc: Extended Transformer Construction, global and long input. Ainslie et al., 2020.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"
#include "core/base/error.h"
#include "core/text/text_structure.h"

namespace attnscope {
namespace {

std::string etc_objection(const Values& values, const Situation& in) {
  const Index global = values.integer("global");
  if (in.keys > 0 && global > in.keys) {
    return "global: expected at most the length " + std::to_string(in.keys) + found_text(global);
  }
  const bool by_sentences = values.choice("by") == "sentences";
  if (by_sentences && global < 1) return "global: expected at least 1 with by=sentences, found 0";
  if (!values.has("segments") || (by_sentences && in.keys == 0)) return {};
  const auto& segments = values.get<std::vector<Index>>("segments");
  const auto found = static_cast<Index>(segments.size());
  if (in.keys > 0 && found != in.keys - global) {
    return "segments: expected one entry for each of the " + std::to_string(in.keys - global) +
           " long tokens" + found_text(found);
  }
  for (const Index segment : segments) {
    if (segment >= global) {
      return "segments: expected global tokens below " + std::to_string(global) +
             found_text(segment);
    }
  }
  return {};
}

Pattern etc_pattern(const PatternInput& in) {
  if (in.values.choice("by") == "sentences" && !in.values.has("segments")) {
    throw InputError(
        "variant.by: expected \"list\" for generation, evaluation and training, which read the "
        "text in pieces; found \"sentences\", which needs the whole text");
  }
  const Index global = in.values.integer("global"), radius = in.values.integer("radius");
  const Index keys = in.keys;
  const std::vector<Index>* segments =
      in.values.has("segments") ? &in.values.get<std::vector<Index>>("segments") : nullptr;
  const std::string& hard = in.values.choice("hard");
  const bool masks_g2l = segments && hard != "l2g", masks_l2g = segments && hard != "g2l";
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(segments ? global : 0));
  if (segments) {
    for (std::size_t n = 0; n < segments->size(); ++n) {
      members[static_cast<std::size_t>((*segments)[n])].push_back(global + static_cast<Index>(n));
    }
  }
  return build_rows(in, 1,
                    {"global to global", "global to long", "long to global",
                     in.causal ? "long to long, " + std::to_string(radius) + " back"
                               : "long to long ±" + std::to_string(radius)},
                    [&](PatternBuilder& rows, Index, Index i) {
                      if (i < global) {
                        rows.add(0, 0, global);
                        if (!masks_g2l) return rows.add(1, global, keys);
                        for (const Index j : members[static_cast<std::size_t>(i)]) {
                          rows.add_column(1, j);
                        }
                        return;
                      }
                      if (masks_l2g) {
                        rows.add_column(2, (*segments)[static_cast<std::size_t>(i - global)]);
                      } else {
                        rows.add(2, 0, global);
                      }
                      rows.add(3, std::max(global, i - radius), i + radius + 1);
                    });
}

// Assigns a global token to each sentence. All remaining sentences share the last global token.
void set_segments_from_text(Values& values, const TextStructure& text) {
  if (values.choice("by") != "sentences") return;
  if (!values.has("global")) values.set("global", std::min(text.sentences(), text.tokens()));
  const Index global = values.integer("global");
  std::vector<Index> segments;
  for (Index i = global; i < text.tokens(); ++i) {
    segments.push_back(std::min(text.sentence[static_cast<std::size_t>(i)], global - 1));
  }
  if (global > 0) values.set("segments", segments);
}

}  // namespace

Variant etc_variant() {
  Variant v;
  v.id = "etc";
  v.label = "ETC, global and long";
  v.group = "Fixed patterns";
  v.equation = "g2g: all;   g2l, l2g: all, or the token's own segment;   l2l: |i − j| ≤ w";
  v.summary =
      "The first n_g positions are a global input that summarises the long input after it. Long "
      "tokens see their neighbours and the global tokens; with segments, a long token sees only "
      "the global token of its own sentence or paragraph, which reflects the structure of the "
      "text. In the paper, global tokens are auxiliary tokens outside the text: so they are in a "
      "model with the input global_text. In other models they are the first n_g tokens.";
  v.source = "Ainslie et al., 2020, ETC, arXiv:2004.08483";
  v.complexity = "O(n_g·L·d + L·w·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("global", std::min<Index>(16, length));
                     values.set("radius", std::min<Index>(64, length));
                   }};
  v.causality.incremental = always;
  v.defaults.bidirectional = true;
  v.parameters = {
      {.key = "global",
       .symbol = "n_g",
       .label = "Global tokens",
       .help = "Number of initial positions that form the global input.",
       .required = true,
       .initial = Index{2},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 8); },
       .slider = {.max = 16}},
      {.key = "radius",
       .symbol = "w",
       .label = "Radius",
       .help = "Distance up to which a long token sees other long tokens.",
       .required = true,
       .initial = Index{4},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 8); },
       .slider = {.max = 64}},
      {.key = "by",
       .symbol = "",
       .label = "Segments from",
       .help = "The list below, or one segment per sentence of the text. Segments beyond "
               "the last global token share it.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("list"),
       .choices = {{"list", "List"}, {"sentences", "Sentences", true}}},
      {.key = "hard",
       .symbol = "",
       .label = "Hard masks",
       .help = "Direction that segments restrict: global to long, long to global, or both.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("both"),
       .choices = {{"both", "Both"}, {"g2l", "Global to long"}, {"l2g", "Long to global"}}},
      {.key = "segments",
       .symbol = "",
       .label = "Segments",
       .help = "For each long token, the number of its global token.",
       .kind = Parameter::Kind::Integers,
       .optional = true,
       .initial = std::vector<Index>{}}};
  v.objection = etc_objection;
  v.pattern = etc_pattern;
  v.defaults.from_text = set_segments_from_text;
  return v;
}

}  // namespace attnscope
