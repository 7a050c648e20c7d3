#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/analysis/memory_use.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/export/picture.h"
#include "core/view/parts/focus.h"
#include "tests/support/case_run.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::lay_out_view;
using testing::LayoutOptions;

const std::vector<std::int32_t> kIds{5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14, 3, 1, 8, 8, 10, 7, 2};
const std::vector<std::string> kModels{"memory-segment", "memory-compressive-mean",
                                       "memory-compressive-most_used", "memory-memorizing"};

LayoutOptions options_for_segment(Index segment, const std::string& show = "all") {
  LayoutOptions options;
  options.settings.id = "memory";
  options.settings.part.segment = segment;
  set_view_value(options.settings, "memory", "show", show);
  return options;
}

// Memory before a segment, computed by the rules of the papers.
struct NaiveMemory {
  std::vector<std::vector<Index>> compressed;
  std::vector<Index> memory;
};
NaiveMemory naive_memory(Index segment_length, Index first_token, Index max_memory,
                         Index max_compressed, Index rate) {
  NaiveMemory state;
  for (Index first = 0; first < first_token; first += segment_length) {
    for (Index token = first; token < first + segment_length; ++token)
      state.memory.push_back(token);
    while (rate > 0 && static_cast<Index>(state.memory.size()) - max_memory >= rate) {
      state.compressed.emplace_back(state.memory.begin(), state.memory.begin() + rate);
      state.memory.erase(state.memory.begin(), state.memory.begin() + rate);
    }
    while (rate == 0 && static_cast<Index>(state.memory.size()) > max_memory) {
      state.memory.erase(state.memory.begin());
    }
  }
  while (static_cast<Index>(state.compressed.size()) > max_compressed) {
    state.compressed.erase(state.compressed.begin());
  }
  return state;
}

TEST(Memory, ColumnsListTheirTokens) {
  // Both models have segments of 4 tokens.
  for (const auto& [model, memory, compressed, rate] :
       {std::tuple<std::string, Index, Index, Index>{"memory-compressive-mean", 3, 2, 2},
        {"memory-segment", 5, 0, 0}}) {
    const auto trace = testing::run_case(model, kIds);
    for (const AttentionTap& tap : trace->attention) {
      const Index first = 4 * tap.address.segment;
      const NaiveMemory expected = naive_memory(4, first, memory, compressed, rate);
      Index column = 0;
      for (const std::vector<Index>& window : expected.compressed) {
        const RowSource source = column_source(*trace, tap, column++);
        EXPECT_EQ(source, (RowSource{window.front(), rate})) << model;
      }
      for (const Index token : expected.memory) {
        EXPECT_EQ(column_source(*trace, tap, column++), RowSource{token}) << model;
      }
      EXPECT_EQ(column + tap.queries(), tap.keys()) << model;
      for (Index i = 0; column < tap.keys(); ++i) {
        EXPECT_EQ(column_source(*trace, tap, column++), RowSource{first + i}) << model;
      }
    }
  }
}

// The policy "most_used" stores single rows with their original positions.
TEST(Memory, MostUsedRowsAreSingleTokens) {
  const auto trace = testing::run_case("memory-compressive-most_used", kIds);
  Index compressed = 0;
  for (const AttentionTap& tap : trace->attention) {
    const Index count = slot_count(tap, KeyKind::Compressed);
    for (Index c = 0; c < count; ++c, ++compressed) {
      const RowSource source = column_source(*trace, tap, c);
      EXPECT_EQ(source.count, 1);
      EXPECT_EQ(source.first - 4 * tap.address.segment, key_position(tap, 0, c));
    }
  }
  EXPECT_GT(compressed, 0);
}

