#include "app/window/selection.h"

#include <algorithm>

namespace attnscope::window {

namespace {

// The head group of the model, as it was trained, that the view's layer and head belong to.
const HeadGroup* trained_group(const State& state) {
  if (state.trace == nullptr) return nullptr;
  const auto& layers = state.trace->config.groups;
  const auto layer = static_cast<std::size_t>(std::max<Index>(state.experiment.view.layer, 0));
  if (layer >= layers.size()) return nullptr;
  Index head = state.experiment.view.head;
  for (const HeadGroup& group : layers[layer]) {
    if (head < group.heads) return &group;
    head -= group.heads;
  }
  return layers[layer].empty() ? nullptr : &layers[layer].front();
}

// Whether not all heads of the model have the same `member`.
bool mixed(const State& state, Choice HeadGroup::*member) {
  if (state.trace == nullptr) return false;
  const HeadGroup* first = nullptr;
  for (const auto& layer : state.trace->config.groups) {
    for (const HeadGroup& group : layer) {
      if (first == nullptr) first = &group;
      if (!(group.*member == first->*member)) return true;
    }
  }
  return false;
}

Dimensions dimensions(const State& state) {
  Dimensions d;
  if (state.trace == nullptr) return d;
  const ModelConfig& config = state.trace->config;
  d.model = config.width;
  d.heads = config.heads;
  d.kv_heads = config.kv_heads;
  d.key = d.value = config.head_size;
  d.context = config.context;
  return d;
}

Index length(const State& state) {
  return state.trace != nullptr ? static_cast<Index>(state.trace->tokens.size()) : 0;
}

bool effective_causal(const State& state) {
  if (state.experiment.causal) return *state.experiment.causal;
  return state.trace == nullptr || state.trace->config.causal;
}

std::string why_not(const State& state, const Choice& variant, const Choice& encoding,
                    bool causal) {
  return refusal(variant, encoding, causal, dimensions(state), length(state), length(state));
}

Entry model_entry(const std::string& trained) {
  return {"", trained.empty() ? "As trained" : "As trained: " + trained,
          "", "What the model was trained with; other choices run on the same weights.",
          "", {}};
}

// What is common to both lists. `label_of` names a trained choice.
template <class List, class Refusal>
ChoiceList make_list(const State& state, const List& infos, const std::optional<Choice>& choice,
                     Choice HeadGroup::*member, const Refusal& refusal_of) {
  ChoiceList list;
  const HeadGroup* trained = trained_group(state);
  list.model_mixed = mixed(state, member);
  std::string trained_label;
  const auto find = [&infos](const std::string& id) -> const Info* {
    const auto found =
        std::find_if(infos.begin(), infos.end(), [&](const Info& i) { return i.id == id; });
    return found != infos.end() ? &*found : nullptr;
  };
  if (trained != nullptr) {
    const Info* info = find((trained->*member).id);
    trained_label = list.model_mixed ? "differs by head" : (info ? info->label : "");
    list.model_values = (trained->*member).values;
    list.now = info;
  }
  list.entries.push_back(model_entry(trained_label));
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
  return list;
}

}  // namespace

Choice effective_variant(const State& state) {
  if (state.experiment.variant) return *state.experiment.variant;
  const HeadGroup* group = trained_group(state);
  return group != nullptr ? group->variant : default_variant();
}

Choice effective_encoding(const State& state) {
  if (state.experiment.encoding) return *state.experiment.encoding;
  const HeadGroup* group = trained_group(state);
  return group != nullptr ? group->encoding : default_encoding();
}

ChoiceList variant_list(const State& state) {
  const Choice encoding = effective_encoding(state);
  ChoiceList list = make_list(
      state, variants(), state.experiment.variant, &HeadGroup::variant,
      [&](const Choice& c) { return why_not(state, c, encoding, effective_causal(state)); });
  list.title = "Attention";
  list.scope = "variant";
  return list;
}

ChoiceList encoding_list(const State& state) {
  const Choice variant = effective_variant(state);
  ChoiceList list = make_list(
      state, encodings(), state.experiment.encoding, &HeadGroup::encoding,
      [&](const Choice& c) { return why_not(state, variant, c, effective_causal(state)); });
  list.title = "Position";
  list.scope = "position";
  return list;
}

std::string causal_refusal(const State& state, bool causal) {
  return why_not(state, effective_variant(state), effective_encoding(state), causal);
}

}  // namespace attnscope::window
