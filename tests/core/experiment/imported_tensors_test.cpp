#include "core/experiment/imported_tensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/model/config.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class ImportedTensorsTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() / name; }

  // Returns random weights whose rows sum to 1.
  static Tensor weights(const Shape& shape, bool causal = false) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> positive(0.1F, 1);
    Tensor t(shape);
    const Index keys = t.dim(-1), queries = t.dim(-2);
    for (Index row = 0; row < t.size() / keys; ++row) {
      float sum = 0;
      for (Index j = 0; j < keys; ++j) {
        const bool is_hidden = causal && j > row % queries + keys - queries;
        sum += t[row * keys + j] = is_hidden ? 0 : positive(random);
      }
      for (Index j = 0; j < keys; ++j) t[row * keys + j] /= sum;
    }
    return t;
  }

  std::string save(const std::string& name, const std::map<std::string, Tensor>& tensors,
                   const std::map<std::string, std::string>& metadata = {}) const {
    SafetensorsFile file;
    for (const auto& [key, tensor] : tensors) file.tensors.emplace(key, stored(tensor));
    file.metadata = metadata;
    write_safetensors(path(name), file);
    return path(name);
  }

  static Trace trace(const std::string& file, RunSpec spec = {}) {
    spec.tensors.file = file;
    return trace_of_tensors(spec, cpu_backend());
  }

  static void expect_refusal(const TensorFiles& files, const std::string& message_part) {
    try {
      read_imported_tensors(files);
      ADD_FAILURE() << "not refused: " << message_part;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(message_part), std::string::npos) << e.what();
    }
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ImportedTensorsTest, EveryRankBecomesLayersAndHeads) {
  struct Case {
    Shape shape;
    Index layers, heads;
  };
  for (const Case& c : {Case{{5, 5}, 1, 1}, Case{{3, 5, 7}, 1, 3}, Case{{2, 3, 5, 7}, 2, 3},
                        Case{{2, 1, 3, 5, 7}, 2, 3}}) {
    const Tensor attention = weights(c.shape);
    const Trace t = trace(save("rank.safetensors", {{"attention", attention}}));
    EXPECT_TRUE(t.is_imported);
    ASSERT_EQ(t.layer_count({}), c.layers);
    ASSERT_EQ(t.head_count({}, 0), c.heads);
    Index index = 0;
    for (const AttentionTap& tap : t.attention) {
      for (Index head = 0; head < c.heads; ++head) {
        for (const float weight : tap.attention(head)) EXPECT_EQ(weight, attention[index++]);
      }
    }
    EXPECT_EQ(index, attention.size());
    const bool has_unnamed_keys = attention.dim(-1) != attention.dim(-2);
    EXPECT_EQ(t.notes.size(), has_unnamed_keys ? 1u : 0u);
  }
}

TEST_F(ImportedTensorsTest, AcceptsOneArrayPerLayer) {
  std::map<std::string, Tensor> layers;
  for (Index n = 0; n < 11; ++n) {
    layers["attention." + std::to_string(n)] = weights({n == 10 ? 3 : 2, 4, 4});
  }
  const Trace t = trace(save("layers.safetensors", layers));
  ASSERT_EQ(t.layer_count({}), 11);
  EXPECT_EQ(t.head_count({}, 2), 2);  // numeric order, not alphabetic
  EXPECT_EQ(t.head_count({}, 10), 3);
}

TEST_F(ImportedTensorsTest, RejectsLayersWithGapsOrDuplicates) {
  const Tensor layer = weights({2, 4, 4});
  expect_refusal(
      {save("gap.safetensors", {{"attention.0", layer}, {"attention.2", layer}}), "", ""},
      "attention.2: expected layers without gaps from 0 on, found no attention.1");
  expect_refusal(
      {save("two.safetensors", {{"attention.1", layer}, {"attention.01", layer}}), "", ""},
      "found attention.01 as well");
}

