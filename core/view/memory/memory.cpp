// Memory view: memory of a segment-recurrent model, attention to it, receptive field and cost.
// Transformer-XL (Dai et al., 2019), Compressive Transformer (Rae et al., 2019), Memorizing
// Transformer (Wu et al., 2022).
#include <algorithm>

#include "core/analysis/memory_losses.h"
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
constexpr double kMaxWordsHeight = 0.13;   // fraction of the height for the words in memory
constexpr double kMaxRangeHeight = 0.34;   // fraction of the height for range and cost
constexpr double kMinWeights = 19;         // em: height of the attention map
constexpr double kWeightsWithMean = 24.5;  // em: height including the mean by slot below the map
constexpr double kMinWideWidth = 40;       // em: from this width on, cost is next to the range
constexpr double kCostWidth = 0.42;        // fraction of the width for the cost
constexpr Index kMaxPairs = Index{1} << 22;

Refusal refusal_of(const Trace& trace) {
  const char* advice =
      "Choose a model that was trained with a memory, or the variant Segment memory, Compressive "
      "memory or Memorizing and a segment length shorter than the text.";
  if (trace.is_imported) return {"No memory", kImportedAttentionAdvice};
  if (!reads_in_segments(trace)) return {"This model reads its text as a whole", advice};
  return {};
}

std::string objection(const Trace& trace) {
  return refusal_of(trace).sentence();
}

std::string describe_head_memory(const ViewInput& input, const AttentionTap& tap) {
  return capitalised(describe_head(input.trace, input.session.view)) + ": " + describe(tap) +
         (remembers(input.trace)
              ? ". Queries attend to the memory of earlier segments and to their own segment; "
                "slots run from oldest to newest. The receptive field of a layer includes those of "
                "all positions it attends to, so that it grows with each layer."
              : ". Segments are read independently: no layer sees a token of an earlier segment, "
                "so that the receptive field ends at the segment's first token in every layer "
                "(context fragmentation).");
}

// "8 compressed slots of 24 tokens, 16 of memory".
std::string describe_contents(const ShownMemory& memory) {
  Index compressed = 0, represented_tokens = 0, remembered = 0;
  for (std::size_t column = 0; column < memory.sources.size(); ++column) {
    const KeyKind kind = memory.kind_of(static_cast<Index>(column));
    if (kind == KeyKind::Memory) ++remembered;
    if (kind != KeyKind::Compressed) continue;
    ++compressed;
    represented_tokens += memory.sources[column].count;
  }
  std::string text;
  if (compressed > 0) {
    text = count_text(compressed, "compressed slot") + " made of " +
           count_text(represented_tokens, "token") + " and ";
  }
  return text + count_text(remembered, "token") + " of memory";
}

class MemoryLayout {
 public:
  MemoryLayout(const ViewInput& input, Page& page, const SelectedTap& selected)
      : input_(input), page_(page), memory_(shown_memory(input, *selected.tap, selected.head)) {}

  ViewLayout lay_out(const Box& inside) {
    const std::string panel = view_values(input_.session.view, kId).choice("show");
    const bool shows_all = panel == "all";
    Box space = inside;
    advance(space, draw_summary(space), 0);
    if (shows_all || panel == "words")
      advance(space, draw_words(space, shows_all ? kMaxWordsHeight : 0.6), kGap);
    if (shows_all || panel == "range") advance(space, draw_range_and_cost(space, shows_all), kGap);
    if (panel == "segments") advance(space, draw_segment_paths(page_, space, memory_), kGap);
    if (panel == "losses") advance(space, draw_memory_losses(page_, space, memory_), kGap);
    if ((shows_all || panel == "attention") && space.height >= 8 * page_.em()) {
      panels_ = draw_weights(page_, space, memory_);
      if (panels_.bottom > 0) advance(space, panels_.bottom - space.y, 0);
    }
    if (space.y <= inside.y + 2.5 * page_.em()) return no_space(page_);
    return finish(space.y);
  }

 private:
  void advance(Box& space, double height, double gap) {
    if (!(height > 0)) return;
    const double total = std::min(height + gap * page_.em(), space.height);
    space.y += total;
    space.height -= total;
  }

