// Next view: the distribution of the next token, and the effect of sampling.
#include "core/view/next/next.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/row.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/token_bars.h"
#include "core/view/parts/token_flow.h"
#include "core/view/view_list.h"

namespace attnscope {

SeededSampling next_settings(const ViewSettings& view) {
  const Values values = view_values(view, "next");
  return {{values.real("temperature"), values.integer("top_k"), values.real("top_p")},
          static_cast<std::uint64_t>(values.integer("seed"))};
}

namespace {

constexpr double kMaxFlow = 0.4;  // fraction of the height for the text
constexpr double kGap = 1.0;      // em between parts
constexpr double kTitle = 1.8;    // em: title of the bars
constexpr double kMaxWidth = 56;  // em: width of the bars
constexpr Index kMaxBars = 40;
constexpr std::size_t kTightBars = 16;  // maximum number of bars in tight pictures
constexpr double kMaxBits = 12;         // bits: surprisal with the strongest colour

// True if the user has pinned a position; a pair that the program has found does not count.
bool has_own_pin(const ViewSettings& view, const Trace& trace) {
  return view.pinned_query >= 0 && view.pinned_query < static_cast<Index>(trace.tokens.size()) &&
         !view.shows_found_pair();
}

// Position whose prediction is shown unless the user points at another one: the pinned position,
// else the first masked one or the end.
Index next_position(const ViewSettings& view, const Trace& trace) {
  ViewSettings settings = view;
  if (!has_own_pin(view, trace)) settings.pinned_query = -1;
  return selected_position(settings, trace);
}

class NextLayout {
 public:
  explicit NextLayout(const ViewInput& input)
      : input_(input),
        page_(input),
        trace_(input.trace),
        settings_(next_settings(input.session.view)),
        is_masked_(predicts_masked_tokens(trace_)) {}