TEST_F(ImportedTensorsTest, ReadsTokensFromFileOrTokenFiles) {
  const std::string file = save("tokens.safetensors", {{"attention", weights({2, 2, 3})}},
                                {{"tokens", R"(["Ġa", "b"])"}, {"key_tokens", R"(["x","y","x"])"}});
  const Trace t = trace(file);
  EXPECT_EQ(t.tokens[0].label, "␣a");
  ASSERT_EQ(t.streams.at(0).tokens.size(), 3u);
  EXPECT_EQ(t.streams[0].tokens[0].id, t.streams[0].tokens[2].id);
  write_file(path("lines.txt"), "[CLS]\r\none two\n");
  write_file(path("words.txt"), "p q r");
  write_file(path("list.json"), R"(["u", "v"])");
  ImportedTensors tensors = read_imported_tensors({file, path("lines.txt"), path("words.txt")});
  EXPECT_EQ(tensors.tokens, (std::vector<std::string>{"[CLS]", "one two"}));
  EXPECT_EQ(tensors.key_tokens, (std::vector<std::string>{"p", "q", "r"}));
  tensors = read_imported_tensors({file, path("list.json"), ""});
  EXPECT_EQ(tensors.tokens, (std::vector<std::string>{"u", "v"}));
  expect_refusal({file, path("words.txt"), ""}, "expected 2 tokens, found 3");
  write_file(path("wrong.json"), R"(["u", 1])");
  expect_refusal({file, path("wrong.json"), ""}, "expected a list of texts");
}

TEST_F(ImportedTensorsTest, DecodesVocabularyTokens) {
  const auto labels = [&](const char* tokens) {
    const std::string file =
        save("written.safetensors", {{"attention", weights({1, 3, 3})}}, {{"tokens", tokens}});
    std::vector<std::string> result;
    for (const TraceToken& token : trace(file).tokens) result.push_back(token.label);
    return result;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(R"(["caf", "Ã©", "Ġbar"])"), (Labels{"caf", "é", "␣bar"}));
  EXPECT_EQ(labels(R"(["<|end|>", "Ċ", "Ġ"])"), (Labels{"<|end|>", "⏎", "␣"}));
  const Labels bytes = labels(R"(["▁a", "<0x0A>", "b▁c"])");
  EXPECT_EQ(bytes, (Labels{"␣a", "⏎", "b c"}));
  // Texts that are not vocabulary tokens stay unchanged.
  EXPECT_EQ(labels(R"(["Ã©", "<0xZZ>", "<0x4>"])"), (Labels{"Ã©", "<0xZZ>", "<0x4>"}));
}

TEST_F(ImportedTensorsTest, NotesUnnamedKeys) {
  const auto notes = [&](const std::map<std::string, std::string>& metadata) {
    const Trace t = trace(save("band.safetensors", {{"attention", weights({1, 4, 3})}}, metadata));
    std::string text;
    for (const std::string& note : t.notes) text += note + "\n";
    return text;
  };
  EXPECT_NE(notes({}).find("4 queries and 3 keys without key_tokens"), std::string::npos);
  EXPECT_EQ(notes({{"key_tokens", R"(["x","y","z"])"}}).find("without key_tokens"),
            std::string::npos);
}

TEST_F(ImportedTensorsTest, NumbersPositionsWithoutTokens) {
  const Trace t = trace(save("plain.safetensors", {{"attention", weights({3, 4})}}));
  ASSERT_EQ(t.tokens.size(), 3u);
  EXPECT_EQ(t.tokens[2].label, "2");
  EXPECT_EQ(t.tokens[2].id, -1);
  EXPECT_EQ(t.streams.at(0).tokens.size(), 4u);
}

TEST_F(ImportedTensorsTest, PatternCoversPositiveWeights) {
  const Trace causal = trace(save("causal.safetensors", {{"a", weights({2, 6, 6}, true)}}));
  EXPECT_EQ(causal.attention[0].result.pattern->heads(), 1);
  EXPECT_EQ(causal.attention[0].result.pattern->pair_count(1), 21);
  Tensor sparse = weights({2, 3, 3});
  sparse(1, 0, 1) = 0;
  sparse(0, 2, 0) = 0;
  const Trace t = trace(save("sparse.safetensors", {{"a", sparse}}));
  const Pattern& pattern = *t.attention[0].result.pattern;
  for (Index a = 0; a < 2; ++a) {
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        EXPECT_EQ(pattern.allowed(a, i, j), sparse(a, i, j) != 0) << a << i << j;
      }
    }
  }
}

TEST_F(ImportedTensorsTest, NotesRowSumsAndSigns) {
  Tensor signed_weights = weights({4, 4});
  signed_weights(1, 1) = -3;
  const Trace t = trace(save("signs.safetensors", {{"a", signed_weights}}));
  ASSERT_EQ(t.notes.size(), 2u);
  EXPECT_NE(t.notes[0].find("negative"), std::string::npos);
  EXPECT_NE(t.notes[1].find("do not sum"), std::string::npos);
}

