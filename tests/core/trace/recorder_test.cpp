#include "core/trace/recorder.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Rows of segments are appended in order of arrival.
TEST(Recorder, JoinsRowsOfSegments) {
  Trace trace;
  Recorder recorder(&trace);
  const auto row = [](float x) { return Tensor::full({1, 2}, x); };
  for (Index segment = 0; segment < 3; ++segment) {
    const auto x = static_cast<float>(segment);
    recorder.rows("embed", row(x), segment);
    recorder.located_rows("gate", {.segment = segment, .layer = 1}, row(10 + x));
    recorder.logits(row(20 + x), segment);
  }
  recorder.finish();
  EXPECT_TRUE(testing::close(trace.taps.at("embed"), Tensor::from({3, 2}, {0, 0, 1, 1, 2, 2}), 0));
  ASSERT_EQ(trace.located.size(), 1u);
  EXPECT_TRUE(
      testing::close(trace.located[0].values, Tensor::from({3, 2}, {10, 10, 11, 11, 12, 12}), 0));
  EXPECT_TRUE(testing::close(trace.logits, Tensor::from({3, 2}, {20, 20, 21, 21, 22, 22}), 0));
  recorder.finish();  // nothing left to join
  EXPECT_EQ(trace.logits.dim(0), 3);
  EXPECT_THROW(recorder.rows("embed", row(0), 0), std::logic_error);
}

TEST(Recorder, RecordsNothingWithoutATrace) {
  Recorder recorder(nullptr);
  EXPECT_FALSE(recorder.on());
  recorder.rows("embed", Tensor::zeros({1, 2}), 1);
  recorder.logits(Tensor::zeros({1, 2}), 1);
  recorder.finish();
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
