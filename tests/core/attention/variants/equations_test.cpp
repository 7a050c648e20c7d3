// Compares variants with their equations in double precision. patterns_test.cpp covers variants
// that only restrict the allowed keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::OperationSizes;

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

// The operation under test and its result.
struct TestRun {
  OperationSizes sizes;
  OperationInput input;
  OperationResult result;

  double q(Index a, Index i, Index n) const { return input.q.value()(a, i, n); }
  double k(Index a, Index j, Index n) const { return input.k.value()(a, j, n); }
  double v(Index a, Index j, Index n) const { return input.v.value()(a, j, n); }
  double x(Index i, Index n) const { return input.x.value()(0, i, n); }
  const Tensor& w(const char* name) const { return weight(input.weights, name).value(); }
  Row query(Index a, Index i) const { return get_row(input.q.value(), a, i); }
  Row key(Index a, Index j) const { return get_row(input.k.value(), a, j); }
  Row value(Index a, Index j) const { return get_row(input.v.value(), a, j); }
  static Row get_row(const Tensor& t, Index a, Index i) {
    Row row;
    for (Index n = 0; n < t.dim(2); ++n) row.push_back(t(a, i, n));
    return row;
  }
  double scale() const { return 1 / std::sqrt(static_cast<double>(sizes.key)); }
};

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

