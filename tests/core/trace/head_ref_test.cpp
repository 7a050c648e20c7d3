#include "core/trace/head_ref.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/trace/trace.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TraceToken make_token(const std::string& label) {
  TraceToken token;
  token.label = label;
  return token;
}

// A trace with one attention tap of two heads at each address.
Trace trace_of(const std::vector<Address>& addresses) {
  Trace trace;
  for (const Address& address : addresses) {
    AttentionTap tap;
    tap.address = address;
    tap.heads = {0, 1};
    trace.attention.push_back(tap);
  }
  return trace;
}

// Trace of an encoder-decoder: two encoder layers, one decoder layer with cross-attention.
Trace encoder_decoder() {
  Trace trace = trace_of({{.stack = Stack::Encoder},
                          {.stack = Stack::Encoder, .layer = 1},
                          {},
                          {.kind = AttentionKind::Cross}});
  trace.parts = {.stack = true, .kind = true};
  return trace;
}

TEST(HeadRef, LabelsContainOnlyDistinguishingParts) {
  const HeadRef cross{2, 1, {.kind = AttentionKind::Cross}};
  EXPECT_EQ(describe_head({.stack = true, .kind = true}, cross),
            "decoder, cross-attention, layer 2, head 1");
  EXPECT_EQ(describe_head({.kind = true}, cross), "cross-attention, layer 2, head 1");
  EXPECT_EQ(describe_head({.stack = true, .kind = true}, {0, 1, {.stack = Stack::Encoder}}),
            "encoder, layer 0, head 1");
  EXPECT_EQ(describe_head({.step = true}, {0, 0, {.step = 3}}), "step 3, layer 0, head 0");
  EXPECT_EQ(describe_part({.segment = true}, {.segment = 0}), "segment 0");
  EXPECT_EQ(describe_head({}, {4, 5}), "layer 4, head 5");
  EXPECT_EQ(describe_part({}, {}), "");
}

TEST(HeadRef, NamesRoundTrip) {
  for (const Stack stack : {Stack::Encoder, Stack::Decoder}) {
    EXPECT_EQ(stack_from_name(name_of(stack), "--stack"), stack);
  }
  for (const AttentionKind kind : {AttentionKind::Self, AttentionKind::Cross}) {
    EXPECT_EQ(kind_from_name(name_of(kind), "--kind"), kind);
  }
  try {
    kind_from_name("crossed", "--kind");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "--kind: expected self or cross, found \"crossed\"");
  }
}

TEST(Trace, FindsHeadsOfTheirOwnPartOnly) {
  const Trace trace = encoder_decoder();
  Index head = -1;
  EXPECT_EQ(trace.find({0, 1}, &head), &trace.attention[2]);
  EXPECT_EQ(head, 1);
  EXPECT_EQ(trace.find({0, 1, {.kind = AttentionKind::Cross}}), &trace.attention[3]);
  EXPECT_EQ(trace.find({1, 0, {.stack = Stack::Encoder}}), &trace.attention[1]);
  EXPECT_EQ(trace.find({1, 0}), nullptr);  // only the encoder has a second layer
  EXPECT_EQ(trace.find({0, 2}), nullptr);
  EXPECT_EQ(trace.find({0, 0, {.step = 1}}), nullptr);
  EXPECT_EQ(trace.layer_count({.stack = Stack::Encoder}), 2);
  EXPECT_EQ(trace.layer_count({}), 1);
  EXPECT_EQ(trace.head_count({}, 0), 2);
  EXPECT_EQ(trace.head_count({}, 1), 0);
  const std::vector<HeadRef> heads = trace.heads({.stack = Stack::Encoder});
  ASSERT_EQ(heads.size(), 4u);
  EXPECT_EQ(heads[2], (HeadRef{1, 0, {.stack = Stack::Encoder}}));
}

TEST(Trace, DefaultsUnselectedPartsToTheFirst) {
  const Trace trace = encoder_decoder();
  EXPECT_EQ(trace.part({}), TracePart());
  EXPECT_EQ(trace.part({.kind = AttentionKind::Cross}), (TracePart{.kind = AttentionKind::Cross}));
  EXPECT_EQ(trace.part({.stack = Stack::Encoder}), (TracePart{.stack = Stack::Encoder}));
  // A recurrent model has cross-attention only.
  const Trace cross = trace_of({{.kind = AttentionKind::Cross}});
  EXPECT_EQ(cross.part({}).kind, AttentionKind::Cross);
  const Trace steps = trace_of({{.step = 2}, {.step = 1}, {.step = 1, .layer = 1}});
  EXPECT_EQ(steps.part({}).step, 1);
  EXPECT_EQ(steps.part({.step = 2}).step, 2);
  // A selected part is returned even if the trace lacks it.
  EXPECT_EQ(steps.part({.step = 7}).step, 7);
  EXPECT_FALSE(steps.has(steps.part({.step = 7})));
  EXPECT_EQ(Trace().part({}), TracePart());
}

TEST(Trace, ListsAlternativesToAPart) {
  const PartAlternatives decoder = encoder_decoder().alternatives({});
  EXPECT_EQ(decoder.stacks, (std::vector<Stack>{Stack::Encoder, Stack::Decoder}));
  EXPECT_EQ(decoder.kinds, (std::vector<AttentionKind>{AttentionKind::Self, AttentionKind::Cross}));
  EXPECT_EQ(decoder.steps, std::vector<Index>{0});
  const PartAlternatives encoder = encoder_decoder().alternatives({.stack = Stack::Encoder});
  EXPECT_EQ(encoder.kinds, std::vector<AttentionKind>{AttentionKind::Self});
  const Trace segments = trace_of({{.segment = 2}, {.segment = 0}, {.segment = 1}});
  EXPECT_EQ(segments.alternatives({}).segments, (std::vector<Index>{0, 1, 2}));
}

TEST(Trace, LayerSequenceCoversAllSteps) {
  const Trace trace =
      trace_of({{.step = 1}, {.step = 1, .layer = 1}, {.step = 2}, {.step = 2, .layer = 1}});
  const std::vector<HeadRef> sequence = trace.layer_sequence({.step = 2});
  ASSERT_EQ(sequence.size(), 4u);
  EXPECT_EQ(sequence[1], (HeadRef{1, 0, {.step = 1}}));
  EXPECT_EQ(sequence[2], (HeadRef{0, 0, {.step = 2}}));
}

TEST(Trace, MapsRowsToTokensOfTheirStream) {
  Trace trace;
  trace.tokens = {make_token("a"), make_token("b"), make_token("c")};
  trace.streams.push_back({kSourceStream, {make_token("x"), make_token("y")}});
  EXPECT_EQ(trace.tokens_of({kSourceStream})[1].label, "y");
  EXPECT_EQ(trace.tokens_of({}).size(), 3u);
  EXPECT_THROW(trace.tokens_of({"keys"}), std::logic_error);
  EXPECT_EQ(trace.token_index({"", 1}, 2, 0), 1);   // rows begin at token 1
  EXPECT_EQ(trace.token_index({}, 2, 0), 1);        // rows of the last two tokens
  EXPECT_EQ(trace.token_index({"", 2}, 2, 0), -1);  // out of range
  EXPECT_EQ(trace.token_index({}, 4, 0), -1);
  EXPECT_EQ(trace.token_index({"", 0, {0, 2}}, 2, 1), 2);  // explicit indices
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
