// Paths of information through layers and segments, without and with memory. Dai et al., 2019,
// figures 1 and 2.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/figure/plain_text.h"
#include "core/view/memory/memory_panels.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr Index kDrawnSegments = 3;   // segments drawn at least: the shown one and those before it
constexpr double kMinPathColumn = 5;  // pixels: width of a token from which single pairs are drawn
constexpr std::size_t kMaxDrawnPairs = 3000;
constexpr double kLatticeBase = 7;     // em: preferred height of a lattice, without layers
constexpr double kLatticeLayer = 2.2;  // em: preferred distance of two layers

// A token that a token attends to in one layer.
struct PathPair {
  Index layer = 0, query = 0, key = 0;
  KeyKind kind = KeyKind::Token;
};

// Pairs on paths to one token of the last layer, and the tokens that have such a path.
struct Paths {
  std::vector<PathPair> pairs;
  std::vector<std::set<Index>> reached;  // by layer from the input on; the last has the token alone
};

// Adds the tokens that `query` attends to through the tap.
void add_pairs(const Trace& trace, const AttentionTap& tap, Index query, bool with_memory,
               Paths& paths) {
  const Pattern& pattern = *tap.result.pattern;
  const Index row = query - trace.token_index(tap.query_rows, tap.queries(), 0);
  if (row < 0 || row >= tap.queries()) return;
  std::vector<bool> is_allowed(static_cast<std::size_t>(tap.keys()));
  for (Index head = 0; head < pattern.heads(); ++head) {
    for (const Run& run : pattern.row(head, row)) {
      for (Index c = run.begin; c < run.end; c += run.step) {
        is_allowed[static_cast<std::size_t>(c)] = true;
      }
    }
  }
  const Index first_own_column = tap.keys() - slot_count(tap, KeyKind::Token);
  const std::vector<SlotRun> runs = slot_runs(tap);
  const Index layer = tap.address.layer;
  std::set<Index>& reached = paths.reached[static_cast<std::size_t>(layer)];
  for (Index column = with_memory ? 0 : first_own_column; column < tap.keys(); ++column) {
    if (!is_allowed[static_cast<std::size_t>(column)]) continue;
    const RowSource source = column_source(trace, tap, column);
    const auto run =
        std::ranges::find_if(runs, [&](const SlotRun& r) { return column < r.first + r.count; });
    for (Index key = source.first; source.first >= 0 && key <= source.last(); key += source.step) {
      reached.insert(key);
      if (paths.pairs.size() <= kMaxDrawnPairs)
        paths.pairs.push_back({layer, query, key, run->kind});
    }
  }
}

// Paths to the last token of the shown segment.
Paths paths_of(const ShownMemory& memory, bool with_memory) {
  const Trace& trace = memory.trace;
  const Index layers = trace.layer_count({.segment = memory.segment});
  Paths paths{.pairs = {},
              .reached = std::vector<std::set<Index>>(static_cast<std::size_t>(layers + 1))};
  paths.reached.back().insert(memory.last_token());
  for (Index layer = layers - 1; layer >= 0; --layer) {
    const std::set<Index> queries = paths.reached[static_cast<std::size_t>(layer + 1)];
    paths.reached[static_cast<std::size_t>(layer)] = queries;  // residual connections
    for (const AttentionTap& tap : trace.attention) {
      if (tap.address.layer != layer || tap.address.segment > memory.segment) continue;
      for (const Index query : queries) add_pairs(trace, tap, query, with_memory, paths);
    }
  }
  return paths;
}

// Lattice of layers and tokens of one panel.
class Lattice {
 public:
  // `oldest`: the oldest token that is drawn at least.
  Lattice(Page& page, const Box& box, const ShownMemory& memory, const Paths& paths, Index oldest)
      : page_(page), memory_(memory), paths_(paths) {
    const Index segment = memory.trace.config->segment;
    first_ = std::max<Index>(0, memory.first_token() - (kDrawnSegments - 1) * segment);
    first_ = std::min(first_, oldest / segment * segment);
    end_ = memory.last_token() + 1;
    const double em = page.em();
    const std::string top = "layer " + std::to_string(layers() - 1);
    const double left = page.width_of(top, page.small()) + em;
    plot_ = {box.x + left, box.y + 0.6 * em, box.width - left - 0.5 * em, box.height - 2.6 * em};
  }