  double draw_summary(const Box& space) {
    const double em = page_.em();
    const Point position{space.x, space.y + 0.7 * em};
    if (memory_.remembers()) {
      const std::string prefix = "Segment " + std::to_string(memory_.segment) + " has ";
      page_.text(position,
                 page_.fitting(
                     {prefix + describe_contents(memory_) + ": " + describe_weights(memory_) + ".",
                      capitalised(describe_weights(memory_)) + ".", list_weights(memory_)},
                     em, space.width),
                 em);
    } else if (!attnscope::remembers(input_.trace)) {
      const std::string name = "Segment " + std::to_string(memory_.segment);
      const std::string unseen = count_text(memory_.first_token(), "earlier token");
      page_.text(position,
                 page_.fitting({name + " is read alone: its tokens see none of the " + unseen +
                                    ", and its first token sees only " +
                                    (memory_.tap.causal ? "itself." : "this segment."),
                                name + " is read alone, without the " + unseen + ".",
                                name + " is read alone.", "no memory"},
                               em, space.width),
                 em);
    } else if (memory_.segment == 0) {
      page_.text(position,
                 page_.fitting({"Segment 0 is the first and has no memory: click a later one, or "
                                "select it next to Layer and Head.",
                                "Segment 0 comes first: choose a later one.", "no memory"},
                               em, space.width),
                 em);
    } else {
      page_.text(position,
                 page_.fitting({"This layer has no memory: select another.", "no memory here"}, em,
                               space.width),
                 em);
    }
    return 1.7 * em + draw_largest_weight({position.x, position.y + 1.5 * em}, space);
  }

  double draw_largest_weight(Point position, const Box& space) {
    const double em = page_.em();
    const Index segment_begin = memory_.runs.back().first;
    if (!memory_.remembers() || segment_begin == 0 || space.height < 20 * em) return 0;
    // Considers only the pinned query, if there is one.
    const Index pinned = input_.session.view.pinned_query;
    const bool is_pinned = pinned >= 0 && pinned < memory_.tap.queries();
    Index query = is_pinned ? pinned : 0, key = 0;
    for (Index i = query; i < (is_pinned ? pinned + 1 : memory_.tap.queries()); ++i) {
      for (Index k = 0; k < segment_begin; ++k) {
        if (memory_.weights(i, k) > memory_.weights(query, key)) {
          query = i;
          key = k;
        }
      }
    }
    const auto token = static_cast<std::size_t>(segment_begin + query);
    const std::string pair = "“" + memory_.words[token] + "” attends to “" +
                             memory_.words[static_cast<std::size_t>(key)] + "”";
    const std::string weight =
        ": " + percent(static_cast<double>(memory_.weights(query, key))) + " of its weight";
    const std::string slot_place = " (" + describe_slot_place(memory_, key) + ")";
    page_.faint_text(position,
                     page_.fitting({"Largest memory weight: " + pair + slot_place + weight + ".",
                                    pair + slot_place + weight + ".", pair + weight, pair},
                                   em, space.width),
                     em);
    return 1.5 * em;
  }

  // Draws the contents of slots as words, with a colour legend.
  double draw_words(const Box& space, double height_fraction) {
    const double em = page_.em(), title = panel_title_height(page_);
    const Index pinned = input_.session.view.pinned_key;
    slots_ = slot_words(memory_, page_.theme(), pinned);
    const double max_height = std::max(height_fraction * space.height, 2 * em);
    const double flow = token_flow_height(page_, slots_.items, space.width, max_height);
    const double height = title + flow + swatches_height(page_);
    if (height > 0.6 * space.height) return 0;
    draw_panel_title(page_, space,
                     {"Keys of segment " + std::to_string(memory_.segment) + ", oldest to newest",
                      "Keys, oldest to newest", "Keys"});
    const Box box{space.x, space.y + title, space.width, flow};
    std::size_t visible_item = 0;  // pinned words stay visible
    for (std::size_t n = 0; n < slots_.columns.size(); ++n) {
      if (pinned >= 0 && slots_.columns[n] == pinned) visible_item = n;
    }
    flow_ = draw_token_flow(page_, box, slots_.items, visible_item);
    std::vector<Swatch> swatches;
    for (const SlotRun& run : memory_.runs) {
      const bool is_compressed = run.kind == KeyKind::Compressed;
      swatches.push_back({slot_colour(run.kind),
                          std::string(slot_name(run.kind)) + " (" + std::to_string(run.count) +
                              (is_compressed ? " slots, a box each)" : ")")});
    }
    if (std::ranges::count(slots_.columns, -1) > 0) {
      swatches.push_back({blend(page_.theme().line, page_.theme().background, 0.75),
                          attnscope::remembers(input_.trace) ? "forgotten" : "not seen"});
    }
    draw_swatches(page_, {space.x, space.y + title + flow}, space.width, "", swatches);
    return height;
  }

