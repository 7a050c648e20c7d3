#include "app/window/scope.h"

#include <algorithm>
#include <utility>

namespace attnscope::window {
namespace {

// Members for variants and encodings, in the session and in its groups.
struct Member {
  std::optional<Choice> RunSpec::*of_all;
  std::optional<Choice> GroupChoice::*of_some;
};
constexpr Member kVariant{&RunSpec::variant, &GroupChoice::variant};
constexpr Member kEncoding{&RunSpec::encoding, &GroupChoice::encoding};

// The heads of a scope, without a choice.
GroupChoice heads_of(const RunView& e, ChoiceScope scope) {
  GroupChoice group;
  group.layers = {e.view.layer};
  if (scope == ChoiceScope::Head) group.heads = {e.view.head};
  return group;
}

template <class Groups>
auto find(Groups& groups, const GroupChoice& heads) {
  return std::find_if(groups.begin(), groups.end(), [&](const GroupChoice& g) {
    return g.layers == heads.layers && g.heads == heads.heads;
  });
}

std::optional<Choice> scoped(const RunView& e, ChoiceScope scope, Member member) {
  if (scope == ChoiceScope::All) return e.run.*member.of_all;
  const auto found = find(e.run.groups, heads_of(e, scope));
  return found != e.run.groups.end() ? (*found).*member.of_some : std::nullopt;
}

void choose(RunView& e, ChoiceScope scope, std::optional<Choice> choice, Member member) {
  if (scope == ChoiceScope::All) {
    e.run.*member.of_all = std::move(choice);
    return;
  }
  const GroupChoice heads = heads_of(e, scope);
  auto found = find(e.run.groups, heads);
  if (found == e.run.groups.end()) {
    if (!choice) return;
    // Before the groups of single heads, which take precedence.
    const auto place = scope == ChoiceScope::Head
                           ? e.run.groups.end()
                           : std::find_if(e.run.groups.begin(), e.run.groups.end(),
                                          [](const GroupChoice& g) { return !g.heads.empty(); });
    found = e.run.groups.insert(place, heads);
  }
  (*found).*member.of_some = std::move(choice);
  if (!found->variant && !found->encoding) e.run.groups.erase(found);
}

const Choice* last(const RunView& e, Member member) {
  const auto holds = [](const std::vector<Index>& numbers, Index number) {
    return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
  };
  for (auto group = e.run.groups.rbegin(); group != e.run.groups.rend(); ++group) {
    const std::optional<Choice>& choice = (*group).*member.of_some;
    if (choice && holds(group->layers, e.view.layer) && holds(group->heads, e.view.head)) {
      return &*choice;
    }
  }
  return e.run.*member.of_all ? &*(e.run.*member.of_all) : nullptr;
}

std::string numbered(const char* one, const char* several, const std::vector<Index>& numbers) {
  std::string text = numbers.size() == 1 ? one : several;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    text += (n == 0 ? " " : ", ") + std::to_string(numbers[n]);
  }
  return text;
}

}  // namespace

std::optional<Choice> scoped_variant(const RunView& e, ChoiceScope scope) {
  return scoped(e, scope, kVariant);
}
std::optional<Choice> scoped_encoding(const RunView& e, ChoiceScope scope) {
  return scoped(e, scope, kEncoding);
}

void choose_variant(RunView& e, ChoiceScope scope, std::optional<Choice> choice) {
  choose(e, scope, std::move(choice), kVariant);
}
void choose_encoding(RunView& e, ChoiceScope scope, std::optional<Choice> choice) {
  choose(e, scope, std::move(choice), kEncoding);
}

bool has_choices(const RunView& e) {
  return e.run.variant || e.run.encoding || e.run.causal || !e.run.groups.empty();
}

void drop_choices(RunView& e) {
  e.run.variant.reset();
  e.run.encoding.reset();
  e.run.causal.reset();
  e.run.groups.clear();
}

const Choice* last_variant(const RunView& e) {
  return last(e, kVariant);
}
const Choice* last_encoding(const RunView& e) {
  return last(e, kEncoding);
}

std::vector<std::string> describe_groups(const RunView& e) {
  std::vector<std::string> lines;
  for (const GroupChoice& group : e.run.groups) {
    std::string line =
        group.layers.empty() ? "All layers" : numbered("Layer", "Layers", group.layers);
    if (!group.heads.empty()) line += ", " + numbered("head", "heads", group.heads);
    line += ": ";
    if (group.variant) line += variant(group.variant->id).label;
    if (group.variant && group.encoding) line += ", ";
    if (group.encoding) line += encoding(group.encoding->id).label;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace attnscope::window
