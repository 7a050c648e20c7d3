#include "core/experiment/attend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

SafetensorsFile heads_form(Index queries = 6, Index keys = 6) {
  SafetensorsFile file;
  file.tensors["q"] = stored(random_tensor({2, queries, 4}, 1));
  file.tensors["k"] = stored(random_tensor({2, keys, 4}, 2));
  file.tensors["v"] = stored(random_tensor({2, keys, 3}, 3));
  return file;
}

SafetensorsFile input_form() {
  SafetensorsFile file;
  file.tensors["x"] = stored(random_tensor({6, 8}, 1));
  file.tensors["wq"] = stored(random_tensor({8, 8}, 2));
  file.tensors["wk"] = stored(random_tensor({8, 8}, 3));
  file.tensors["wv"] = stored(random_tensor({8, 6}, 4));
  return file;
}

AttendResult run(const SafetensorsFile& file, const std::string& spec, bool with_terms = false) {
  return attend(file, spec, with_terms, cpu_backend());
}

std::string refusal_of(const SafetensorsFile& file, const std::string& spec,
                       bool with_terms = false) {
  try {
    run(file, spec, with_terms);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Tensor with all elements equal to `number` for F64, and 0 for other types.
StoredTensor constant_tensor(DType dtype, Shape shape, double number) {
  const Index count = element_count(shape);
  const auto bytes = std::make_shared<ByteTensor>(ByteTensor::zeros({count * byte_size(dtype)}));
  for (Index i = 0; dtype == DType::F64 && i < count; ++i) {
    std::memcpy(bytes->data() + 8 * i, &number, 8);
  }
  return {dtype, std::move(shape), bytes->data(), bytes};
}

const std::string kFull = R"({"variant": {"type": "full"}})";
const std::string kFullOfX = R"({"variant": {"type": "full"}, "heads": 2})";

TEST(Attend, RejectsInvalidSpecs) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "spec: "},
      {"[]", "spec: "},
      {"{}", "spec: variant: "},
      {R"({"variant": "full"})", "variant: "},
      {R"({"variant": {}})", "variant.type: "},
      {R"({"variant": {"type": "fulll"}})", "variant.type: "},
      {R"({"variant": {"type": "full", "score": "cosine"}})", "variant.score: "},
      {R"({"variant": {"type": "local"}})", "variant.window: "},
      {R"({"variant": {"type": "local", "window": 2, "dilation": 0}})", "variant.dilation: "},
      {R"({"variant": {"type": "full"}, "variant": {"type": "full"}})", "spec: "},
      {R"({"variant": {"type": "full"}, "position": {"type": "ropes"}})", "position.type: "},
      {R"({"variant": {"type": "full"}, "position": null})", "position: "},
      {R"({"variant": {"type": "full"}, "causal": 1})", "spec: causal: "},
      {R"({"variant": {"type": "full"}, "scale": "1"})", "spec: scale: "},
      {R"({"variant": {"type": "full"}, "scale": 1e300})", "spec: scale: "},
      {R"({"variant": {"type": "full"}, "scale": 1e999})", "spec: "},
      {R"({"variant": {"type": "full"}, "layer": -1})", "spec: layer: "},
      {R"({"variant": {"type": "full"}, "heads": 0})", "spec: heads: "},
      {R"({"variant": {"type": "full"}, "heads": 3})", "heads: "},
      {R"({"variant": {"type": "full"}, "masks": 3})", "spec: "},
  };
  for (const auto& [spec, prefix] : cases) {
    const std::string reason = refusal_of(heads_form(), spec);
    EXPECT_TRUE(reason.starts_with(prefix)) << spec << ": " << reason;
    EXPECT_EQ(reason.find('\n'), std::string::npos);
  }
  EXPECT_THROW(attend(heads_form(), std::nullopt, false, cpu_backend()), InputError);
}

TEST(Attend, ReadsSpecFromMetadata) {
  SafetensorsFile file = heads_form();
  file.metadata["spec"] = kFull;
  EXPECT_NO_THROW(attend(file, std::nullopt, false, cpu_backend()));
  file.metadata["spec"] = "{";
  EXPECT_THROW(attend(file, std::nullopt, false, cpu_backend()), InputError);
  EXPECT_NO_THROW(run(file, kFull));
}