  ViewLayout lay_out() {
    if (trace_.tokens.empty()) {
      const SelectedTap found = find_tap(input_);
      return page_.message(found.headline, found.advice);
    }
    if (!trace_.logits.defined()) return page_.message("No next token to show", no_prediction());
    if (!predicts_next_tokens(trace_))
      return page_.message("No next token to show", kPredictsActions);
    const char* heading = is_masked_ ? " · masked tokens" : " · next token";
    const Box inside = page_.frame(trace_.model + heading, caption_text());
    place_panels(inside);
    if (bars_.height < 4 * em() || bars_.width < 12 * em()) return no_space(page_);
    draw_text();
    position_ = position();
    draw_distribution();
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  Index length() const { return static_cast<Index>(trace_.tokens.size()); }
  std::string no_prediction() const {
    if (trace_.is_imported) {
      return "The file holds only attention. To see the next token, choose a model and a text.";
    }
    return "This model predicts no tokens. Choose one that does.";
  }
  std::string sampling_text() const {
    const Sampling& s = settings_.sampling;
    std::string text = "temperature " + brief(s.temperature, 3);
    if (s.top_k > 0) text += ", top-k " + std::to_string(s.top_k);
    if (s.top_p < 1) text += ", top-p " + brief(s.top_p, 3);
    return text;
  }

  // The text's token at this position; -1 if it is masked or beyond the end.
  std::int32_t text_token(Index position) const {
    if (position >= length()) return -1;
    const std::int32_t id = trace_.tokens[static_cast<std::size_t>(position)].id;
    return trace_.config && id == mask_id(*trace_.config) ? -1 : id;
  }

  bool has_default_sampling() const { return settings_.sampling == Sampling(); }

  std::string caption_text() const {
    const char* subject = is_masked_ ? "The predicted distribution at one position (the model sees "
                                       "the token there unless it is masked), sampled with "
                                     : "Each token coloured by its surprisal, and the distribution "
                                       "of the next one, sampled with ";
    return caption(trace_,
                   subject + sampling_text() + ", seed " + std::to_string(settings_.seed) + ".");
  }

  Colour colour_of_bits(double bits) const {
    return blend(page_.theme().background, page_.theme().accent,
                 0.08 + 0.85 * std::clamp(bits / kMaxBits, 0.0, 1.0));
  }

  std::vector<FlowToken> flow_tokens() const {
    std::vector<FlowToken> tokens;
    const Theme& theme = page_.theme();
    for (Index i = 0; i < length(); ++i) {
      const double bits = trace_.token_bits.defined() && i < trace_.token_bits.size()
                              ? static_cast<double>(trace_.token_bits[i])
                              : NAN;
      const Colour fill =
          std::isnan(bits) ? blend(theme.background, theme.line, 0.4) : colour_of_bits(bits);
      tokens.push_back({trace_.tokens[static_cast<std::size_t>(i)].label, fill, i == position_});
    }
    return tokens;
  }

  void place_panels(const Box& inside) {
    const double flow =
        token_flow_height(page_, flow_tokens(), inside.width, kMaxFlow * inside.height);
    const double row = token_bar_height(page_, !has_default_sampling());
    const double bars =
        kTitle * em() + static_cast<double>(input_.figure.tight ? kTightBars : kMaxBars) * row;
    const double key = trace_.token_bits.defined() ? swatches_height(page_) : 0;
    const double above = flow + key + kGap * em();
    const double height = std::min(bars, inside.height - above - kTitle * em());
    const double y = inside.y + page_.top_margin(inside.height, above + height + kTitle * em());
    text_ = {inside.x, y, inside.width, flow};
    const double width = std::min(inside.width, kMaxWidth * em());
    bars_ = {inside.x + (inside.width - width) / 2, y + above, width, height};
  }

  void draw_text() {
    // A draft locates the hovered token, which is outlined in the final drawing.
    position_ = -1;
    Page draft(input_);
    const auto visible = static_cast<std::size_t>(next_position(input_.session.view, trace_));
    flow_ = draw_token_flow(draft, text_, flow_tokens(), visible);
    position_ = position();
    flow_ = draw_token_flow(page_, text_, flow_tokens(), visible);
    if (!trace_.token_bits.defined()) return;
    std::vector<Swatch> swatches;
    for (const int bits : {0, 2, 4, 8, 12}) {
      swatches.push_back({colour_of_bits(bits), std::to_string(bits)});
    }
    draw_swatches(page_, {text_.x, text_.bottom()}, text_.width, "surprisal in bits", swatches);
  }

  // "After “the”"; for masked models "In place of “the”".
  std::string describe_place(const std::string& label) const {
    return (is_masked_ ? "In place of “" : "After “") + label + "”";
  }

  // "the end of the text"; "pinned, position 9 of 0–15".
  std::string describe_position() const {
    const std::string number = "position " + std::to_string(position_);
    if (is_at_end()) return "the end of the text";
    if (!is_masked_ && position_ == length() - 1) return "the last token used";
    const std::string range = number + " of 0–" + std::to_string(length() - 1);
    const bool is_pinned = position_ == next_position(input_.session.view, trace_) &&
                           has_own_pin(input_.session.view, trace_);
    return is_pinned ? "pinned, " + range : range;
  }

  // Position whose prediction is shown: the hovered position, else next_position().
  Index position() const {
    const Index hovered = input_.interaction.pointer ? flow_.at(*input_.interaction.pointer) : -1;
    return hovered >= 0 ? hovered : next_position(input_.session.view, trace_);
  }

  bool is_at_end() const {
    return !is_masked_ && position_ == length() - 1 && shows_end(trace_, input_.session.run);
  }

  // "entropy 5.2 bits, about 37 equally likely tokens; 12 of 2,048 can be sampled", and shorter
  // texts.
  std::vector<std::string> summaries(const std::vector<double>& distribution) const {
    double entropy = 0;
    Index candidate_count = 0;
    for (const double p : distribution) {
      if (!(p > 0)) continue;
      entropy -= p * std::log2(p);
      ++candidate_count;
    }
    const std::string bits = "entropy " + brief(entropy) + " bits";
    const std::string tokens =
        bits + ", about " + brief(std::exp2(entropy), 3) + " equally likely tokens";
    return {tokens + "; " + grouped(candidate_count) + " of " +
                grouped(static_cast<long long>(distribution.size())) + " can be sampled",
            tokens, bits};
  }

  // Titles of the bars, longest first. They state the consequence of an end token.
  std::vector<std::string> titles(std::int32_t sampled_id) const {
    const std::string& label = trace_.tokens[static_cast<std::size_t>(position_)].label;
    const std::string place = describe_place(label);
    const std::string token = "“" + token_label(trace_, sampled_id) + "”";
    const std::string at = place + " (" + describe_position() + ")";
    const std::string longest =
        at + ": " + token + " is sampled with seed " + std::to_string(settings_.seed);
    std::vector<std::string> list{longest, at, place, is_masked_ ? "This position" : "Next token"};
    if (is_masked_ || !ends_text(trace_, sampled_id)) return list;
    std::string end = " ends the text";
    if (is_at_end() && continues_past_end(trace_)) {
      const std::int32_t next = sample_continuation(trace_, position_, settings_, true).id;
      end += "; Generate continues with “" + token_label(trace_, next) + "”";
    }
    list.insert(list.begin(), {longest + " and" + end, place + ": " + token + end});
    return list;
  }

  void draw_distribution() {
    const Tensor logits = logits_at(trace_, position_);
    const std::vector<double> model = probabilities(logits, {});
    const std::vector<double> sampled =
        has_default_sampling() ? model : probabilities(logits, settings_.sampling);
    const std::int32_t sampled_id = sample_at(sampled, position_, settings_.seed);
    const Index predicted_position = is_masked_ ? position_ : position_ + 1;
    const std::int32_t text_id = text_token(predicted_position);
    TokenBars bars;
    bars.two = !has_default_sampling();
    bars.first = first_colour();
    bars.second = second_colour();
    std::vector<std::int32_t> ids;
    for (const Candidate& candidate : likeliest(model, kMaxBars)) ids.push_back(candidate.id);
    const double height = bars_.height - kTitle * em();
    const auto rows = static_cast<std::size_t>(height / token_bar_height(page_, bars.two));
    list_token(ids, rows, text_id);
    list_token(ids, rows, sampled_id);
    ids.resize(std::min(ids.size(), rows));
    for (const std::int32_t id : ids) {
      const auto index = static_cast<std::size_t>(id);
      std::string note = id == text_id ? "the text's own" : "";
      if (id == sampled_id) {
        note += note.empty() ? "drawn" : ", drawn";
        bars.marked = static_cast<Index>(bars.bars.size());
      }
      bars.bars.push_back({token_label(trace_, id), model[index], sampled[index], note});
      bars.most = bars.bars.size() == 1 ? std::max(model[index], sampled[index])
                                        : std::max({bars.most, model[index], sampled[index]});
    }
    draw_bars_title(page_, {bars_.x, bars_.y, bars_.width, 1.2 * em()}, titles(sampled_id),
                    bars.most);
    const std::vector<Box> row_boxes =
        draw_token_bars(page_, {bars_.x, bars_.y + kTitle * em(), bars_.width, height}, bars);
    add_handles(ids, row_boxes);
    bottom_ = row_boxes.empty() ? bars_.bottom() : row_boxes.back().bottom();
    draw_footer(sampled, bars);
  }

  void draw_footer(const std::vector<double>& sampled, const TokenBars& bars) {
    const double y = bottom_ + 0.9 * em();
    double x = bars_.x;
    if (bars.two) {
      const auto draw_key = [&](Colour colour, const std::string& text) {
        const double side = 0.8 * page_.em();
        if (x + side + page_.width_of(text, page_.small()) > bars_.right()) return;
        page_.add(FilledBox{{x, y - side / 2, side, side}, colour});
        page_.faint_text({x + 1.15 * em(), y}, text, page_.small());
        x += 2.2 * em() + page_.width_of(text, page_.small());
      };
      draw_key(bars.first, "model");
      draw_key(bars.second, sampling_text());
    }
    page_.faint_text({bars_.right(), y},
                     page_.fitting(summaries(sampled), page_.small(), bars_.right() - x),
                     page_.small(), Align::End);
    bottom_ = y + 0.8 * em();
  }

  // Moves `id` to the last of the first `rows` entries, unless it is among them.
  static void list_token(std::vector<std::int32_t>& ids, std::size_t rows, std::int32_t id) {
    if (id < 0 || rows == 0) return;
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(rows, ids.size()));
    if (std::find(ids.begin(), end, id) != end) return;
    std::erase(ids, id);
    const std::size_t index = std::min(rows - 1, ids.size());
    ids.insert(ids.begin() + static_cast<std::ptrdiff_t>(index), id);
  }