Row unit(Row x) {
  const double length = std::sqrt(dot(x, x));
  for (double& number : x) number = length > 0 ? number / length : 0;
  return x;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// Softmax over the keys that `is_allowed` accepts. Each exp() is multiplied by `factor`. Returns
// zeros if no key is allowed.
Row softmax(
    const Row& scores, const std::function<bool(Index)>& is_allowed,
    const std::function<double(Index)>& factor = [](Index) { return 1.0; }) {
  double maximum = -1e300, sum = 0;
  const auto count = static_cast<Index>(scores.size());
  for (Index j = 0; j < count; ++j) {
    if (is_allowed(j)) maximum = std::max(maximum, scores[static_cast<std::size_t>(j)]);
  }
  Row weights(scores.size(), 0.0);
  for (Index j = 0; j < count; ++j) {
    const auto index = static_cast<std::size_t>(j);
    if (is_allowed(j)) sum += weights[index] = factor(j) * std::exp(scores[index] - maximum);
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 0;
  return weights;
}

using ExpectedRow = std::function<Row(const TestRun&, Index a, Index i)>;
using ValueOf = std::function<Row(const TestRun&, Index a, Index column)>;

// Runs the variant `json` for several lengths. Compares the attention with `expected`, and the
// output with the expected attention times the values.
void expect_attention(const char* json, const ExpectedRow& expected, bool causal = false,
                      const ValueOf& value = {}) {
  SCOPED_TRACE(json);
  for (const Index length : {1, 7, 16, 23}) {
    TestRun run;
    run.sizes.length = length;
    run.sizes.heads = run.sizes.kv_heads = 3;
    run.sizes.inner = 6;
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    if (!refusal(choice, default_encoding(), causal, testing::dimensions(run.sizes), length, length)
             .empty()) {
      continue;
    }
    run.input = testing::random_operation(run.sizes, choice, default_encoding(), causal,
                                          static_cast<std::uint64_t>(length));
    run.result = evaluate(run.input, cpu_backend(), {.output = true, .attention = true});
    Tensor attention(run.result.attention.shape());
    Tensor output(run.result.output.shape());
    const auto value_row =
        value ? value : [](const TestRun& r, Index a, Index c) { return r.value(a, c); };
    for (Index a = 0; a < attention.dim(0); ++a) {
      for (Index i = 0; i < length; ++i) {
        const Row row = expected(run, a, i);
        ASSERT_EQ(static_cast<Index>(row.size()), attention.dim(2));
        Row sum(static_cast<std::size_t>(output.dim(2)), 0.0);
        for (Index c = 0; c < attention.dim(2); ++c) {
          attention(a, i, c) = static_cast<float>(row[static_cast<std::size_t>(c)]);
          const Row column_value = value_row(run, a, c);
          for (std::size_t n = 0; n < sum.size(); ++n) {
            sum[n] += row[static_cast<std::size_t>(c)] * column_value[n];
          }
        }
        for (Index n = 0; n < output.dim(2); ++n) {
          output(a, i, n) = static_cast<float>(sum[static_cast<std::size_t>(n)]);
        }
      }
    }
    EXPECT_TRUE(close(run.result.attention, attention, 2e-5)) << "attention of " << length;
    if (!value || value_row(run, 0, 0).size() == static_cast<std::size_t>(output.dim(2))) {
      EXPECT_TRUE(close(run.result.output.value(), output, 2e-5)) << "output of " << length;
    }
  }
}

// Returns the scores scale * q·key(c) for columns c in [0, count).
Row scores(const TestRun& r, Index a, Index i, Index count, const std::function<Row(Index)>& key) {
  Row result;
  for (Index c = 0; c < count; ++c) result.push_back(r.scale() * dot(r.query(a, i), key(c)));
  return result;
}

std::function<bool(Index)> up_to(Index last) {
  return [last](Index j) { return j <= last; };
}
bool any_key(Index) {
  return true;
}

TEST(Equations, HoldForScaledProducts) {
  for (const double scale : {0.0, 0.3, 1.5}) {
    const std::string json = R"({"type": "full", "scale": )" + std::to_string(scale) + "}";
    expect_attention(json.c_str(), [=](const TestRun& r, Index a, Index i) {
      Row s;
      for (Index j = 0; j < r.sizes.length; ++j) {
        s.push_back(scale * dot(r.query(a, i), r.key(a, j)));
      }
      return softmax(s, any_key);
    });
  }
}

TEST(Equations, HoldForAdditiveScores) {
  expect_attention(R"({"type": "full", "score": "additive"})", [](const TestRun& r, Index a,
                                                                  Index i) {
    Row s;
    for (Index j = 0; j < r.sizes.length; ++j) {
      double sum = 0;
      for (Index m = 0; m < r.sizes.inner; ++m) {
        double argument = 0;
        for (Index n = 0; n < r.sizes.key; ++n) {
          argument += r.q(a, i, n) * r.w("add.wq")(a, n, m) + r.k(a, j, n) * r.w("add.wk")(a, n, m);
        }
        sum += r.w("add.v")(a, m) * std::tanh(argument);
      }
      s.push_back(sum);
    }
    return softmax(s, any_key);
  });
}

TEST(Equations, HoldForGraph) {
  const auto edge_predicate = [](const TestRun& r, Index i) {
    return [&r, i](Index j) { return i == j || r.w("graph.adjacency")(i, j) != 0; };
  };
  expect_attention(
      R"({"type": "graph", "mode": "additive"})", [&](const TestRun& r, Index a, Index i) {
        Row s;
        for (Index j = 0; j < r.sizes.length; ++j) {
          double sum = 0;
          for (Index n = 0; n < r.sizes.key; ++n) {
            sum += r.w("graph.src")(a, n) * r.q(a, i, n) + r.w("graph.dst")(a, n) * r.k(a, j, n);
          }
          s.push_back(sum > 0 ? sum : 0.2 * sum);
        }
        return softmax(s, edge_predicate(r, i));
      });
  expect_attention(R"({"type": "graph", "mode": "convolution"})",
                   [&](const TestRun& r, Index, Index i) {
                     return softmax(Row(static_cast<std::size_t>(r.sizes.length), 0.0),
                                    [&](Index j) { return edge_predicate(r, i)(j) && j <= i; });
                   },
                   true);
  for (const bool causal : {false, true}) {
    expect_attention(
        R"({"type": "graph", "mode": "convolution", "normalise": "symmetric"})",
        [&](const TestRun& r, Index, Index i) {
          const auto is_allowed = [&](Index row, Index j) {
            return edge_predicate(r, row)(j) && (!causal || j <= row);
          };
          const auto degree = [&](Index row) {
            double count = 0;
            for (Index j = 0; j < r.sizes.length; ++j) count += is_allowed(row, j) ? 1 : 0;
            return count;
          };
          Row weights;
          for (Index j = 0; j < r.sizes.length; ++j) {
            weights.push_back(is_allowed(i, j) ? 1 / std::sqrt(degree(i) * degree(j)) : 0);
          }
          return weights;
        },
        causal);
  }
}

TEST(Equations, HoldForLsh) {
  for (const Index chunk : {0, 3}) {
    const std::string json =
        R"({"type": "lsh", "buckets": 4, "rounds": 2, "chunk": )" + std::to_string(chunk) + "}";
    expect_attention(
        json.c_str(),
        [chunk](const TestRun& r, Index a, Index i) {
          const Index length = r.sizes.length;
          std::vector<bool> is_allowed(static_cast<std::size_t>(length), false);
          for (Index round = 0; round < 2; ++round) {
            std::vector<std::pair<Index, Index>> order;  // bucket, position
            for (Index j = 0; j < length; ++j) {
              Row rotated;
              for (const double sign : {1.0, -1.0}) {
                for (Index b = 0; b < 2; ++b) {
                  double sum = 0;
                  for (Index n = 0; n < r.sizes.key; ++n) {
                    sum += sign * r.q(a, j, n) *
                           r.w("lsh.rotation").data()[((round * 3 + a) * r.sizes.key + n) * 2 + b];
                  }
                  rotated.push_back(sum);
                }
              }
              order.emplace_back(std::max_element(rotated.begin(), rotated.end()) - rotated.begin(),
                                 j);
            }
            std::vector<std::pair<Index, Index>> sorted = order;
            std::sort(sorted.begin(), sorted.end());
            const auto rank = [&](Index j) {
              return std::find(sorted.begin(), sorted.end(), order[static_cast<std::size_t>(j)]) -
                     sorted.begin();
            };
            for (Index j = 0; j < length; ++j) {
              const bool is_same_bucket = order[static_cast<std::size_t>(i)].first ==
                                          order[static_cast<std::size_t>(j)].first;
              const Index chunk_distance = chunk == 0 ? 0 : rank(i) / chunk - rank(j) / chunk;
              if (is_same_bucket && (chunk_distance == 0 || chunk_distance == 1) && j < i) {
                is_allowed[static_cast<std::size_t>(j)] = true;
              }
            }
          }
          if (std::find(is_allowed.begin(), is_allowed.end(), true) == is_allowed.end()) {
            is_allowed[static_cast<std::size_t>(i)] = true;
          }
          return softmax(scores(r, a, i, length, [&](Index j) { return unit(r.query(a, j)); }),
                         [&](Index j) -> bool { return is_allowed[static_cast<std::size_t>(j)]; });
        },
        true);
  }
}

TEST(Equations, HoldForRouting) {
  expect_attention(R"({"type": "routing", "clusters": 3})", [](const TestRun& r, Index a, Index i) {
    const auto cluster = [&](const Row& x) {
      Row products;
      for (Index c = 0; c < 3; ++c) {
        products.push_back(dot(unit(x), TestRun::get_row(r.w("routing.centroid"), a, c)));
      }
      return std::max_element(products.begin(), products.end()) - products.begin();
    };
    return softmax(scores(r, a, i, r.sizes.length, [&](Index j) { return r.key(a, j); }),
                   [&](Index j) { return cluster(r.key(a, j)) == cluster(r.query(a, i)); });
  });
}

// Queries serve as keys, so every token is in the cluster of its query and attends to itself.
TEST(Equations, HoldForRoutingWithSharedKeys) {
  for (const bool causal : {false, true}) {
    expect_attention(
        R"({"type": "routing", "clusters": 3, "shared": true})",
        [&](const TestRun& r, Index a, Index i) {
          const auto cluster = [&](Index j) {
            Row products;
            for (Index c = 0; c < 3; ++c) {
              products.push_back(
                  dot(unit(r.query(a, j)), TestRun::get_row(r.w("routing.centroid"), a, c)));
            }
            return std::max_element(products.begin(), products.end()) - products.begin();
          };
          EXPECT_TRUE(r.result.pattern->allowed(a, i, i));
          return softmax(scores(r, a, i, r.sizes.length, [&](Index j) { return r.query(a, j); }),
                         [&](Index j) { return cluster(j) == cluster(i) && (!causal || j <= i); });
        },
        causal);
  }
}

TEST(Equations, HoldForSinkhorn) {
  expect_attention(
      R"({"type": "sinkhorn", "block": 4, "iterations": 3, "temperature": 0.7})",
      [](const TestRun& r, Index a, Index i) {
        const Index blocks = r.sizes.length / 4, query_block = i / 4;
        Matrix p(static_cast<std::size_t>(blocks), Row(static_cast<std::size_t>(blocks)));
        for (Index I = 0; I < blocks; ++I) {
          for (Index J = 0; J < blocks; ++J) {
            p[static_cast<std::size_t>(I)][static_cast<std::size_t>(J)] =
                std::exp(r.w("sinkhorn.logits")(a, I, J) / 0.7);
          }
        }
        for (int round = 0; round < 3; ++round) {
          for (Row& row : p) {
            double sum = 0;
            for (const double x : row) sum += x;
            for (double& x : row) x /= sum;
          }
          for (std::size_t J = 0; J < p.size(); ++J) {
            double sum = 0;
            for (const Row& row : p) sum += row[J];
            for (Row& row : p) row[J] /= sum;
          }
        }
        const Row& matching_row = p[static_cast<std::size_t>(query_block)];
        const auto key = [&](Index c) {
          if (c < 4) return r.key(a, query_block * 4 + c);
          Row sorted_key(static_cast<std::size_t>(r.sizes.key), 0.0);
          for (Index J = 0; J < blocks; ++J) {
            const Row block_key = r.key(a, J * 4 + c - 4);
            for (std::size_t n = 0; n < sorted_key.size(); ++n) {
              sorted_key[n] += matching_row[static_cast<std::size_t>(J)] * block_key[n];
            }
          }
          return sorted_key;
        };
        const Row weights = softmax(scores(r, a, i, 8, key), any_key);
        Row implied(static_cast<std::size_t>(r.sizes.length), 0.0);
        for (Index t = 0; t < 4; ++t) {
          implied[static_cast<std::size_t>(query_block * 4 + t)] +=
              weights[static_cast<std::size_t>(t)];
          for (Index J = 0; J < blocks; ++J) {
            implied[static_cast<std::size_t>(J * 4 + t)] +=
                matching_row[static_cast<std::size_t>(J)] *
                weights[static_cast<std::size_t>(4 + t)];
          }
        }
        return implied;
      });
}

// Combines the rows of a window: sum_t weights(t) x[first + t]. Rows beyond the text count as zero.
Row combine_rows(const TestRun& r, const Tensor& x, Index a, Index first, Index size,
                 const std::function<double(Index)>& weights) {
  Row sum(static_cast<std::size_t>(x.dim(2)), 0.0);
  for (Index t = 0; t < size && first + t < r.sizes.length; ++t) {
    for (Index n = 0; n < x.dim(2); ++n) {
      sum[static_cast<std::size_t>(n)] += weights(t) * x(a, first + t, n);
    }
  }
  return sum;
}

TEST(Equations, HoldForMemoryCompressed) {
  const auto row = [](const TestRun& r, const Tensor& x, const char* name, Index a, Index c) {
    return combine_rows(r, x, a, 3 * c, 3, [&](Index t) { return r.w(name)(a, t); });
  };
  expect_attention(R"({"type": "memory_compressed", "stride": 3})",
                   [&](const TestRun& r, Index a, Index i) {
                     return softmax(
                         scores(r, a, i, (r.sizes.length + 2) / 3,
                                [&](Index c) { return row(r, r.input.k.value(), "mc.key", a, c); }),
                         any_key);
                   },
                   false,
                   [&](const TestRun& r, Index a, Index c) {
                     return row(r, r.input.v.value(), "mc.value", a, c);
                   });
}

// A decoder attends to compressed keys whose tokens all lie before the query or at it.
TEST(Equations, HoldForCausalMemoryCompression) {
  const auto row = [](const TestRun& r, const Tensor& x, const char* name, Index a, Index c) {
    return combine_rows(r, x, a, 3 * c, 3, [&](Index t) { return r.w(name)(a, t); });
  };
  expect_attention(R"({"type": "memory_compressed", "stride": 3, "decoder": true})",
                   [&](const TestRun& r, Index a, Index i) {
                     return softmax(
                         scores(r, a, i, (r.sizes.length + 2) / 3,
                                [&](Index c) { return row(r, r.input.k.value(), "mc.key", a, c); }),
                         [i](Index c) { return 3 * c + 2 <= i; });
                   },
                   true,
                   [&](const TestRun& r, Index a, Index c) {
                     return row(r, r.input.v.value(), "mc.value", a, c);
                   });
}

TEST(Equations, HoldForLinformer) {
  for (const std::string mode : {"projection", "mean", "max", "convolution"}) {
    const auto row = [mode](const TestRun& r, const Tensor& x, const char* name, Index a, Index c) {
      const Index length = r.sizes.length, size = (length + 3) / 4;
      if (mode == "projection") {
        return combine_rows(r, x, a, 0, length, [&](Index j) { return r.w(name)(c, j); });
      }
      const Index rows_in_window = std::min(size, length - c * size);
      if (mode == "max") {
        Row maxima(static_cast<std::size_t>(x.dim(2)), rows_in_window > 0 ? -1e30 : 0);
        for (Index t = 0; t < rows_in_window; ++t) {
          for (Index n = 0; n < x.dim(2); ++n) {
            double& m = maxima[static_cast<std::size_t>(n)];
            m = std::max(m, static_cast<double>(x(a, c * size + t, n)));
          }
        }
        return maxima;
      }
      return combine_rows(r, x, a, c * size, size, [&](Index t) {
        return mode == "mean" ? 1.0 / static_cast<double>(rows_in_window) : r.w(name)(a, t);
      });
    };
    const std::string json = R"({"type": "linformer", "k": 4, "mode": ")" + mode + "\"}";
    expect_attention(
        json.c_str(),
        [&](const TestRun& r, Index a, Index i) {
          const Index size = (r.sizes.length + 3) / 4;
          return softmax(
              scores(r, a, i, 4, [&](Index c) { return row(r, r.input.k.value(), "lin.e", a, c); }),
              [&](Index c) { return mode == "projection" || c * size < r.sizes.length; });
        },
        false,
        [&](const TestRun& r, Index a, Index c) {
          return row(r, r.input.v.value(), "lin.f", a, c);
        });
  }
}

TEST(Equations, HoldForSharedLinformerProjections) {
  for (const std::string share : {"head", "none", "key_value", "layerwise"}) {
    const bool has_one_matrix = share == "key_value" || share == "layerwise";
    const auto row = [has_one_matrix](const TestRun& r, const Tensor& x, const char* name, Index a,
                                      Index c) {
      const Tensor& w = r.w(has_one_matrix ? "lin.e" : name);
      return combine_rows(r, x, a, 0, r.sizes.length,
                          [&](Index j) { return w.rank() == 3 ? w(a, c, j) : w(c, j); });
    };
    const std::string json = R"({"type": "linformer", "k": 4, "share": ")" + share + "\"}";
    expect_attention(
        json.c_str(),
        [&](const TestRun& r, Index a, Index i) {
          EXPECT_EQ(r.input.weights.contains("lin.f"), !has_one_matrix);
          EXPECT_EQ(r.w("lin.e").rank(), has_one_matrix ? 2 : 3);
          // The implied weights on tokens give the same output.
          const Tensor& implied = r.result.extra.at("implied");
          for (Index n = 0; n < r.sizes.value; ++n) {
            double sum = 0;
            for (Index j = 0; j < r.sizes.length; ++j) sum += implied(a, i, j) * r.v(a, j, n);
            EXPECT_NEAR(sum, r.result.output.value()(a, i, n), 1e-4);
          }
          return softmax(
              scores(r, a, i, 4, [&](Index c) { return row(r, r.input.k.value(), "lin.e", a, c); }),
              any_key);
        },
        false,
        [&](const TestRun& r, Index a, Index c) {
          return row(r, r.input.v.value(), "lin.f", a, c);
        });
  }
}