TEST(Attend, RejectsInvalidTensors) {
  struct Case {
    const char* name;
    StoredTensor tensor;
    const char* prefix;
  };
  Tensor infinite = random_tensor({2, 6, 4}, 1);
  infinite[7] = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {"q", stored(ByteTensor::zeros({2, 6, 4})), "q: expected dtype F32, found U8"},
      {"q", stored(random_tensor({2, 6, 4}, 1), DType::F16), "q: expected dtype F32, found F16"},
      {"q", stored(infinite), "q: expected finite numbers, found inf as number 7"},
      {"q", stored(random_tensor({6, 4}, 1)), "q: expected shape"},
      {"q", stored(random_tensor({2, 6, 5}, 1)), "k: expected shape [2, at least 1, 5]"},
      {"q", stored(random_tensor({3, 6, 4}, 1)), "k: expected shape [3, at least 1, 4]"},
      {"q", stored(Tensor({2, 0, 4})), "q: expected shape"},
      {"v", stored(random_tensor({2, 5, 3}, 1)), "v: expected shape [2, 6, at least 1]"},
      {"v", stored(Tensor({2, 6, 0})), "v: expected shape"},
      {"q", constant_tensor(DType::F64, {2, 6, 4}, 1e300),
       "q: expected finite numbers within the range of float32"},
      {"q", constant_tensor(DType::F64, {2, 6, 4}, std::nan("")),
       "q: expected finite numbers, found nan as number 0"},
      {"q", constant_tensor(DType::I16, {2, 6, 4}, 0), "q: expected dtype F32, found I16"},
      {"x", stored(random_tensor({6, 8}, 1)), "x: expected either"},
      {"wq", stored(random_tensor({8, 8}, 1)), "wq: expected either"},
      {"y", stored(random_tensor({6, 8}, 1)), "y: expected either"},
  };
  for (const Case& c : cases) {
    SafetensorsFile file = heads_form();
    file.tensors[c.name] = c.tensor;
    const std::string reason = refusal_of(file, kFull);
    EXPECT_TRUE(reason.starts_with(c.prefix)) << c.prefix << ": " << reason;
  }
  for (const char* name : {"q", "k", "v"}) {
    SafetensorsFile file = heads_form();
    file.tensors.erase(name);
    EXPECT_EQ(refusal_of(file, kFull), std::string(name) + ": missing");
  }
  EXPECT_TRUE(refusal_of(heads_form(6, 7), R"({"variant": {"type": "local", "window": 1}})")
                  .starts_with("k: "));
  EXPECT_EQ(refusal_of(heads_form(6, 7), kFull), "accepted");
}

TEST(Attend, AcceptsDoublePrecision) {
  SafetensorsFile double_file = heads_form(), float_file = heads_form();
  double_file.tensors["q"] = constant_tensor(DType::F64, {2, 6, 4}, 0.125);
  float_file.tensors["q"] = stored(Tensor::full({2, 6, 4}, 0.125f));
  EXPECT_TRUE(testing::close(run(double_file, kFull).out.tensors.at("attention").floats(),
                             run(float_file, kFull).out.tensors.at("attention").floats(), 0));
}

TEST(Attend, IgnoresTensorsThatItDoesNotUse) {
  SafetensorsFile file = heads_form();
  for (const DType dtype :
       {DType::I8, DType::I16, DType::U16, DType::U32, DType::U64, DType::F8E4M3, DType::F8E5M2}) {
    file.tensors[std::string(to_string(dtype))] = constant_tensor(dtype, {3}, 0);
  }
  EXPECT_EQ(refusal_of(file, kFull), "accepted");
}

