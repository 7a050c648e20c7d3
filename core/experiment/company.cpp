#include "core/experiment/company.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "core/checkpoint/model_store.h"
#include "core/experiment/chosen.h"
#include "core/experiment/inputs.h"
#include "core/experiment/own_tensors.h"
#include "core/experiment/picture_tensors.h"
#include "core/input/picture.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {

namespace {

constexpr Index kSegments = 4;  // into so many a text is cut for layers that remember

// Something to set along, where a choice does not work without it.
struct Step {
  std::string words;
  std::function<void(Experiment&)> set;
};

std::string why_not(const Experiment& experiment, const ModelConfig& stored, Index tokens) {
  const std::string reason = structure_refusal(stored, experiment);
  if (!reason.empty()) return reason;
  ModelConfig config = structured(stored, experiment.structure);
  config.groups = chosen_groups(config, experiment);
  Index length = experiment.most_tokens > 0 ? std::min(tokens, experiment.most_tokens) : tokens;
  if (config.segment > 0) length = std::min(length, config.segment);
  for (const auto& layer : config.groups) {
    const std::vector<HeadRange> ranges = head_ranges(config, layer);
    for (std::size_t g = 0; g < layer.size(); ++g) {
      const std::string of_length =
          refusal(layer[g].variant, layer[g].encoding, experiment.causal.value_or(config.causal),
                  group_dimensions(config, ranges[g]), length, length);
      if (!of_length.empty()) return of_length;
    }
  }
  return "";
}

// With the steps of a set of bits, the earlier ones first.
Experiment with_steps(const Experiment& picked, const std::vector<Step>& steps, unsigned set) {
  Experiment next = picked;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if ((set >> n & 1U) != 0) steps[n].set(next);
  }
  return next;
}

// The fewest of the steps that make it work.
Suited with_fewest(const Experiment& picked, const std::vector<Step>& steps,
                   const ModelConfig& stored, Index tokens) {
  const auto refused = [&](unsigned set) {
    return why_not(with_steps(picked, steps, set), stored, tokens);
  };
  std::vector<unsigned> sets;
  for (unsigned set = 0; set < 1U << steps.size(); ++set) sets.push_back(set);
  std::ranges::stable_sort(sets, {}, [](unsigned set) { return std::popcount(set); });
  const auto works = std::ranges::find_if(sets, [&](unsigned set) { return refused(set).empty(); });
  if (works == sets.end()) return {picked, {}, refused(0)};
  Suited result{with_steps(picked, steps, *works), {}, ""};
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if ((*works >> n & 1U) == 0) continue;
    result.along.push_back(steps[n].words);
    const std::string why = refusal_in_words(refused(*works & ~(1U << n)));  // it is missing
    result.reason += (result.reason.empty() ? "" : ". ") + why;
  }
  return result;
}

Step no_positions(const ForHeads& heads) {
  return {"no positions", [heads](Experiment& e) { heads.encoding(e, default_encoding()); }};
}

Step full_attention(const ForHeads& heads) {
  return {"full attention", [heads](Experiment& e) { heads.variant(e, default_variant()); }};
}

Step direction(bool causal) {
  return {causal ? "causal direction" : "both directions",
          [causal](Experiment& e) { e.causal = causal; }};
}

bool is_causal(const Experiment& experiment, const ModelConfig& stored) {
  return experiment.causal.value_or(stored.causal);
}

Suited led_by(std::vector<std::string> words, Suited rest) {
  words.insert(words.end(), rest.along.begin(), rest.along.end());
  rest.along = std::move(words);
  return rest;
}

}  // namespace

std::string refusal_in_words(const std::string& refusal) {
  const auto is_of_place = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
  };
  std::string text = refusal;
  bool of_choice = false;
  for (std::size_t end; (end = text.find(": ")) != std::string::npos;) {
    const std::string place = text.substr(0, end);
    if (!std::ranges::all_of(place, is_of_place)) break;
    of_choice |= place.starts_with("position") || place.starts_with("variant") || place == "causal";
    text.erase(0, end + 2);
  }
  if (!of_choice) return refusal;
  text = text.substr(0, text.find("; expected"));
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

ForHeads for_all_heads() {
  return {[](Experiment& e, std::optional<Choice> choice) {
            e.variant = std::move(choice);
            for (GroupChoice& group : e.groups) group.variant.reset();
          },
          [](Experiment& e, std::optional<Choice> choice) {
            e.encoding = std::move(choice);
            for (GroupChoice& group : e.groups) group.encoding.reset();
          }};
}

