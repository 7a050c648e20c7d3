// Memory view: memory of a segment-recurrent model, attention to it, receptive field and cost.
// Transformer-XL (Dai et al., 2019), Compressive Transformer (Rae et al., 2019), Memorizing
// Transformer (Wu et al., 2022).
#include <algorithm>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/memory/memory_panels.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/refusal.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "memory";
constexpr double kGap = 0.7;               // em between panels
constexpr double kWords = 0.13;            // maximum share of the height, for the words
constexpr double kRange = 0.34;            // likewise for range and cost
constexpr double kMinWeights = 19;         // em
constexpr double kWeightsWithMean = 24.5;  // em: including the mean by slot below the map
constexpr double kBeside = 40;             // em: from this width on, cost is next to the range
constexpr double kCost = 0.42;             // share of the width
constexpr Index kMostPairs = Index{1} << 22;

Refusal refusal_of(const Trace& trace) {
  const char* advice =
      "Choose a model that was trained with a memory, or the variant Segment memory, Compressive "
      "memory or Memorizing and a segment length shorter than the text.";
  if (trace.is_imported) return {"No memory", kImportedAttentionAdvice};
  if (!reads_in_segments(trace)) return {"This model reads its text as a whole", advice};
  if (!remembers(trace)) {
    return {"No layer has a memory of earlier segments",
            "Segments are read independently. Choose the variant Segment memory, Compressive "
            "memory or Memorizing."};
  }
  return {};
}

std::string objection(const Trace& trace) {
  return refusal_of(trace).sentence();
}

std::string about(const ViewInput& input, const AttentionTap& tap) {
  return capitalised(describe_head(input.trace, input.session.view)) + ": " + describe(tap) +
         ". Queries attend to the memory of earlier segments and to their own segment; slots run "
         "from oldest to newest. The receptive field of a layer includes those of all positions it "
         "attends to, so that it grows with each layer.";
}

