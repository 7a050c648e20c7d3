#include "core/experiment/compatible_choice.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "core/base/error.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/partial_choice.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {
namespace {

constexpr Index kSegments = 4;  // segments of a text for layers with memory

using Setting = SettingChange::Setting;

// Change to another setting that a selection may need.
struct Change : SettingChange {
  std::function<void(RunView&)> apply;
};

std::string find_refusal(const RunSpec& spec, const ModelConfig& stored, Index tokens) {
  const std::string reason = structure_refusal(stored, spec);
  if (!reason.empty()) return reason;
  ModelConfig config = apply_structure(stored, spec.structure);
  config.groups = effective_groups(config, spec);
  Index length = spec.max_tokens > 0 ? std::min(tokens, spec.max_tokens) : tokens;
  if (config.segment > 0) length = std::min(length, config.segment);
  for (const auto& layer : config.groups) {
    const std::vector<HeadRange> ranges = head_ranges(config, layer);
    for (std::size_t g = 0; g < layer.size(); ++g) {
      const std::string conflict =
          refusal(layer[g].variant, layer[g].encoding, spec.causal.value_or(config.causal),
                  group_dimensions(config, ranges[g]), length, length);
      if (!conflict.empty()) return conflict;
    }
  }
  return "";
}

// Applies the changes whose bits are set in `bits`, in order.
RunView apply_changes(const RunView& selected, const std::vector<Change>& changes, unsigned bits) {
  RunView next = selected;
  for (std::size_t n = 0; n < changes.size(); ++n) {
    if ((bits >> n & 1U) != 0) changes[n].apply(next);
  }
  return next;
}

// Applies the smallest set of changes that makes the selection valid.
CompatibleChoice with_fewest_changes(const RunView& selected, const std::vector<Change>& changes,
                                     const ModelConfig& stored, Index tokens) {
  const auto reason = [&](unsigned bits) {
    return find_refusal(apply_changes(selected, changes, bits).run, stored, tokens);
  };
  const std::string conflict = reason(0);
  std::vector<unsigned> subsets;
  for (unsigned bits = 0; bits < 1U << changes.size(); ++bits) subsets.push_back(bits);
  std::ranges::stable_sort(subsets, {}, [](unsigned bits) { return std::popcount(bits); });
  const auto best =
      std::ranges::find_if(subsets, [&](unsigned bits) { return reason(bits).empty(); });
  if (best == subsets.end()) return {.viewed = selected, .refusal = conflict, .conflict = conflict};
  CompatibleChoice result{.viewed = apply_changes(selected, changes, *best), .conflict = conflict};
  for (std::size_t n = 0; n < changes.size(); ++n) {
    if ((*best >> n & 1U) == 0) continue;
    result.implied.push_back(changes[n]);
    const std::string cause = refusal_sentence(reason(*best & ~(1U << n)));  // without change n
    result.reason += (result.reason.empty() ? "" : ". ") + cause;
  }
  return result;
}

Change no_positions(const HeadScope& heads) {
  return {{Setting::Encoding, default_encoding().id, "no positions"},
          [heads](RunView& viewed) { heads.encoding(viewed, default_encoding()); }};
}

Change full_attention(const HeadScope& heads) {
  return {{Setting::Variant, default_variant().id, "full attention"},
          [heads](RunView& viewed) { heads.variant(viewed, default_variant()); }};
}

Change direction(bool causal) {
  return {{Setting::Direction, causal ? "true" : "false",
           causal ? "causal direction" : "bidirectional"},
          [causal](RunView& viewed) { viewed.run.causal = causal; }};
}

bool is_causal(const RunSpec& spec, const ModelConfig& stored) {
  return spec.causal.value_or(stored.causal);
}

CompatibleChoice prepend_changes(std::vector<SettingChange> changes, CompatibleChoice choice) {
  changes.insert(changes.end(), choice.implied.begin(), choice.implied.end());
  choice.implied = std::move(changes);
  return choice;
}

// Changes that show a variant's idea, even if the variant would run without them.
struct Preparation {
  RunView viewed;
  std::vector<SettingChange> implied{};
  Index length;  // tokens that an operation sees
};

void read_fewer_tokens(Preparation& prepared, const Variant& selected, Index tokens) {
  if (!selected.defaults.length || tokens == 0) return;
  const Index usable = selected.defaults.length(tokens);
  if (usable == tokens) return;
  prepared.viewed.run.max_tokens = prepared.length = usable;
  prepared.implied.push_back(
      {Setting::Length, std::to_string(usable),
       "the first " + std::to_string(usable) + " of " + std::to_string(tokens) + " tokens"});
}

void read_segments(Preparation& prepared) {
  const Index tokens = prepared.length, length = fraction_of_length(tokens, kSegments);
  prepared.viewed.run.structure.segment = prepared.length = length;
  // The last complete segment has the fullest memory.
  prepared.viewed.view.part.segment = std::min(kSegments - 1, (tokens - 1) / length);
  prepared.implied.push_back(
      {Setting::Segment, std::to_string(length),
       "segments of " + std::to_string(length) + (length == 1 ? " token" : " tokens")});
}

Preparation prepared_for(const RunView& current, const Variant& selected, const ModelConfig& stored,
                         Index tokens, KeptSettings kept) {
  Preparation prepared{.viewed = current, .length = tokens};
  if (!kept.length) read_fewer_tokens(prepared, selected, tokens);
  const Index segment = prepared.viewed.run.structure.segment.value_or(stored.segment);
  if (selected.memory.remember && segment == 0 && tokens > 1 && !kept.segments) {
    read_segments(prepared);
  } else if (segment > 0) {
    prepared.length = std::min(prepared.length, segment);
  }
  if (selected.defaults.bidirectional && is_causal(prepared.viewed.run, stored) &&
      !kept.direction) {
    RunView bidirectional = prepared.viewed;
    direction(false).apply(bidirectional);
    if (find_refusal(bidirectional.run, stored, tokens).empty()) {
      prepared.viewed = bidirectional;
      prepared.implied.push_back(direction(false));
    }
  }
  return prepared;
}

}  // namespace

