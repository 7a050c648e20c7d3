#include "app/window/widgets/structure_selection.h"

#include "core/experiment/effective_model.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/residual_connection.h"

namespace attnscope::window {
namespace {

using Member = std::optional<Choice> Structure::*;

const ModelConfig* trained_config(const State& state) {
  return state.edited_trace() != nullptr ? state.edited_trace()->trained.get() : nullptr;
}

std::string conflict(const State& state, const Structure& structure) {
  const ModelConfig* trained = trained_config(state);
  if (trained == nullptr) return "";
  RunSpec changed = state.edited().run;
  changed.structure = structure;
  return structure_refusal(*trained, changed);
}

std::string conflict(const State& state, Member member, const Choice& choice) {
  Structure structure = state.edited().run.structure;
  structure.*member = choice;
  return conflict(state, structure);
}

// `trained`: the model's choice; null: none or unknown.
template <class Infos>
ChoiceList make_list(const State& state, const Infos& infos, Member member, const Choice* trained,
                     const std::string& none) {
  ChoiceSource source{.infos = list_infos(infos),
                      .inherited = trained,
                      .choice = state.edited().run.structure.*member};
  source.unset_entry = [&](const Info* inherited) {
    return model_default_entry(inherited != nullptr ? inherited->label : none);
  };
  source.refusal = [&state, member](const Choice& choice, bool) {
    return conflict(state, member, choice);
  };
  ChoiceList list = choice_list(source);
  list.heading = false;
  return list;
}

}  // namespace

ChoiceList architecture_list(const State& state) {
  const ModelConfig* trained = trained_config(state);
  ChoiceList list = make_list(state, architectures(), &Structure::architecture,
                              trained != nullptr ? &trained->architecture : nullptr, "");
  list.title = "Architecture";
  list.scope = "architecture";
  return list;
}

ChoiceList residual_connection_list(const State& state) {
  const ModelConfig* trained = trained_config(state);
  ChoiceList list = make_list(state, residual_connections(), &Structure::residual_connection,
                              trained != nullptr ? &trained->residual_connection : nullptr, "");
  list.title = "Residual connection";
  list.scope = "join";
  return list;
}

ChoiceList exits_list(const State& state) {
  const ModelConfig* trained = trained_config(state);
  const bool has_exits = trained != nullptr && trained->exits.has_value();
  ChoiceList list = make_list(state, exit_rules(), &Structure::exits,
                              has_exits ? &*trained->exits : nullptr, "none");
  list.title = "Early exits";
  list.scope = "exits";
  if (has_exits) {
    list.entries.insert(list.entries.begin() + 1,
                        Entry{no_exits().id,
                              "None",
                              "",
                              "Every token passes through all layers.",
                              [&state] { return conflict(state, &Structure::exits, no_exits()); },
                              {}});
  }
  return list;
}

ChoiceList retrieval_list(const State& state) {
  ChoiceList list;
  list.title = "Retrieval";
  list.heading = false;
  list.scope = "retrieval";
  list.entries.push_back({"", "None", "", "The model predicts without retrieval.", {}, {}});
  list.preview = list.entries.front().label;
  const auto refusal = [&state](const RetrievalHead& retrieval_head) -> std::string {
    if (state.selection.store.empty()) return "open a store first, with the button below";
    if (state.edited_trace() == nullptr) return "";
    return retrieval_refusal(*state.edited_trace()->config, retrieval_head);
  };
  for (const RetrievalHead& head : retrieval_heads()) {
    list.entries.push_back({head.id, head.label, "", head.summary,
                            [refusal, &head] { return refusal(head); },
                            default_values(head.parameters)});
  }
  if (const std::optional<RetrievalChoice>& choice = state.edited().run.retrieval) {
    list.current = &retrieval_head(choice->retrieval_head.id);
    list.preview = list.current->label;
  }
  return list;
}

std::string segment_refusal(const State& state, Index segment) {
  Structure structure = state.edited().run.structure;
  structure.segment = segment;
  return conflict(state, structure);
}

const Architecture* effective_architecture(const State& state) {
  const std::optional<Choice>& choice = state.edited().run.structure.architecture;
  if (choice) return &architecture(choice->id);
  const ModelConfig* trained = trained_config(state);
  return trained != nullptr ? &architecture(trained->architecture.id) : nullptr;
}

bool reads_sentences(const State& state) {
  const ModelConfig* trained = trained_config(state);
  const Architecture* method = effective_architecture(state);
  return trained != nullptr && method->reads == Reads::Tokens &&
         input_kind(trained->input.id).is_text &&
         !state.edited().run.causal.value_or(trained->causal);
}

const Choice* effective_exits(const State& state) {
  const std::optional<Choice>& choice = state.edited().run.structure.exits;
  if (choice) return *choice == no_exits() ? nullptr : &*choice;
  const ModelConfig* trained = trained_config(state);
  return trained != nullptr && trained->exits ? &*trained->exits : nullptr;
}

Index effective_segment(const State& state) {
  if (state.edited().run.structure.segment) return *state.edited().run.structure.segment;
  const ModelConfig* trained = trained_config(state);
  return trained != nullptr ? trained->segment : 0;
}

void choose_architecture(RunSpec& spec, std::optional<Choice> choice) {
  if (choice == spec.structure.architecture) return;
  const bool is_new =
      !choice || !spec.structure.architecture || choice->id != spec.structure.architecture->id;
  spec.structure.architecture = std::move(choice);
  if (!is_new) return;  // only parameters changed
  const std::optional<Choice>& current = spec.structure.architecture;
  const bool reads_target = current && architecture(current->id).reads == Reads::SourceAndTarget;
  const bool has_target = !spec.target.empty() || !spec.target_ids.empty();
  if (reads_target && !has_target) spec.target = spec.text;
  if (!reads_target) {  // other architectures reject a target
    spec.target.clear();
    spec.target_ids.clear();
  }
}

std::string describe_structure(const RunSpec& spec) {
  const Structure& s = spec.structure;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (s.architecture) add(architecture(s.architecture->id).label);
  if (s.residual_connection) add(residual_connection(s.residual_connection->id).label);
  if (s.exits) add(*s.exits == no_exits() ? "no exits" : exit_rule(s.exits->id).label);
  if (s.segment) {
    add(*s.segment == 0 ? "no segments" : "segments of " + std::to_string(*s.segment));
  }
  if (spec.retrieval) add(retrieval_head(spec.retrieval->retrieval_head.id).label);
  return text;
}

}  // namespace attnscope::window