// Weights phi(q)·phi(k) divided by their sum over the keys up to `last`.
Row ratios(const Row& query, const std::function<Row(Index)>& key, Index length, Index last) {
  Row weights(static_cast<std::size_t>(length), 0.0);
  double sum = 0;
  for (Index j = 0; j <= last; ++j)
    sum += weights[static_cast<std::size_t>(j)] = dot(query, key(j));
  for (double& weight : weights) weight /= sum;
  return weights;
}

TEST(Equations, HoldForLinear) {
  const auto phi = [](Row x) {
    for (double& number : x) number = number > 0 ? number + 1 : std::exp(number);
    return x;
  };
  for (const bool causal : {false, true}) {
    expect_attention(R"({"type": "linear"})",
                     [&](const TestRun& r, Index a, Index i) {
                       return ratios(
                           phi(r.query(a, i)), [&](Index j) { return phi(r.key(a, j)); },
                           r.sizes.length, causal ? i : r.sizes.length - 1);
                     },
                     causal);
  }
}

TEST(Equations, HoldForRandomFeatures) {
  const auto random_products = [](const TestRun& r, const char* name, Index a, const Row& x,
                                  Index count) {
    Row angles;
    for (Index f = 0; f < count; ++f) angles.push_back(dot(TestRun::get_row(r.w(name), a, f), x));
    return angles;
  };
  const auto positive_features = [&](const TestRun& r, Index a, Row x) {
    for (double& number : x) number *= std::pow(static_cast<double>(r.sizes.key), -0.25);
    Row features = random_products(r, "performer.w", a, x, 24);
    for (double& f : features) f = std::exp(f - dot(x, x) / 2);
    return features;
  };
  for (const bool causal : {false, true}) {
    expect_attention(R"({"type": "performer", "features": 24})",
                     [&](const TestRun& r, Index a, Index i) {
                       return ratios(
                           positive_features(r, a, r.query(a, i)),
                           [&](Index j) { return positive_features(r, a, r.key(a, j)); },
                           r.sizes.length, causal ? i : r.sizes.length - 1);
                     },
                     causal);
  }
  const auto wave_features = [&](const TestRun& r, Index a, const Row& x) {
    const Row angles = random_products(r, "rfa.w", a, unit(x), 24);
    Row features;
    for (const double angle : angles) features.push_back(std::sin(angle));
    for (const double angle : angles) features.push_back(std::cos(angle));
    return features;
  };
  expect_attention(R"({"type": "rfa", "features": 24})", [&](const TestRun& r, Index a, Index i) {
    return ratios(
        wave_features(r, a, r.query(a, i)),
        [&](Index j) { return wave_features(r, a, r.key(a, j)); }, r.sizes.length,
        r.sizes.length - 1);
  });
}