  double draw_range_and_cost(const Box& space, bool is_shared) {
    const double em = page_.em();
    const bool is_cost_beside = space.width >= kMinWideWidth * em;
    const double min_height = (is_shared ? 7.5 : 6) * em;
    double max_height = 0.9 * space.height;
    if (is_shared) {
      const double with_mean = space.height - kWeightsWithMean * em;
      max_height = std::min(kMaxRangeHeight * space.height,
                            with_mean >= min_height ? with_mean : space.height - kMinWeights * em);
    }
    double height = std::min(std::max(range_height(page_, memory_), 10 * em), max_height);
    if (!is_shared) height = is_cost_beside ? max_height : max_height / 2;
    if (height < min_height) return 0;
    Box range{space.x, space.y, space.width, height}, cost = range;
    if (is_cost_beside) {
      cost.width = kCostWidth * space.width;
      range.width = space.width - cost.width - 1.5 * em;
      cost.x = range.right() + 1.5 * em;
    } else {
      cost.y = range.bottom() + kGap * em;
    }
    segments_ = draw_range(page_, range, memory_, oldest_tokens());
    if (is_cost_beside || !is_shared) draw_cost(page_, cost, memory_);
    return (is_cost_beside || is_shared ? range : cost).bottom() - space.y;
  }

  std::vector<Index> oldest_tokens() const {
    const auto make = [&] {
      const std::vector<Index> tokens = oldest_reachable(memory_.trace, memory_.segment);
      Tensor cached({static_cast<Index>(tokens.size())});
      std::ranges::transform(tokens, cached.begin(), [](Index t) { return static_cast<float>(t); });
      return cached;
    };
    const Tensor cached =
        input_.cache == nullptr
            ? make()
            : input_.cache->matrix(source_of(memory_.trace),
                                   CacheKey("receptive field", memory_.segment), make);
    std::vector<Index> tokens;
    for (const float token : cached) tokens.push_back(static_cast<Index>(token));
    return tokens;
  }