TEST(Attend, ErrorsNamePlaceExpectedAndFound) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"variant": {"type": "local", "window": 1000000000000}})",
       "variant.window: expected an integer from 0 to 2147483647, found 1000000000000"},
      {R"({"variant": {"type": "lsh", "buckets": 2, "rounds": 1, "seed": 18446744073709551616}})",
       "variant.seed: expected an integer from 0 to 9007199254740991, found "
       "1.8446744073709552e+19"},
      {R"({"variant": {"type": "hopfield", "steps": 2147483647}})",
       "variant.steps: expected an integer from 1 to 10000, found 2147483647"},
      {R"({"variant": {"type": "sinkhorn", "block": 2, "iterations": 10001}})",
       "variant.iterations: expected an integer from 1 to 10000, found 10001"},
      {R"({"variant": {"type": "full"}, "scale": 1e300})",
       "spec: scale: expected a number from -3.40282346638529e+38 to 3.40282346638529e+38, found "
       "1e+300"},
      {R"({"variant": {"type": "full"}, "extra": 1})",
       "spec: \"extra\": unknown key; expected one of causal, heads, layer, position, scale, "
       "variant"},
  };
  for (const auto& [spec, reason] : cases) EXPECT_EQ(refusal_of(heads_form(), spec), reason);
  SafetensorsFile odd_width = input_form();
  odd_width.tensors["x"] = stored(random_tensor({6, 7}, 1));
  EXPECT_EQ(refusal_of(odd_width, R"({"variant": {"type": "full"}, "heads": 2,
                                "position": {"type": "sinusoidal"}})"),
            "x: expected an even size d for sine and cosine, found 7");
  SafetensorsFile no_x = input_form();
  no_x.tensors.erase("x");
  EXPECT_EQ(refusal_of(no_x, kFullOfX), "x: missing");
}

TEST(Attend, RejectsInvalidInputForm) {
  struct Case {
    const char* name;
    Shape shape;  // empty: the tensor is missing
    const char* prefix;
  };
  const Case cases[] = {{"wq", {}, "wq: missing"},
                        {"wk", {}, "wk: missing"},
                        {"wv", {}, "wv: missing"},
                        {"wq", {7, 8}, "wq: expected shape [8, at least 1]"},
                        {"wq", {8, 7}, "heads: expected a divisor of the 7 columns of wq"},
                        {"wk", {8, 6}, "wk: expected shape [8, 8]"},
                        {"wv", {8, 5}, "heads: expected a divisor of the 5 columns of wv"},
                        {"x", {6}, "x: expected shape"},
                        {"y", {6, 7}, "y: expected shape [at least 1, 8]"}};
  for (const Case& c : cases) {
    SafetensorsFile file = input_form();
    file.tensors.erase(c.name);
    if (!c.shape.empty()) file.tensors[c.name] = stored(random_tensor(c.shape, 1));
    const std::string reason = refusal_of(file, kFullOfX);
    EXPECT_TRUE(reason.starts_with(c.prefix)) << c.prefix << ": " << reason;
  }
  EXPECT_TRUE(refusal_of(input_form(), kFull).starts_with("heads: missing"));
  SafetensorsFile cross_file = input_form();
  cross_file.tensors["y"] = stored(random_tensor({6, 8}, 9));
  EXPECT_EQ(refusal_of(cross_file, kFullOfX), "accepted");
  EXPECT_TRUE(
      refusal_of(cross_file, R"({"variant": {"type": "block_local", "block": 2}, "heads": 2})")
          .starts_with("y: "));
}

TEST(Attend, RejectsInvalidWeights) {
  const auto heads_form_with = [](const char* name, const StoredTensor& tensor) {
    SafetensorsFile file = heads_form();
    file.tensors[name] = tensor;
    return file;
  };
  const std::string custom = R"({"variant": {"type": "custom"}})";
  EXPECT_EQ(refusal_of(heads_form_with("pattern.mask", stored(random_tensor({6, 6}, 1))), custom),
            "pattern.mask: expected dtype U8, found F32");
  EXPECT_TRUE(refusal_of(heads_form_with("pattern.mask", stored(ByteTensor::zeros({6, 7}))), custom)
                  .starts_with("pattern.mask: expected shape [6, 6] or [2, 6, 6], found [6, 7]"));
  const std::string bias =
      R"({"variant": {"type": "full"}, "position": {"type": "relative_bias", "clip": 3}})";
  EXPECT_TRUE(refusal_of(heads_form_with("pos.bias", stored(random_tensor({2, 6}, 1))), bias)
                  .starts_with("pos.bias: expected shape [2, 7], found [2, 6]"));
  EXPECT_TRUE(refusal_of(heads_form(), bias).starts_with("pos.bias: missing"));
  EXPECT_TRUE(refusal_of(heads_form(), R"({"variant": {"type": "segment_memory"}})")
                  .starts_with("mem.k: missing"));
  const std::string shaw =
      R"({"variant": {"type": "full"}, "position": {"type": "shaw", "clip": 1}})";
  EXPECT_TRUE(refusal_of(heads_form(), shaw).starts_with("pos.key: expected"));
  EXPECT_EQ(refusal_of(heads_form_with("pos.value", stored(random_tensor({3, 3}, 1))), shaw),
            "accepted");
  // Tensors that the operation does not use are not checked.
  EXPECT_EQ(refusal_of(heads_form_with("pos.bias", stored(ByteTensor::zeros({1}))), kFull),
            "accepted");
}