  // Adds handles that pin tokens and, at the end of the text, append the token of a bar.
  void add_handles(const std::vector<std::int32_t>& ids, const std::vector<Box>& rows) {
    add_position_handles();
    if (!is_at_end()) return;
    const auto source = std::make_shared<const Trace>(append_source());
    for (std::size_t n = 0; n < rows.size(); ++n) {
      if (ends_text(trace_, ids[n])) continue;
      handles_.push_back(
          {rows[n], "Continue with this token.", {}, [id = ids[n], source](Session& session) {
             append_token(session.run, *source, id);
           }});
    }
  }

  // A click on a token pins its position, or unpins it. A click on the last token only unpins: the
  // prediction at the end needs no pin.
  void add_position_handles() {
    const ViewSettings& view = input_.session.view;
    const Index pinned = has_own_pin(view, trace_) ? view.pinned_query : -1;
    const bool has_end = !is_masked_;
    const std::string help =
        is_masked_ ? "Show the prediction at this position."
                   : "Show the prediction after this token; the last token is the end of the text.";
    add_token_handles(handles_, flow_, help,
                      [pinned, has_end, last = length() - 1](Session& session, Index token) {
                        ViewSettings& settings = session.view;
                        const bool unpins = token == pinned || (has_end && token == last);
                        if (unpins && pinned < 0) return;
                        settings.pinned_query = unpins ? -1 : token;
                        if (settings.shows_found_pair()) settings.found_query = -1;
                      });
  }

  // The parts of the trace that append_token() reads.
  Trace append_source() const {
    Trace source;
    source.tokenizer = trace_.tokenizer;
    source.tokens = trace_.tokens;
    source.config = trace_.config;
    return source;
  }

