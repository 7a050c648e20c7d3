#include <algorithm>
#include <filesystem>

#include "app/window/actions/actions.h"
#include "app/window/dialogs/palette.h"
#include "app/window/lesson.h"
#include "app/window/model_selection.h"
#include "app/window/variant_selection.h"
#include "app/window/widgets/selection.h"
#include "app/window/widgets/structure_selection.h"
#include "core/base/lower_case.h"

namespace attnscope::window {
namespace {

PaletteEntry action_entry(const Action& a) {
  PaletteEntry entry{.id = a.id,
                     .label = a.label,
                     .kind = std::string(to_string(a.menu)),
                     .name = "",
                     .help = a.help,
                     .run = a.run,
                     .refusal = a.refusal,
                     .enabled = a.enabled};
  if (!a.refusal) entry.refusal = [](const State&) { return std::string(); };
  if (!a.shortcuts.empty()) entry.key = to_string(a.shortcuts.front());
  entry.is_action = true;
  return entry;
}

// Entry that is enabled while `refusal` returns no reason.
PaletteEntry choice_entry(std::string kind, std::string id, std::string label, std::string name,
                          std::string help, std::function<void(State&)> run,
                          std::function<std::string(const State&)> refusal = {}) {
  if (!refusal) refusal = [](const State&) { return std::string(); };
  return {.id = std::move(id),
          .label = std::move(label),
          .kind = std::move(kind),
          .name = std::move(name),
          .help = std::move(help),
          .run = std::move(run),
          .refusal = refusal,
          .enabled = [refusal](const State& s) { return refusal(s).empty(); }};
}

// Reason why the edited run has no variant or encoding to select; empty if there are any.
std::string fixed_method_refusal(const State& state) {
  const Trace* trace = state.edited_trace();
  if (trace != nullptr && trace->is_imported) return "attention read from a file has no method";
  const Architecture* architecture = effective_architecture(state);
  const bool is_fixed = architecture != nullptr && !architecture->has_self_attention;
  return is_fixed ? "this model has no self-attention" : "";
}

void add_methods(std::vector<PaletteEntry>& list) {
  const auto refusal_of = [](auto refusal, const std::string& id) {
    return [refusal, id](const State& s) {
      const std::string reason = fixed_method_refusal(s);
      if (!reason.empty() || !can_check_compatibility(s)) return reason;
      return refusal(s, Choice{id, {}}, true);
    };
  };
  for (const Info* info : list_infos(variants())) {
    list.push_back(choice_entry(
        "Attention", "variant." + info->id, info->label, info->id, info->summary,
        [id = info->id](State& s) {
          select_variant(s, Choice{id, {}}, true);
        },
        refusal_of(variant_refusal, info->id)));
  }
  for (const Info* info : list_infos(encodings())) {
    list.push_back(choice_entry(
        "Position", "position." + info->id, info->label, info->id, info->summary,
        [id = info->id](State& s) {
          select_encoding(s, Choice{id, {}}, true);
        },
        refusal_of(encoding_refusal, info->id)));
  }
}

void add_inputs(std::vector<PaletteEntry>& list, State& state,
                const std::vector<ModelGroup>& models) {
  for (const ModelGroup& group : models) {
    for (const ModelGroup::Entry& model : group.models) {
      const std::string file = std::filesystem::path(model.name).filename().string();
      list.push_back(choice_entry("Model", "model." + model.name, file.empty() ? model.name : file,
                                  model.name, model.subtitle,
                                  [name = model.name](State& s) { choose_model(s, name); }));
    }
  }
  read_lessons(state.lesson);
  for (const Lesson& lesson : state.lesson.lessons) {
    list.push_back(choice_entry("Lesson", "lesson." + lesson.id, lesson.title, lesson.id,
                                lesson.summary, [lesson](State& s) { start_lesson(s, lesson); }));
  }
  if (!state.text.card || !state.text.card->card) return;
  for (const Sample* sample : samples_for(*state.text.card->card)) {
    list.push_back(choice_entry("Sample", "sample." + sample->id, sample->title, sample->id,
                                sample->shows, [sample](State& s) { choose_sample(s, *sample); }));
  }
}

}  // namespace

std::vector<PaletteEntry> palette_entries(State& state, const std::vector<ModelGroup>& models) {
  std::vector<PaletteEntry> list;
  for (const Action& a : actions()) {
    if (!a.is_listed || a.is_listed(state)) list.push_back(action_entry(a));
  }
  add_methods(list);
  add_inputs(list, state, models);
  return list;
}

std::size_t first_enabled(const std::vector<const PaletteEntry*>& entries, const State& state) {
  const auto first =
      std::ranges::find_if(entries, [&](const PaletteEntry* e) { return e->enabled(state); });
  return first == entries.end() ? 0 : static_cast<std::size_t>(first - entries.begin());
}

std::vector<const PaletteEntry*> matching_entries(const std::vector<PaletteEntry>& entries,
                                                  std::string_view typed) {
  std::vector<std::pair<int, const PaletteEntry*>> ranked;
  const std::string query = lower_case(std::string(typed));
  for (const PaletteEntry& entry : entries) {
    if (query.empty() && !entry.is_action) continue;
    const std::string label = lower_case(entry.label), name = lower_case(entry.name);
    const auto contains_words = [&query](const std::string& text) {
      for (std::size_t begin = 0; begin < query.size();) {
        const std::size_t end = std::min(query.find(' ', begin), query.size());
        if (text.find(query.substr(begin, end - begin)) == std::string::npos) return false;
        begin = end + 1;
      }
      return true;
    };
    const std::string names = label + " " + lower_case(entry.kind) + " " + name;
    if (!contains_words(names + " " + lower_case(entry.help))) continue;
    const std::size_t position = label.find(query);
    const bool is_exact = label == query || name == query;
    const bool is_inside = position != std::string::npos || name.find(query) != std::string::npos;
    ranked.emplace_back(is_exact ? 0 : position == 0 ? 1 : is_inside ? 2 : 3, &entry);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const PaletteEntry*> list;
  for (const auto& [rank, entry] : ranked) list.push_back(entry);
  return list;
}

}  // namespace attnscope::window