TEST_F(ImportedTensorsTest, ComputesAttentionFromQueriesAndKeys) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Tensor q({2, 4, 5, 8}), k({2, 2, 5, 8});
  for (Tensor* t : {&q, &k}) {
    for (float& x : *t) x = normal(random);
  }
  RunSpec spec;
  spec.causal = true;
  const Trace t = trace(save("qk.safetensors", {{"q", q}, {"k", k}}), spec);
  EXPECT_FALSE(t.is_imported);
  ASSERT_EQ(t.layer_count({}), 2);
  for (Index layer = 0; layer < 2; ++layer) {
    for (Index head = 0; head < 4; ++head) {
      const Tensor weights_of_head = t.attention[static_cast<std::size_t>(layer)].attention(head);
      for (Index i = 0; i < 5; ++i) {
        std::vector<double> e(5, 0);
        double sum = 0;
        for (Index j = 0; j <= i; ++j) {
          double dot = 0;
          for (Index c = 0; c < 8; ++c) {
            dot += static_cast<double>(q(layer, head, i, c)) *
                   static_cast<double>(k(layer, head / 2, j, c));
          }
          sum += e[static_cast<std::size_t>(j)] = std::exp(dot / std::sqrt(8.0));
        }
        for (Index j = 0; j < 5; ++j) {
          const double expected = e[static_cast<std::size_t>(j)] / sum;
          const double difference = std::abs(static_cast<double>(weights_of_head(i, j)) - expected);
          EXPECT_TRUE(difference <= 1e-6) << layer << head << i << j;
        }
      }
    }
  }
  EXPECT_FALSE(t.attention[0].output().defined());  // there is no v
}

TEST_F(ImportedTensorsTest, ErrorsNameTensors) {
  const auto expect_tensor_refusal = [&](const std::map<std::string, Tensor>& tensors,
                                         const std::string& message_part) {
    expect_refusal({save("refused.safetensors", tensors), "", ""}, message_part);
  };
  expect_tensor_refusal({{"a", weights({4, 4})}, {"b", weights({4, 4})}},
                        "found a [4, 4] of F32, b [4, 4]");
  expect_tensor_refusal({{"attention", Tensor::full({4}, 1)}}, "found [4]");
  expect_tensor_refusal({{"attention", Tensor::full({2, 2, 2, 2, 2, 2}, 1)}},
                        "found [2, 2, 2, 2, 2, 2]");
  expect_tensor_refusal({{"attention", Tensor({0, 4, 4})}}, "no empty axis");
  expect_tensor_refusal({{"q", weights({3, 4})}}, "k: missing");
  expect_tensor_refusal({{"q", weights({3, 4})}, {"k", weights({3, 5})}},
                        "expected d_k = 4, found [1, 3, 5]");
  expect_tensor_refusal({{"q", weights({3, 2, 4})}, {"k", weights({2, 2, 4})}}, "divides q's 3");
  expect_tensor_refusal({{"q", weights({2, 4})}, {"k", weights({2, 4})}, {"v", weights({3, 4})}},
                        "the heads and rows of k, [1, 2]");
  expect_tensor_refusal({{"attention.0", weights({2, 3, 3})}, {"attention.1", weights({2, 4, 3})}},
                        "layer 1");
  Tensor hole = weights({3, 3});
  hole(1, 2) = std::numeric_limits<float>::quiet_NaN();
  expect_tensor_refusal({{"attention", hole}}, "NaN at [1, 2]");
  hole(1, 2) = std::numeric_limits<float>::infinity();
  expect_tensor_refusal({{"attention", hole}}, "infinity at [1, 2]");
  expect_refusal({path("missing.npy"), "", ""}, "no such file");
  expect_refusal({path("a.txt"), "", ""}, ".npy, .npz or .safetensors");
}

TEST_F(ImportedTensorsTest, ReadsSingleArrayOfNpy) {
  const Tensor attention = weights({2, 5, 5});
  write_npy(path("a.npy"), stored(attention, DType::F32));
  const Trace t = trace(path("a.npy"));
  EXPECT_EQ(t.head_count({}, 0), 2);
  write_npy(path("i.npy"), stored(IntTensor::full({3, 3}, 1)));
  expect_refusal({path("i.npy"), "", ""}, "expected floats");
}