  ViewLayout finish() {
    ViewLayout layout;
    layout.hit = token_hits(flow_, input_.session.view.layer, input_.session.view.head);
    layout.handles = std::move(handles_);
    layout.list = page_.take(bottom_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const Trace& trace_;
  SeededSampling settings_;
  Box text_, bars_;
  const bool is_masked_;  // predicts masked tokens instead of the next one
  TokenFlow flow_;
  Index position_ = -1;
  std::vector<Handle> handles_;
  double bottom_ = 0;
};

ViewData data(const ViewInput& input) {
  const Trace& trace = input.trace;
  const ViewSettings& view = input.session.view;
  const Index position = next_position(view, trace);
  const SeededSampling settings = next_settings(view);
  const Tensor logits = logits_at(trace, position);
  const std::vector<double> model = probabilities(logits, {});
  const std::vector<double> sampled = probabilities(logits, settings.sampling);
  const std::int32_t sampled_id = sample_at(sampled, position, settings.seed);
  const std::vector<Candidate> tokens = likeliest(model, static_cast<Index>(model.size()));
  ViewData::Matrix distribution{"next token",
                                Tensor({static_cast<Index>(tokens.size()), 4}),
                                {},
                                {"token id", "probability", "probability as sampled", "sampled"},
                                {"token"}};
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    const auto row = static_cast<Index>(n);
    const std::int32_t id = tokens[n].id;
    distribution.rows.push_back(token_label(trace, id));
    distribution.values(row, 0) = static_cast<float>(id);
    distribution.values(row, 1) = static_cast<float>(tokens[n].probability);
    distribution.values(row, 2) = static_cast<float>(sampled[static_cast<std::size_t>(id)]);
    distribution.values(row, 3) = id == sampled_id ? 1 : 0;
  }
  if (!trace.token_bits.defined()) return {{std::move(distribution)}};
  ViewData::Matrix surprise{
      "surprise", trace.token_bits.reshaped({trace.token_bits.size(), 1}), {}, {"bits"}, {"token"}};
  for (const TraceToken& token : trace.tokens) surprise.rows.push_back(token.label);
  return {{std::move(distribution), std::move(surprise)}};
}

std::vector<Parameter> parameters() {
  return {
      {.key = "temperature",
       .symbol = "T",
       .label = "Temperature",
       .help =
           "Divides the logits. Below 1, likely tokens gain probability; 0 selects the most likely "
           "token.",
       .kind = Parameter::Kind::Real,
       .initial = Sampling().temperature,
       .limits = {.min = 0, .max = 100},
       .slider = {.min = 0, .max = 2}},
      {.key = "top_k",
       .symbol = "k",
       .label = "Top-k",
       .help = "Sample only from the k most likely tokens; 0: all.",
       .kind = Parameter::Kind::Integer,
       .initial = Sampling().top_k,
       .slider = {.min = 0, .max = 50}},
      {.key = "top_p",
       .symbol = "p",
       .label = "Top-p",
       .help = "Sample only from the most likely tokens that together reach this probability "
               "(nucleus sampling).",
       .kind = Parameter::Kind::Real,
       .initial = Sampling().top_p,
       .limits = {.min = 0, .max = 1, .min_excluded = true},
       .slider = {.min = 0.01, .max = 1}},
      {.key = "seed",
       .label = "Seed",
       .help = "Random seed: the same seed samples the same tokens.",
       .kind = Parameter::Kind::Integer,
       .initial = Index{1},
       .slider = {.min = 0, .max = 99}}};
}

}  // namespace

View next_view() {
  return {.id = "next",
          .label = "Next",
          .group = "Model",
          .summary = "The next token's distribution, and text generation token by token.",
          .lay_out = [](const ViewInput& input) { return NextLayout(input).lay_out(); },
          .reading = fixed_reading(
              "The model's probabilities of the next token, after the end of the text or after the "
              "token that you click, and how well it predicted each token of the text.",
              {{"Surprise",
                "−log₂ of a token's probability: 0 bits: certain, 10 bits: about 1 in 1,000."},
               {"Perplexity", "the number of equally likely tokens that would be as uncertain."},
               {"Temperature T", "above 1 flattens the distribution, below 1 sharpens it."}}),
          .data = data,
          .options = {.parameters = parameters(),
                      .restrict_controls =
                          [](const ViewSettings&, const Trace*, ViewControls& controls) {
                            controls.layer = controls.head = controls.part = false;
                            controls.hide_colours();
                          }},
          .content = {.objection = [](const Trace& trace) {
            if (!trace.logits.defined()) return "This run predicts no tokens.";
            return predicts_next_tokens(trace) ? "" : kPredictsActions;
          }}};
}

}  // namespace attnscope
