#include "core/view/export/moving_numbers.h"

#include <algorithm>
#include <optional>

#include "core/checkpoint/snapshots.h"
#include "core/model/config.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

constexpr double kMaxGenerated = 1000, kDefaultGenerated = 10;  // numbers of generated tokens

bool is_number(const Parameter& p) {
  return p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
}

void add_view(std::vector<MovingNumber>& list, const ViewSettings& settings, const Trace& trace) {
  const ViewControls controls = view_controls(settings, &trace);
  const std::optional<Animation>& animation = controls.animation;
  for (const Parameter& p : controls.parameters) {
    if (!is_number(p)) continue;
    const bool is_animated = animation && animation->key == p.key;
    list.push_back({p.key, p.label, p, is_animated ? animation->from : p.slider.min,
                    is_animated ? animation->to : p.slider.max,
                    [id = settings.id, key = p.key](Session& session, const Value& value) {
                      set_view_value(session.view, id, key, value);
                    }});
  }
}

// Adds the layer or the head. Setting it also changes run B while both runs show the same head.
void add_layer_or_head(std::vector<MovingNumber>& list, const std::string& key,
                       const std::string& label, Index count, Index ViewSettings::*place) {
  if (count < 2) return;
  Parameter p;
  p.key = key;
  p.label = label;
  p.limits.max = static_cast<double>(count - 1);
  list.push_back({key, label, p, 0, p.limits.max, [place](Session& session, const Value& value) {
                    const bool is_same_head = session.b &&
                                              session.b->view.layer == session.view.layer &&
                                              session.b->view.head == session.view.head;
                    if (is_same_head) session.b->view.*place = std::get<Index>(value);
                    session.view.*place = std::get<Index>(value);
                  }});
}

void add_step_or_segment(std::vector<MovingNumber>& list, const std::string& key,
                         const std::string& label, const std::vector<Index>& alternatives,
                         std::optional<Index> PartChoice::*place) {
  if (alternatives.size() < 2) return;
  Parameter p;
  p.key = key;
  p.label = label;
  p.limits.min = static_cast<double>(alternatives.front());
  p.limits.max = static_cast<double>(alternatives.back());
  list.push_back(
      {key, label, p, p.limits.min, p.limits.max, [place](Session& session, const Value& value) {
         if (session.b && session.b->view.part == session.view.part) {
           session.b->view.part.*place = std::get<Index>(value);
         }
         session.view.part.*place = std::get<Index>(value);
       }});
}

bool is_among(const std::vector<Index>& numbers, Index number) {
  return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
}

// Members that contain a choice: for all heads, for a group of heads, in the checkpoint.
struct Member {
  std::optional<Choice> RunSpec::*all;
  std::optional<Choice> GroupChoice::*group;
  Choice HeadGroup::*trained;
};
constexpr Member kVariant{&RunSpec::variant, &GroupChoice::variant, &HeadGroup::variant};
constexpr Member kEncoding{&RunSpec::encoding, &GroupChoice::encoding, &HeadGroup::encoding};

// Variant or encoding of the selected head.
struct ShownChoice {
  Member member;
  Choice choice;
  bool is_global = false;  // the checkpoint has this choice in every head
};

ShownChoice shown_choice(const ModelConfig& config, const Member& member, const Choice& choice) {
  bool is_global = true;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) is_global = is_global && group.*member.trained == choice;
  }
  return {member, choice, is_global};
}

// Sets the number in every choice of the session whose id equals `shown.choice.id`. If the session
// has no choice for this head, adds `shown.choice` first. Adds it for all heads if the checkpoint
// has it in every head, as some encodings and imported tensors require, otherwise for this head
// alone.
void set_choice(Session& session, const ShownChoice& shown, const std::string& key,
                const Value& value) {
  std::optional<Choice>& all = session.run.*shown.member.all;
  bool has_choice = all.has_value();
  for (const GroupChoice& group : session.run.groups) {
    has_choice =
        has_choice || (group.*shown.member.group && is_among(group.layers, session.view.layer) &&
                       is_among(group.heads, session.view.head));
  }
  if (!has_choice && shown.is_global) all = shown.choice;
  if (!has_choice && !shown.is_global) {
    GroupChoice& single_head = session.run.groups.emplace_back();
    single_head.layers = {session.view.layer};
    single_head.heads = {session.view.head};
    single_head.*shown.member.group = shown.choice;
  }
  const auto set = [&](std::optional<Choice>& choice) {
    if (choice && choice->id == shown.choice.id) choice->values.set(key, value);
  };
  set(all);
  for (GroupChoice& group : session.run.groups) set(group.*shown.member.group);
}

void add_choice(std::vector<MovingNumber>& list, const std::string& prefix, const Info& info,
                const ShownChoice& shown) {
  for (const Parameter& p : info.parameters) {
    if (!is_number(p)) continue;
    MovingNumber number{prefix + p.key, p.label + " (" + info.label + ")", p, p.slider.min,
                        p.slider.max};
    number.changes_heads = true;
    number.set = [shown, key = p.key](Session& session, const Value& value) {
      set_choice(session, shown, key, value);
    };
    list.push_back(number);
  }
}

// Adds the training step of a model whose training kept snapshots.
void add_training_step(std::vector<MovingNumber>& list, const Session& session) {
  const std::filesystem::path training = training_folder(session.run.model);
  const std::vector<Index> steps = snapshot_steps(training);
  if (steps.size() < 2) return;
  Parameter p;
  p.key = "training_step";
  p.label = "Training step";
  p.limits.min = static_cast<double>(steps.front());
  p.limits.max = static_cast<double>(steps.back());
  MovingNumber number{p.key, p.label, p, p.limits.min, p.limits.max};
  number.set = [training](Session& moved, const Value& value) {
    moved.run.model = snapshot_folder(training, std::get<Index>(value)).string();
  };
  number.changes_heads = true;
  number.values = steps;
  list.push_back(number);
}

}  // namespace

std::vector<MovingNumber> moving_numbers(const Session& session, const Trace& trace) {
  std::vector<MovingNumber> list;
  add_view(list, session.view, trace);
  const HeadRef head = head_ref(trace, session.view);
  add_layer_or_head(list, "layer", "Layer", trace.layer_count(head.part), &ViewSettings::layer);
  if (head.layer < trace.layer_count(head.part)) {
    add_layer_or_head(list, "head", "Head", trace.head_count(head.part, head.layer),
                      &ViewSettings::head);
  }
  const PartAlternatives alternatives = trace.alternatives(head.part);
  add_step_or_segment(list, "step", "Step", alternatives.steps, &PartChoice::step);
  add_step_or_segment(list, "segment", "Segment", alternatives.segments, &PartChoice::segment);
  const AttentionTap* tap = trace.find(head);
  // Choices apply to the decoder's self-attention.
  const bool is_selectable =
      head.part.stack == Stack::Decoder && head.part.kind == AttentionKind::Self;
  if (tap != nullptr && is_selectable && !trace.is_imported) {
    add_choice(list, "variant.", variant(tap->variant.id),
               shown_choice(*trace.config, kVariant, tap->variant));
    add_choice(list, "position.", encoding(tap->encoding.id),
               shown_choice(*trace.config, kEncoding, tap->encoding));
  }
  if (trace.logits.defined() && !trace.tokens.empty()) {
    Parameter p;
    p.key = "tokens";
    p.limits.max = kMaxGenerated;
    list.push_back({p.key, "Generated text, in tokens", p, 0, kDefaultGenerated});
  }
  if (!trace.is_imported) add_training_step(list, session);
  return list;
}

}  // namespace attnscope
