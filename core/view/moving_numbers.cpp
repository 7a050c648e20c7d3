#include "core/view/moving_numbers.h"

#include <algorithm>
#include <optional>

#include "core/view/view.h"

namespace attnscope {
namespace {

constexpr double kMostTokens = 1000, kUsualTokens = 10;  // that a model writes on

bool is_number(const Parameter& p) {
  return p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
}

void add_view(std::vector<MovingNumber>& list, const View& shown) {
  for (const Parameter& p : shown.parameters) {
    if (!is_number(p)) continue;
    const bool plays = shown.animation && shown.animation->key == p.key;
    list.push_back({p.key, p.label, p, plays ? shown.animation->from : p.slider_least,
                    plays ? shown.animation->to : p.slider_most,
                    [id = shown.id, key = p.key](Experiment& e, const Value& value) {
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

// Sets the number in every choice that is like the shown head's: for all heads, and for some.
void set_choice(Experiment& e, std::optional<Choice> Experiment::*all,
                std::optional<Choice> GroupChoice::*of_group, const Choice& shown,
                const std::string& key, const Value& value) {
  bool grouped = false;
  for (GroupChoice& group : e.groups) {
    std::optional<Choice>& choice = group.*of_group;
    if (!choice || choice->id != shown.id) continue;
    choice->values.set(key, value);
    grouped = true;
  }
  if (!(e.*all) && !grouped) e.*all = shown;
  if (e.*all && (e.*all)->id == shown.id) (e.*all)->values.set(key, value);
}

void add_choice(std::vector<MovingNumber>& list, const std::string& prefix, const Info& info,
                const Choice& shown, std::optional<Choice> Experiment::*all,
                std::optional<Choice> GroupChoice::*of_group) {
  for (const Parameter& p : info.parameters) {
    if (!is_number(p)) continue;
    list.push_back({prefix + p.key, p.label + " (" + info.label + ")", p, p.slider_least,
                    p.slider_most,
                    [all, of_group, shown, key = p.key](Experiment& e, const Value& value) {
                      set_choice(e, all, of_group, shown, key, value);
                    }});
  }
}

}  // namespace

std::vector<MovingNumber> moving_numbers(const Experiment& experiment, const Trace& trace) {
  std::vector<MovingNumber> list;
  add_view(list, view(experiment.view.id));
  add_place(list, "layer", "Layer", trace.layer_count(), &ViewSettings::layer);
  const Index layer = experiment.view.layer;
  if (layer < trace.layer_count()) {
    add_place(list, "head", "Head", trace.head_count(layer), &ViewSettings::head);
  }
  const AttentionTap* tap = trace.find(layer, experiment.view.head, nullptr);
  if (tap != nullptr && !trace.given) {
    add_choice(list, "variant.", variant(tap->variant.id), tap->variant, &Experiment::variant,
               &GroupChoice::variant);
    add_choice(list, "position.", encoding(tap->encoding.id), tap->encoding, &Experiment::encoding,
               &GroupChoice::encoding);
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