// Output j of the synthesizer's network with second layer w and bias b.
double network_output(const TestRun& r, Index a, Index i, const char* w, const char* b, Index j) {
  double output = r.w(b)(a, j);
  for (Index m = 0; m < r.sizes.inner; ++m) {
    double hidden = r.w("syn.b1")[m];
    for (Index n = 0; n < r.sizes.model; ++n) hidden += r.x(i, n) * r.w("syn.w1")(n, m);
    output += std::max(0.0, hidden) * r.w(w)(a, m, j);
  }
  return output;
}

double form_logit(const TestRun& r, const std::string& form, Index a, Index i, Index j) {
  if (form == "dense") return network_output(r, a, i, "syn.w2", "syn.b2", j);
  if (form == "random") return r.w("syn.r")(a, i, j);
  if (form == "dot") return r.scale() * dot(r.query(a, i), r.key(a, j));
  if (form == "factorised_dense") {
    const Index period = r.w("syn.wa").dim(2);
    return network_output(r, a, i, "syn.wa", "syn.ba", j % period) *
           network_output(r, a, i, "syn.wb", "syn.bb", j / period);
  }
  double sum = 0;  // factorised_random
  for (Index n = 0; n < r.w("syn.r1").dim(2); ++n) {
    sum += static_cast<double>(r.w("syn.r1")(a, i, n)) * r.w("syn.r2")(a, j, n);
  }
  return sum;
}

