#include "core/experiment/partial_choice.h"

#include <algorithm>

#include "core/checkpoint/model_store.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/image_tensors.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/inputs.h"
#include "core/input/image_file.h"
#include "core/model/structure.h"

namespace attnscope {

RunTokens read_tokens(const RunSpec& spec) {
  RunTokens input{.checkpoint = model_store()->checkpoint(spec.model)};
  const ModelConfig config = apply_structure(input.checkpoint->model.config, spec.structure);
  std::vector<std::string> notes;  // ignored here: the run reports them
  input.tokens = tokens_to_read(config, *input.checkpoint, spec, notes);
  input.count = static_cast<Index>(input.tokens.size());
  return input;
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

// Sets parameters without a default that follow from the text.
void set_text_parameters(RunSpec& spec, const std::vector<TraceToken>& tokens) {
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
}

// The given values, and values that follow from the text for other parameters without a default.
Values with_text_values(const Variant& selected, const Values& given,
                        const std::vector<TraceToken>& tokens) {
  if (!selected.defaults.from_text || tokens.empty()) return given;
  RunSpec spec;
  spec.variant = default_choice(selected);
  for (const Parameter& parameter : selected.parameters) {
    if (given.has(parameter.key)) {
      spec.variant->values.set(parameter.key, given.all().find(parameter.key)->second);
    } else if (parameter.required) {
      spec.variant->values.erase(parameter.key);
    }
  }
  set_text_parameters(spec, tokens);
  Values values = given;
  for (const Parameter& parameter : selected.parameters) {
    if (!parameter.required || !spec.variant->values.has(parameter.key)) continue;
    values.set(parameter.key, spec.variant->values.all().find(parameter.key)->second);
  }
  return values;
}

// Sets the choices of all heads, or of one group, without changing other groups.
HeadScope for_run() {
  return {
      [](RunView& viewed, std::optional<Choice> choice) { viewed.run.variant = std::move(choice); },
      [](RunView& viewed, std::optional<Choice> choice) {
        viewed.run.encoding = std::move(choice);
      }};
}
HeadScope for_group(std::size_t group) {
  return {[group](RunView& viewed, std::optional<Choice> choice) {
            viewed.run.groups[group].variant = std::move(choice);
          },
          [group](RunView& viewed, std::optional<Choice> choice) {
            viewed.run.groups[group].encoding = std::move(choice);
          }};
}

// Selects the requested choices one after the other.
class RequestedSelection {
 public:
  RequestedSelection(const RunView& current, KeptSettings kept, const RunTokens& input)
      : input_(input), kept_(kept), result_{.viewed = current} {}

  // group: index of the group in RunSpec::groups, or -1 for all heads.
  void select(const HeadScope& heads, const std::optional<Choice>& requested_variant,
              const std::optional<Choice>& requested_encoding, Index group) {
    if (!requested_variant && requested_encoding) {
      const Encoding& selected = encoding(requested_encoding->id);
      return add(select_encoding(result_.viewed, heads, selected, stored(), input_.count,
                                 requested_encoding->values),
                 group);
    }
    if (!requested_variant) return;
    if (requested_encoding) {  // conflicts change it, and not the variant
      const Encoding& selected = encoding(requested_encoding->id);
      Choice choice{selected.id, illustrative_values(selected.parameters, input_.count)};
      replace_values(choice.values, requested_encoding->values);
      heads.encoding(result_.viewed, choice);
    }
    const Variant& selected = variant(requested_variant->id);
    add(select_variant(result_.viewed, heads, selected, stored(), input_.count,
                       with_text_values(selected, requested_variant->values, input_.tokens), kept_),
        group);
  }

  void select_group(const GroupChoice& requested) {
    std::vector<GroupChoice>& groups = result_.viewed.run.groups;
    const std::size_t group = groups.size();
    groups.push_back({requested.layers, requested.heads, {}, {}});
    select(for_group(group), requested.variant, requested.encoding, static_cast<Index>(group));
  }

  void select_direction(bool causal) {
    add(attnscope::select_direction(result_.viewed, causal, stored(), input_.count), -1);
  }

  const CompatibleChoice& result() const { return result_; }

 private:
  const ModelConfig& stored() const { return input_.checkpoint->model.config; }

  void add(CompatibleChoice choice, Index group) {
    for (SettingChange& change : choice.implied) {
      using enum SettingChange::Setting;
      if (change.setting == Encoding || change.setting == Variant) change.group = group;
      result_.implied.push_back(std::move(change));
    }
    result_.viewed = std::move(choice.viewed);
    if (result_.refusal.empty()) result_.refusal = choice.refusal;
    if (result_.conflict.empty()) result_.conflict = choice.conflict;
    result_.reason += (result_.reason.empty() || choice.reason.empty() ? "" : ". ") + choice.reason;
  }

  const RunTokens& input_;
  KeptSettings kept_;
  CompatibleChoice result_;
};

// Completes the choices for imported tensors, or for the pixels of an image.
CompatibleChoice select_for_tensors(const RunView& current, const RequestedChoices& requested) {
  const TensorFiles& files = current.run.tensors;
  const bool is_image = is_image_file(files.file);
  const auto [width, height] = is_image ? image_grid(files) : std::pair<Index, Index>{0, 0};
  const Index queries = is_image ? width * height : read_imported_tensors(files).queries();
  RunSpec completed;
  completed.variant = requested.variant;
  completed.encoding = requested.encoding;
  completed.groups = requested.groups;
  for_each_choice(completed, [&](const Info& info, Choice& choice) {
    const Values given = choice.values;
    choice.values = illustrative_values(info.parameters, queries);
    if (is_image) set_image_sizes(choice.values, info.parameters, width, height, true);
    replace_values(choice.values, given);
  });
  CompatibleChoice result{.viewed = current};
  if (completed.variant) result.viewed.run.variant = completed.variant;
  if (completed.encoding) result.viewed.run.encoding = completed.encoding;
  if (!completed.groups.empty()) result.viewed.run.groups = completed.groups;
  return result;
}

}  // namespace

CompatibleChoice select_requested(const RunView& current, const RequestedChoices& requested) {
  if (requested.empty()) return {.viewed = current};
  if (!current.run.tensors.file.empty()) return select_for_tensors(current, requested);
  return select_requested(current, requested, read_tokens(current.run));
}

CompatibleChoice select_requested(const RunView& current, const RequestedChoices& requested,
                                  const RunTokens& input) {
  RunView start = current;
  if (!requested.groups.empty()) start.run.groups.clear();
  RequestedSelection selection(start, requested.kept, input);
  if (requested.variant || requested.encoding) {
    selection.select(for_run(), requested.variant, requested.encoding, -1);
  } else if (requested.has_direction && current.run.causal) {
    selection.select_direction(*current.run.causal);
  }
  for (const GroupChoice& group : requested.groups) selection.select_group(group);
  return selection.result();
}

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
  const RunTokens input = read_tokens(spec);
  set_text_parameters(spec, input.tokens);
  const Index segment = spec.structure.segment.value_or(input.checkpoint->model.config.segment);
  fill_unset_parameters(spec, segment > 0 ? std::min(input.count, segment) : input.count);
}

}  // namespace attnscope