TEST(Attend, RejectsFunctionThatAppliesToWholeModels) {
  const std::string dilated =
      R"({"variant": {"type": "compressive", "rate": 2, "function": "dilated"}})";
  const std::string refusal = refusal_of(heads_form(), dilated);
  EXPECT_NE(refusal.find("variant.function: expected one of mean, max, convolution, most_used, "
                         "found \"dilated\""),
            std::string::npos)
      << refusal;
}

TEST(Attend, AcceptsEmptyMemories) {
  SafetensorsFile file = heads_form();
  for (const char* name : {"mem.k", "old.k"}) file.tensors[name] = stored(Tensor({2, 0, 4}));
  for (const char* name : {"mem.v", "old.v"}) file.tensors[name] = stored(Tensor({2, 0, 3}));
  file.tensors["comp.usage"] = stored(Tensor({2, 0}));
  file.tensors["memorizing.gate"] = stored(random_tensor({2}, 1));
  const SafetensorsFile full_out =
      run(heads_form(), R"({"variant": {"type": "full"}, "causal": true})").out;
  for (const char* variant :
       {R"({"variant": {"type": "segment_memory"}})",
        R"({"variant": {"type": "compressive", "rate": 2}})",
        R"({"variant": {"type": "compressive", "rate": 2, "function": "max"}})",
        R"({"variant": {"type": "compressive", "rate": 2, "function": "most_used"}})"}) {
    const SafetensorsFile out = run(file, variant).out;
    EXPECT_TRUE(testing::close(out.tensors.at("attention").floats(),
                               full_out.tensors.at("attention").floats()))
        << variant;
  }
  EXPECT_TRUE(refusal_of(file, R"({"variant": {"type": "memorizing", "top": 1}})")
                  .starts_with("variant.top: "));
}

TEST(Attend, ProjectsMemoryInput) {
  SafetensorsFile file = input_form();
  const std::string spec = R"({"variant": {"type": "segment_memory"}, "heads": 2})";
  file.tensors["mem.x"] = stored(random_tensor({3, 8}, 5));
  EXPECT_EQ(run(file, spec).out.tensors.at("attention").shape, (Shape{2, 6, 9}));
  file.tensors["mem.x"] = stored(random_tensor({3, 7}, 5));
  EXPECT_TRUE(refusal_of(file, spec).starts_with("mem.x: "));
  file.tensors["mem.x"] = stored(Tensor({0, 8}));
  EXPECT_EQ(run(file, spec).out.tensors.at("attention").shape, (Shape{2, 6, 6}));
}