Suited with_variant(const Experiment& now, const ForHeads& heads, const Variant& picked,
                    const ModelConfig& stored, Index tokens) {
  Experiment next = now;
  std::vector<std::string> along;
  Index length = tokens;
  const Index fitting = picked.fitting && tokens > 0 ? picked.fitting(tokens) : tokens;
  if (fitting != tokens) {
    next.most_tokens = length = fitting;
    along.push_back("the first " + std::to_string(fitting) + " of " + std::to_string(tokens) +
                    " tokens");
  }
  const Index segment = next.structure.segment.value_or(stored.segment);
  if (picked.remember && segment == 0 && tokens > 1) {
    next.structure.segment = length = share_of(length, kSegments);
    along.push_back("segments of " + std::to_string(length) + (length == 1 ? " token" : " tokens"));
    next.view.part.segment = kSegments / 2;  // the first remembers nothing yet
  } else if (segment > 0) {
    length = std::min(length, segment);
  }
  if (picked.shown_both_ways && is_causal(next, stored)) {
    Experiment both = next;
    direction(false).set(both);
    if (why_not(both, stored, tokens).empty()) {
      next = both;
      along.push_back(direction(false).words);
    }
  }
  Choice choice{picked.id, telling_values(picked.parameters, length)};
  const InputKind& input = input_kind(stored.input.id);
  if (input.size_of) {
    set_image_sizes(choice.values, picked.parameters, input.size_of(stored.input.values, "width"),
                    input.size_of(stored.input.values, "height"), true);
  }
  return led_by(std::move(along), with_variant(next, heads, choice, stored, tokens));
}

Suited with_variant(const Experiment& now, const ForHeads& heads, const Choice& picked,
                    const ModelConfig& stored, Index tokens) {
  Experiment next = now;
  heads.variant(next, picked);
  const bool causal = is_causal(now, stored);
  return with_fewest(next, {no_positions(heads), direction(!causal)}, stored, tokens);
}

Suited with_encoding(const Experiment& now, const ForHeads& heads, const Encoding& picked,
                     const ModelConfig& stored, Index tokens) {
  const Choice choice{picked.id, telling_values(picked.parameters, tokens)};
  return with_encoding(now, heads, choice, stored, tokens);
}

Suited with_encoding(const Experiment& now, const ForHeads& heads, const Choice& picked,
                     const ModelConfig& stored, Index tokens) {
  Experiment next = now;
  heads.encoding(next, picked);
  const bool causal = is_causal(now, stored);
  return with_fewest(next, {full_attention(heads), direction(!causal)}, stored, tokens);
}

Suited with_direction(const Experiment& now, bool causal, const ModelConfig& stored, Index tokens) {
  Experiment next = now;
  next.causal = causal;
  const ForHeads all = for_all_heads();
  return with_fewest(next, {full_attention(all), no_positions(all)}, stored, tokens);
}

namespace {

// All variants and encodings of an experiment.
template <class Visit>
void for_each_choice(Experiment& e, const Visit& visit) {
  const auto both = [&](std::optional<Choice>& of_variant, std::optional<Choice>& of_encoding) {
    if (of_variant) visit(variant(of_variant->id), *of_variant);
    if (of_encoding) visit(encoding(of_encoding->id), *of_encoding);
  };
  both(e.variant, e.encoding);
  for (GroupChoice& group : e.groups) both(group.variant, group.encoding);
}

}  // namespace

bool has_open_choices(const Experiment& experiment) {
  bool open = false;
  Experiment copy = experiment;
  for_each_choice(copy, [&](const Info& info, const Choice& choice) {
    open |= std::ranges::any_of(info.parameters, [&](const Parameter& parameter) {
      return parameter.required && !choice.values.has(parameter.key);
    });
  });
  return open;
}

void complete_choices(Experiment& experiment, Index tokens) {
  for_each_choice(experiment, [&](const Info& info, Choice& choice) {
    complete(choice.values, info.parameters, tokens);
  });
}

void complete_choices(Experiment& experiment) {
  if (!has_open_choices(experiment)) return;
  if (!experiment.tensors.file.empty()) {
    if (is_picture_file(experiment.tensors.file)) {
      const auto [width, height] = picture_grid(experiment.tensors);
      for_each_choice(experiment, [&](const Info& info, Choice& choice) {
        set_image_sizes(choice.values, info.parameters, width, height, false);
      });
      return complete_choices(experiment, width * height);
    }
    return complete_choices(experiment, read_own_tensors(experiment.tensors).queries());
  }
  const std::shared_ptr<const Checkpoint> checkpoint = model_store()->checkpoint(experiment.model);
  const ModelConfig config = structured(checkpoint->model.config, experiment.structure);
  std::vector<std::string> notes;  // said when it runs
  const std::vector<TraceToken> tokens = tokens_to_read(config, *checkpoint, experiment, notes);
  const auto length = static_cast<Index>(tokens.size());
  // What the text itself says of what was left out comes first.
  Experiment read = with_text_read(experiment, tokens);
  std::vector<Values> of_text;
  for_each_choice(read, [&](const Info&, const Choice& c) { of_text.push_back(c.values); });
  auto said = of_text.begin();
  for_each_choice(experiment, [&](const Info& info, Choice& choice) {
    for (const Parameter& parameter : info.parameters) {
      if (!parameter.required || choice.values.has(parameter.key) || !said->has(parameter.key)) {
        continue;
      }
      choice.values.set(parameter.key, said->all().find(parameter.key)->second);
    }
    ++said;
  });
  complete_choices(experiment, config.segment > 0 ? std::min(length, config.segment) : length);
}

}  // namespace attnscope