TEST(Memory, ReportsMeanAndDeviationBySlot) {
  for (const std::string& model : kModels) {
    const auto trace = testing::run_case(model, kIds);
    const AttentionTap* tap = trace->find({1, 1, {.segment = 3}});
    ASSERT_NE(tap, nullptr);
    for (const std::vector<TapHead>& heads :
         {std::vector<TapHead>{{tap, 1}}, std::vector<TapHead>{{tap, 0}, {tap, 1}}}) {
      const SlotWeights slots = slot_weights(heads);
      for (Index c = 0; c < tap->keys(); ++c) {
        std::vector<double> weights;
        for (const TapHead& head : heads) {
          const Tensor attention = tap->attention(head.head);
          for (Index i = 0; i < tap->queries(); ++i) {
            weights.push_back(static_cast<double>(attention(i, c)));
          }
        }
        double mean = 0, variance = 0;
        for (const double w : weights) mean += w / static_cast<double>(weights.size());
        for (const double w : weights) {
          variance += (w - mean) * (w - mean) / static_cast<double>(weights.size());
        }
        EXPECT_NEAR(slots.mean[static_cast<std::size_t>(c)], mean, 1e-9);
        EXPECT_NEAR(slots.deviation[static_cast<std::size_t>(c)], std::sqrt(variance), 1e-6);
      }
    }
    double sum = 0;
    for (const KeyKind kind : {KeyKind::Compressed, KeyKind::Memory, KeyKind::Token}) {
      sum += kind_weight({tap, 1}, kind);
    }
    EXPECT_NEAR(sum, 1, 1e-5) << model;
  }
}

// Oldest token that reaches `token` through layers 0 to `layer`, by recursion.
Index naive_oldest(const Trace& trace, Index layer, Index token) {
  if (layer < 0) return token;
  Index oldest = token;
  std::set<Index> visited;
  for (const AttentionTap& tap : trace.attention) {
    if (tap.address.layer != layer || tap.address.segment != token / 4) continue;
    for (Index n = 0; n < static_cast<Index>(tap.heads.size()); ++n) {
      for (Index c = 0; c < tap.keys(); ++c) {
        if (!tap.result.pattern->allowed(n, token % 4, c)) continue;
        const RowSource source = column_source(trace, tap, c);
        for (Index source_token = source.first; source_token <= source.last();
             source_token += source.step) {
          if (visited.insert(source_token).second) {
            oldest = std::min(oldest, naive_oldest(trace, layer - 1, source_token));
          }
        }
      }
    }
  }
  return oldest;
}

TEST(Memory, OpensOnLastSegment) {
  const auto trace = testing::run_case("memory-segment", kIds);
  ViewSettings settings;
  settings.id = "memory";
  EXPECT_EQ(with_defaults(settings, *trace).part.segment, 4);  // 18 tokens, segments of 4
  settings.part.segment = 0;                                   // explicitly selected
  EXPECT_EQ(with_defaults(settings, *trace).part.segment, 0);
  settings.part.segment = {};
  settings.id = "map";
  EXPECT_EQ(with_defaults(settings, *trace).part.segment, std::nullopt);
  settings.id = "memory";
  const auto unsegmented = testing::run_case("decoder-groups-ragged", kIds);
  EXPECT_EQ(with_defaults(settings, *unsegmented).part.segment, std::nullopt);
  // Exported pictures show the last segment, too.
  Session session;
  session.view.id = "memory";
  const std::string drawn_text = all_text(lay_out_picture(*trace, session, {}));
  EXPECT_NE(drawn_text.find("Segment 4 has"), std::string::npos) << drawn_text;
}

TEST(Memory, ReceptiveFieldGrowsWithLayers) {
  for (const std::string& model : kModels) {
    const auto trace = testing::run_case(model, kIds);
    for (Index segment = 0; segment < 5; ++segment) {
      const std::vector<Index> oldest = oldest_reachable(*trace, segment);
      ASSERT_EQ(oldest.size(), 2u);
      const Index last = std::min<Index>(4 * segment + 3, 17);
      for (Index layer = 0; layer < 2; ++layer) {
        EXPECT_EQ(oldest[static_cast<std::size_t>(layer)], naive_oldest(*trace, layer, last))
            << model << ", segment " << segment << ", layer " << layer;
      }
    }
  }
  // With five rows of memory, layer 0 reaches back to token 7, layer 1 to the first token.
  const auto trace = testing::run_case("memory-segment", kIds);
  EXPECT_EQ(oldest_reachable(*trace, 3), (std::vector<Index>{7, 0}));
}

TEST(Memory, CostMatchesColumnsOfRun) {
  for (const std::string& model : kModels) {
    const auto trace = testing::run_case(model, kIds);
    double pairs = 0;
    for (const AttentionTap& tap : trace->attention) {
      if (tap.address.layer != 0) continue;
      const Index segment_columns = slot_count(tap, KeyKind::Token);
      for (Index i = 0; i < tap.queries(); ++i) {
        pairs += static_cast<double>(tap.keys() - segment_columns + i + 1);
      }
    }
    EXPECT_EQ(pairs_in_segments(trace->attention[0].variant, 4, 18), pairs) << model;
  }
  EXPECT_EQ(causal_pair_count(18), 171);
}

