// Compares the memory of earlier segments with a row-by-row reference. Cases: two texts in a batch,
// segments of several lengths, memories that overflow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/remembered.h"
#include "core/attention/variant.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/json.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

constexpr Index kBatch = 2, kHeads = 4, kKvHeads = 2, kKey = 3, kWidth = 5, kSegment = 3;

using Row = std::vector<double>;

struct MemoryRow {
  Row numbers;
  double usage = 0;
  Index segment_count = 0, position = 0;
};
struct CompressedRow {
  Row numbers;
  Index position = 0;
  RowSource source;
};
// Reference memory of one text.
struct ReferenceMemory {
  std::vector<MemoryRow> rows;
  std::vector<CompressedRow> compressed;
};

Row get_row(const Tensor& x, Index b, Index i) {
  Row row;
  for (Index c = 0; c < x.dim(2); ++c) row.push_back(static_cast<double>(x(b, i, c)));
  return row;
}

// Adds row @ matrices[t] to `sum`; matrices: [rate, d, d].
void add_product(const Row& row, const Tensor& matrices, Index t, Row& sum) {
  for (Index c = 0; c < kWidth; ++c) {
    for (Index n = 0; n < kWidth; ++n) {
      sum[static_cast<std::size_t>(c)] +=
          row[static_cast<std::size_t>(n)] * static_cast<double>(matrices(t, n, c));
    }
  }
}

// Compresses `rows` in windows of `rate` rows with the compression `function`.
std::vector<CompressedRow> compress(const std::vector<MemoryRow>& rows, Index rate,
                                    const std::string& function, const NamedVars& weights) {
  const auto count = static_cast<Index>(rows.size());
  std::vector<CompressedRow> result;
  if (function == "most_used") {
    std::vector<Index> order;
    for (Index n = 0; n < count; ++n) order.push_back(n);
    const auto usage = [&](Index n) {
      const MemoryRow& row = rows[static_cast<std::size_t>(n)];
      return row.segment_count == 0 ? 0 : row.usage / static_cast<double>(row.segment_count);
    };
    std::ranges::stable_sort(order, [&](Index a, Index b) { return usage(a) > usage(b); });
    order.resize(static_cast<std::size_t>(count / rate));
    std::ranges::sort(order);
    for (const Index n : order) {
      const MemoryRow& row = rows[static_cast<std::size_t>(n)];
      result.push_back({row.numbers, row.position, {row.position}});
    }
    return result;
  }
  const Index step = function == "dilated" ? 2 : 1;
  for (Index first = 0; first < count; first += rate) {
    CompressedRow compressed;
    const bool has_kernel = function == "convolution" || function == "dilated";
    compressed.numbers.assign(kWidth, function == "max" ? -1e300 : 0);
    compressed.source = {rows[static_cast<std::size_t>(first)].position, 0, step};
    compressed.position = rows[static_cast<std::size_t>(first + rate - 1)].position;
    for (Index t = 0; t < rate && first + step * t < count; ++t) {
      const Row& row = rows[static_cast<std::size_t>(first + step * t)].numbers;
      ++compressed.source.count;
      if (has_kernel) add_product(row, weights.at("comp.kernel").value(), t, compressed.numbers);
      for (std::size_t c = 0; c < row.size() && !has_kernel; ++c) {
        double& number = compressed.numbers[c];
        number = function == "max" ? std::max(number, row[c])
                                   : number + row[c] / static_cast<double>(rate);
      }
    }
    for (Index c = 0; c < kWidth && has_kernel; ++c) {
      compressed.numbers[static_cast<std::size_t>(c)] +=
          static_cast<double>(weights.at("comp.bias").value()[c]);
    }
    result.push_back(std::move(compressed));
  }
  return result;
}

// Returns the attention output of the segment's queries over `rows`: h S vectors [d_k], ordered by
// head, then query.
std::vector<Row> content_attention(const Tensor& q, Index b, const std::vector<Row>& rows,
                                   const Tensor& to_k, const Tensor& to_v) {
  std::vector<Row> result;
  for (Index head = 0; head < kHeads; ++head) {
    const Index kv = head / (kHeads / kKvHeads);
    const auto project = [&](const Row& row, const Tensor& projection, Index n) {
      double sum = 0;
      for (Index c = 0; c < kWidth; ++c) {
        sum += row[static_cast<std::size_t>(c)] * static_cast<double>(projection(c, kv * kKey + n));
      }
      return sum;
    };
    for (Index i = 0; i < q.dim(1); ++i) {
      Row weights, out(kKey, 0.0);
      double total = 0;
      for (const Row& row : rows) {
        double score = 0;
        for (Index n = 0; n < kKey; ++n) {
          score += static_cast<double>(q(b * kHeads + head, i, n)) * project(row, to_k, n);
        }
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(kKey))));
        total += weights.back();
      }
      for (std::size_t j = 0; j < rows.size(); ++j) {
        for (Index n = 0; n < kKey; ++n) {
          out[static_cast<std::size_t>(n)] += weights[j] / total * project(rows[j], to_v, n);
        }
      }
      result.push_back(out);
    }
  }
  return result;
}