  bool fits() const { return plot_.height > 4 * page_.em() && plot_.width > 12 * page_.em(); }

  // True if there is room for single pairs; otherwise ranges of tokens are drawn.
  bool draws_pairs() const {
    return plot_.width / static_cast<double>(end_ - first_) >= kMinPathColumn &&
           paths_.pairs.size() <= kMaxDrawnPairs;
  }

  void draw() {
    draw_borders();
    if (draws_pairs()) {
      draw_pairs();
      draw_nodes();
    } else {
      draw_ranges();
    }
    draw_labels();
  }

 private:
  Index layers() const { return static_cast<Index>(paths_.reached.size()) - 1; }
  double x_of(Index token) const {
    return plot_.x + (static_cast<double>(token - first_) + 0.5) * plot_.width /
                         static_cast<double>(end_ - first_);
  }
  // Level 0 is the input, level n + 1 the output of layer n.
  double y_of(Index level) const {
    return plot_.bottom() -
           static_cast<double>(level) * plot_.height / static_cast<double>(layers());
  }

  void draw_borders() {
    const Index segment = memory_.trace.config->segment;
    const double em = page_.em();
    for (Index token = first_; token < end_; token += segment) {
      const Index last = std::min(token + segment, end_) - 1;
      const bool is_shown = token == memory_.first_token();
      const double half = plot_.width / static_cast<double>(end_ - first_) / 2;
      const double left = x_of(token) - half, right = x_of(last) + half;
      page_.add(FilledBox{{left, plot_.y - 0.5 * em, right - left, plot_.height + em},
                          translucent(page_.theme().line, is_shown ? 0.5 : 0.2)});
      if (token > first_) {
        page_.add(Line{{{left, plot_.y - 0.5 * em}, {left, plot_.bottom() + 0.5 * em}},
                       page_.theme().faint_text,
                       1});
      }
      const std::string number = std::to_string(token / segment);
      page_.faint_text(
          {(left + right) / 2, plot_.bottom() + 1.3 * em},
          page_.fitting({"segment " + number, number, ""}, page_.small(), right - left - 0.4 * em),
          page_.small(), Align::Middle);
    }
  }

  void draw_pairs() {
    for (const PathPair& pair : paths_.pairs) {
      if (pair.key < first_) continue;
      page_.add(Line{{{x_of(pair.query), y_of(pair.layer + 1)}, {x_of(pair.key), y_of(pair.layer)}},
                     translucent(slot_colour(pair.kind), 0.45),
                     1});
    }
  }

  void draw_nodes() {
    const double column = plot_.width / static_cast<double>(end_ - first_);
    const double size = std::clamp(0.5 * column, 3.0, 0.7 * page_.em());
    for (Index level = 0; level <= layers(); ++level) {
      const std::set<Index>& reached = paths_.reached[static_cast<std::size_t>(level)];
      for (Index token = first_; token < end_; ++token) {
        const Box box{x_of(token) - size / 2, y_of(level) - size / 2, size, size};
        const bool is_own = token >= memory_.first_token();
        if (reached.contains(token)) {
          page_.add(
              FilledBox{box, slot_colour(is_own ? KeyKind::Token : KeyKind::Memory), size / 2});
        } else {
          page_.add(FilledBox{{x_of(token) - size / 4, y_of(level) - size / 4, size / 2, size / 2},
                              page_.theme().faint_text,
                              size / 4});
        }
      }
    }
  }