// Row sums may differ from 1 by the rounding error of half precision, 0.02. Rows of zeros are
// ignored.
TEST_F(ImportedTensorsTest, NotesRowSumsBeyondRounding) {
  const auto notes = [&](float sum, float other_sum = 1) {
    Tensor rows = Tensor::zeros({1, 3, 3});
    rows(0, 1, 0) = sum;
    rows(0, 2, 0) = other_sum / 2;
    rows(0, 2, 2) = other_sum / 2;
    return trace(save("sums.safetensors", {{"attention", rows}})).notes;
  };
  const auto has_sum_note = [&](float sum) {
    for (const std::string& note : notes(sum)) {
      if (note.find("do not sum") != std::string::npos) return true;
      EXPECT_EQ(note.find("negative"), std::string::npos) << note;
    }
    return false;
  };
  for (const float sum : {0.0F, 0.981F, 1.0F, 1.019F}) EXPECT_FALSE(has_sum_note(sum)) << sum;
  for (const float sum : {0.979F, 1.021F, 2.0F, 0.1F}) EXPECT_TRUE(has_sum_note(sum)) << sum;
  EXPECT_TRUE(trace(save("causal.safetensors", {{"a", weights({2, 6, 6}, true)}})).notes.empty());
}

// Detects a causal mask, also after keys that all queries see. Detects no mask if there are fewer
// keys than queries or if a pair with an earlier key has no weight.
TEST_F(ImportedTensorsTest, DetectsCausalMask) {
  const Trace late_trace = trace(save("late.safetensors", {{"a", weights({2, 3, 5}, true)}}));
  const Pattern& pattern = *late_trace.attention[0].result.pattern;
  EXPECT_EQ(pattern.heads(), 1);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(pattern.allowed(0, i, j), j <= i + 2);
  }
  const auto pattern_heads = [&](const Tensor& attention) {
    const Trace t = trace(save("mask.safetensors", {{"a", attention}}));
    const Pattern& derived = *t.attention[0].result.pattern;
    for (Index a = 0; a < attention.dim(0); ++a) {
      for (Index i = 0; i < attention.dim(1); ++i) {
        for (Index j = 0; j < attention.dim(2); ++j) {
          EXPECT_EQ(derived.allowed(derived.heads() > 1 ? a : 0, i, j), attention(a, i, j) != 0);
        }
      }
    }
    return derived.heads();
  };
  EXPECT_EQ(pattern_heads(weights({2, 4, 4})), 1);
  EXPECT_EQ(pattern_heads(weights({2, 4, 4}, true)), 1);
  Tensor with_hole = weights({2, 4, 4}, true);
  with_hole(1, 3, 1) = 0;
  EXPECT_EQ(pattern_heads(with_hole), 2);
  Tensor with_future_pair = weights({2, 4, 4}, true);
  with_future_pair(0, 1, 3) = 0.5F;
  EXPECT_EQ(pattern_heads(with_future_pair), 2);
  Tensor fewer_keys = Tensor::zeros({2, 4, 3});  // the first query attends to no key
  for (Index a = 0; a < 2; ++a) {
    for (Index i = 0; i < 4; ++i) {
      for (Index j = 0; j < i; ++j) fewer_keys(a, i, j) = 1 / static_cast<float>(i);
    }
  }
  EXPECT_EQ(pattern_heads(fewer_keys), 2);
}

TEST_F(ImportedTensorsTest, DecodesOnlyCompleteByteTokens) {
  const std::string file = save("bytes.safetensors", {{"attention", weights({1, 4, 4})}},
                                {{"tokens", R"(["▁a▁▁b", "<0x4g>", "<0x41>", "<0x410>"])"}});
  const Trace t = trace(file);
  EXPECT_EQ(t.tokens[0].bytes, " a  b");
  EXPECT_EQ(t.tokens[1].bytes, "<0x4g>");
  EXPECT_EQ(t.tokens[2].bytes, "A");
  EXPECT_EQ(t.tokens[3].bytes, "<0x410>");
}