double mean_square(const std::vector<Row>& a, const std::vector<Row>& b) {
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    for (std::size_t c = 0; c < a[n].size(); ++c, ++count) sum += std::pow(a[n][c] - b[n][c], 2);
  }
  return sum / count;
}

struct MemorySizes {
  const char* json;
  Index rate, memory, compressed;
};

class Compressing : public ::testing::TestWithParam<const char*> {};

TEST_P(Compressing, MatchesRowByRowReference) {
  const std::string function = GetParam();
  for (const MemorySizes& sizes :
       {MemorySizes{R"("rate": 2)", 2, kSegment, kSegment},
        MemorySizes{R"("rate": 2, "memory": 4, "compressed": 3)", 2, 4, 3},
        MemorySizes{R"("rate": 3, "memory": 1, "compressed": 5)", 3, 1, 5},
        MemorySizes{R"("rate": 2, "memory": 0, "compressed": 1)", 2, 0, 1}}) {
    const std::string json = R"({"type": "compressive", "function": ")" + function +
                             R"(", "auto_encoding": 0.5, "attention_reconstruction": 2, )" +
                             sizes.json + "}";
    SCOPED_TRACE(json);
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    const NamedVars weights{{"comp.kernel", Var(random_tensor({sizes.rate, kWidth, kWidth}, 1))},
                            {"comp.bias", Var(random_tensor({kWidth}, 2))},
                            {"comp.back", Var(random_tensor({sizes.rate, kWidth, kWidth}, 3))}};
    const Tensor to_k = random_tensor({kWidth, kKvHeads * kKey}, 4, 0.5),
                 to_v = random_tensor({kWidth, kKvHeads * kKey}, 5);
    Remembered remembered;
    std::vector<ReferenceMemory> memories(kBatch);
    Index first = 0;
    std::uint64_t seed = 10;
    for (const Index size : {3, 3, 2, 3, 1, 3, 3}) {
      const Index compressed_count = remembered.compressed_count(), rows = remembered.row_count();
      std::map<std::string, std::vector<double>> losses;
      CompletedSegment segment{.values = choice.values, .weights = weights};
      segment.batch = kBatch;
      segment.heads = kHeads;
      segment.kv_heads = kKvHeads;
      segment.first = first;
      segment.segment_length = kSegment;
      segment.x = random_tensor({kBatch, size, kWidth}, ++seed);
      segment.input.q = random_tensor({kBatch * kHeads, size, kKey}, ++seed);
      segment.attention =
          random_tensor({kBatch * kHeads, size, compressed_count + rows + size}, ++seed);
      for (float& a : segment.attention) a = std::abs(a);
      segment.project = [&](const Var& x) {
        return std::pair(split_heads(matmul(x, to_k), kKvHeads),
                         split_heads(matmul(x, to_v), kKvHeads));
      };
      segment.add_loss = [&](const std::string& name, const Var& value) {
        losses[name].push_back(static_cast<double>(value.value()[0]));
      };
      variant("compressive").memory.remember(segment, remembered);

      Index old_count = 0;
      double auto_encoding_loss = 0, reconstruction_loss = 0;
      for (Index b = 0; b < kBatch; ++b) {
        ReferenceMemory& memory = memories[static_cast<std::size_t>(b)];
        for (Index m = 0; m < rows; ++m) {
          MemoryRow& row = memory.rows[static_cast<std::size_t>(m)];
          ++row.segment_count;
          for (Index head = 0; head < kHeads; ++head) {
            for (Index i = 0; i < size; ++i) {
              row.usage += static_cast<double>(
                  segment.attention(b * kHeads + head, i, compressed_count + m));
            }
          }
        }
        for (Index i = 0; i < size; ++i)
          memory.rows.push_back({get_row(segment.x, b, i), 0, 0, first + i});
        const auto row_count = static_cast<Index>(memory.rows.size());
        old_count = std::max<Index>(row_count - sizes.memory, 0) / sizes.rate * sizes.rate;
        const std::vector<MemoryRow> oldest(memory.rows.begin(), memory.rows.begin() + old_count);
        memory.rows.erase(memory.rows.begin(), memory.rows.begin() + old_count);
        const auto compressed = compress(oldest, sizes.rate, function, weights);
        std::vector<Row> old_rows, compressed_rows, restored;
        for (const MemoryRow& row : oldest) old_rows.push_back(row.numbers);
        for (const CompressedRow& row : compressed) {
          compressed_rows.push_back(row.numbers);
          for (Index t = 0; t < sizes.rate; ++t) {
            restored.emplace_back(kWidth, 0.0);
            add_product(row.numbers, weights.at("comp.back").value(), t, restored.back());
          }
        }
        if (old_count > 0) {
          auto_encoding_loss += mean_square(old_rows, restored) / kBatch;
          reconstruction_loss +=
              mean_square(content_attention(segment.input.q, b, old_rows, to_k, to_v),
                          content_attention(segment.input.q, b, compressed_rows, to_k, to_v)) /
              kBatch;
        }
        auto& stored = memory.compressed;
        stored.insert(stored.end(), compressed.begin(), compressed.end());
        if (static_cast<Index>(stored.size()) > sizes.compressed) {
          stored.erase(stored.begin(), stored.end() - sizes.compressed);
        }
      }
      first += size;

      const ReferenceMemory& first_memory = memories.front();
      ASSERT_EQ(remembered.row_count(), static_cast<Index>(first_memory.rows.size())) << first;
      ASSERT_EQ(remembered.compressed_count(), static_cast<Index>(first_memory.compressed.size()))
          << first;
      ASSERT_EQ(remembered.usage.size(), kBatch * first_memory.rows.size());
      for (Index b = 0; b < kBatch; ++b) {
        const ReferenceMemory& memory = memories[static_cast<std::size_t>(b)];
        for (std::size_t m = 0; m < memory.rows.size(); ++m) {
          for (Index c = 0; c < kWidth; ++c) {
            EXPECT_NEAR(remembered.rows(b, static_cast<Index>(m), c),
                        memory.rows[m].numbers[static_cast<std::size_t>(c)], 1e-6);
          }
          EXPECT_NEAR(remembered.usage[static_cast<std::size_t>(b) * memory.rows.size() + m],
                      memory.rows[m].usage, 1e-5)
              << "text " << b << " row " << m << " after " << first;
          EXPECT_EQ(remembered.segment_counts[m], memory.rows[m].segment_count);
        }
        for (std::size_t n = 0; n < memory.compressed.size(); ++n) {
          const std::size_t index = static_cast<std::size_t>(b) * memory.compressed.size() + n;
          EXPECT_EQ(remembered.compressed_positions[index], memory.compressed[n].position) << first;
          EXPECT_EQ(remembered.compressed_sources[index], memory.compressed[n].source)
              << first << ": " << remembered.compressed_sources[index].first << " "
              << remembered.compressed_sources[index].count;
          for (Index c = 0; c < kWidth; ++c) {
            EXPECT_NEAR(remembered.compressed(b, static_cast<Index>(n), c),
                        memory.compressed[n].numbers[static_cast<std::size_t>(c)], 1e-4)
                << "text " << b << " row " << n << " after " << first;
          }
        }
      }
      for (const auto& [name, expected] : {std::pair("auto_encoding", auto_encoding_loss),
                                           {"attention_reconstruction", reconstruction_loss}}) {
        ASSERT_FALSE(losses[name].empty()) << name;
        EXPECT_EQ(losses[name].front(), 0) << name << ": expected an initial loss of 0";
        ASSERT_EQ(losses[name].size(), old_count > 0 ? 2u : 1u) << name;
        EXPECT_NEAR(losses[name].back(), expected, 1e-4 * std::max(1.0, expected)) << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Compressing,
                         ::testing::Values("mean", "max", "convolution", "dilated", "most_used"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Remembering, SkipsDisabledLosses) {
  const Choice choice =
      variant_from_json(Json::parse(R"({"type": "compressive", "rate": 1})"), "variant");
  const NamedVars no_weights;
  Remembered remembered;
  for (int n = 0; n < 3; ++n) {
    CompletedSegment segment{.values = choice.values, .weights = no_weights};
    segment.x = random_tensor({1, 2, kWidth}, 1);
    segment.segment_length = 2;
    segment.first = 2 * n;
    segment.add_loss = [](const std::string& name, const Var&) { ADD_FAILURE() << name; };
    variant("compressive").memory.remember(segment, remembered);
  }
  EXPECT_EQ(remembered.compressed_count(), 2);
}

// segment_memory stores the last input rows. memorizing stores the last projected keys and values.
TEST(Remembering, StoresLastRowsOrKeys) {
  for (const std::optional<Index> memory : {std::optional<Index>(), std::optional<Index>(5)}) {
    const Index max_rows = memory.value_or(kSegment);
    for (const char* id : {"segment_memory", "memorizing"}) {
      Choice choice{id, default_values(variant(id).parameters)};
      if (memory) choice.values.set("memory", *memory);
      const bool stores_keys = choice.id == "memorizing";
      const NamedVars no_weights;
      Remembered remembered;
      std::vector<Row> expected;
      std::uint64_t seed = 3;
      Index first = 0;
      for (const Index size : {3, 1, 3, 3}) {
        CompletedSegment segment{.values = choice.values, .weights = no_weights};
        segment.batch = kBatch;
        segment.heads = kHeads;
        segment.kv_heads = kKvHeads;
        segment.segment_length = kSegment;
        segment.first = first;
        segment.x = random_tensor({kBatch, size, kWidth}, ++seed);
        segment.input.k = random_tensor({kBatch * kKvHeads, size, kKey}, ++seed);
        segment.input.v = random_tensor({kBatch * kKvHeads, size, kKey}, ++seed);
        variant(id).memory.remember(segment, remembered);
        first += size;
        for (Index i = 0; i < size; ++i)
          expected.push_back(get_row(stores_keys ? segment.input.v : segment.x, 1, i));
        const Tensor& stored = stores_keys ? remembered.values : remembered.rows;
        const Index count = std::min(max_rows, first);
        ASSERT_EQ(stored.dim(1), count);
        ASSERT_EQ(stores_keys ? remembered.stored_count() : remembered.row_count(), count);
        for (Index n = 0; n < count; ++n) {
          EXPECT_EQ(get_row(stored, 1, n), expected[static_cast<std::size_t>(first - count + n)])
              << id;
        }
        const std::vector<RowSource> sources = memory_sources(remembered, first);
        ASSERT_EQ(static_cast<Index>(sources.size()), count);
        for (Index n = 0; n < count; ++n) {
          EXPECT_EQ(sources[static_cast<std::size_t>(n)], (RowSource{first - count + n, 1, 1}));
        }
      }
    }
  }
}

TEST(Remembering, ListsCompressedSourcesFirst) {
  Remembered remembered;
  remembered.rows = Tensor({2, 3, kWidth});
  remembered.compressed = Tensor({2, 2, kWidth});
  remembered.compressed_sources = {{0, 2, 1}, {2, 3, 2}, {7, 1, 1}, {8, 1, 1}};
  const std::vector<RowSource> expected{{0, 2, 1}, {2, 3, 2}, {9, 1, 1}, {10, 1, 1}, {11, 1, 1}};
  EXPECT_EQ(memory_sources(remembered, 12), expected);
  EXPECT_EQ((RowSource{2, 3, 2}.last()), 6);
  EXPECT_FALSE(remembered.empty());
  EXPECT_TRUE(Remembered().empty());
}

TEST(Remembering, RecallsKeysAndProjectsRows) {
  const Projection project = [](const Var& rows) {
    Tensor k = rows.value().copy(), v = rows.value().copy();
    for (float& x : k) x *= 2;
    for (float& x : v) x *= 3;
    return std::pair(Var(k), Var(v));
  };
  NamedVars weights;
  recall({}, 4, project, weights);
  EXPECT_TRUE(weights.empty());
  Remembered remembered;
  remembered.keys = random_tensor({2, 3, kKey}, 1);
  remembered.values = random_tensor({2, 3, kKey}, 2);
  recall(remembered, 4, project, weights);
  EXPECT_EQ(weights.size(), 2u);
  EXPECT_TRUE(testing::close(weights.at("mem.k").value(), remembered.keys, 0));
  EXPECT_TRUE(testing::close(weights.at("mem.v").value(), remembered.values, 0));
  Remembered row_memory;
  row_memory.rows = random_tensor({1, 2, kWidth}, 3);
  row_memory.compressed = random_tensor({2, 2, kWidth}, 4);
  row_memory.compressed_positions = {1, 3, 5, 20};
  weights.clear();
  recall(row_memory, 12, project, weights);
  EXPECT_EQ(weights.size(), 5u);
  EXPECT_EQ(weights.at("mem.k").value()[1], 2 * row_memory.rows[1]);
  EXPECT_EQ(weights.at("mem.v").value()[1], 3 * row_memory.rows[1]);
  EXPECT_EQ(weights.at("compressed.k").value()[3], 2 * row_memory.compressed[3]);
  EXPECT_EQ(weights.at("compressed.v").value()[3], 3 * row_memory.compressed[3]);
  EXPECT_TRUE(testing::close(weights.at("compressed.position").value(),
                             Tensor::from({2, 2}, {-11, -9, -7, 8}), 0));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