TEST(Attend, TensorsDecideWhetherSpansAreDynamic) {
  const std::string spec = R"({"variant": {"type": "adaptive_span", "span": 4, "ramp": 2},
                               "heads": 2})";
  SafetensorsFile fixed_span = input_form(), dynamic_span = input_form(), both_spans = input_form();
  fixed_span.tensors["span.z"] = stored(Tensor::full({2}, 1));
  dynamic_span.tensors["span.v"] = stored(random_tensor({2, 8}, 5));
  dynamic_span.tensors["span.b"] = stored(random_tensor({2}, 6));
  both_spans.tensors = dynamic_span.tensors;
  both_spans.tensors["span.z"] = fixed_span.tensors["span.z"];
  const auto attention = [](const SafetensorsFile& file, const std::string& with_spec) {
    return run(file, with_spec).out.tensors.at("attention").floats();
  };
  const std::string dynamic_spec =
      R"({"variant": {"type": "adaptive_span", "span": 4, "ramp": 2, "dynamic": true},
          "heads": 2})";
  EXPECT_TRUE(testing::differs(attention(fixed_span, spec), attention(dynamic_span, spec), 1e-3));
  EXPECT_TRUE(
      testing::close(attention(dynamic_span, spec), attention(dynamic_span, dynamic_spec), 0));
  EXPECT_TRUE(testing::close(attention(fixed_span, spec), attention(fixed_span, dynamic_spec), 0));
  EXPECT_TRUE(testing::close(attention(both_spans, spec), attention(fixed_span, spec), 0));
  EXPECT_TRUE(
      testing::close(attention(both_spans, dynamic_spec), attention(dynamic_span, spec), 0));
  EXPECT_TRUE(refusal_of(input_form(), spec).starts_with("span.z: missing"));
  EXPECT_TRUE(refusal_of(input_form(), dynamic_spec).starts_with("span.v: missing"));
  dynamic_span.tensors.erase("span.b");
  EXPECT_TRUE(refusal_of(dynamic_span, spec).starts_with("span.b: missing"));
}

TEST(Attend, ReportsFeatureState) {
  const SafetensorsFile out = run(heads_form(), R"({"variant": {"type": "linear"}})").out;
  EXPECT_EQ(out.tensors.at("state").shape, (Shape{2, 4, 3}));
  EXPECT_EQ(run(heads_form(),
                R"({"variant": {"type": "rfa", "features": 5}, "position": {"type": "rope"}})")
                .out.tensors.at("state")
                .shape,
            (Shape{2, 10, 3}));
}

TEST(Attend, GateRequiresInputForm) {
  const std::string spec =
      R"({"variant": {"type": "rfa", "features": 5, "gate": true}, "causal": true, "heads": 2})";
  EXPECT_TRUE(refusal_of(heads_form(), spec).starts_with("x: missing"));
  SafetensorsFile file = input_form();
  EXPECT_TRUE(refusal_of(file, spec).starts_with("rfa.gate.w: missing"));
  file.tensors["rfa.gate.w"] = stored(random_tensor({2, 8}, 5));
  file.tensors["rfa.gate.b"] = stored(random_tensor({2}, 6));
  EXPECT_EQ(refusal_of(file, spec), "accepted");
  EXPECT_TRUE(
      refusal_of(file, R"({"variant": {"type": "rfa", "features": 5, "gate": true}, "heads": 2})")
          .starts_with("variant.gate: "));
}

TEST(Attend, ScoreTermsSumToScoresIfQueriesServeAsKeys) {
  SafetensorsFile file = input_form();
  file.tensors.erase("wk");
  const SafetensorsFile out =
      run(file, R"({"variant": {"type": "routing", "clusters": 2, "shared": true}, "heads": 2,
                    "position": {"type": "sinusoidal"}})",
          true)
          .out;
  Tensor sum = Tensor::zeros({2, 6, 6});
  for (const char* term : {"term.content", "term.content_position", "term.position_content",
                           "term.position_position"}) {
    const Tensor cells = out.tensors.at(term).floats();
    for (Index i = 0; i < sum.size(); ++i) sum[i] += cells[i];
  }
  EXPECT_TRUE(testing::close(sum, out.tensors.at("scores").floats()));
}

TEST(Attend, RejectsTermsOfVariantWithoutScores) {
  EXPECT_TRUE(
      refusal_of(heads_form(), R"({"variant": {"type": "linear"}})", true).starts_with("terms: "));
  EXPECT_TRUE(run(heads_form(), kFull, true).out.tensors.contains("term.content"));
}

TEST(Attend, OverflowIsRejectedOrGivesFiniteNumbers) {
  SafetensorsFile file = heads_form();
  file.tensors["q"] = stored(Tensor::full({2, 6, 4}, 3e38f));
  file.tensors["k"] = stored(Tensor::full({2, 6, 4}, 3e38f));
  try {
    for (const auto& [name, tensor] : run(file, kFull).out.tensors) {
      if (tensor.dtype != DType::F32) continue;
      for (const float x : tensor.floats()) ASSERT_TRUE(std::isfinite(x)) << name;
    }
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("range of float32"), std::string::npos);
  }
}