TEST(Equations, HoldForSynthesizer) {
  const char* forms[] = {"dense", "random", "factorised_dense", "factorised_random", "dot", "none"};
  for (const std::string mode : std::span(forms).first(4)) {
    for (const std::string plus : forms) {
      for (const bool causal : {false, true}) {
        const std::string json = R"({"type": "synthesizer", "rank": 3, "mode": ")" + mode +
                                 R"(", "plus": ")" + plus + "\"}";
        if (mode == plus) continue;
        expect_attention(
            json.c_str(),
            [&](const TestRun& r, Index a, Index i) {
              double share = 1;
              if (plus != "none") {
                const Tensor& alpha = r.w("syn.alpha");
                share = sigmoid(alpha(a, 0) - alpha(a, 1));
              }
              Row s;
              for (Index j = 0; j < r.sizes.length; ++j) {
                s.push_back(share * form_logit(r, mode, a, i, j));
                if (plus == "none") continue;
                s.back() += (1 - share) * form_logit(r, plus, a, i, j);
              }
              return softmax(s, causal ? up_to(i) : any_key);
            },
            causal);
      }
    }
  }
}

// Projection x w + b for head a at position i, with the weights of global tokens.
Row global_row(const TestRun& r, const char* letter, Index a, Index size, Index i) {
  const std::string name = letter;
  Row row;
  for (Index n = a * size; n < (a + 1) * size; ++n) {
    double sum = r.w(("global.b" + name).c_str())[n];
    for (Index m = 0; m < r.sizes.model; ++m) {
      sum += r.x(i, m) * r.w(("global.w" + name).c_str())(m, n);
    }
    row.push_back(sum);
  }
  return row;
}

