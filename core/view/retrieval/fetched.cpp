// Retrieval of memorizing attention: keys that a head retrieved for a token, over the document.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "core/figure/plain_text.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_flow.h"
#include "core/view/retrieval/context_rows.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "core/view/retrieval/retrieval_pictures.h"

namespace attnscope {
namespace {

constexpr double kLineOfText = 1.5;                       // em
constexpr double kMinArcs = 4;                            // em
constexpr double kMaxArcs = 12;                           // em
constexpr double kStrip = 1.1;                            // em: strip of segments
constexpr double kMinFetched = 6;                         // em: height of the table
constexpr double kMaxFetched = 22;                        // em
constexpr double kMaxDocument = 0.26;                     // fraction of the height for the text
constexpr double kMaxThickness = 5, kMinThickness = 0.8;  // pixels: arcs
constexpr Index kWordsBeforeKey = 10, kWordsAfterKey = 6;

class FetchedPicture {
 public:
  explicit FetchedPicture(const ViewInput& input)
      : input_(input), page_(input), trace_(input.trace) {}

  ViewLayout lay_out() {
    const ViewSettings& view = input_.session.view;
    fetch_ = retrieved_keys(trace_, view.layer, view.head, retrieving_token(input_, false));
    if (fetch_.tap == nullptr) {
      return page_.message("No retrieval here", "No head retrieves from memory for this token.");
    }
    const Box inside =
        page_.frame(trace_.model + " · retrieved keys · " + head_text(), caption_text());
    if (!place_panels(inside)) return no_space(page_);
    draw_text();
    draw_sentence();
    draw_document();
    draw_rows();
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  Index length() const { return static_cast<Index>(trace_.tokens.size()); }
  Colour colour() const {
    return head_colour(fetch_.tap->heads[static_cast<std::size_t>(fetch_.head)]);
  }

  std::string head_text() const {
    return "layer " + std::to_string(fetch_.tap->address.layer) + ", head " +
           std::to_string(fetch_.tap->heads[static_cast<std::size_t>(fetch_.head)]);
  }

  std::string caption_text() const {
    return caption(trace_,
                   "Memorizing attention (Wu et al., 2022): keys and values of earlier segments "
                   "are stored, and each query retrieves the most similar ones. Arcs are as thick "
                   "as their weight; bands are segments.");
  }

  bool place_panels(const Box& inside) {
    const double flow = token_flow_height(page_, flow_tokens(), inside.width,
                                          std::max(1.8 * em(), kMaxDocument * inside.height));
    const double sentences = 2 * kLineOfText * em();
    const double space = inside.height - flow - sentences - (kStrip + 1.6) * em();
    const double arcs = std::clamp(0.35 * space, kMinArcs * em(), kMaxArcs * em());
    const double full =
        static_cast<double>(fetch_.keys.size() + 1) * context_row_height(page_) + 0.1;
    const double table = std::min({space - arcs, kMaxFetched * em(), std::max(full, 2 * em())});
    if (space - arcs < kMinFetched * em() || inside.width < 18 * em()) return false;
    const double total = sentences + flow + arcs + (kStrip + 1.6) * em() + table;
    double y = inside.y + page_.top_margin(inside.height, total);
    sentence_ = {inside.x, y, inside.width, sentences};
    arcs_ = {inside.x, y + sentences, inside.width, arcs};
    strip_ = {inside.x, arcs_.bottom(), inside.width, kStrip * em()};
    y = strip_.bottom() + 1.6 * em();
    flow_box_ = {inside.x, y, inside.width, flow};
    table_ = {inside.x, y + flow, inside.width, table};
    return true;
  }

  // Tokens of the document; retrieved ones are coloured by weight.
  std::vector<FlowToken> flow_tokens() const {
    const Colour default_colour = blend(page_.theme().background, page_.theme().line, 0.35);
    std::vector<FlowToken> tokens;
    for (Index i = 0; i < length(); ++i) {
      tokens.push_back(
          {trace_.tokens[static_cast<std::size_t>(i)].label, default_colour, i == fetch_.token});
    }
    const double max_weight = fetch_.keys.empty() ? 1 : std::max(fetch_.keys.front().weight, 1e-12);
    for (const RetrievedKeys::Key& key : fetch_.keys) {
      if (key.token < 0) continue;
      tokens[static_cast<std::size_t>(key.token)].ground =
          blend(default_colour, colour(), 0.25 + 0.7 * key.weight / max_weight);
    }
    return tokens;
  }

  void draw_text() {
    // Scrolls to the key of largest weight or, if that key is not in this text, to the query.
    const bool is_known = !fetch_.keys.empty() && fetch_.keys.front().token >= 0;
    const Index visible = is_known ? fetch_.keys.front().token : fetch_.token;
    flow_ = draw_token_flow(page_, flow_box_, flow_tokens(), static_cast<std::size_t>(visible));
  }

  void draw_sentence() {
    const std::string& label = trace_.tokens[static_cast<std::size_t>(fetch_.token)].label;
    std::string text =
        head_text() + ": “" + label + "” (token " + std::to_string(fetch_.token) + ")";
    if (fetch_.stored_count == 0) {
      text += " has an empty memory: it is in the first segment.";
    } else {
      text += " fetched " + std::to_string(fetch_.keys.size()) + " of " +
              grouped(fetch_.stored_count) + " stored tokens, with " +
              percent(fetch_.memory_fraction) + " of its attention.";
    }
    page_.text({sentence_.x, sentence_.y + 0.6 * em()},
               page_.fitting({capitalised(text), capitalised(head_text())}, em(), sentence_.width),
               em());
    page_.faint_text({sentence_.x, sentence_.y + 0.6 * em() + kLineOfText * em()},
                     page_.fitting({"Note: a head finds keys similar to its query, however far "
                                    "back. Click a token below to see its retrieved keys.",
                                    "Click a token below to see its retrieved keys."},
                                   page_.small(), sentence_.width),
                     page_.small());
  }

  double x_of(Index token) const {
    return strip_.x +
           (static_cast<double>(token) + 0.5) / static_cast<double>(length()) * strip_.width;
  }

  // First token of each segment: the first query of each of the layer's taps.
  std::vector<Index> segment_starts() const {
    std::set<Index> starts;
    for (const AttentionTap& tap : trace_.attention) {
      if (tap.address.layer != fetch_.tap->address.layer) continue;
      starts.insert(std::max<Index>(0, trace_.token_index(tap.query_rows, tap.queries(), 0)));
    }
    return {starts.begin(), starts.end()};
  }

  void draw_document() {
    const Theme& theme = page_.theme();
    const std::vector<Index> starts = segment_starts();
    for (std::size_t n = 0; n < starts.size(); ++n) {
      const Index end = n + 1 < starts.size() ? starts[n + 1] : length();
      const double half = 0.5 * strip_.width / static_cast<double>(length());
      const double x = x_of(starts[n]) - half, right = x_of(end) - half;
      page_.add(FilledBox{{x, strip_.y, right - x, strip_.height},
                          blend(theme.background, theme.line, n % 2 == 0 ? 0.35 : 0.7)});
      const std::string name = "segment " + std::to_string(n);
      const double middle = strip_.bottom() + 0.75 * em();
      const std::string label = page_.fitting({name, std::to_string(n)}, page_.small(), right - x);
      if (page_.width_of(label, page_.small()) <= right - x) {
        page_.faint_text({(x + right) / 2, middle}, label, page_.small(), Align::Middle);
      }
    }
    const double max_weight = fetch_.keys.empty() ? 1 : std::max(fetch_.keys.front().weight, 1e-12);
    page_.add(Clip{Box{arcs_.x, arcs_.y, arcs_.width, arcs_.height + strip_.height}});
    for (auto key = fetch_.keys.rbegin(); key != fetch_.keys.rend(); ++key) {
      if (key->token < 0) continue;
      draw_arc(x_of(fetch_.token), x_of(key->token), key->weight / max_weight);
      const double width = std::max(2.0, strip_.width / static_cast<double>(length()));
      page_.add(
          FilledBox{{x_of(key->token) - width / 2, strip_.y, width, strip_.height}, colour()});
    }
    const double width = std::max(2.5, strip_.width / static_cast<double>(length()));
    page_.add(
        FilledBox{{x_of(fetch_.token) - width / 2, strip_.y, width, strip_.height}, theme.text});
    page_.add(Clip{});
  }

  // Draws half an ellipse above the strip. `weight`: relative to the largest one.
  void draw_arc(double from, double to, double weight) {
    constexpr int kSteps = 48;
    const double middle = (from + to) / 2, half = std::abs(from - to) / 2;
    const double rise = (0.15 + 0.8 * 2 * half / arcs_.width) * arcs_.height;
    std::vector<Point> points;
    for (int n = 0; n <= kSteps; ++n) {
      const double angle = std::numbers::pi * n / kSteps;
      points.push_back({middle + half * std::cos(angle), strip_.y - rise * std::sin(angle)});
    }
    page_.add(Line{points, translucent(colour(), 0.35 + 0.6 * weight),
                   kMinThickness + (kMaxThickness - kMinThickness) * weight});
  }

  std::string text_between(Index first, Index end) const {
    std::string text;
    for (Index i = std::max<Index>(0, first); i < std::min(end, length()); ++i) {
      text += trace_.tokens[static_cast<std::size_t>(i)].label;
    }
    return with_spaces(std::move(text));
  }

  void draw_rows() {
    ContextTable table;
    table.before_titles = {"retrieved key: words before", "words before", "before"};
    table.value_titles = {"the token", "token"};
    table.first_title = "tokens back";
    table.second_title = "weight";
    const double max_weight = fetch_.keys.empty() ? 1 : std::max(fetch_.keys.front().weight, 1e-12);
    for (const RetrievedKeys::Key& key : fetch_.keys) {
      ContextRow row;
      row.value = retrieved_key_label(trace_, fetch_, key);
      if (key.token >= 0) {
        row.words_before = text_between(key.token - kWordsBeforeKey, key.token);
        row.words_after = text_between(key.token + 1, key.token + 1 + kWordsAfterKey);
        row.first_number = grouped(fetch_.token - key.token);
      } else {
        row.words_before = "not in this text";
        row.first_number = "–";
      }
      row.ground = blend(blend(page_.theme().background, page_.theme().line, 0.35), colour(),
                         0.25 + 0.7 * key.weight / max_weight);
      row.second_number = percent(key.weight);
      row.bar_fraction = key.weight / max_weight;
      table.rows.push_back(std::move(row));
    }
    draw_context_rows(page_, table_, table);
  }

  ViewLayout finish() {
    ViewLayout layout;
    layout.hit = token_hits(flow_, fetch_.tap->address.layer, input_.session.view.head);
    add_token_handles(layout.handles, flow_, "Show the keys this token retrieved.", show_retrieval);
    layout.handles.push_back(
        {.area = strip_,
         .help = "Drag along the document to see the keys of each token.",
         .drag = [strip = strip_, length = length()](Point p, Session& session) {
           const double fraction = std::clamp((p.x - strip.x) / strip.width, 0.0, 1.0);
           const auto token = static_cast<Index>(fraction * static_cast<double>(length));
           show_retrieval(session, std::min(token, length - 1));
         }});
    layout.list = page_.take(table_.bottom());
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const Trace& trace_;
  RetrievedKeys fetch_;
  Box sentence_, arcs_, strip_, flow_box_, table_;
  TokenFlow flow_;
};

}  // namespace

ViewLayout lay_out_fetched(const ViewInput& input) {
  return FetchedPicture(input).lay_out();
}

}  // namespace attnscope
