#include "app/window/scope.h"

#include <algorithm>
#include <utility>

namespace attnscope::window {
namespace {

// Members for the variant, or for the encoding, of a run and of a group.
struct Member {
  std::optional<Choice> RunSpec::*in_run;
  std::optional<Choice> GroupChoice::*in_group;
};
constexpr Member kVariant{&RunSpec::variant, &GroupChoice::variant};
constexpr Member kEncoding{&RunSpec::encoding, &GroupChoice::encoding};

GroupChoice group_of_scope(const RunView& run_view, ChoiceScope scope) {
  GroupChoice group;
  group.layers = {run_view.view.layer};
  if (scope == ChoiceScope::Head) group.heads = {run_view.view.head};
  return group;
}

template <class Groups>
auto find_group(Groups& groups, const GroupChoice& heads) {
  return std::find_if(groups.begin(), groups.end(), [&](const GroupChoice& g) {
    return g.layers == heads.layers && g.heads == heads.heads;
  });
}

std::optional<Choice> scoped_choice(const RunView& run_view, ChoiceScope scope, Member member) {
  if (scope == ChoiceScope::All) return run_view.run.*member.in_run;
  const auto found = find_group(run_view.run.groups, group_of_scope(run_view, scope));
  return found != run_view.run.groups.end() ? (*found).*member.in_group : std::nullopt;
}

void choose(RunView& run_view, ChoiceScope scope, std::optional<Choice> choice, Member member) {
  if (scope == ChoiceScope::All) {
    run_view.run.*member.in_run = std::move(choice);
    return;
  }
  const GroupChoice heads = group_of_scope(run_view, scope);
  auto found = find_group(run_view.run.groups, heads);
  if (found == run_view.run.groups.end()) {
    if (!choice) return;
    // Layer groups precede the groups of single heads, which override them.
    const auto place = scope == ChoiceScope::Head
                           ? run_view.run.groups.end()
                           : std::find_if(run_view.run.groups.begin(), run_view.run.groups.end(),
                                          [](const GroupChoice& g) { return !g.heads.empty(); });
    found = run_view.run.groups.insert(place, heads);
  }
  (*found).*member.in_group = std::move(choice);
  if (!found->variant && !found->encoding) run_view.run.groups.erase(found);
}

const Choice* effective_choice(const RunView& run_view, Member member) {
  const auto includes = [](const std::vector<Index>& numbers, Index number) {
    return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
  };
  for (auto group = run_view.run.groups.rbegin(); group != run_view.run.groups.rend(); ++group) {
    const std::optional<Choice>& choice = (*group).*member.in_group;
    if (choice && includes(group->layers, run_view.view.layer) &&
        includes(group->heads, run_view.view.head)) {
      return &*choice;
    }
  }
  return run_view.run.*member.in_run ? &*(run_view.run.*member.in_run) : nullptr;
}

std::string enumerate(const char* singular, const char* plural, const std::vector<Index>& numbers) {
  std::string text = numbers.size() == 1 ? singular : plural;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    text += (n == 0 ? " " : ", ") + std::to_string(numbers[n]);
  }
  return text;
}

}  // namespace

std::optional<Choice> scoped_variant(const RunView& run_view, ChoiceScope scope) {
  return scoped_choice(run_view, scope, kVariant);
}
std::optional<Choice> scoped_encoding(const RunView& run_view, ChoiceScope scope) {
  return scoped_choice(run_view, scope, kEncoding);
}

void choose_variant(RunView& run_view, ChoiceScope scope, std::optional<Choice> choice) {
  choose(run_view, scope, std::move(choice), kVariant);
}
void choose_encoding(RunView& run_view, ChoiceScope scope, std::optional<Choice> choice) {
  choose(run_view, scope, std::move(choice), kEncoding);
}

bool has_choices(const RunView& run_view) {
  return run_view.run.variant || run_view.run.encoding || run_view.run.causal ||
         !run_view.run.groups.empty();
}

void clear_choices(RunView& run_view) {
  run_view.run.variant.reset();
  run_view.run.encoding.reset();
  run_view.run.causal.reset();
  run_view.run.groups.clear();
}

const Choice* effective_variant(const RunView& run_view) {
  return effective_choice(run_view, kVariant);
}
const Choice* effective_encoding(const RunView& run_view) {
  return effective_choice(run_view, kEncoding);
}

std::vector<std::string> describe_groups(const RunView& run_view) {
  std::vector<std::string> lines;
  for (const GroupChoice& group : run_view.run.groups) {
    std::string line =
        group.layers.empty() ? "All layers" : enumerate("Layer", "Layers", group.layers);
    if (!group.heads.empty()) line += ", " + enumerate("head", "heads", group.heads);
    line += ": ";
    if (group.variant) line += variant(group.variant->id).label;
    if (group.variant && group.encoding) line += ", ";
    if (group.encoding) line += encoding(group.encoding->id).label;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace attnscope::window
