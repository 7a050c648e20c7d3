#include "app/window/state.h"

#include <algorithm>
#include <utility>

#include "core/analysis/words.h"
#include "core/model/config.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/token_axis.h"

namespace attnscope::window {
namespace {
constexpr double kNoticeSeconds = 6;
constexpr std::size_t kMaxNotices = 4;

// Removes the oldest notice that is not an error, or the oldest error if there are only errors.
void make_room(std::vector<Notice>& notices) {
  if (notices.size() <= kMaxNotices) return;
  const auto oldest_notice = std::ranges::find(notices, false, &Notice::error);
  notices.erase(oldest_notice == notices.end() ? notices.begin() : oldest_notice);
}

}  // namespace

void State::notify(std::string text) {
  notices.push_back({std::move(text), false, seconds + kNoticeSeconds});
  make_room(notices);
}

void State::notify_until_act(std::string text) {
  notices.push_back({.text = std::move(text), .until_act = true});
  make_room(notices);
}

void State::report_error(std::string text) {
  std::erase_if(notices, [&](const Notice& n) { return n.text == text; });
  notices.push_back({std::move(text), true, 0});
  make_room(notices);
}

const State::CachedShown& State::cached_shown() const {
  CachedShown& cached = cached_shown_;
  const SharedSession& edited = session.snapshot();
  if (cached.run_session == run.session && cached.edited_session == edited) return cached;
  cached = {run.session, edited, same_run(*run.session, *edited), nullptr};
  Session shown = *run.session;
  shown.view = edited->view;
  shown.run.interventions = edited->run.interventions;
  if (shown.b && edited->b) shown.b->view = edited->b->view;
  cached.shown_session = shown == *edited ? edited : share(std::move(shown));
  return cached;
}

bool State::is_current() const {
  return cached_shown().is_current;
}

SharedSession State::shown_session() const {
  return cached_shown().shown_session;
}

bool State::shows_b() const {
  return view.shift && session->b && run.session->b && run.reference() != nullptr &&
         !attnscope::view(session->view.id).shows_reference();
}

Findings State::pictured_findings() const {
  if (shows_b()) return findings_of_reference(run.findings);
  return run.all_findings();
}

SharedSession State::pictured_session() const {
  const SharedSession shown = shown_session();
  if (!shows_b()) return shown;
  Session session_b{*shown->b};
  const ViewSettings b_view = std::exchange(session_b.view, shown->view);
  session_b.view.layer = b_view.layer;
  session_b.view.head = b_view.head;
  session_b.view.part = b_view.part;
  return share(std::move(session_b));
}

ViewControls State::controls() const {
  // Caches the result, since view_controls() reads every token and is needed many times per frame.
  const auto is_same = [this](const std::weak_ptr<const Trace>& other) {
    return !other.owner_before(run.trace) && !run.trace.owner_before(other);
  };
  if (!cached_controls_ || !is_same(cached_controls_->trace) ||
      cached_controls_->view != session->view) {
    cached_controls_ = {run.trace, session->view, view_controls(session->view, run.trace.get())};
  }
  ViewControls controls = cached_controls_->controls;
  controls.layer |= selection.scope != ChoiceScope::All;
  controls.head |= selection.scope == ChoiceScope::Head;
  return controls;
}

const AttentionTap* State::tap(Index* head_in_group) const {
  Index ignored = 0;
  if (run.trace == nullptr) return nullptr;
  return run.trace->find(head_ref(*run.trace, session->view),
                         head_in_group != nullptr ? head_in_group : &ignored);
}

State::PointedHead State::pointed() const {
  return view.hit ? pointed_at(*view.hit) : PointedHead();
}

State::PointedHead State::pointed_at(const Hit& hit) const {
  PointedHead pointed;
  pointed.trace = hit.of_reference ? run.reference() : run.trace;
  if (pointed.trace == nullptr) return pointed;
  const bool for_b = hit.of_reference && session->b;
  const ViewSettings& view_settings = for_b ? session->b->view : session->view;
  const PartChoice part = controls().part ? view_settings.part : PartChoice();
  pointed.ref = {hit.layer, hit.head, pointed.trace->part(part)};
  pointed.tap = pointed.trace->find(pointed.ref, &pointed.head);
  return pointed;
}

State::PointedTokens State::pointed_tokens() const {
  const PointedHead head = pointed();
  if (head.trace == nullptr) return {};
  const Hit& hit = *view.hit;
  if (!controls().part) return {"", "", hit.query, hit.key};  // rows are tokens
  if (head.tap == nullptr) return {};
  PointedTokens tokens{head.tap->query_rows.stream, head.tap->key_rows.stream};
  Index query = hit.query, key = hit.key;
  if (hit.words != nullptr) {  // all tokens of the word
    const WordPairs& pairs = hit.words->of(*head.tap);
    if (const Index word = pairs.queries.of(query); word >= 0) {
      query = pairs.queries.begin(word);
      tokens.queries = pairs.queries.size(word);
    }
    if (const Index word = pairs.keys.of(key); word >= 0) {
      key = pairs.keys.begin(word);
      tokens.keys = pairs.keys.size(word);
    }
  }
  if (query >= 0 && query < head.tap->queries()) {
    tokens.query = head.trace->token_index(head.tap->query_rows, head.tap->queries(), query);
  }
  if (key >= 0 && key < head.tap->keys()) tokens.key = key_token(*head.trace, *head.tap, key);
  return tokens;
}

bool State::shows_configurable_part() const {
  const TracePart shown_part = part();
  return shown_part.stack == Stack::Decoder && shown_part.kind == AttentionKind::Self;
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

void clamp_to_range(std::optional<Index>& number, const std::vector<Index>& sorted) {
  if (number && !sorted.empty()) number = std::clamp(*number, sorted.front(), sorted.back());
}

// Falls back to the default part if the model lacks the stack or kind. Clamps step and segment,
// since another text can have fewer of them.
void clamp_part(PartChoice& part, const Trace& trace) {
  if (!find_missing_part(trace, part)) return;
  if (!trace.has(trace.part({part.stack, part.kind}))) part.stack = {}, part.kind = {};
  const TracePart first = trace.part({part.stack, part.kind});
  const PartAlternatives available = trace.alternatives(first);
  if (trace.parts.step) {
    clamp_to_range(part.step, available.steps);
  } else {
    part.step = {};
  }
  if (trace.parts.segment) {
    clamp_to_range(part.segment, available.segments);
  } else {
    part.segment = {};
  }
}

void clamp_to_trace(ViewSettings& view, const Trace* trace) {
  if (trace == nullptr || trace->attention.empty()) return;
  clamp_part(view.part, *trace);
  view = with_defaults(std::move(view), *trace);
  const TracePart part = trace->part(view.part);
  const Index layers = trace->layer_count(part);
  if (layers == 0) return;
  view.layer = std::clamp<Index>(view.layer, 0, layers - 1);
  const Index heads = trace->head_count(part, view.layer);
  view.head = std::clamp<Index>(view.head, 0, std::max<Index>(heads - 1, 0));
}

}  // namespace

bool State::is_overlong() const {
  const Trace* trace = edited_trace();
  if (trace == nullptr || trace->text_tokens().empty()) return false;
  const std::vector<TraceToken>& tokens = trace->text_tokens();
  const RunSpec& spec = edits_b() && run.session->b ? run.session->b->run : run.session->run;
  const bool reads_at_once = trace->config->segment == 0;
  if (reads_at_once && static_cast<Index>(tokens.size()) > trace->config->context) return true;
  if (static_cast<Index>(tokens.size()) == spec.max_tokens) return false;  // cut on request
  if (!spec.ids.empty()) return tokens.size() < spec.ids.size();
  const auto first = std::ranges::find(tokens, false, &TraceToken::special);
  if (first == tokens.end()) return false;
  const std::string& last = spec.second.empty() ? spec.text : spec.second;
  const bool is_last_complete = spec.second.empty() || tokens.back().sentence > 0;
  return first->begin > 0 || !is_last_complete || tokens.back().end < last.size();
}

namespace {

// True if B shows the layer, head and part of A. Two runs are compared head by head; two heads of
// one run are selected independently.
bool is_linked(const State& state) {
  const Session& session = *state.session;
  if (state.edits_b() || !session.b) return false;
  const ViewSettings &a = session.view, &b = session.b->view;
  return session.run != session.b->run && a.layer == b.layer && a.head == b.head &&
         a.part == b.part;
}

}  // namespace

void State::move_pins(const Trace& previous, const Trace& current) {
  const auto is_same = [](const TraceToken& a, const TraceToken& b) {
    return a.id == b.id && a.label == b.label;
  };
  const std::vector<TraceToken>&before = previous.tokens, &after = current.tokens;
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t first = 0, last = 0;  // number of equal tokens at the beginning and at the end
  while (first < shorter && is_same(before[first], after[first])) ++first;
  while (last < shorter - first &&
         is_same(before[before.size() - 1 - last], after[after.size() - 1 - last])) {
    ++last;
  }
  const auto moved = [&](Index pinned) -> Index {
    if (pinned < 0) return -1;
    const auto i = static_cast<std::size_t>(pinned);
    // Indices beyond the tokens refer to rows and columns that are no tokens.
    if (i >= before.size()) return i < after.size() ? -1 : pinned;
    if (i < first) return pinned;
    if (i < before.size() - last) return -1;
    return pinned + static_cast<Index>(after.size()) - static_cast<Index>(before.size());
  };
  ViewSettings& view = session.edit().view;
  view.pinned_query = moved(view.pinned_query);
  view.pinned_key = moved(view.pinned_key);
}

void State::select_part(const PartChoice& part) {
  const bool updates_b = is_linked(*this);
  ViewSettings& view = edit().view;
  // Rows and columns of another part differ.
  view.row = view.column = view.height = view.width = 0;
  view.pinned_query = view.pinned_key = -1;
  view.part = part;
  if (updates_b) session.edit().b->view.part = part;
  clamp_view();
}

void State::select_head(Index layer, Index head) {
  const bool updates_b = is_linked(*this);
  ViewSettings& view = edit().view;
  view.layer = layer;
  view.head = head;
  if (updates_b) {
    session.edit().b->view.layer = layer;
    session.edit().b->view.head = head;
  }
  clamp_view();
}

void State::clamp_view() {
  // A trace of another session does not describe this one.
  if (!is_current()) return;
  const bool was_recorded = same_session(session.snapshot(), history.current());
  clamp_to_trace(session.edit().view, run.trace.get());
  if (session->b) clamp_to_trace(session.edit().b->view, run.reference().get());
  if (was_recorded) history.amend(session.snapshot());
}

}  // namespace attnscope::window