TEST(Memory, ReportsTokensOfEachSlot) {
  const auto trace = testing::run_case("memory-compressive-mean", kIds);
  const std::string drawn_text =
      all_text(lay_out_view(*trace, "memory", options_for_segment(4, "words")).list);
  // Before token 16, there are two compressed windows of two tokens each, and a memory of four
  // tokens: its size is three, and one more token waits until a window of two is full.
  EXPECT_NE(drawn_text.find("8 forgotten\n#16#14\n#14#3\n#1\n#8\n#8\n#10\n#7\n#2\n"),
            std::string::npos)
      << drawn_text;
  EXPECT_NE(drawn_text.find("compressed (2 slots, a box each)"), std::string::npos) << drawn_text;
  EXPECT_NE(drawn_text.find("memory (4)"), std::string::npos) << drawn_text;
}

TEST(Memory, ReportsWeightByKindOfKey) {
  const auto trace = testing::run_case("memory-compressive-mean", kIds);
  LayoutOptions options = options_for_segment(4);
  options.width = 1400;
  options.height = 1000;
  options.settings.layer = options.settings.head = 1;
  const AttentionTap* tap = trace->find({1, 1, {.segment = 4}});
  const auto percentage = [&](KeyKind kind) {
    return attnscope::percent(kind_weight({tap, 1}, kind)) + " ";
  };
  const ViewLayout layout = lay_out_view(*trace, "memory", options);
  const std::string drawn_text = all_text(layout.list);
  const std::string summary =
      "Segment 4 has 2 compressed slots made of 4 tokens and 4 tokens of "
      "memory: " +
      percentage(KeyKind::Compressed) + "of the weight goes to compressed slots, " +
      percentage(KeyKind::Memory) + "to memory, " + percentage(KeyKind::Token) +
      "to its own segment.";
  EXPECT_NE(drawn_text.find(summary), std::string::npos) << summary << "\n" << drawn_text;
  EXPECT_NE(drawn_text.find("in segments: "), std::string::npos) << drawn_text;
  // Borders between kinds are labelled.
  for (const char* part : {"\ncompressed\n", "\nmemory\n", "\nsegment\n"}) {
    EXPECT_NE(drawn_text.find(part), std::string::npos) << part << drawn_text;
  }
}

TEST(Memory, PointerReportsPairsAndSlots) {
  const auto trace = testing::run_case("memory-segment", kIds);
  const ViewLayout layout = lay_out_view(*trace, "memory", options_for_segment(3));
  const Box plot = layout.plot;
  const auto pair = layout.hit({plot.right() - 2, plot.bottom() - 2});
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->query, 3);
  EXPECT_EQ(pair->key, 8);
  // The chart below the map has the same columns.
  const auto slot = layout.hit({plot.x + 2, plot.bottom() + 70});
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->query, -1);
  EXPECT_EQ(slot->key, 0);
}

TEST(Memory, ClickOnSegmentShowsIt) {
  const auto trace = testing::run_case("memory-segment", kIds);
  const ViewLayout layout = lay_out_view(*trace, "memory", options_for_segment(0, "range"));
  EXPECT_NE(all_text(layout.list).find("is the first"), std::string::npos);
  ASSERT_EQ(layout.handles.size(), 5u);
  Session session;
  session.view.pinned_key = 3;
  layout.handles[2].click(session);
  EXPECT_EQ(session.view.part.segment, 2);
  EXPECT_EQ(session.view.pinned_key, -1);
}

std::shared_ptr<const Trace> run_without_memory() {
  Session session;
  session.run.model = testing::source_folder() / "tests" / "model-cases" / "memory-segment";
  session.run.ids = kIds;
  session.run.variant = default_variant();
  return ExperimentRun(cpu_only()).run(session.run);
}

// The vanilla model reads segments without memory: no layer sees an earlier segment.
TEST(Memory, DrawsSegmentsWithoutMemory) {
  const auto trace = run_without_memory();
  EXPECT_EQ(view("memory").objection(*trace), "");
  EXPECT_EQ(oldest_reachable(*trace, 3), (std::vector<Index>{12, 12}));
  for (const char* show : {"all", "words", "range", "attention", "segments"}) {
    const ViewLayout layout = lay_out_view(*trace, "memory", options_for_segment(3, show));
    EXPECT_EQ(layout.refusal, "") << show;
    EXPECT_NE(all_text(layout.list)
                  .find("Segment 3 is read alone: its tokens see none of the 12 "
                        "earlier tokens"),
              std::string::npos)
        << show << all_text(layout.list);
  }
  const std::string words =
      all_text(lay_out_view(*trace, "memory", options_for_segment(3, "words")).list);
  EXPECT_NE(words.find("12 not seen"), std::string::npos) << words;
  ViewSettings settings;
  settings.id = "memory";
  EXPECT_EQ(with_defaults(settings, *trace).part.segment, 4);
}

