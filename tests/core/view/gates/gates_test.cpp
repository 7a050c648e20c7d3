#include "core/analysis/gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/memory_use.h"
#include "core/base/error.h"
#include "tests/support/case_run.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::kIds;
using testing::lay_out_view;
using testing::LayoutOptions;

TEST(Gates, ResidualGatesAreMeansOverComponents) {
  const auto trace = testing::run_case("join-gru", kIds);
  const std::vector<GateSet> sets = gates_of(*trace, Stack::Decoder);
  ASSERT_EQ(sets.size(), 2u);
  for (const GateSet& set : sets) {
    for (std::size_t row = 0; row < set.rows.size(); ++row) {
      const auto tap = std::ranges::find_if(trace->located, [&](const Located<Tensor>& located) {
        return located.name == "gate." + set.id && located.address.layer == set.rows[row].layer;
      });
      ASSERT_TRUE(tap != trace->located.end());
      for (Index i = 0; i < 11; ++i) {
        double mean = 0, variance = 0, minimum = 1, maximum = 0;
        const auto width = static_cast<double>(tap->values.dim(1));
        for (Index n = 0; n < tap->values.dim(1); ++n) {
          const auto z = static_cast<double>(tap->values(i, n));
          mean += z / width;
          minimum = std::min(minimum, z);
          maximum = std::max(maximum, z);
        }
        for (Index n = 0; n < tap->values.dim(1); ++n) {
          const double difference = static_cast<double>(tap->values(i, n)) - mean;
          variance += difference * difference / width;
        }
        const auto r = static_cast<Index>(row);
        EXPECT_NEAR(static_cast<double>(set.mean(r, i)), mean, 1e-6);
        EXPECT_NEAR(static_cast<double>(set.deviation(r, i)), std::sqrt(variance), 1e-6);
        EXPECT_NEAR(static_cast<double>(set.least(r, i)), minimum, 1e-7);
        EXPECT_NEAR(static_cast<double>(set.most(r, i)), maximum, 1e-7);
      }
    }
  }
}

TEST(Gates, MemoryGatesEqualWeightOnMemory) {
  const auto trace = testing::run_case("memory-memorizing", kIds);
  const std::vector<GateSet> sets = gates_of(*trace, Stack::Decoder);
  ASSERT_EQ(sets.size(), 1u);
  int compared = 0;
  for (std::size_t row = 0; row < sets[0].rows.size(); ++row) {
    const GateSet::Row& row_of_set = sets[0].rows[row];
    for (Index segment = 0; segment < 3; ++segment) {
      Index head = 0;
      const AttentionTap* tap =
          trace->find({row_of_set.layer, row_of_set.head, {.segment = segment}}, &head);
      ASSERT_NE(tap, nullptr);
      const auto g = sets[0].mean(static_cast<Index>(row), 4 * segment);
      if (slot_count(*tap, KeyKind::Memory) == 0) {
        EXPECT_TRUE(std::isnan(g));
        continue;
      }
      EXPECT_NEAR(static_cast<double>(g), kind_weight({tap, head}, KeyKind::Memory), 1e-5);
      ++compared;
    }
  }
  EXPECT_GT(compared, 2);
}

TEST(Gates, ExplainTheirMeaning) {
  const auto gru = testing::run_case("join-gru", kIds);
  LayoutOptions look;
  look.width = 1100;
  const std::string text = all_text(lay_out_view(*gru, "gates", look).list);
  EXPECT_NE(text.find("z of the residual gate after attention"), std::string::npos) << text;
  EXPECT_NE(text.find("0: keeps the state"), std::string::npos) << text;
  const auto memory = testing::run_case("memory-memorizing", kIds);
  EXPECT_NE(all_text(lay_out_view(*memory, "gates", look).list).find("1: memory only"),
            std::string::npos);
  Trace spalm = testing::synthetic_trace(2, 2, 9);
  spalm.taps["retrieval.gate"] = Tensor::full({9}, 0.25F);
  const std::string spalm_text = all_text(lay_out_view(spalm, "gates", look).list);
  EXPECT_NE(spalm_text.find("retrieval 0.25"), std::string::npos) << spalm_text;
  EXPECT_NE(spalm_text.find("1: model state only"), std::string::npos) << spalm_text;
  EXPECT_EQ(spalm_text.find("untrained"), std::string::npos) << spalm_text;
  spalm.taps["retrieval.gate"] = Tensor::full({9}, 0.5F);
  const std::string untrained_text = all_text(lay_out_view(spalm, "gates", look).list);
  EXPECT_NE(untrained_text.find("retrieval 0.50 (untrained)"), std::string::npos) << untrained_text;
  EXPECT_NE(untrained_text.find("untrained, so half open everywhere"), std::string::npos)
      << untrained_text;
}

TEST(Gates, ClickOnRowSelectsLayer) {
  const auto trace = testing::run_case("join-gru", kIds);
  const ViewLayout layout = lay_out_view(*trace, "gates");
  const std::vector<GateSet> sets = gates_of(*trace, Stack::Decoder);
  ASSERT_EQ(layout.handles.size(), sets[0].rows.size() + sets[1].rows.size());
  Session session;
  layout.handles.back().click(session);
  EXPECT_EQ(session.view.layer, sets[1].rows.back().layer);
  const auto hit = layout.hit({layout.plot.right() - 2, layout.plot.bottom() - 2});
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->layer, sets[1].rows.back().layer);
  EXPECT_EQ(hit->query, 10);
}

TEST(Gates, ExplainMissingGates) {
  const Trace trace = testing::synthetic_trace(2, 2, 9);
  EXPECT_NE(lay_out_view(trace, "gates").refusal, "");
  EXPECT_EQ(view("gates").objection(trace), "No gates in this run.");
  const testing::ViewInputFixture fixture(trace, {});
  EXPECT_THROW(view("gates").data(fixture.input), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