  void add_handles(ViewLayout& layout) const {
    for (std::size_t segment = 0; segment < segments_.size(); ++segment) {
      layout.handles.push_back({.area = segments_[segment],
                                .help = "Show segment " + std::to_string(segment) + ".",
                                .click = [segment](Session& session) {
                                  session.view.part.segment = static_cast<Index>(segment);
                                  session.view.pinned_query = session.view.pinned_key = -1;
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
    const auto pair_at_point =
        panels_.map.plot.width > 0 ? layout.hit : [](Point) { return std::optional<Hit>(); };
    layout.hit = [pair_at_point, words = flow_, columns = slots_.columns, panels = panels_,
                  layer = settings.layer, head = settings.head](Point p) -> std::optional<Hit> {
      if (const auto pair = pair_at_point(p)) return pair;
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
  const ShownMemory memory_;
  SlotWords slots_;
  TokenFlow flow_;
  std::vector<Box> segments_;  // clickable
  WeightPanels panels_;
};

// Reason why this head or the whole run has no memory to show.
Refusal refusal_of(const Trace& trace, const AttentionTap& tap) {
  if (tap.queries() > kMaxPairs / std::max<Index>(tap.keys(), 1)) {
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
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  if (const Refusal refusal = refusal_of(input.trace, *selected.tap)) return refusal.message(page);
  const Box inside = page.frame(title_with_head(input),
                                caption(input.trace, describe_head_memory(input, *selected.tap)));
  return MemoryLayout(input, page, selected).lay_out(inside);
}

ViewData::Matrix slots_table(const ShownMemory& memory) {
  ViewData::Matrix table{"slots", {}, {}, {"mean", "deviation", "first token", "last token"}};
  const auto count = static_cast<Index>(memory.words.size());
  table.values = Tensor({count, 4});
  for (Index c = 0; c < count; ++c) {
    const auto n = static_cast<std::size_t>(c);
    table.rows.push_back(std::string(slot_name(memory.kind_of(c))) + " " + memory.words[n]);
    table.values(c, 0) = static_cast<float>(memory.slots.mean[n]);
    table.values(c, 1) = static_cast<float>(memory.slots.deviation[n]);
    table.values(c, 2) = static_cast<float>(memory.sources[n].first);
    table.values(c, 3) =
        static_cast<float>(memory.sources[n].first < 0 ? -1 : memory.sources[n].last());
  }
  return table;
}

ViewData::Matrix shares_table(const ShownMemory& memory) {
  ViewData::Matrix table{
      "shares", Tensor({static_cast<Index>(memory.fraction.size()), 1}), {}, {"share"}};
  for (const auto& [kind, fraction] : memory.fraction) {
    table.values[static_cast<Index>(table.rows.size())] = static_cast<float>(fraction);
    table.rows.emplace_back(slot_name(kind));
  }
  return table;
}

ViewData::Matrix reach_table(const ShownMemory& memory) {
  const std::vector<Index> oldest = oldest_reachable(memory.trace, memory.segment);
  ViewData::Matrix table{
      "range", Tensor({static_cast<Index>(oldest.size()), 2}), {}, {"oldest token", "tokens back"}};
  for (const Index token : oldest) {
    const auto layer = static_cast<Index>(table.rows.size());
    table.values(layer, 0) = static_cast<float>(token);
    table.values(layer, 1) = static_cast<float>(memory.last_token() - token);
    table.rows.push_back("layer " + std::to_string(layer));
  }
  return table;
}

ViewData::Matrix cost_table(const ShownMemory& memory) {
  constexpr Index kLengthCount = 8;
  const auto length = static_cast<Index>(memory.trace.tokens.size());
  ViewData::Matrix table{"cost", Tensor({kLengthCount, 2}), {}, {"in segments", "all at once"}};
  for (Index n = 0; n < kLengthCount; ++n) {
    const Index tokens = std::max<Index>(1, (n + 1) * length / 4);  // up to twice the text's length
    table.values(n, 0) = static_cast<float>(
        pairs_in_segments(memory.tap.variant, memory.trace.config->segment, tokens));
    table.values(n, 1) = static_cast<float>(causal_pair_count(tokens));
    table.rows.push_back(count_text(tokens, "token"));
  }
  return table;
}

// Losses by layer and segment, one table for each loss.
std::vector<ViewData::Matrix> loss_tables(const Trace& trace) {
  std::vector<ViewData::Matrix> tables;
  for (const MemoryLoss& loss : memory_losses(trace)) {
    ViewData::Matrix table{loss.name, loss.values, {}, {}};
    for (Index layer = 0; layer < loss.values.dim(0); ++layer) {
      table.rows.push_back("layer " + std::to_string(layer));
    }
    for (Index segment = 0; segment < loss.values.dim(1); ++segment) {
      table.columns.push_back("segment " + std::to_string(segment));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

ViewData memory_data(const ViewInput& input) {
  refusal_of(input.trace).throw_if_refused();
  const SelectedTap selected = require_tap(input);
  refusal_of(input.trace, *selected.tap).throw_if_refused();
  const ShownMemory memory = shown_memory(input, *selected.tap, selected.head);
  ViewData data{
      {{"attention", memory.weights, query_axis(input.trace, *selected.tap).labels, memory.words},
       slots_table(memory),
       shares_table(memory),
       reach_table(memory),
       cost_table(memory)}};
  for (ViewData::Matrix& table : loss_tables(input.trace)) {
    data.matrices.push_back(std::move(table));
  }
  return data;
}

// Selects the last segment, which has the most earlier tokens and the fullest memory.
void select_last_segment(const Trace& trace, PartChoice& part) {
  if (part.segment || !reads_in_segments(trace)) return;
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
       .help = "All panels, or a single one: the words in memory, range and cost, the attention "
               "with its mean by slot, the paths of information without and with memory, or the "
               "auxiliary losses of a compressive memory by layer.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("all"),
       .choices = {{"all", "everything"},
                   {"words", "words in memory"},
                   {"range", "range and cost"},
                   {"attention", "attention by slot"},
                   {"segments", "paths through segments"},
                   {"losses", "auxiliary losses"}}},
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
              "memory, those on the right the current segment; bright memory columns are used. "
              "Without a memory, no column represents an earlier segment.",
              {{"Compressed slot", "several old tokens in one vector."},
               {"Receptive field", "how far back information can arrive through all layers."}}),
          .data = memory_data,
          .options = {.parameters = parameters(),
                      .restrict_controls =
                          [](const ViewSettings& settings, const Trace*, ViewControls& controls) {
                            const std::string show = view_values(settings, kId).choice("show");
                            if (show == "words" || show == "range" || show == "segments" ||
                                show == "losses") {
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