Tensor repeated_heads(const Tensor& x, Index times) {
  Tensor all({x.dim(0) * times, x.dim(1), x.dim(2)});
  const Index size = x.dim(1) * x.dim(2);
  for (Index head = 0; head < all.dim(0); ++head) {
    std::copy_n(x.data() + head / times * size, size, all.data() + head * size);
  }
  return all;
}

// Grouped-query attention: query heads share keys and values.
TEST(Attend, QueryHeadsShareKeysAndValues) {
  const Tensor k = random_tensor({2, 6, 4}, 2), v = random_tensor({2, 6, 3}, 3);
  SafetensorsFile grouped, repeated;
  for (SafetensorsFile* file : {&grouped, &repeated}) {
    file->tensors["q"] = stored(random_tensor({4, 6, 4}, 1));
  }
  grouped.tensors["k"] = stored(k);
  grouped.tensors["v"] = stored(v);
  repeated.tensors["k"] = stored(repeated_heads(k, 2));
  repeated.tensors["v"] = stored(repeated_heads(v, 2));
  for (const char* spec :
       {R"({"variant": {"type": "full"}, "causal": true})",
        R"({"variant": {"type": "local", "window": 2}})", R"({"variant": {"type": "linear"}})",
        R"({"variant": {"type": "full"}, "position": {"type": "rope"}})"}) {
    const SafetensorsFile one = run(grouped, spec).out, other = run(repeated, spec).out;
    EXPECT_TRUE(
        testing::close(one.tensors.at("output").floats(), other.tensors.at("output").floats()))
        << spec;
  }
  grouped.tensors["q"] = stored(random_tensor({3, 6, 4}, 1));
  EXPECT_TRUE(refusal_of(grouped, kFull).starts_with("k: expected shape [3")) << "2 divides no 3";
}

// The number of heads follows from the tensors, or is 1 for variants with a single head.
TEST(Attend, RejectsHeadCountThatDiffersFromTensors) {
  EXPECT_EQ(refusal_of(heads_form(), R"({"variant": {"type": "full"}, "heads": 2})"), "accepted");
  EXPECT_TRUE(refusal_of(heads_form(), R"({"variant": {"type": "full"}, "heads": 3})")
                  .starts_with("heads: expected the 2 heads of q, found 3"));
  SafetensorsFile no_heads;
  no_heads.tensors["x"] = stored(random_tensor({6, 8}, 1));
  for (const auto& [heads, prefix] :
       {std::pair<int, const char*>{2, "heads: expected 1"}, {3, "heads: expected 1"}}) {
    const std::string reason = refusal_of(
        no_heads, R"({"variant": {"type": "gmlp"}, "heads": )" + std::to_string(heads) + "}");
    EXPECT_TRUE(reason.starts_with(prefix)) << reason;
  }
  const std::string one_head = refusal_of(no_heads, R"({"variant": {"type": "gmlp"}, "heads": 1})");
  EXPECT_FALSE(one_head.starts_with("heads:")) << one_head;
}

// Doubles that overflow float32 are reported as too large.
TEST(Attend, RejectsInfiniteAndOverflowingNumbers) {
  SafetensorsFile file = heads_form();
  file.tensors["q"] = constant_tensor(DType::F64, {2, 6, 4}, 1e300);
  EXPECT_EQ(refusal_of(file, kFull),
            "q: expected finite numbers within the range of float32, found a larger one as number "
            "0");
  file.tensors["q"] = constant_tensor(DType::F64, {2, 6, 4}, std::nan(""));
  EXPECT_TRUE(refusal_of(file, kFull).starts_with("q: expected finite numbers, found"));
  Tensor q = Tensor::full({2, 6, 4}, 0.5F);
  q[47] = INFINITY;
  file.tensors["q"] = stored(q);
  EXPECT_EQ(refusal_of(file, kFull), "q: expected finite numbers, found inf as number 47");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
