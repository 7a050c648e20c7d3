#include "app/window/widgets/selection.h"

#include <algorithm>

#include "core/model/config.h"

namespace attnscope::window {

namespace {

// The head group of the model, as it was trained, that the view's layer and head belong to.
const HeadGroup* trained_group(const State& state) {
  if (state.edited_trace() == nullptr) return nullptr;
  const auto& layers = state.edited_trace()->config->groups;
  const auto layer = static_cast<std::size_t>(std::max<Index>(state.edited().view.layer, 0));
  if (layer >= layers.size()) return nullptr;
  Index head = state.edited().view.head;
  for (const HeadGroup& group : layers[layer]) {
    if (head < group.heads) return &group;
    head -= group.heads;
  }
  return layers[layer].empty() ? nullptr : &layers[layer].front();
}

// Whether not all heads of the model have the same `member`.
bool mixed(const State& state, Choice HeadGroup::*member) {
  if (state.edited_trace() == nullptr) return false;
  const HeadGroup* first = nullptr;
  for (const auto& layer : state.edited_trace()->config->groups) {
    for (const HeadGroup& group : layer) {
      if (first == nullptr) first = &group;
      if (!(group.*member == first->*member)) return true;
    }
  }
  return false;
}

Dimensions dimensions(const State& state) {
  Dimensions d;
  if (state.edited_trace() == nullptr) return d;
  const ModelConfig& config = *state.edited_trace()->config;
  d.model = config.width;
  d.heads = config.heads;
  d.kv_heads = config.kv_heads;
  d.key = d.value = config.head_size;
  d.context = config.context;
  d.layer_heads = config.heads;
  if (state.scope == ChoiceScope::Head) {
    d.heads = d.kv_heads = 1;
    d.first_head = state.edited().view.head;
  }
  return d;
}

Index length(const State& state) {
  return state.edited_trace() != nullptr ? static_cast<Index>(state.edited_trace()->tokens.size())
                                         : 0;
}

bool effective_causal(const State& state) {
  if (state.edited().causal) return *state.edited().causal;
  return state.edited_trace() == nullptr || state.edited_trace()->config->causal;
}

std::string why_not(const State& state, const Choice& variant, const Choice& encoding,
                    bool causal) {
  return refusal(variant, encoding, causal, dimensions(state), length(state), length(state));
}

// No choice for these heads of their own.
Entry empty_entry(const State& state, const std::string& otherwise) {
  const std::string more = otherwise.empty() ? "" : ": " + otherwise;
  if (state.scope == ChoiceScope::All) {
    return {"", "As trained" + more,
            "", "What the model was trained with; other choices run on the same weights.",
            "", {}};
  }
  return {"", "As the other heads" + more,
          "", "What holds where nothing is chosen for these heads.",
          "", {}};
}

// What holds for the scope's heads where nothing is chosen for them; null when that is not known.
const Choice* otherwise(const State& state, Choice HeadGroup::*member,
                        const Choice* (*last)(const Experiment&),
                        void (*choose)(Experiment&, ChoiceScope, std::optional<Choice>),
                        Experiment& without) {
  const Experiment& e = state.edited();
  without.view.layer = e.view.layer;
  without.view.head = e.view.head;
  without.variant = e.variant;
  without.encoding = e.encoding;
  for (const GroupChoice& group : e.groups) {
    // Only choices for as many heads or more hold for the scope's heads.
    if (state.scope == ChoiceScope::Head ||
        (state.scope == ChoiceScope::Layer && group.heads.empty())) {
      without.groups.push_back(group);
    }
  }
  choose(without, state.scope, std::nullopt);
  if (const Choice* choice = last(without)) return choice;
  const HeadGroup* trained = trained_group(state);
  return trained != nullptr ? &(trained->*member) : nullptr;
}

// What is common to both lists. `inherited` holds where there is no `choice`.
template <class List, class Refusal>
ChoiceList make_list(const State& state, const List& infos, const std::optional<Choice>& choice,
                     const Choice* inherited, bool differs, const Refusal& refusal_of) {
  ChoiceList list;
  list.model_mixed = differs;
  std::string label;
  const auto find = [&infos](const std::string& id) -> const Info* {
    const auto found =
        std::find_if(infos.begin(), infos.end(), [&](const Info& i) { return i.id == id; });
    return found != infos.end() ? &*found : nullptr;
  };
  if (inherited != nullptr) {
    const Info* info = find(inherited->id);
    label = differs ? "differs by head" : (info ? info->label : "");
    list.model_values = inherited->values;
    list.now = info;
  }
  list.entries.push_back(empty_entry(state, label));
  list.preview = list.entries.front().label;
  for (const Info& info : infos) {
    Values start = default_values(info.parameters);
    std::string why = refusal_of(Choice{info.id, start});
    list.entries.push_back({info.id, info.label, info.group, info.summary, std::move(why), start});
  }
  if (choice) {
    list.now = find(choice->id);
    if (list.now != nullptr) list.preview = list.now->label;
  }
  if (list.now != nullptr) {
    list.refusal = [refusal_of, id = list.now->id](const Values& values) {
      return refusal_of(Choice{id, values});
    };
  }
  return list;
}

}  // namespace

std::optional<Choice> effective_variant(const State& state) {
  if (const Choice* choice = last_variant(state.edited())) return *choice;
  const HeadGroup* group = trained_group(state);
  return group != nullptr ? std::optional(group->variant) : std::nullopt;
}

std::optional<Choice> effective_encoding(const State& state) {
  if (const Choice* choice = last_encoding(state.edited())) return *choice;
  const HeadGroup* group = trained_group(state);
  return group != nullptr ? std::optional(group->encoding) : std::nullopt;
}

namespace {

bool differs(const State& state, Choice HeadGroup::*member) {
  return state.scope == ChoiceScope::All && mixed(state, member);
}

// Why an encoding cannot be chosen for some heads alone.
std::string scope_refusal(const State& state, const Choice& choice,
                          const std::optional<Choice>& inherited) {
  if (state.scope == ChoiceScope::All || !inherited || choice == *inherited) return {};
  const bool of_input = encoding(choice.id).embed != nullptr;
  if (!of_input && encoding(inherited->id).embed == nullptr) return {};
  return "an encoding of the input (" + (of_input ? choice.id : inherited->id) +
         ") acts on all heads of all layers alike";
}

}  // namespace

ChoiceList variant_list(const State& state) {
  const Choice encoding = effective_encoding(state).value_or(default_encoding());
  Experiment without;
  const Choice* inherited =
      otherwise(state, &HeadGroup::variant, last_variant, choose_variant, without);
  ChoiceList list =
      make_list(state, variants(), scoped_variant(state.edited(), state.scope), inherited,
                differs(state, &HeadGroup::variant), [&state, encoding](const Choice& c) {
                  return why_not(state, c, encoding, effective_causal(state));
                });
  list.title = "Attention";
  list.scope = "variant";
  return list;
}

ChoiceList encoding_list(const State& state) {
  const Choice variant = effective_variant(state).value_or(default_variant());
  Experiment without;
  const Choice* inherited =
      otherwise(state, &HeadGroup::encoding, last_encoding, choose_encoding, without);
  ChoiceList list = make_list(
      state, encodings(), scoped_encoding(state.edited(), state.scope), inherited,
      differs(state, &HeadGroup::encoding),
      [&state, variant,
       otherwise = inherited ? std::optional(*inherited) : std::nullopt](const Choice& c) {
        const std::string reason = scope_refusal(state, c, otherwise);
        return reason.empty() ? why_not(state, variant, c, effective_causal(state)) : reason;
      });
  list.title = "Position";
  list.scope = "position";
  return list;
}

std::string causal_refusal(const State& state, bool causal) {
  return why_not(state, effective_variant(state).value_or(default_variant()),
                 effective_encoding(state).value_or(default_encoding()), causal);
}

}  // namespace attnscope::window