std::string count_words(Index count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

// "8 compressed slots of 24 tokens, 16 of memory".
std::string contents_words(const ShownMemory& shown) {
  Index compressed = 0, represented_tokens = 0, memory = 0;
  for (std::size_t c = 0; c < shown.sources.size(); ++c) {
    const KeyKind kind = shown.kind_of(static_cast<Index>(c));
    if (kind == KeyKind::Memory) ++memory;
    if (kind != KeyKind::Compressed) continue;
    ++compressed;
    represented_tokens += shown.sources[c].count;
  }
  std::string words;
  if (compressed > 0) {
    words = count_words(compressed, "compressed slot", "compressed slots") + " made of " +
            count_words(represented_tokens, "token", "tokens") + " and ";
  }
  return words + count_words(memory, "token", "tokens") + " of memory";
}

class Memory {
 public:
  Memory(const ViewInput& input, Page& page, const SelectedTap& found)
      : input_(input), page_(page), shown_(shown_memory(input, *found.tap, found.head)) {}

  ViewLayout lay_out(const Box& inside) {
    const std::string show = view_values(input_.session.view, kId).choice("show");
    const bool everything = show == "all";
    Box rest = inside;
    advance(rest, draw_summary(rest), 0);
    if (everything || show == "words")
      advance(rest, draw_words(rest, everything ? kWords : 0.6), kGap);
    if (everything || show == "range") advance(rest, draw_reach(rest, everything), kGap);
    if ((everything || show == "attention") && rest.height >= 8 * page_.em()) {
      panels_ = draw_weights(page_, rest, shown_);
      if (panels_.bottom > 0) advance(rest, panels_.bottom - rest.y, 0);
    }
    if (rest.y <= inside.y + 2.5 * page_.em()) return no_space(page_);
    return finish(rest.y);
  }

 private:
  void advance(Box& rest, double height, double gap) {
    if (!(height > 0)) return;
    const double total = std::min(height + gap * page_.em(), rest.height);
    rest.y += total;
    rest.height -= total;
  }

  double draw_summary(const Box& rest) {
    const double em = page_.em();
    const Point at{rest.x, rest.y + 0.7 * em};
    if (shown_.remembers()) {
      const std::string lead = "Segment " + std::to_string(shown_.segment) + " has ";
      page_.text(at,
                 page_.fitting({lead + contents_words(shown_) + ": " + share_words(shown_) + ".",
                                capitalised(share_words(shown_)) + ".", share_words(shown_)},
                               em, rest.width),
                 em);
    } else if (shown_.segment == 0) {
      page_.text(at,
                 page_.fitting({"Segment 0 is the first and has no memory: click a later one, or "
                                "select it next to Layer and Head.",
                                "Segment 0 comes first: choose a later one.", "no memory"},
                               em, rest.width),
                 em);
    } else {
      page_.text(at,
                 page_.fitting({"This layer has no memory: select another.", "no memory here"}, em,
                               rest.width),
                 em);
    }
    return 1.7 * em + draw_largest_weight({at.x, at.y + 1.5 * em}, rest);
  }

  double draw_largest_weight(Point at, const Box& rest) {
    const double em = page_.em();
    const Index segment_begin = shown_.runs.back().first;
    if (!shown_.remembers() || segment_begin == 0 || rest.height < 20 * em) return 0;
    // Considers only the pinned query, if there is one.
    const Index pinned = input_.session.view.pinned_query;
    const bool is_pinned = pinned >= 0 && pinned < shown_.tap.queries();
    Index query = is_pinned ? pinned : 0, key = 0;
    for (Index i = query; i < (is_pinned ? pinned + 1 : shown_.tap.queries()); ++i) {
      for (Index c = 0; c < segment_begin; ++c) {
        if (shown_.weights(i, c) > shown_.weights(query, key)) {
          query = i;
          key = c;
        }
      }
    }
    const auto token = static_cast<std::size_t>(segment_begin + query);
    const std::string pair = "“" + shown_.words[token] + "” attends to “" +
                             shown_.words[static_cast<std::size_t>(key)] + "”";
    const std::string weight =
        ": " + percent(static_cast<double>(shown_.weights(query, key))) + " of its weight";
    const std::string place = " (" + place_of_slot(shown_, key) + ")";
    page_.faint_text(at,
                     page_.fitting({"Largest memory weight: " + pair + place + weight + ".",
                                    pair + place + weight + ".", pair + weight, pair},
                                   em, rest.width),
                     em);
    return 1.5 * em;
  }

  // Draws the contents of slots as words, with a colour legend.
  double draw_words(const Box& rest, double share) {
    const double em = page_.em(), title = panel_title_height(page_);
    const Index pinned = input_.session.view.pinned_key;
    items_ = slot_words(shown_, page_.theme(), pinned);
    const double most = std::max(share * rest.height, 2 * em);
    const double flow = token_flow_height(page_, items_.items, rest.width, most);
    const double height = title + flow + swatches_height(page_);
    if (height > 0.6 * rest.height) return 0;
    draw_panel_title(page_, rest,
                     {"Keys of segment " + std::to_string(shown_.segment) + ", oldest to newest",
                      "Keys, oldest to newest", "Keys"});
    const Box box{rest.x, rest.y + title, rest.width, flow};
    std::size_t visible_item = 0;  // pinned words stay visible
    for (std::size_t n = 0; n < items_.columns.size(); ++n) {
      if (pinned >= 0 && items_.columns[n] == pinned) visible_item = n;
    }
    words_ = draw_token_flow(page_, box, items_.items, visible_item);
    std::vector<Swatch> swatches;
    for (const SlotRun& run : shown_.runs) {
      const bool compressed = run.kind == KeyKind::Compressed;
      swatches.push_back({slot_colour(run.kind), std::string(slot_name(run.kind)) + " (" +
                                                     std::to_string(run.count) +
                                                     (compressed ? " slots, a box each)" : ")")});
    }
    if (std::ranges::count(items_.columns, -1) > 0) {
      swatches.push_back({blend(page_.theme().line, page_.theme().background, 0.75), "forgotten"});
    }
    draw_swatches(page_, {rest.x, rest.y + title + flow}, rest.width, "", swatches);
    return height;
  }

  double draw_reach(const Box& rest, bool shared) {
    const double em = page_.em();
    const bool beside = rest.width >= kBeside * em;
    const double least = (shared ? 7.5 : 6) * em;
    double most = 0.9 * rest.height;
    if (shared) {
      const double with_mean = rest.height - kWeightsWithMean * em;
      most = std::min(kRange * rest.height,
                      with_mean >= least ? with_mean : rest.height - kMinWeights * em);
    }
    double height = std::min(std::max(range_height(page_, shown_), 10 * em), most);
    if (!shared) height = beside ? most : most / 2;
    if (height < least) return 0;
    Box range{rest.x, rest.y, rest.width, height}, cost = range;
    if (beside) {
      cost.width = kCost * rest.width;
      range.width = rest.width - cost.width - 1.5 * em;
      cost.x = range.right() + 1.5 * em;
    } else {
      cost.y = range.bottom() + kGap * em;
    }
    range_ = draw_range(page_, range, shown_, oldest_tokens());
    if (beside || !shared) draw_cost(page_, cost, shown_);
    return (beside || shared ? range : cost).bottom() - rest.y;
  }

  std::vector<Index> oldest_tokens() const {
    const auto make = [&] {
      const std::vector<Index> tokens = oldest_reachable(shown_.trace, shown_.segment);
      Tensor cached({static_cast<Index>(tokens.size())});
      std::ranges::transform(tokens, cached.begin(), [](Index t) { return static_cast<float>(t); });
      return cached;
    };
    const Tensor cached =
        input_.cache == nullptr
            ? make()
            : input_.cache->matrix(source_of(shown_.trace),
                                   CacheKey("receptive field", shown_.segment), make);
    std::vector<Index> tokens;
    for (const float token : cached) tokens.push_back(static_cast<Index>(token));
    return tokens;
  }

  void add_handles(ViewLayout& layout) const {
    for (std::size_t s = 0; s < range_.segments.size(); ++s) {
      layout.handles.push_back({.area = range_.segments[s],
                                .help = "Show segment " + std::to_string(s) + ".",
                                .click = [s](Session& e) {
                                  e.view.part.segment = static_cast<Index>(s);
                                  e.view.pinned_query = e.view.pinned_key = -1;
                                }});
    }
  }

  ViewLayout finish(double bottom) {
    const ViewSettings& settings = input_.session.view;
    ViewLayout layout;
    if (panels_.map.plot.width > 0) {
      layout = matrix_layout(page_, panels_.map, bottom);
    } else {
      layout.list = page_.take(bottom);
    }
    const auto hit_map =
        panels_.map.plot.width > 0 ? layout.hit : [](Point) { return std::optional<Hit>(); };
    layout.hit = [hit_map, words = words_, columns = items_.columns, panels = panels_,
                  layer = settings.layer, head = settings.head](Point p) -> std::optional<Hit> {
      if (const auto pair = hit_map(p)) return pair;
      Index column = panels.column_at(p);
      const Index item = words.at(p);
      if (item >= 0) column = columns[static_cast<std::size_t>(item)];
      if (column < 0) return std::nullopt;
      return Hit{layer, head, -1, column};
    };
    add_handles(layout);
    return layout;
  }

  const ViewInput& input_;
  Page& page_;
  const ShownMemory shown_;
  SlotWords items_;
  TokenFlow words_;
  RangePanel range_;
  WeightPanels panels_;
};

// Reason why this head's memory cannot be shown; otherwise that of the whole run.
Refusal refusal_of(const Trace& trace, const AttentionTap& tap) {
  if (tap.queries() > kMostPairs / std::max<Index>(tap.keys(), 1)) {
    return {"Too many tokens in a segment",
            "This view shows segments and memories of up to 2,048 tokens together. Shorten the "
            "segments."};
  }
  if (slot_count(tap, KeyKind::Token) != tap.queries()) {
    return {
        "The keys of this head are not tokens",
        variant(tap.variant.id).label + " combines them into other columns. Select another head."};
  }
  return refusal_of(trace);
}

ViewLayout lay_out_memory(const ViewInput& input) {
  Page page(input);
  if (!input.trace.tokens.empty()) {
    if (const Refusal refusal = refusal_of(input.trace)) return refusal.message(page);
  }
  const SelectedTap found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  if (const Refusal refusal = refusal_of(input.trace, *found.tap)) return refusal.message(page);
  const Box inside =
      page.frame(title_with_head(input), caption(input.trace, about(input, *found.tap)));
  return Memory(input, page, found).lay_out(inside);
}

ViewData::Matrix slots_table(const ShownMemory& shown) {
  ViewData::Matrix table{"slots", {}, {}, {"mean", "deviation", "first token", "last token"}};
  const auto count = static_cast<Index>(shown.words.size());
  table.values = Tensor({count, 4});
  for (Index c = 0; c < count; ++c) {
    const auto n = static_cast<std::size_t>(c);
    table.rows.push_back(std::string(slot_name(shown.kind_of(c))) + " " + shown.words[n]);
    table.values(c, 0) = static_cast<float>(shown.slots.mean[n]);
    table.values(c, 1) = static_cast<float>(shown.slots.deviation[n]);
    table.values(c, 2) = static_cast<float>(shown.sources[n].first);
    table.values(c, 3) =
        static_cast<float>(shown.sources[n].first < 0 ? -1 : shown.sources[n].last());
  }
  return table;
}

ViewData::Matrix shares_table(const ShownMemory& shown) {
  ViewData::Matrix table{
      "shares", Tensor({static_cast<Index>(shown.share.size()), 1}), {}, {"share"}};
  for (const auto& [kind, share] : shown.share) {
    table.values[static_cast<Index>(table.rows.size())] = static_cast<float>(share);
    table.rows.emplace_back(slot_name(kind));
  }
  return table;
}

ViewData::Matrix reach_table(const ShownMemory& shown) {
  const std::vector<Index> oldest = oldest_reachable(shown.trace, shown.segment);
  ViewData::Matrix table{
      "range", Tensor({static_cast<Index>(oldest.size()), 2}), {}, {"oldest token", "tokens back"}};
  for (const Index token : oldest) {
    const auto layer = static_cast<Index>(table.rows.size());
    table.values(layer, 0) = static_cast<float>(token);
    table.values(layer, 1) = static_cast<float>(shown.last_token() - token);
    table.rows.push_back("layer " + std::to_string(layer));
  }
  return table;
}

ViewData::Matrix cost_table(const ShownMemory& shown) {
  constexpr Index kLengths = 8;
  const auto length = static_cast<Index>(shown.trace.tokens.size());
  ViewData::Matrix table{"cost", Tensor({kLengths, 2}), {}, {"in segments", "all at once"}};
  for (Index n = 0; n < kLengths; ++n) {
    const Index tokens = std::max<Index>(1, (n + 1) * length / 4);  // up to twice the text
    table.values(n, 0) = static_cast<float>(
        pairs_in_segments(shown.tap.variant, shown.trace.config->segment, tokens));
    table.values(n, 1) = static_cast<float>(causal_pair_count(tokens));
    table.rows.push_back(std::to_string(tokens) + " tokens");
  }
  return table;
}

ViewData memory_data(const ViewInput& input) {
  refusal_of(input.trace).throw_if_refused();
  const SelectedTap found = require_tap(input);
  refusal_of(input.trace, *found.tap).throw_if_refused();
  const ShownMemory shown = shown_memory(input, *found.tap, found.head);
  return {{{"attention", shown.weights, query_axis(input.trace, *found.tap).labels, shown.words},
           slots_table(shown),
           shares_table(shown),
           reach_table(shown),
           cost_table(shown)}};
}

// Selects the last segment, which has the fullest memory; the first has none.
void select_last_segment(const Trace& trace, PartChoice& part) {
  if (part.segment || !remembers(trace)) return;
  Index last = 0;
  for (const AttentionTap& tap : trace.attention) last = std::max(last, tap.address.segment);
  part.segment = last;
}

void show_example(Session& session) {
  open_bundled_model(session, "memory-compressive");
}

std::vector<Parameter> parameters() {
  return {
      {.key = "show",
       .label = "Show",
       .help = "All panels, or a single one: the words in memory, range and cost, or the attention "
               "with its mean by slot.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("all"),
       .choices = {{"all", "everything"},
                   {"words", "words in memory"},
                   {"range", "range and cost"},
                   {"attention", "attention by slot"}}},
      {.key = "over",
       .label = "Mean over",
       .help = "Heads averaged by slot: this head, its layer, or all heads with these slots.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("head"),
       .choices = {{"head", "this head"}, {"layer", "its layer"}, {"model", "the whole model"}}}};
}

}  // namespace

View memory_view() {
  return {.id = kId,
          .label = "Memory",
          .group = "Memory",
          .summary =
              "Memory of earlier segments: its contents, a head's attention to it, its receptive "
              "field, and its cost.",
          .lay_out = lay_out_memory,
          .reading = fixed_reading(
              "The model reads in segments and remembers earlier ones. Columns on the left are "
              "memory, those on the right the current segment; bright memory columns are used.",
              {{"Compressed slot", "several old tokens in one vector."},
               {"Receptive field", "how far back information can arrive through all layers."}}),
          .data = memory_data,
          .options = {.parameters = parameters(),
                      .restrict_controls =
                          [](const ViewSettings& settings, const Trace*, ViewControls& controls) {
                            const std::string show = view_values(settings, kId).choice("show");
                            if (show == "words" || show == "range") {
                              controls.idle["over"] = "This picture has no mean by slot.";
                              controls.colours = ViewControls::Colours::None;
                            }
                          }},
          .content = {.objection = objection,
                      .example = show_example,
                      .select_initial_part = select_last_segment},
          .cells = {.zoom = true}};
}

}  // namespace attnscope
