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

std::string why_not(const State& state, const Structure& structure) {
  const ModelConfig* trained = trained_config(state);
  if (trained == nullptr) return "";
  RunSpec changed = state.edited().run;
  changed.structure = structure;
  return structure_refusal(*trained, changed);
}

std::string why_not(const State& state, Member member, const Choice& choice) {
  Structure structure = state.edited().run.structure;
  structure.*member = choice;
  return why_not(state, structure);
}

// `trained`: the model's own; null: none or unknown.
template <class Infos>
ChoiceList make_list(const State& state, const Infos& infos, Member member, const Choice* trained,
                     const std::string& none) {
  Offer offer{.infos = infos_of(infos),
              .inherited = trained,
              .choice = state.edited().run.structure.*member};
  offer.without = [&](const Info* had) {
    return model_default_entry(had != nullptr ? had->label : none);
  };
  offer.refusal = [&state, member](const Choice& choice, bool) {
    return why_not(state, member, choice);
  };
  ChoiceList list = choice_list(offer);
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
  const bool has = trained != nullptr && trained->exits.has_value();
  ChoiceList list =
      make_list(state, exit_rules(), &Structure::exits, has ? &*trained->exits : nullptr, "none");
  list.title = "Early exits";
  list.scope = "exits";
  if (has) {
    list.entries.insert(list.entries.begin() + 1,
                        Entry{no_exits().id,
                              "None",
                              "",
                              "Every token passes through all layers.",
                              [&state] { return why_not(state, &Structure::exits, no_exits()); },
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
  const auto why_not = [&state](const RetrievalHead& retrieval_head) -> std::string {
    if (state.selection.store.empty()) return "open a store first, with the button below";
    if (state.edited_trace() == nullptr) return "";
    return retrieval_refusal(*state.edited_trace()->config, retrieval_head);
  };
  for (const RetrievalHead& m : retrieval_heads()) {
    list.entries.push_back({m.id, m.label, "", m.summary, [why_not, &m] { return why_not(m); },
                            default_values(m.parameters)});
  }
  if (const std::optional<RetrievalChoice>& chosen = state.edited().run.retrieval) {
    list.now = &retrieval_head(chosen->retrieval_head.id);
    list.preview = list.now->label;
  }
  return list;
}

std::string segment_refusal(const State& state, Index segment) {
  Structure structure = state.edited().run.structure;
  structure.segment = segment;
  return why_not(state, structure);
}

const Architecture* effective_architecture(const State& state) {
  const std::optional<Choice>& chosen = state.edited().run.structure.architecture;
  if (chosen) return &architecture(chosen->id);
  const ModelConfig* trained = trained_config(state);
  return trained != nullptr ? &architecture(trained->architecture.id) : nullptr;
}

bool reads_sentences(const State& state) {
  const ModelConfig* trained = trained_config(state);
  const Architecture* of = effective_architecture(state);
  return trained != nullptr && of->reads == Reads::Tokens &&
         input_kind(trained->input.id).is_text &&
         !state.edited().run.causal.value_or(trained->causal);
}

const Choice* effective_exits(const State& state) {
  const std::optional<Choice>& chosen = state.edited().run.structure.exits;
  if (chosen) return *chosen == no_exits() ? nullptr : &*chosen;
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
  const bool another =
      !choice || !spec.structure.architecture || choice->id != spec.structure.architecture->id;
  spec.structure.architecture = std::move(choice);
  if (!another) return;  // only parameters changed
  const std::optional<Choice>& now = spec.structure.architecture;
  const bool reads_both = now && architecture(now->id).reads == Reads::SourceAndTarget;
  const bool has_target = !spec.target.empty() || !spec.target_ids.empty();
  if (reads_both && !has_target) spec.target = spec.text;
  if (!reads_both) {  // such a model rejects a target
    spec.target.clear();
    spec.target_ids.clear();
  }
}

std::string describe_structure(const RunSpec& spec) {
  const Structure& s = spec.structure;
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
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