void replace_values(Values& values, const Values& given) {
  for (const auto& [key, value] : given.all()) values.set(key, value);
}

std::string describe(const std::vector<SettingChange>& changes) {
  std::string text;
  for (const SettingChange& change : changes) {
    text += (text.empty() ? "" : ", ") + change.description;
  }
  return text;
}

std::string refusal_sentence(const std::string& refusal) {
  const auto is_path_character = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
  };
  std::string text = refusal;
  bool names_choice = false;
  for (std::size_t colon; (colon = text.find(": ")) != std::string::npos;) {
    const std::string path = text.substr(0, colon);
    if (!std::ranges::all_of(path, is_path_character)) break;
    names_choice |= path.starts_with("position") || path.starts_with("variant") ||
                    path == "causal" || path == "architecture.encoder_variant";
    text.erase(0, colon + 2);
  }
  if (!names_choice) return refusal;
  const std::size_t reason = text.find(" (", text.find(", found "));
  if (reason != std::string::npos && text.ends_with(')')) {
    text = text.substr(reason + 2, text.size() - reason - 3);
  }
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

HeadScope for_all_heads() {
  return {[](RunView& viewed, std::optional<Choice> choice) {
            viewed.run.variant = std::move(choice);
            for (GroupChoice& group : viewed.run.groups) group.variant.reset();
          },
          [](RunView& viewed, std::optional<Choice> choice) {
            viewed.run.encoding = std::move(choice);
            for (GroupChoice& group : viewed.run.groups) group.encoding.reset();
          }};
}

namespace {

// Sets the parameters that the size of the model's images determines.
void set_model_image_sizes(Values& values, const Info& info, const ModelConfig& config) {
  const InputKind& input = input_kind(config.input.id);
  if (!input.pattern_size) return;
  set_image_sizes(values, info.parameters, input.pattern_size(config.input.values, "width"),
                  input.pattern_size(config.input.values, "height"), true);
}

}  // namespace

CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Variant& selected, const ModelConfig& stored, Index tokens,
                                const Values& given, KeptSettings kept) {
  Preparation prepared = prepared_for(current, selected, stored, tokens, kept);
  Choice choice{selected.id, illustrative_values(selected.parameters, prepared.length)};
  set_model_image_sizes(choice.values, selected, stored);
  replace_values(choice.values, given);
  return prepend_changes(std::move(prepared.implied),
                         select_variant(prepared.viewed, heads, choice, stored, tokens));
}

CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Choice& selected, const ModelConfig& stored, Index tokens) {
  RunView next = current;
  heads.variant(next, selected);
  const bool causal = is_causal(current.run, stored);
  return with_fewest_changes(next, {no_positions(heads), direction(!causal)}, stored, tokens);
}

CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Encoding& selected, const ModelConfig& stored, Index tokens,
                                 const Values& given) {
  Choice choice{selected.id, illustrative_values(selected.parameters, tokens)};
  set_model_image_sizes(choice.values, selected, stored);
  replace_values(choice.values, given);
  return select_encoding(current, heads, choice, stored, tokens);
}

CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Choice& selected, const ModelConfig& stored, Index tokens) {
  RunView next = current;
  heads.encoding(next, selected);
  const bool causal = is_causal(current.run, stored);
  return with_fewest_changes(next, {full_attention(heads), direction(!causal)}, stored, tokens);
}

CompatibleChoice select_direction(const RunView& current, bool causal, const ModelConfig& stored,
                                  Index tokens) {
  RunView next = current;
  next.run.causal = causal;
  const HeadScope heads = for_all_heads();
  return with_fewest_changes(next, {full_attention(heads), no_positions(heads)}, stored, tokens);
}

CompatibleChoice nearest_compatible(const RunView& current, const ModelConfig& stored,
                                    Index tokens) {
  const HeadScope heads = for_all_heads();
  const bool causal = is_causal(current.run, stored);
  const CompatibleChoice same_variant =
      with_fewest_changes(current, {no_positions(heads), direction(!causal)}, stored, tokens);
  if (same_variant.refusal.empty()) return same_variant;
  return with_fewest_changes(
      current, {full_attention(heads), no_positions(heads), direction(!causal)}, stored, tokens);
}

std::optional<CompatibleChoice> offer_after(const std::string& error, const RunView& current) {
  if (!current.run.tensors.file.empty()) return std::nullopt;
  try {
    const RunTokens input = read_tokens(current.run);
    CompatibleChoice nearest =
        nearest_compatible(current, input.checkpoint->model.config, input.count);
    const bool is_conflict =
        !nearest.conflict.empty() && error.find(nearest.conflict) != std::string::npos;
    if (is_conflict && nearest.refusal.empty()) return nearest;
  } catch (const InputError&) {
    // The model or the input cannot be read, which `error` states.
  }
  return std::nullopt;
}

}  // namespace attnscope
