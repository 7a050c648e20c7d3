#include "app/window/state.h"

#include <algorithm>

#include "core/analysis/words.h"
#include "core/model/config.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/token_axis.h"

namespace attnscope::window {

namespace {
constexpr double kNoticeSeconds = 6;
constexpr std::size_t kMostNotices = 4;

// The oldest goes that is no error: those stay until they are closed, except when there is nothing
// else.
void make_room(std::vector<Notice>& notices) {
  if (notices.size() <= kMostNotices) return;
  const auto mild = std::ranges::find(notices, false, &Notice::error);
  notices.erase(mild == notices.end() ? notices.begin() : mild);
}

}  // namespace

void State::say(std::string text) {
  notices.push_back({std::move(text), false, seconds + kNoticeSeconds});
  make_room(notices);
}

void State::complain(std::string text) {
  std::erase_if(notices, [&](const Notice& n) { return n.text == text; });
  notices.push_back({std::move(text), true, 0});
  make_room(notices);
}

Experiment State::shown_experiment() const {
  Experiment result = shown;
  result.view = experiment.view;
  result.interventions = experiment.interventions;
  if (!result.others.empty() && !experiment.others.empty()) {
    result.others.front().view = experiment.others.front().view;
  }
  return result;
}

bool State::shows_other() const {
  return view.shift && !experiment.others.empty() && !shown.others.empty() &&
         reference() != nullptr && !attnscope::view(experiment.view.id).shows_reference();
}

Findings State::pictured_findings() const {
  if (shows_other()) return findings.get(Findings::reference)->findings;
  return findings.with(beside);
}

Experiment State::pictured_experiment() const {
  Experiment result = shown_experiment();
  if (!shows_other()) return result;
  Experiment other = result.others.front();
  const ViewSettings& of_b = other.view;
  result.view.layer = of_b.layer;
  result.view.head = of_b.head;
  result.view.part = of_b.part;
  other.view = result.view;
  return other;
}

ViewControls State::controls() const {
  // Asked for many times a frame; of a long text it looks at every token.
  const auto is_of = [this](const std::weak_ptr<const Trace>& other) {
    return !other.owner_before(trace) && !trace.owner_before(other);
  };
  if (!controls_of_ || !is_of(controls_of_->trace) || controls_of_->view != experiment.view) {
    controls_of_ = {trace, experiment.view, view_controls(experiment.view, trace.get())};
  }
  ViewControls controls = controls_of_->controls;
  controls.layer |= scope != ChoiceScope::All;
  controls.head |= scope == ChoiceScope::Head;
  return controls;
}

const AttentionTap* State::tap(Index* head_in_group) const {
  Index ignored = 0;
  if (trace == nullptr) return nullptr;
  return trace->find(head_ref(*trace, experiment.view),
                     head_in_group != nullptr ? head_in_group : &ignored);
}

State::Pointed State::pointed() const {
  return view.hit ? pointed_at(*view.hit) : Pointed();
}

State::Pointed State::pointed_at(const Hit& hit) const {
  Pointed pointed;
  pointed.trace = hit.of_reference ? reference() : trace;
  if (pointed.trace == nullptr) return pointed;
  const bool of_other = hit.of_reference && !experiment.others.empty();
  const ViewSettings& seen = of_other ? experiment.others.front().view : experiment.view;
  const PartChoice part = controls().part ? seen.part : PartChoice();
  pointed.at = {hit.layer, hit.head, pointed.trace->part(part)};
  pointed.tap = pointed.trace->find(pointed.at, &pointed.head);
  return pointed;
}

State::PointedTokens State::pointed_tokens() const {
  const Pointed at = pointed();
  if (at.trace == nullptr) return {};
  const Hit& hit = *view.hit;
  if (!controls().part) return {"", "", hit.query, hit.key};  // rows are the tokens themselves
  if (at.tap == nullptr) return {};
  PointedTokens tokens{at.tap->query_rows.stream, at.tap->key_rows.stream};
  Index query = hit.query, key = hit.key;
  if (hit.words != nullptr) {  // all tokens of the word, from its first on
    const WordPairs& pairs = hit.words->of(*at.tap);
    if (const Index word = pairs.queries.of(query); word >= 0) {
      query = pairs.queries.begin(word);
      tokens.queries = pairs.queries.size(word);
    }
    if (const Index word = pairs.keys.of(key); word >= 0) {
      key = pairs.keys.begin(word);
      tokens.keys = pairs.keys.size(word);
    }
  }
  if (query >= 0 && query < at.tap->queries()) {
    tokens.query = at.trace->token_index(at.tap->query_rows, at.tap->queries(), query);
  }
  if (key >= 0 && key < at.tap->keys()) tokens.key = key_token(*at.trace, *at.tap, key);
  return tokens;
}

bool State::shows_choices() const {
  const TracePart shown = part();
  return shown.stack == Stack::Decoder && shown.kind == AttentionKind::Self;
}

TracePart State::part() const {
  return edited_trace() != nullptr ? edited_trace()->part(edited().view.part) : TracePart();
}

Index State::layers() const {
  return edited_trace() != nullptr ? edited_trace()->layer_count(part()) : 0;
}

Index State::heads() const {
  if (layers() == 0) return 0;
  return edited_trace()->head_count(part(),
                                    std::clamp<Index>(edited().view.layer, 0, layers() - 1));
}

namespace {

// The nearest of these, which are in order.
void keep_among(std::optional<Index>& number, const std::vector<Index>& all) {
  if (number && !all.empty()) number = std::clamp(*number, all.front(), all.back());
}

// A model without the stack or kind is looked at as it comes; of steps and segments there can be
// fewer with another text.
void keep_part_inside(PartChoice& part, const Trace& trace) {
  if (!no_part(trace, part)) return;
  if (!trace.has(trace.part({part.stack, part.kind}))) part.stack = {}, part.kind = {};
  const TracePart first = trace.part({part.stack, part.kind});
  const PartOffer offer = trace.offer(first);
  if (trace.parts.step) {
    keep_among(part.step, offer.steps);
  } else {
    part.step = {};
  }
  if (trace.parts.segment) {
    keep_among(part.segment, offer.segments);
  } else {
    part.segment = {};
  }
}

void keep_inside(ViewSettings& view, const Trace* trace) {
  if (trace == nullptr || trace->attention.empty()) return;
  keep_part_inside(view.part, *trace);
  view = begun(std::move(view), *trace);
  const TracePart part = trace->part(view.part);
  const Index layers = trace->layer_count(part);
  if (layers == 0) return;
  view.layer = std::clamp<Index>(view.layer, 0, layers - 1);
  const Index heads = trace->head_count(part, view.layer);
  view.head = std::clamp<Index>(view.head, 0, std::max<Index>(heads - 1, 0));
}

}  // namespace

bool State::is_overlong() const {
  const Trace* ran = edited_trace();
  if (ran == nullptr || ran->text_tokens().empty()) return false;
  const std::vector<TraceToken>& tokens = ran->text_tokens();
  const Experiment& of = edits_other() && !shown.others.empty() ? shown.others.front() : shown;
  const bool at_once = ran->config->segment == 0;
  if (at_once && static_cast<Index>(tokens.size()) > ran->config->context) return true;
  if (static_cast<Index>(tokens.size()) == of.most_tokens) return false;  // as was asked for
  if (!of.ids.empty()) return tokens.size() < of.ids.size();
  const auto first = std::ranges::find(tokens, false, &TraceToken::special);
  if (first == tokens.end()) return false;
  const std::string& last = of.second.empty() ? of.text : of.second;
  const bool all = of.second.empty() || tokens.back().sentence > 0;
  return first->begin > 0 || !all || tokens.back().end < last.size();
}

namespace {

// Two runs are compared head by head; two heads of one run stay apart.
bool follows(const State& state) {
  const Experiment& experiment = state.experiment;
  if (state.edits_other() || experiment.others.empty()) return false;
  Experiment alone = experiment;
  alone.others.clear();
  const ViewSettings &a = experiment.view, &b = experiment.others.front().view;
  return !same_run(alone, experiment.others.front()) && a.layer == b.layer && a.head == b.head &&
         a.part == b.part;
}

}  // namespace

void State::keep_pins(const Trace& before, const Trace& now) {
  ViewSettings& view = experiment.view;
  const auto is_another = [&](Index pinned) {
    if (pinned < 0) return false;
    const auto at = static_cast<std::size_t>(pinned);
    // Beyond the tokens are rows and columns of other kinds.
    if (at >= before.tokens.size()) return at < now.tokens.size();
    return at >= now.tokens.size() || before.tokens[at].id != now.tokens[at].id ||
           before.tokens[at].label != now.tokens[at].label;
  };
  if (is_another(view.pinned_query) || is_another(view.pinned_key)) {
    view.pinned_query = view.pinned_key = -1;
  }
}

void State::look_at(const PartChoice& part) {
  const bool together = follows(*this);
  ViewSettings& view = edited().view;
  // Rows and columns are others.
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
  view.part = part;
  if (together) experiment.others.front().view.part = part;
  keep_view_inside();
}

void State::look_at(Index layer, Index head) {
  const bool together = follows(*this);
  ViewSettings& view = edited().view;
  view.layer = layer;
  view.head = head;
  if (together) {
    experiment.others.front().view.layer = layer;
    experiment.others.front().view.head = head;
  }
  keep_view_inside();
}

void State::keep_view_inside() {
  // The trace of another run says nothing about what the next one will have.
  if (!same_run(shown, experiment)) return;
  const bool noted = experiment == history.now();  // else it goes along with a person's step
  keep_inside(experiment.view, trace.get());
  if (!experiment.others.empty()) keep_inside(experiment.others.front().view, reference().get());
  if (noted) history.amend(experiment);
}

}  // namespace attnscope::window
