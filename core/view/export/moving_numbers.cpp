#include "core/view/export/moving_numbers.h"

#include <algorithm>
#include <optional>

#include "core/model/config.h"
#include "core/view/view.h"

namespace attnscope {
namespace {

constexpr double kMostTokens = 1000, kUsualTokens = 10;  // that a model writes on

bool is_number(const Parameter& p) {
  return p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
}

void add_view(std::vector<MovingNumber>& list, const ViewSettings& settings, const Trace& trace) {
  const ViewControls controls = view_controls(settings, &trace);
  const std::optional<Animation>& played = controls.animation;
  for (const Parameter& p : controls.parameters) {
    if (!is_number(p)) continue;
    const bool plays = played && played->key == p.key;
    list.push_back({p.key, p.label, p, plays ? played->from : p.slider_least,
                    plays ? played->to : p.slider_most,
                    [id = settings.id, key = p.key](Experiment& e, const Value& value) {
                      set_view_value(e.view, id, key, value);
                    }});
  }
}

// The layer or the head. What the run is compared with follows as long as both look at the same.
void add_place(std::vector<MovingNumber>& list, const std::string& key, const std::string& label,
               Index count, Index ViewSettings::*place) {
  if (count < 2) return;
  Parameter p;
  p.key = key;
  p.label = label;
  p.most = static_cast<double>(count - 1);
  list.push_back({key, label, p, 0, p.most, [place](Experiment& e, const Value& value) {
                    for (Experiment& other : e.others) {
                      const bool same =
                          other.view.layer == e.view.layer && other.view.head == e.view.head;
                      if (same) other.view.*place = std::get<Index>(value);
                    }
                    e.view.*place = std::get<Index>(value);
                  }});
}

// The step or the segment, which follow each other.
void add_part(std::vector<MovingNumber>& list, const std::string& key, const std::string& label,
              const std::vector<Index>& offered, std::optional<Index> PartChoice::*place) {
  if (offered.size() < 2) return;
  Parameter p;
  p.key = key;
  p.label = label;
  p.least = static_cast<double>(offered.front());
  p.most = static_cast<double>(offered.back());
  list.push_back({key, label, p, p.least, p.most, [place](Experiment& e, const Value& value) {
                    for (Experiment& other : e.others) {
                      if (other.view.part == e.view.part) {
                        other.view.part.*place = std::get<Index>(value);
                      }
                    }
                    e.view.part.*place = std::get<Index>(value);
                  }});
}

bool is_among(const std::vector<Index>& numbers, Index number) {
  return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
}

// Where a variant or an encoding is said: for all heads, for some, and in the checkpoint.
struct Member {
  std::optional<Choice> Experiment::*all;
  std::optional<Choice> GroupChoice::*some;
  Choice HeadGroup::*trained;
};
constexpr Member kVariant{&Experiment::variant, &GroupChoice::variant, &HeadGroup::variant};
constexpr Member kEncoding{&Experiment::encoding, &GroupChoice::encoding, &HeadGroup::encoding};

// What the shown head does.
struct ShownChoice {
  Member member;
  Choice choice;
  bool of_all = false;  // the checkpoint has it in every head
};

ShownChoice shown_choice(const ModelConfig& config, const Member& member, const Choice& choice) {
  bool of_all = true;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) of_all = of_all && group.*member.trained == choice;
  }
  return {member, choice, of_all};
}

// Sets the number in every choice that is like the shown head's: for all heads, and for some. A
// head that has it from training gets a choice: with all others where they are trained alike (some
// encodings and tensors of one's own allow no other), else alone, so that the others stay.
void set_choice(Experiment& e, const ShownChoice& shown, const std::string& key,
                const Value& value) {
  std::optional<Choice>& all = e.*shown.member.all;
  bool chosen = all.has_value();
  for (const GroupChoice& group : e.groups) {
    chosen = chosen || (group.*shown.member.some && is_among(group.layers, e.view.layer) &&
                        is_among(group.heads, e.view.head));
  }
  if (!chosen && shown.of_all) all = shown.choice;
  if (!chosen && !shown.of_all) {
    GroupChoice& alone = e.groups.emplace_back();
    alone.layers = {e.view.layer};
    alone.heads = {e.view.head};
    alone.*shown.member.some = shown.choice;
  }
  const auto set = [&](std::optional<Choice>& choice) {
    if (choice && choice->id == shown.choice.id) choice->values.set(key, value);
  };
  set(all);
  for (GroupChoice& group : e.groups) set(group.*shown.member.some);
}

void add_choice(std::vector<MovingNumber>& list, const std::string& prefix, const Info& info,
                const ShownChoice& shown) {
  for (const Parameter& p : info.parameters) {
    if (!is_number(p)) continue;
    MovingNumber number{prefix + p.key, p.label + " (" + info.label + ")", p, p.slider_least,
                        p.slider_most};
    number.changes_heads = true;
    number.set = [shown, key = p.key](Experiment& e, const Value& value) {
      set_choice(e, shown, key, value);
    };
    list.push_back(number);
  }
}

}  // namespace

std::vector<MovingNumber> moving_numbers(const Experiment& experiment, const Trace& trace) {
  std::vector<MovingNumber> list;
  add_view(list, experiment.view, trace);
  const HeadRef at = head_ref(trace, experiment.view);
  add_place(list, "layer", "Layer", trace.layer_count(at.part), &ViewSettings::layer);
  if (at.layer < trace.layer_count(at.part)) {
    add_place(list, "head", "Head", trace.head_count(at.part, at.layer), &ViewSettings::head);
  }
  const PartOffer offer = trace.offer(at.part);
  add_part(list, "step", "Step", offer.steps, &PartChoice::step);
  add_part(list, "segment", "Segment", offer.segments, &PartChoice::segment);
  const AttentionTap* tap = trace.find(at);
  // What is chosen is the decoder's self-attention.
  const bool chosen = at.part.stack == Stack::Decoder && at.part.kind == AttentionKind::Self;
  if (tap != nullptr && chosen && !trace.given) {
    add_choice(list, "variant.", variant(tap->variant.id),
               shown_choice(*trace.config, kVariant, tap->variant));
    add_choice(list, "position.", encoding(tap->encoding.id),
               shown_choice(*trace.config, kEncoding, tap->encoding));
  }
  if (trace.logits.defined() && !trace.tokens.empty()) {
    Parameter p;
    p.key = "tokens";
    p.most = kMostTokens;
    list.push_back({p.key, "Text that the model writes, in tokens", p, 0, kUsualTokens});
  }
  return list;
}

}  // namespace attnscope