// Queries at global positions use separate query, key and value projections of all tokens.
TEST(Equations, HoldForLongformerWithSeparateProjections) {
  TestRun run;
  run.sizes.length = 11;
  run.sizes.heads = run.sizes.kv_heads = 3;
  const Json json =
      Json::parse(R"({"type": "longformer", "window": 2, "global": [7, 0], "projections": "own"})");
  const Choice choice = variant_from_json(json, "variant");
  run.input = testing::random_operation(run.sizes, choice, default_encoding(), false, 3);
  run.result = evaluate(run.input, cpu_backend(), {.output = true, .attention = true});
  const Index length = run.sizes.length;
  Tensor attention({3, length, length}), output({3, length, run.sizes.value});
  for (Index a = 0; a < 3; ++a) {
    for (Index i = 0; i < length; ++i) {
      const bool is_global = i == 0 || i == 7;
      Row s;
      for (Index j = 0; j < length; ++j) {
        s.push_back(run.scale() * (is_global ? dot(global_row(run, "q", a, run.sizes.key, i),
                                                   global_row(run, "k", a, run.sizes.key, j))
                                             : dot(run.query(a, i), run.key(a, j))));
      }
      const Row weights = softmax(
          s, [=](Index j) { return is_global || std::abs(i - j) <= 2 || j == 0 || j == 7; });
      for (Index n = 0; n < run.sizes.value; ++n) {
        double sum = 0;
        for (Index j = 0; j < length; ++j) {
          const Row value =
              is_global ? global_row(run, "v", a, run.sizes.value, j) : run.value(a, j);
          sum += weights[static_cast<std::size_t>(j)] * value[static_cast<std::size_t>(n)];
        }
        output(a, i, n) = static_cast<float>(sum);
      }
      for (Index j = 0; j < length; ++j) {
        attention(a, i, j) = static_cast<float>(weights[static_cast<std::size_t>(j)]);
      }
    }
  }
  EXPECT_TRUE(close(run.result.attention, attention, 2e-5));
  EXPECT_TRUE(close(run.result.output.value(), output, 2e-5));
}

TEST(Equations, HoldForDynamicConvolution) {
  for (const bool causal : {false, true}) {
    for (const Index width : {1, 4, 5, 40}) {
      const std::string json =
          R"({"type": "dynamic_convolution", "width": )" + std::to_string(width) + "}";
      expect_attention(
          json.c_str(),
          [=](const TestRun& r, Index a, Index i) {
            const Index first = causal ? i - width + 1 : i - width / 2;
            Row s(static_cast<std::size_t>(r.sizes.length), 0.0);
            for (Index t = 0; t < width; ++t) {
              if (first + t < 0 || first + t >= r.sizes.length) continue;
              for (Index n = 0; n < r.sizes.model; ++n) {
                s[static_cast<std::size_t>(first + t)] +=
                    r.x(i, n) * r.w("dyn.w")(n, a * width + t);
              }
            }
            return softmax(s, [=](Index j) { return first <= j && j < first + width; });
          },
          causal);
    }
  }
}

TEST(Equations, HoldForGatedMlp) {
  OperationSizes sizes;
  sizes.heads = sizes.kv_heads = 1;
  const OperationInput input =
      testing::random_operation(sizes, {"gmlp", {}}, default_encoding(), true, 3);
  const OperationResult result =
      evaluate(input, cpu_backend(), {.output = true, .attention = true});
  const Tensor &x = input.x.value(), &psi = input.weights.at("gmlp.psi").value();
  const auto projected = [&](const char* name, Index i, Index f) {
    double sum = 0;
    for (Index n = 0; n < sizes.model; ++n)
      sum += x(0, i, n) * input.weights.at(name).value()(n, f);
    return sum;
  };
  Tensor expected({1, sizes.length, sizes.inner});
  for (Index i = 0; i < sizes.length; ++i) {
    for (Index f = 0; f < sizes.inner; ++f) {
      double sum = 0;
      for (Index j = 0; j <= i; ++j) sum += psi(i, j) * projected("gmlp.u2", j, f);
      expected(0, i, f) = static_cast<float>(sigmoid(projected("gmlp.u1", i, f)) * sum);
    }
    for (Index j = 0; j < sizes.length; ++j) {
      EXPECT_EQ(result.attention(0, i, j), j <= i ? psi(i, j) : 0);
    }
  }
  EXPECT_TRUE(close(result.output.value(), expected, 1e-5));
}

TEST(Equations, HoldForHopfield) {
  for (const double tolerance : {0.0, 0.3, 1e9}) {
    const std::string json = R"({"type": "hopfield", "steps": 4, "beta": 1.5, "tolerance": )" +
                             std::to_string(tolerance) + "}";
    expect_attention(json.c_str(), [=](const TestRun& r, Index a, Index i) {
      Row state = r.query(a, i), weights;
      for (Index step = 1; step <= 4; ++step) {
        Row s;
        for (Index j = 0; j < r.sizes.length; ++j) s.push_back(1.5 * dot(state, r.key(a, j)));
        weights = softmax(s, any_key);
        Row next(state.size(), 0.0);
        for (Index j = 0; j < r.sizes.length; ++j) {
          for (std::size_t n = 0; n < next.size(); ++n) {
            next[n] += weights[static_cast<std::size_t>(j)] * r.key(a, j)[n];
          }
        }
        double change = 0;
        for (std::size_t n = 0; n < next.size(); ++n) {
          change = std::max(change, std::abs(next[n] - state[n]));
        }
        state = next;
        const Index steps = r.result.extra_counts.at("hopfield.steps")(a, i);
        if (change < tolerance || step == 4) {
          EXPECT_EQ(steps, step);
          break;
        }
      }
      return weights;
    });
  }
}

