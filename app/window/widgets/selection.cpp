#include "app/window/widgets/selection.h"

#include <algorithm>

#include "app/window/variant_selection.h"
#include "app/window/widgets/parameter_edit.h"
#include "core/model/config.h"

namespace attnscope::window {
namespace {

// Head group of the trained model at the view's layer and head.
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

// True if the model's heads differ in `member`.
bool heads_differ(const State& state, Choice HeadGroup::*member) {
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
  if (state.selection.scope == ChoiceScope::Head) {
    d.heads = d.kv_heads = 1;
    d.first_head = state.edited().view.head;
  }
  return d;
}

Index tokens(const State& state) {
  return state.edited_trace() != nullptr ? static_cast<Index>(state.edited_trace()->tokens.size())
                                         : 0;
}

bool effective_causal(const State& state) {
  if (state.edited().run.causal) return *state.edited().run.causal;
  return state.edited_trace() == nullptr || state.edited_trace()->config->causal;
}

std::string conflict(const State& state, const Choice& variant, const Choice& encoding,
                     bool causal) {
  return refusal(variant, encoding, causal, dimensions(state), tokens(state), tokens(state));
}

std::string in_brackets(const std::string& text) {
  return text.empty() ? "" : " (" + text + ")";
}

// List entry that clears the selection for the scope.
Entry inherited_entry(ChoiceScope scope, const std::string& method) {
  if (scope == ChoiceScope::All) return model_default_entry(method);
  return {"", "Same as other heads" + in_brackets(method),
          "", "Used if nothing is selected for these heads.",
          {}, {}};
}

// Choice in effect if nothing is selected for the scope's heads, or null. Can point into `unset`.
const Choice* inherited_choice(const State& state, Choice HeadGroup::*member,
                               const Choice* (*find_last)(const RunView&),
                               void (*unselect)(RunView&, ChoiceScope, std::optional<Choice>),
                               RunView& unset) {
  const RunView& edited = state.edited();
  unset.view.layer = edited.view.layer;
  unset.view.head = edited.view.head;
  unset.run.variant = edited.run.variant;
  unset.run.encoding = edited.run.encoding;
  for (const GroupChoice& group : edited.run.groups) {
    // Choices of narrower scopes do not apply to all heads of the scope.
    if (state.selection.scope == ChoiceScope::Head ||
        (state.selection.scope == ChoiceScope::Layer && group.heads.empty())) {
      unset.run.groups.push_back(group);
    }
  }
  unselect(unset, state.selection.scope, std::nullopt);
  if (const Choice* choice = find_last(unset)) return choice;
  const HeadGroup* trained = trained_group(state);
  return trained != nullptr ? &(trained->*member) : nullptr;
}

}  // namespace

Entry model_default_entry(const std::string& method) {
  return {"", "Model default" + in_brackets(method),
          "", "The model's own setting; other selections run on the same weights.",
          {}, {}};
}

ChoiceList choice_list(const ChoiceSource& source) {
  const auto find_info = [&](const std::string& id) -> const Info* {
    const auto it = std::ranges::find(source.infos, id, &Info::id);
    return it != source.infos.end() ? *it : nullptr;
  };
  ChoiceList list;
  if (source.inherited != nullptr) {
    list.current = find_info(source.inherited->id);
    list.model_values = source.inherited->values;
  }
  list.entries.push_back(source.unset_entry(list.current));
  list.preview = list.entries.front().label;
  for (const Info* info : source.infos) {
    const Values start = illustrative_values(info->parameters, source.tokens);
    list.entries.push_back({info->id, info->label, info->group, info->summary,
                            [refusal = source.refusal, choice = Choice{info->id, start}] {
                              return refusal(choice, true);
                            },
                            start});
  }
  if (source.choice) {
    list.current = find_info(source.choice->id);
    list.preview = list.current != nullptr ? list.current->label : source.choice->id;
  }
  if (list.current != nullptr) {
    list.refusal = [refusal = source.refusal, id = list.current->id](const Values& values) {
      return refusal(Choice{id, values}, false);
    };
  }
  return list;
}

std::vector<Parameter> offered_parameters(const Info& info) {
  std::vector<Parameter> offered;
  for (const Parameter& parameter : info.parameters) {
    if (!parameter.scope.training) offered.push_back(parameter);
  }
  return offered;
}

std::vector<Parameter> essential_parameters(const std::vector<Parameter>& parameters,
                                            const Values& values, const Values& model_values) {
  const auto is_of_model = [&](const std::string& key) {
    const auto own = values.all().find(key), inherited = model_values.all().find(key);
    return own != values.all().end() && inherited != model_values.all().end() && *own == *inherited;
  };
  std::vector<Parameter> essential;
  for (const Parameter& parameter : parameters) {
    const bool is_in_use = !is_initial(parameter, values) && !is_of_model(parameter.key);
    if (parameter.required || is_in_use) essential.push_back(parameter);
  }
  return essential;
}

std::optional<Choice> effective_variant(const State& state) {
  if (const Choice* choice = effective_variant(state.edited())) return *choice;
  const HeadGroup* group = trained_group(state);
  return group != nullptr ? std::optional(group->variant) : std::nullopt;
}

std::optional<Choice> effective_encoding(const State& state) {
  if (const Choice* choice = effective_encoding(state.edited())) return *choice;
  const HeadGroup* group = trained_group(state);
  return group != nullptr ? std::optional(group->encoding) : std::nullopt;
}

namespace {

bool is_mixed(const State& state, Choice HeadGroup::*member) {
  return state.selection.scope == ChoiceScope::All && heads_differ(state, member);
}

// Choices for the scope's heads. `is_mixed`: the model's heads differ in this choice.
ChoiceList scoped_list(const State& state, ChoiceSource source, bool is_mixed) {
  source.unset_entry = [&](const Info* inherited) {
    if (is_mixed) return inherited_entry(state.selection.scope, "differs by head");
    return inherited_entry(state.selection.scope, inherited != nullptr ? inherited->label : "");
  };
  ChoiceList list = choice_list(source);
  list.model_heads_differ = is_mixed;
  return list;
}

// Reason why an encoding cannot be selected for some heads only.
std::string scope_refusal(ChoiceScope scope, const Choice& choice,
                          const std::optional<Choice>& inherited) {
  if (scope == ChoiceScope::All || !inherited || choice == *inherited) return {};
  const bool is_input = encoding(choice.id).embed != nullptr;
  if (!is_input && encoding(inherited->id).embed == nullptr) return {};
  return "an input encoding (" + (is_input ? choice.id : inherited->id) +
         ") applies to all heads of all layers";
}

}  // namespace

ChoiceList variant_list(const State& state) {
  const Choice encoding = effective_encoding(state).value_or(default_encoding());
  RunView unset;
  const Choice* inherited =
      inherited_choice(state, &HeadGroup::variant, effective_variant, choose_variant, unset);
  ChoiceSource source{.infos = list_infos(variants()),
                      .inherited = inherited,
                      .choice = scoped_variant(state.edited(), state.selection.scope)};
  source.tokens = tokens(state);
  source.refusal = [&state, encoding](const Choice& choice, bool resets_parameters) {
    if (can_check_compatibility(state)) return variant_refusal(state, choice, resets_parameters);
    return conflict(state, choice, encoding, effective_causal(state));
  };
  ChoiceList list = scoped_list(state, source, is_mixed(state, &HeadGroup::variant));
  list.title = "Attention";
  list.scope = "variant";
  return list;
}

ChoiceList encoding_list(const State& state) {
  const Choice variant = effective_variant(state).value_or(default_variant());
  RunView unset;
  const Choice* inherited =
      inherited_choice(state, &HeadGroup::encoding, effective_encoding, choose_encoding, unset);
  ChoiceSource source{.infos = list_infos(encodings()),
                      .inherited = inherited,
                      .choice = scoped_encoding(state.edited(), state.selection.scope)};
  source.tokens = tokens(state);
  const std::optional<Choice> base = inherited ? std::optional(*inherited) : std::nullopt;
  source.refusal = [&state, variant, base](const Choice& choice, bool resets_parameters) {
    const std::string reason = scope_refusal(state.selection.scope, choice, base);
    if (!reason.empty()) return reason;
    if (can_check_compatibility(state)) return encoding_refusal(state, choice, resets_parameters);
    return conflict(state, variant, choice, effective_causal(state));
  };
  ChoiceList list = scoped_list(state, source, is_mixed(state, &HeadGroup::encoding));
  list.title = "Position";
  list.scope = "position";
  return list;
}

std::string causal_refusal(const State& state, bool causal) {
  if (can_check_compatibility(state)) return direction_refusal(state, causal);
  return conflict(state, effective_variant(state).value_or(default_variant()),
                  effective_encoding(state).value_or(default_encoding()), causal);
}

}  // namespace attnscope::window