// The panels of the window display these sizes.
TEST_F(ImportedTensorsTest, ConfigSizesMatchTensors) {
  RunSpec causal;
  causal.causal = true;
  const Tensor q = weights({2, 4, 5, 8}), k = weights({2, 2, 7, 8}), v = weights({2, 2, 7, 3});
  const Trace t = trace(save("qkv.safetensors", {{"q", q}, {"k", k}, {"v", v}}));
  EXPECT_EQ(t.config->layers, 2);
  EXPECT_EQ(t.config->heads, 4);
  EXPECT_EQ(t.config->kv_heads, 2);
  EXPECT_EQ(t.config->head_size, 8);
  EXPECT_EQ(t.config->width, 32);
  EXPECT_EQ(t.config->context, 7);
  EXPECT_FALSE(t.config->causal);
  EXPECT_TRUE(t.attention[1].result.log_sum_exp.defined());
  EXPECT_TRUE(t.attention[1].output().defined());
  EXPECT_EQ(t.attention[1].address.layer, 1);
  EXPECT_EQ(t.attention[1].heads, (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(t.attention[0].key_rows.stream, t.streams.at(0).id);
  EXPECT_EQ(t.attention[0].input().v.shape(), (Shape{2, 7, 3}));
  const Tensor longer = weights({2, 9, 8}), keys = weights({1, 9, 8});
  const Trace qk = trace(save("qk.safetensors", {{"q", longer}, {"k", keys}}), causal);
  EXPECT_EQ(qk.config->context, 9);
  EXPECT_EQ(qk.config->kv_heads, 1);
  EXPECT_TRUE(qk.config->causal);
  EXPECT_TRUE(qk.streams.empty());
  EXPECT_FALSE(qk.attention[0].input().v.defined());
  const Trace map = trace(save("map.safetensors", {{"attention", weights({3, 6, 4})}}));
  EXPECT_EQ(map.config->heads, 3);
  EXPECT_EQ(map.config->kv_heads, 3);
  EXPECT_EQ(map.config->head_size, 0);
  EXPECT_EQ(map.config->context, 6);
}

TEST_F(ImportedTensorsTest, RejectsMismatchedVectors) {
  const auto expect_tensor_refusal = [&](const std::map<std::string, Tensor>& tensors,
                                         const std::string& message_part) {
    expect_refusal({save("refused.safetensors", tensors), "", ""}, message_part);
  };
  const Tensor q = weights({2, 4, 5, 8});
  expect_tensor_refusal({{"q", q}, {"k", weights({3, 4, 5, 8})}},
                        "expected as many layers as q, 2, found 3");
  expect_tensor_refusal({{"q", q}, {"k", q}, {"v", weights({1, 4, 5, 8})}},
                        "expected as many layers as q, 2");
  expect_tensor_refusal({{"q", q}, {"k", q}, {"v", weights({2, 2, 5, 8})}},
                        "the heads and rows of k, [4, 5]");
  expect_tensor_refusal({{"q", q}, {"k", q}, {"v", weights({2, 4, 6, 8})}},
                        "the heads and rows of k, [4, 5]");
  expect_tensor_refusal({{"q", q}, {"k", weights({2, 4, 5, 7})}}, "layer 0: expected d_k = 8");
  expect_tensor_refusal({{"attention.0", weights({2, 3, 3})}, {"attention.1", weights({2, 3, 4})}},
                        "layer 1: expected rows and columns as in layer 0, [3, 3], found [3, 4]");
  expect_tensor_refusal({{"attention", weights({2, 3, 4, 5, 6})}}, "found [2, 3, 4, 5, 6]");
  expect_tensor_refusal({{"attention", Tensor({2, 3, 0})}}, "no empty axis");
  // At most six arrays are named.
  std::map<std::string, Tensor> arrays;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) arrays[name] = weights({2, 2});
  expect_tensor_refusal(arrays, "f [2, 2] of F32");
  arrays["g"] = weights({2, 2});
  expect_tensor_refusal(arrays, "f [2, 2] of F32, ...");
}

// Accepts all formats of names with layer numbers. Ignores arrays without a layer number.
TEST_F(ImportedTensorsTest, AcceptsLayerNumberFormats) {
  for (const auto& [prefix, suffix] : {std::pair<std::string, std::string>{"attention.", ""},
                                       {"attentions.", ""},
                                       {"layers.", ".attention"},
                                       {"arr_", ""}}) {
    const Tensor first = weights({2, 4, 4});
    const Trace t =
        trace(save("named.safetensors", {{prefix + "0" + suffix, first},
                                         {prefix + "1" + suffix, weights({3, 4, 4})},
                                         {prefix + suffix, weights({5, 4, 4})},
                                         {prefix + "1x" + suffix, weights({5, 4, 4})}}));
    ASSERT_EQ(t.layer_count({}), 2) << prefix;
    EXPECT_EQ(t.head_count({}, 0), 2);
    EXPECT_EQ(t.head_count({}, 1), 3);
  }
  EXPECT_TRUE(is_tensor_file("a.NPY"));
  EXPECT_TRUE(is_tensor_file("a.npz"));
  EXPECT_TRUE(is_tensor_file("a.safetensors"));
  EXPECT_FALSE(is_tensor_file("a.json"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