  // Ranges of tokens by level, for segments with too many tokens for single pairs.
  void draw_ranges() {
    const double half = plot_.width / static_cast<double>(end_ - first_) / 2;
    for (Index level = 0; level <= layers(); ++level) {
      const std::set<Index>& reached = paths_.reached[static_cast<std::size_t>(level)];
      const Index oldest = std::max(first_, *reached.begin());
      const double left = x_of(oldest) - half, right = x_of(*reached.rbegin()) + half;
      const double own = std::max(left, x_of(memory_.first_token()) - half);
      const double height = 0.5 * page_.em(), y = y_of(level) - height / 2;
      if (own > left) {
        page_.add(FilledBox{{left, y, own - left, height}, slot_colour(KeyKind::Memory)});
      }
      page_.add(
          FilledBox{{own, y, std::max(right - own, 2.0), height}, slot_colour(KeyKind::Token)});
      if (level == layers()) continue;
      const std::set<Index>& above = paths_.reached[static_cast<std::size_t>(level + 1)];
      const double left_above = x_of(std::max(first_, *above.begin())) - half;
      page_.add(Line{
          {{left_above, y_of(level + 1)}, {left, y_of(level)}}, page_.theme().faint_text, 1.5});
      page_.add(
          Line{{{right, y_of(level + 1)}, {right, y_of(level)}}, page_.theme().faint_text, 1.5});
    }
  }

  void draw_labels() {
    const double em = page_.em();
    const double pitch = plot_.height / static_cast<double>(layers());
    const auto label_distance =
        static_cast<Index>(std::max(1.0, std::ceil(1.1 * page_.small() / pitch)));
    for (Index level = 0; level <= layers(); level += label_distance) {
      page_.faint_text({plot_.x - 0.5 * em, y_of(level)},
                       level == 0 ? "input" : "layer " + std::to_string(level - 1), page_.small(),
                       Align::End);
    }
  }

  Page& page_;
  const ShownMemory& memory_;
  const Paths& paths_;
  Index first_ = 0, end_ = 0;
  Box plot_;
};

// "the last token of segment 2 reaches 12 tokens, 4 of them in earlier segments".
std::vector<std::string> path_titles(const ShownMemory& memory, const Paths& paths,
                                     bool with_memory) {
  const std::set<Index>& input = paths.reached.front();
  const auto earlier = static_cast<Index>(
      std::ranges::count_if(input, [&](Index t) { return t < memory.first_token(); }));
  const std::string name = with_memory
                               ? "With memory (" + variant(memory.tap.variant.id).label + ")"
                               : "Segments without memory";
  const std::string reach = ": the last token of segment " + std::to_string(memory.segment) +
                            " reaches " + count_text(static_cast<Index>(input.size()), "token");
  return {name + reach + ", " + std::to_string(earlier) + " in earlier segments", name + reach,
          name};
}

}  // namespace

double draw_segment_paths(Page& page, const Box& box, const ShownMemory& memory) {
  const double title = panel_title_height(page), em = page.em();
  const bool compares = remembers(memory.trace);
  const auto layers = static_cast<double>(memory.trace.layer_count({.segment = memory.segment}));
  const double preferred = title + kLatticeBase * em + layers * kLatticeLayer * em;
  const double panels = compares ? 2 : 1;
  const double height = std::min(preferred, (box.height - swatches_height(page)) / panels);
  double y = box.y;
  bool has_pairs = false;
  const Index oldest = *paths_of(memory, compares).reached.front().begin();
  for (const bool with_memory : {false, true}) {
    if (with_memory && !compares) break;
    const Paths paths = paths_of(memory, with_memory);
    Lattice lattice(page, {box.x, y + title, box.width, height - title}, memory, paths, oldest);
    if (!lattice.fits()) return 0;
    draw_panel_title(page, {box.x, y, box.width, title}, path_titles(memory, paths, with_memory));
    lattice.draw();
    has_pairs |= lattice.draws_pairs();
    y += height;
  }
  std::vector<Swatch> swatches;
  if (!has_pairs && compares) {
    swatches.push_back({slot_colour(KeyKind::Memory), "tokens of earlier segments"});
  }
  if (!has_pairs) swatches.push_back({slot_colour(KeyKind::Token), "tokens of the segment"});
  for (const SlotRun& run : memory.runs) {
    if (!has_pairs) break;
    swatches.push_back(
        {slot_colour(run.kind), run.kind == KeyKind::Token
                                    ? "pair within a segment"
                                    : std::string("pair with ") + slot_name(run.kind)});
  }
  draw_swatches(page, {box.x, y}, box.width, "", swatches);
  return y + swatches_height(page) - box.y;
}

}  // namespace attnscope