// Paths through segments, without and with the memory, next to each other.
TEST(Memory, ComparesPathsWithoutAndWithMemory) {
  const auto trace = testing::run_case("memory-segment", kIds);
  LayoutOptions options = options_for_segment(3, "segments");
  options.width = 1200;
  options.height = 900;
  const std::string text = all_text(lay_out_view(*trace, "memory", options).list);
  EXPECT_NE(text.find("Segments without memory: the last token of segment 3 reaches 4 tokens, 0 in "
                      "earlier segments"),
            std::string::npos)
      << text;
  // The receptive field begins at token 0: see ReceptiveFieldGrowsWithLayers.
  EXPECT_NE(text.find("reaches 16 tokens, 12 in earlier segments"), std::string::npos) << text;
}

TEST(Memory, StatesFormulasOfRangeAndCost) {
  const auto text = [](const char* model) {
    LayoutOptions options = options_for_segment(3, "range");
    options.width = 1400;
    options.height = 900;
    return all_text(lay_out_view(*testing::run_case(model, kIds), "memory", options).list);
  };
  const std::string segment = text("memory-segment");
  EXPECT_NE(segment.find("Temporal range: m·N = 5 · 2 = 10 tokens before the segment"),
            std::string::npos)
      << segment;
  EXPECT_NE(segment.find("O(L² + L·m) per segment, L = 4, m = 5"), std::string::npos) << segment;
  const std::string compressive = text("memory-compressive-mean");
  EXPECT_NE(compressive.find("(m_m + c·m_cm)·N = (3 + 2 · 2) · 2 = 14"), std::string::npos)
      << compressive;
  EXPECT_NE(compressive.find("O(L² + L·(m_m + m_cm)) per segment"), std::string::npos)
      << compressive;
}

TEST(Memory, ExplainsMissingMemory) {
  const Trace trace = testing::synthetic_trace(2, 2, 9);
  EXPECT_NE(lay_out_view(trace, "memory").refusal, "");
  EXPECT_NE(view("memory").objection(trace), "");
  EXPECT_EQ(view("memory").objection(*testing::run_case("memory-segment", kIds)), "");
  const testing::ViewInputFixture fixture(trace, {});
  EXPECT_THROW(view("memory").data(fixture.input), InputError);
}

TEST(Memory, ExportsDrawnNumbers) {
  const auto trace = testing::run_case("memory-compressive-mean", kIds);
  const testing::ViewInputFixture fixture(*trace, options_for_segment(4).settings);
  const ViewData data = view("memory").data(fixture.input);
  ASSERT_EQ(data.matrices.size(), 5u);
  EXPECT_EQ(data.matrices[0].columns.front(), "#16#14");
  EXPECT_EQ(data.matrices[1].rows.front(), "compressed #16#14");
  EXPECT_EQ(data.matrices[1].values(0, 2), 8);
  EXPECT_EQ(data.matrices[1].values(0, 3), 9);
  float sum = 0;
  for (Index c = 0; c < data.matrices[1].values.dim(0); ++c) sum += data.matrices[1].values(c, 0);
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(Memory, ShowsLossesByLayerAndSegment) {
  const auto trace = testing::run_case("memory-compressive-convolution", kIds);
  const ViewLayout layout = lay_out_view(*trace, "memory", options_for_segment(2, "losses"));
  EXPECT_EQ(testing::layout_error(layout.list), "");
  for (const char* text : {"Attention reconstruction loss", "Auto-encoding loss", "layer 1",
                           "segment 2", "mean", "weight"}) {
    EXPECT_TRUE(testing::shows_text(layout.list, text)) << text << "\n" << all_text(layout.list);
  }
  const auto other = testing::run_case("memory-segment", kIds);
  EXPECT_TRUE(testing::shows_text(
      lay_out_view(*other, "memory", options_for_segment(2, "losses")).list, "This run has none"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
