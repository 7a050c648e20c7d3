#include "core/experiment/compatible_choice.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "core/checkpoint/model_store.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/image_tensors.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/inputs.h"
#include "core/input/image_file.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {
namespace {

constexpr Index kSegments = 4;  // segments of a text for layers with memory

// Change to another setting that a selection may need.
struct Change {
  std::string description;
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
  std::vector<unsigned> subsets;
  for (unsigned bits = 0; bits < 1U << changes.size(); ++bits) subsets.push_back(bits);
  std::ranges::stable_sort(subsets, {}, [](unsigned bits) { return std::popcount(bits); });
  const auto best =
      std::ranges::find_if(subsets, [&](unsigned bits) { return reason(bits).empty(); });
  if (best == subsets.end()) return {selected, {}, reason(0)};
  CompatibleChoice result{apply_changes(selected, changes, *best), {}, ""};
  for (std::size_t n = 0; n < changes.size(); ++n) {
    if ((*best >> n & 1U) == 0) continue;
    result.implied.push_back(changes[n].description);
    const std::string cause = refusal_sentence(reason(*best & ~(1U << n)));  // without change n
    result.reason += (result.reason.empty() ? "" : ". ") + cause;
  }
  return result;
}

Change no_positions(const HeadScope& heads) {
  return {"no positions", [heads](RunView& viewed) { heads.encoding(viewed, default_encoding()); }};
}

Change full_attention(const HeadScope& heads) {
  return {"full attention", [heads](RunView& viewed) { heads.variant(viewed, default_variant()); }};
}

Change direction(bool causal) {
  return {causal ? "causal direction" : "bidirectional",
          [causal](RunView& viewed) { viewed.run.causal = causal; }};
}

bool is_causal(const RunSpec& spec, const ModelConfig& stored) {
  return spec.causal.value_or(stored.causal);
}

CompatibleChoice prepend_changes(std::vector<std::string> changes, CompatibleChoice choice) {
  changes.insert(changes.end(), choice.implied.begin(), choice.implied.end());
  choice.implied = std::move(changes);
  return choice;
}

}  // namespace

std::string refusal_sentence(const std::string& refusal) {
  const auto is_path_character = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
  };
  std::string text = refusal;
  bool names_choice = false;
  for (std::size_t colon; (colon = text.find(": ")) != std::string::npos;) {
    const std::string path = text.substr(0, colon);
    if (!std::ranges::all_of(path, is_path_character)) break;
    names_choice |= path.starts_with("position") || path.starts_with("variant") || path == "causal";
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

CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Variant& selected, const ModelConfig& stored, Index tokens) {
  RunView next = current;
  std::vector<std::string> implied;
  Index length = tokens;
  const Index usable_length =
      selected.defaults.length && tokens > 0 ? selected.defaults.length(tokens) : tokens;
  if (usable_length != tokens) {
    next.run.max_tokens = length = usable_length;
    implied.push_back("the first " + std::to_string(usable_length) + " of " +
                      std::to_string(tokens) + " tokens");
  }
  const Index segment = next.run.structure.segment.value_or(stored.segment);
  if (selected.memory.remember && segment == 0 && tokens > 1) {
    next.run.structure.segment = length = fraction_of_length(length, kSegments);
    implied.push_back("segments of " + std::to_string(length) +
                      (length == 1 ? " token" : " tokens"));
    next.view.part.segment = kSegments / 2;  // the first segment has no memory yet
  } else if (segment > 0) {
    length = std::min(length, segment);
  }
  if (selected.defaults.bidirectional && is_causal(next.run, stored)) {
    RunView bidirectional = next;
    direction(false).apply(bidirectional);
    if (find_refusal(bidirectional.run, stored, tokens).empty()) {
      next = bidirectional;
      implied.push_back(direction(false).description);
    }
  }
  Choice choice{selected.id, illustrative_values(selected.parameters, length)};
  const InputKind& input = input_kind(stored.input.id);
  if (input.pattern_size) {
    set_image_sizes(choice.values, selected.parameters,
                    input.pattern_size(stored.input.values, "width"),
                    input.pattern_size(stored.input.values, "height"), true);
  }
  return prepend_changes(std::move(implied), select_variant(next, heads, choice, stored, tokens));
}

CompatibleChoice select_variant(const RunView& current, const HeadScope& heads,
                                const Choice& selected, const ModelConfig& stored, Index tokens) {
  RunView next = current;
  heads.variant(next, selected);
  const bool causal = is_causal(current.run, stored);
  return with_fewest_changes(next, {no_positions(heads), direction(!causal)}, stored, tokens);
}

CompatibleChoice select_encoding(const RunView& current, const HeadScope& heads,
                                 const Encoding& selected, const ModelConfig& stored,
                                 Index tokens) {
  const Choice choice{selected.id, illustrative_values(selected.parameters, tokens)};
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

namespace {

template <class Visit>
void for_each_choice(RunSpec& spec, const Visit& visit) {
  const auto visit_pair = [&](std::optional<Choice>& chosen_variant,
                              std::optional<Choice>& chosen_encoding) {
    if (chosen_variant) visit(variant(chosen_variant->id), *chosen_variant);
    if (chosen_encoding) visit(encoding(chosen_encoding->id), *chosen_encoding);
  };
  visit_pair(spec.variant, spec.encoding);
  for (GroupChoice& group : spec.groups) visit_pair(group.variant, group.encoding);
}

}  // namespace

bool has_unset_parameters(const RunSpec& spec) {
  bool any_unset = false;
  RunSpec copy = spec;
  for_each_choice(copy, [&](const Info& info, const Choice& choice) {
    any_unset |= std::ranges::any_of(info.parameters, [&](const Parameter& parameter) {
      return parameter.required && !choice.values.has(parameter.key);
    });
  });
  return any_unset;
}

void fill_unset_parameters(RunSpec& spec, Index tokens) {
  for_each_choice(spec, [&](const Info& info, Choice& choice) {
    fill_unset_values(choice.values, info.parameters, tokens);
  });
}

void fill_unset_parameters(RunSpec& spec) {
  if (!has_unset_parameters(spec)) return;
  if (!spec.tensors.file.empty()) {
    if (is_image_file(spec.tensors.file)) {
      const auto [width, height] = image_grid(spec.tensors);
      for_each_choice(spec, [&](const Info& info, Choice& choice) {
        set_image_sizes(choice.values, info.parameters, width, height, false);
      });
      return fill_unset_parameters(spec, width * height);
    }
    return fill_unset_parameters(spec, read_imported_tensors(spec.tensors).queries());
  }
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(spec.model);
  const ModelConfig config = apply_structure(checkpoint->model.config, spec.structure);
  std::vector<std::string> notes;  // ignored here: the run reports them
  const std::vector<TraceToken> tokens = tokens_to_read(config, *checkpoint, spec, notes);
  const auto length = static_cast<Index>(tokens.size());
  // Values derived from the text take precedence over illustrative values.
  RunSpec filled = with_text_parameters(spec, tokens);
  std::vector<Values> text_values;
  for_each_choice(filled, [&](const Info&, const Choice& c) { text_values.push_back(c.values); });
  auto derived = text_values.begin();
  for_each_choice(spec, [&](const Info& info, Choice& choice) {
    for (const Parameter& parameter : info.parameters) {
      if (!parameter.required || choice.values.has(parameter.key) || !derived->has(parameter.key)) {
        continue;
      }
      choice.values.set(parameter.key, derived->all().find(parameter.key)->second);
    }
    ++derived;
  });
  fill_unset_parameters(spec, config.segment > 0 ? std::min(length, config.segment) : length);
}

}  // namespace attnscope