TEST(Equations, HoldForAdaptiveSpan) {
  expect_attention(R"({"type": "adaptive_span", "span": 6, "ramp": 2.5})",
                   [](const TestRun& r, Index a, Index i) {
                     const double z = r.w("span.z")[a];
                     const auto m = [=](Index distance) {
                       return std::clamp((2.5 + z - static_cast<double>(distance)) / 2.5, 0.0, 1.0);
                     };
                     return softmax(
                         scores(r, a, i, r.sizes.length, [&](Index j) { return r.key(a, j); }),
                         [=](Index j) { return j <= i && i - j <= 6 && m(i - j) > 0; },
                         [=](Index j) { return m(i - j); });
                   });
}

TEST(Equations, HoldForDynamicSpan) {
  OperationSizes sizes;
  const Choice choice = variant_from_json(
      Json::parse(R"({"type": "adaptive_span", "span": 9, "ramp": 3, "dynamic": true})"),
      "variant");
  const OperationInput input =
      testing::random_operation(sizes, choice, default_encoding(), false, 5);
  const OperationResult result =
      evaluate(input, cpu_backend(), {.output = true, .attention = true});
  for (Index a = 0; a < sizes.heads; ++a) {
    for (Index i = 0; i < sizes.length; ++i) {
      double logit = input.weights.at("span.b").value()[a];
      for (Index n = 0; n < sizes.model; ++n) {
        logit += input.weights.at("span.v").value()(a, n) * input.x.value()(0, i, n);
      }
      const double z = 9 * sigmoid(logit);
      for (Index j = 0; j < sizes.length; ++j) {
        const bool is_visible = j <= i && i - j <= 9 && 3 + z - static_cast<double>(i - j) > 0;
        EXPECT_EQ(result.pattern->allowed(a, i, j), is_visible);
        EXPECT_EQ(result.attention(a, i, j) > 0, is_visible);
      }
    }
  }
}

TEST(Equations, HoldForSegmentMemory) {
  expect_attention(R"({"type": "segment_memory"})",
                   [](const TestRun& r, Index a, Index i) {
                     const Index memory = r.sizes.memory;
                     return softmax(scores(r, a, i, memory + r.sizes.length,
                                           [&](Index c) {
                                             return c < memory
                                                        ? TestRun::get_row(r.w("mem.k"), a, c)
                                                        : r.key(a, c - memory);
                                           }),
                                    up_to(memory + i));
                   },
                   true,
                   [](const TestRun& r, Index a, Index c) {
                     return c < r.sizes.memory ? TestRun::get_row(r.w("mem.v"), a, c)
                                               : r.value(a, c - r.sizes.memory);
                   });
}

TEST(Equations, HoldForMemorizing) {
  expect_attention(
      R"({"type": "memorizing", "top": 2})",
      [](const TestRun& r, Index a, Index i) {
        const Index memory = r.sizes.memory;
        const auto stored_key = [&](Index m) { return unit(TestRun::get_row(r.w("mem.k"), a, m)); };
        const Row memory_scores = scores(r, a, i, memory, stored_key);
        const auto is_retrieved = [&](Index m) {
          Index nearer_count = 0;
          for (Index other_key = 0; other_key < memory; ++other_key) {
            const double x = memory_scores[static_cast<std::size_t>(other_key)];
            const double y = memory_scores[static_cast<std::size_t>(m)];
            nearer_count += x > y || (x == y && other_key < m) ? 1 : 0;
          }
          return nearer_count < 2;
        };
        const double g = sigmoid(r.w("memorizing.gate")[a]);
        Row weights = softmax(memory_scores, is_retrieved);
        for (double& weight : weights) weight *= g;
        const Row local_weights = softmax(
            scores(r, a, i, r.sizes.length, [&](Index j) { return unit(r.key(a, j)); }), up_to(i));
        for (const double weight : local_weights) weights.push_back((1 - g) * weight);
        return weights;
      },
      true,
      [](const TestRun& r, Index a, Index c) {
        return c < r.sizes.memory ? TestRun::get_row(r.w("mem.v"), a, c)
                                  : r.value(a, c - r.sizes.memory);
      });
}

TEST(Equations, HoldForMemorizingUnitVectors) {
  for (const std::string mode : {"keys_values", "queries_keys"}) {
    const std::string json = R"({"type": "memorizing", "top": 100, "normalise": ")" + mode + "\"}";
    const auto value = [mode](const TestRun& r, Index a, Index c) {
      if (c >= r.sizes.memory) return r.value(a, c - r.sizes.memory);
      const Row stored = TestRun::get_row(r.w("mem.v"), a, c);
      return mode == "keys_values" ? unit(stored) : stored;
    };
    // If the memory has fewer rows than `top`, all of its rows are used.
    expect_attention(
        json.c_str(),
        [mode](const TestRun& r, Index a, Index i) {
          const Row q = mode == "queries_keys" ? unit(r.query(a, i)) : r.query(a, i);
          Row memory_scores, segment_scores;
          for (Index m = 0; m < r.sizes.memory; ++m) {
            memory_scores.push_back(r.scale() * dot(q, unit(TestRun::get_row(r.w("mem.k"), a, m))));
          }
          for (Index j = 0; j < r.sizes.length; ++j) {
            segment_scores.push_back(r.scale() * dot(q, unit(r.key(a, j))));
          }
          const double g = sigmoid(r.w("memorizing.gate")[a]);
          Row weights = softmax(memory_scores, any_key);
          for (double& weight : weights) weight *= g;
          for (const double weight : softmax(segment_scores, up_to(i))) {
            weights.push_back((1 - g) * weight);
          }
          return weights;
        },
        true, value);
  }
}

