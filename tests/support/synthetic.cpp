#include "tests/support/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/analysis/error_study.h"
#include "core/model/config.h"
#include "tests/support/small_config.h"

namespace attnscope::testing {
namespace {

constexpr Index kVocabulary = 13;
constexpr Index kContext = 4096;  // context length that identifies synthetic traces

// Deterministic values in [0, 1].
float wave(Index a, Index b) {
  return static_cast<float>(0.5 + 0.5 * std::sin(static_cast<double>(3 * a + 5 * b)));
}

void add_predictions(Trace& trace) {
  const Index length = static_cast<Index>(trace.tokens.size());
  trace.config = config_of_context(kContext);
  trace.logits = Tensor({length, kVocabulary});
  trace.token_bits = Tensor({length});
  for (Index i = 0; i < length; ++i) {
    for (Index v = 0; v < kVocabulary; ++v) trace.logits.value()(i, v) = 4 * wave(i, v);
    trace.token_bits[i] = i == 0 ? NAN : 12 * wave(i, 1);
  }
}

}  // namespace

LogitLens synthetic_lens(const Trace& trace) {
  const Index layers = std::max<Index>(trace.layer_count(trace.part({})), 1);
  const Index length = static_cast<Index>(trace.tokens.size());
  LogitLens lens{IntTensor({layers, length}), Tensor({layers, length}), Tensor({layers, length}),
                 Tensor({layers, length}), Tensor({layers, length})};
  for (Index i = 0; i < length; ++i) {
    for (Index layer = 0; layer < layers; ++layer) {
      lens.guess(layer, i) = static_cast<std::int32_t>((i + layer / 2) % kVocabulary);
      lens.probability(layer, i) = wave(i, layer);
      lens.margin(layer, i) = lens.probability(layer, i) / 2;
      lens.final_guess_probability(layer, i) = lens.probability(layer, i) / 3;
      lens.saturation(layer, i) = 1 - wave(i, layer) / 4;
    }
  }
  return lens;
}

Findings findings_of(const Trace& trace, const Trace* reference) {
  Findings findings;
  if (trace.config && trace.config->context == kContext) {
    const LogitLens lens = synthetic_lens(trace);
    findings.set(Findings::lens, std::make_shared<const LogitLens>(lens));
    findings.set(Findings::token_lens, std::make_shared<const TokenLens>(lens));
  }
  if (reference != nullptr) {
    findings.add(
        reference_findings(std::shared_ptr<const Trace>(std::shared_ptr<void>(), reference)));
  }
  return findings;
}

std::vector<TraceToken> synthetic_tokens(Index count) {
  static const std::array<const char*, 13> kWords{
      "The",  "␣lighthouse", "␣keeper", "␣turned", "␣the",  "␣lamp", ",",
      "␣and", "␣the",        "␣ships",  "␣came",   "␣home", "."};
  std::vector<TraceToken> tokens;
  for (Index i = 0; i < count; ++i) {
    TraceToken token;
    token.id = static_cast<std::int32_t>(i % kVocabulary);
    token.label = kWords[static_cast<std::size_t>(i) % kWords.size()];
    token.bytes = token.label;
    tokens.push_back(token);
  }
  return tokens;
}

AttentionTap synthetic_tap(Index layer, Index heads, Pattern pattern) {
  AttentionTap tap;
  tap.address.layer = layer;
  for (Index a = 0; a < heads; ++a) tap.heads.push_back(a);
  tap.variant = default_variant();
  tap.encoding = default_encoding();
  const Index queries = pattern.queries(), keys = pattern.keys();
  Tensor attention = Tensor::zeros({heads, queries, keys});
  for (Index a = 0; a < heads; ++a) {
    for (Index i = 0; i < queries; ++i) {
      double sum = 0;
      const auto weight = [&](Index c) {
        const auto distance = static_cast<double>(i + keys - queries - a - c);
        return std::exp(-std::abs(distance) / (1.0 + static_cast<double>(layer))) +
               (c == 0 ? 0.3 : 0.005);
      };
      const Index pattern_head = pattern.heads() > 1 ? a : 0;
      for (Index c = 0; c < keys; ++c) sum += pattern.allowed(pattern_head, i, c) ? weight(c) : 0;
      for (Index c = 0; c < keys; ++c) {
        if (pattern.allowed(pattern_head, i, c)) {
          attention(a, i, c) = static_cast<float>(weight(c) / sum);
        }
      }
    }
  }
  tap.causal = true;
  for (Index i = 0; i < queries && keys == queries; ++i) {
    tap.causal = tap.causal && (i + 1 == keys || !pattern.allowed(0, i, keys - 1));
  }
  tap.result.attention = attention;
  tap.result.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return tap;
}

Trace synthetic_trace(Index layers, Index heads, Index length) {
  Trace trace;
  trace.model = "synthetic";
  trace.backend = "CPU (2 threads)";
  trace.tokens = synthetic_tokens(length);
  for (Index layer = 0; layer < layers; ++layer) {
    trace.attention.push_back(synthetic_tap(layer, heads, Pattern::causal(length, length)));
  }
  add_predictions(trace);
  return trace;
}

Trace synthetic_trace(Pattern pattern) {
  Trace trace = synthetic_trace(0, 0, pattern.queries());
  const Index memory = pattern.keys() - pattern.queries();
  trace.attention.push_back(synthetic_tap(0, std::max<Index>(2, pattern.heads()), pattern));
  if (memory > 0) {
    trace.attention[0].result.columns = {{KeyKind::Memory, memory},
                                         {KeyKind::Token, pattern.queries()}};
  }
  return trace;
}

Pattern window_and_global(Index length, Index window, Index globals) {
  PatternBuilder builder(1, length, length, {"window", "global"});
  for (Index i = 0; i < length; ++i) {
    builder.add(0, i - window, i + window + 1);
    builder.add(1, 0, i < globals ? length : globals);
    builder.next_row();
  }
  return builder.finish();
}

ViewInputFixture::ViewInputFixture(const Trace& trace, const ViewSettings& settings)
    : input{.trace = trace,
            .session = session,
            .findings = findings_of(trace),
            .canvas = {.theme = Theme::light(), .measure = file_text_measure()}} {
  session.view = settings;
}

ViewLayout lay_out_view(const Trace& trace, std::string_view id, const LayoutOptions& options) {
  Session session;
  session.view = options.settings;
  session.view.id = id;
  session.run.interventions = options.interventions;
  if (options.reference != nullptr && options.interventions.empty()) {
    session.b = Session();
  }
  Findings findings = findings_of(trace, options.reference);
  if (!options.knows_lens) {
    findings.remove(Findings::lens.id);
    findings.remove(Findings::token_lens.id);
  }
  if (options.errors != nullptr) {
    findings.set(Findings::errors, std::make_shared<const ErrorStudy>(*options.errors));
  }
  if (options.heads != nullptr) {
    findings.set(Findings::heads, std::make_shared<const HeadTable>(*options.heads));
  }
  const ViewInput input{.trace = trace,
                        .session = session,
                        .findings = findings,
                        .canvas = {.width = options.width,
                                   .height = options.height,
                                   .font_size = options.font_size,
                                   .theme = options.dark ? Theme::dark() : Theme::light(),
                                   .measure = file_text_measure()},
                        .figure = {.framed = options.framed, .tight = options.tight},
                        .interaction = {.pointer = options.pointer,
                                        .flipped = options.flipped,
                                        .adds = options.adds,
                                        .extends = options.extends,
                                        .key_of = options.key_of},
                        .cache = options.cache};
  return view(id).lay_out(input);
}

Box extent(const Text& text) {
  // Ascent and descent of letters in a label, without line spacing.
  constexpr double kAbove = 0.42, kBelow = 0.5;
  const double width = file_text_measure().width(text.text, text.size, text.bold);
  const double left = text.align == Align::Start    ? 0
                      : text.align == Align::Middle ? -width / 2
                                                    : -width;
  const double radians = text.angle * std::numbers::pi / 180;
  double x0 = 1e9, y0 = 1e9, x1 = -1e9, y1 = -1e9;
  for (const double x : {left, left + width}) {
    for (const double y : {-kAbove * text.size, kBelow * text.size}) {
      const double px = text.at.x + x * std::cos(radians) + y * std::sin(radians);
      const double py = text.at.y - x * std::sin(radians) + y * std::cos(radians);
      x0 = std::min(x0, px);
      x1 = std::max(x1, px);
      y0 = std::min(y0, py);
      y1 = std::max(y1, py);
    }
  }
  return {x0, y0, x1 - x0, y1 - y0};
}

std::vector<Text> texts(const DisplayList& list) {
  std::vector<Text> result;
  for (const Item& item : list.items) {
    if (const Text* text = std::get_if<Text>(&item)) result.push_back(*text);
  }
  return result;
}

std::string all_text(const DisplayList& list) {
  std::string lines;
  for (const Text& text : texts(list)) lines += text.text + "\n";
  return lines;
}

bool shows_text(const DisplayList& list, const std::string& substring) {
  return std::ranges::any_of(texts(list), [&](const Text& text) {
    return text.text.find(substring) != std::string::npos;
  });
}

int count_highlighted_boxes(const DisplayList& list, const Theme& theme) {
  return static_cast<int>(std::ranges::count_if(list.items, [&](const Item& item) {
    const auto* box = std::get_if<OutlinedBox>(&item);
    return box != nullptr && box->colour == theme.accent;
  }));
}

namespace {

std::string describe(const Box& b) {
  return "[" + std::to_string(b.x) + ", " + std::to_string(b.y) + ", " + std::to_string(b.right()) +
         ", " + std::to_string(b.bottom()) + "]";
}

bool overlap(const Box& a, const Box& b) {
  constexpr double kTouching = 0.5;  // pixels
  return a.x + kTouching < b.right() && b.x + kTouching < a.right() &&
         a.y + kTouching < b.bottom() && b.y + kTouching < a.bottom();
}

struct Bounds {
  Box operator()(const FilledBox& item) const { return item.box; }
  Box operator()(const OutlinedBox& item) const { return item.box; }
  Box operator()(const Text& item) const { return extent(item); }
  Box operator()(const HeatMap& item) const { return item.box; }
  Box operator()(const ColourImage& item) const { return item.box; }
  Box operator()(const Clip& item) const { return item.box ? *item.box : Box{}; }
  Box operator()(const Line& item) const {
    const auto [x0, x1] = std::minmax_element(item.points.begin(), item.points.end(),
                                              [](Point a, Point b) { return a.x < b.x; });
    const auto [y0, y1] = std::minmax_element(item.points.begin(), item.points.end(),
                                              [](Point a, Point b) { return a.y < b.y; });
    return {x0->x, y0->y, x1->x - x0->x, y1->y - y0->y};
  }
};

}  // namespace

std::string layout_error(const DisplayList& list) {
  constexpr double kSlack = 0.5;  // pixels
  std::vector<std::pair<Box, std::string>> placed_texts;
  int clips = 0;
  for (const Item& item : list.items) {
    if (const Clip* clip = std::get_if<Clip>(&item)) clips += clip->box ? 1 : -1;
    const Box box = std::visit(Bounds{}, item);
    if (!(std::isfinite(box.x + box.y + box.width + box.height))) return "coordinate not finite";
    const bool is_inside = box.x >= -kSlack && box.y >= -kSlack &&
                           box.right() <= list.width + kSlack &&
                           box.bottom() <= list.height + kSlack;
    const Text* text = std::get_if<Text>(&item);
    if (clips == 0 && !is_inside) {
      return "outside of the page: " + (text != nullptr ? text->text : "item") + " " +
             describe(box);
    }
    if (text == nullptr || clips > 0) continue;
    if (text->text.empty()) continue;
    for (const auto& [placed_box, name] : placed_texts) {
      if (overlap(box, placed_box)) {
        return "\"" + text->text + "\" " + describe(box) + " overlaps \"" + name + "\" " +
               describe(placed_box);
      }
    }
    placed_texts.emplace_back(box, text->text);
  }
  return clips == 0 ? "" : "clips do not balance";
}

}  // namespace attnscope::testing
