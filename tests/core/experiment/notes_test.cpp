#include "core/experiment/notes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/json.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using testing::random_tensor;

AttentionTap tap_of(const Json& json, Index memory = 0) {
  OperationInput in;
  in.heads = in.kv_heads = 2;
  in.variant = variant_from_json(json, "variant");
  in.q = random_tensor({2, 6, 4}, 1);
  in.k = random_tensor({2, 6, 4}, 2);
  in.v = random_tensor({2, 6, 4}, 3);
  in.causal = true;
  in.weights["memorizing.gate"] = Tensor::zeros({2});
  if (memory > 0) {
    in.weights["mem.k"] = random_tensor({2, memory, 4}, 4);
    in.weights["mem.v"] = random_tensor({2, memory, 4}, 5);
  }
  AttentionTap tap;
  tap.variant = in.variant;
  tap.heads = {0, 1};
  tap.result = evaluate(in, cpu_backend(), {.output = true, .attention = true}, Stop());
  return tap;
}

std::vector<std::string> notes(std::vector<AttentionTap> taps) {
  Trace trace;
  trace.attention = std::move(taps);
  return notes_on_attention(trace);
}

using Notes = std::vector<std::string>;

TEST(Notes, SayThatAMemoryIsEmpty) {
  const Json segments = {{"type", "segment_memory"}};
  EXPECT_EQ(notes({tap_of(segments)}), (Notes{"Segment memory: the memory is empty"}));
  EXPECT_EQ(notes({tap_of({{"type", "memorizing"}, {"top", 2}})}),
            (Notes{"Memorizing: the memory is empty"}));
  EXPECT_EQ(notes({tap_of(segments, 3)}), Notes{});
  // As with a text's first segment.
  EXPECT_EQ(notes({tap_of(segments), tap_of(segments, 3)}), Notes{});
  EXPECT_EQ(notes({tap_of({{"type", "full"}})}), Notes{});
}

TEST(Notes, SayWhatLooksAhead) {
  const Notes found = notes({tap_of({{"type", "routing"}, {"clusters", 2}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("Routing looks ahead: ")) << found[0];
  EXPECT_EQ(notes({tap_of({{"type", "lsh"}, {"buckets", 4}, {"rounds", 1}})}), Notes{});
}

}  // namespace
}  // namespace attnscope