// Memorizing with an empty or missing memory is causal full attention.
TEST(Equations, MemorizingIsLocalWithoutMemory) {
  OperationSizes sizes;
  sizes.memory = 0;
  const Choice choice = variant_from_json({{"type", "memorizing"}, {"top", 2}}, "variant");
  for (const bool has_empty_memory : {true, false}) {
    OperationInput input = testing::random_operation(sizes, choice, default_encoding(), true, 5);
    if (!has_empty_memory) {
      input.weights.erase("mem.k");
      input.weights.erase("mem.v");
    }
    const OperationResult result =
        evaluate(input, cpu_backend(), {.output = true, .attention = true});
    ASSERT_EQ(result.attention.shape(), (Shape{2, 16, 16}));
    for (Index row = 0; row < 32; ++row) {
      double sum = 0;
      for (Index c = 0; c < 16; ++c) sum += result.attention[row * 16 + c];
      EXPECT_NEAR(sum, 1, 1e-5);
    }
    const Tensor& v = input.v.value();
    for (Index a = 0; a < 2; ++a) {
      for (Index i = 0; i < 16; ++i) {
        for (Index n = 0; n < v.dim(2); ++n) {
          double expected = 0;
          for (Index j = 0; j <= i; ++j) expected += result.attention(a, i, j) * v(a, j, n);
          EXPECT_NEAR(result.output.value()(a, i, n), expected, 1e-5);
        }
      }
    }
  }
}

// Scores of memory and segment use the same scale, even if the encoding determines its default.
TEST(Equations, MemorizingScalesMemoryLikeSegment) {
  OperationSizes sizes;
  const Choice variant = variant_from_json({{"type", "memorizing"}, {"top", 2}}, "variant");
  const Choice deberta = encoding_from_json({{"type", "deberta"}, {"clip", 3}}, "position");
  OperationInput input = testing::random_operation(sizes, variant, deberta, true, 5);
  const ResultRequest wanted{.output = true, .attention = true, .scores = true};
  const OperationResult default_result = evaluate(input, cpu_backend(), wanted);
  input.scale = static_cast<float>(1 / std::sqrt(3.0 * static_cast<double>(sizes.key)));
  const OperationResult explicit_result = evaluate(input, cpu_backend(), wanted);
  EXPECT_TRUE(close(default_result.scores, explicit_result.scores, 0));
  EXPECT_TRUE(close(default_result.attention, explicit_result.attention, 0));
}

TEST(Equations, HoldForCompressive) {
  for (const std::string function : {"mean", "max", "convolution", "most_used"}) {
    // Returns compressed row n. Rate 3 divides the 4 old rows into a window of three rows and a
    // window of one row.
    const auto compressed_row = [function](const TestRun& r, const char* rows, const char* kernel,
                                           Index a, Index n) {
      const Tensor& x = r.w(rows);
      const Index first = 3 * n, end = std::min<Index>(4, first + 3);
      if (function == "most_used") {
        std::vector<Index> order = {0, 1, 2, 3};
        const Tensor& usage = r.w("comp.usage");
        std::stable_sort(order.begin(), order.end(),
                         [&](Index p, Index q) { return usage(a, p) > usage(a, q); });
        std::sort(order.begin(), order.begin() + 2);
        return TestRun::get_row(x, a, order[static_cast<std::size_t>(n)]);
      }
      Row sum(static_cast<std::size_t>(x.dim(2)), function == "max" ? -1e30 : 0.0);
      for (Index row = first; row < end; ++row) {
        for (Index c = 0; c < x.dim(2); ++c) {
          double& number = sum[static_cast<std::size_t>(c)];
          if (function == "max") number = std::max(number, static_cast<double>(x(a, row, c)));
          if (function == "mean") number += x(a, row, c) / static_cast<double>(end - first);
          if (function == "convolution") number += r.w(kernel)(a, row - first) * x(a, row, c);
        }
      }
      return sum;
    };
    const std::string json =
        R"({"type": "compressive", "rate": 3, "function": ")" + function + "\"}";
    expect_attention(
        json.c_str(),
        [&](const TestRun& r, Index a, Index i) {
          const Index memory_columns = 2 + r.sizes.memory;
          return softmax(scores(r, a, i, memory_columns + r.sizes.length,
                                [&](Index c) {
                                  if (c < 2) return compressed_row(r, "old.k", "comp.key", a, c);
                                  return c < memory_columns
                                             ? TestRun::get_row(r.w("mem.k"), a, c - 2)
                                             : r.key(a, c - memory_columns);
                                }),
                         up_to(memory_columns + i));
        },
        true,
        [&](const TestRun& r, Index a, Index c) {
          const Index memory_columns = 2 + r.sizes.memory;
          if (c < 2) return compressed_row(r, "old.v", "comp.value", a, c);
          return c < memory_columns ? TestRun::get_row(r.w("mem.v"), a, c - 2)
                                    : r.value(a, c - memory_columns);
        });
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
