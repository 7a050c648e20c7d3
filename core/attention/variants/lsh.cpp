// lsh: locality-sensitive hashing, shared queries and keys. Kitaev et al., 2020.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/drawn.h"
#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Number of buckets that shows hashing on a text of `length` tokens.
Index illustrative_buckets(Index length) {
  return 2 * std::max<Index>(2, fraction_of_length(length, 8));
}

// Hashes of each position in each of n rounds.
struct Hashes {
  IntTensor bucket, rank;  // [n, h, L]
  // Positions of each round, sorted by bucket, then by position.  [n, h, L]
  std::vector<std::int32_t> order;
};

// Number of buckets of each factor of a hash; one factor by default.
std::vector<Index> hash_factors(const Values& values) {
  const Index buckets = values.integer("buckets"), first = values.integer("factor");
  if (first == 0) return {buckets};
  return {first, buckets / first};
}

Index rotation_columns(const Values& values) {
  Index columns = 0;
  for (const Index factor : hash_factors(values)) columns += factor / 2;
  return columns;
}

Shape rotation_shape(const Values& values, Index heads, Index size) {
  return {values.integer("rounds"), heads, size, rotation_columns(values)};
}

bool is_released_form(const Values& values) {
  return values.choice("form") == "released";
}

// Index of the first maximum of [x R ; -x R]. R: [d_k, half] with row stride `columns`.
std::int32_t hash(const float* x, const float* rotation, Index size, Index half, Index columns) {
  std::vector<double> rotated(static_cast<std::size_t>(2 * half), 0.0);
  for (Index c = 0; c < size; ++c) {
    for (Index b = 0; b < half; ++b) {
      rotated[static_cast<std::size_t>(b)] +=
          static_cast<double>(x[c]) * static_cast<double>(rotation[c * columns + b]);
    }
  }
  for (Index b = 0; b < half; ++b) {
    rotated[static_cast<std::size_t>(half + b)] = -rotated[static_cast<std::size_t>(b)];
  }
  return static_cast<std::int32_t>(first_maximum(rotated));
}

// Combines the buckets of all factors into one bucket; the first factor has stride 1. Each factor
// uses separate columns of the rotation.
std::int32_t hash(const float* x, const float* rotation, Index size, Index columns,
                  const std::vector<Index>& factors) {
  Index bucket = 0, stride = 1, first = 0;
  for (const Index factor : factors) {
    bucket += stride * hash(x, rotation + first, size, factor / 2, columns);
    stride *= factor;
    first += factor / 2;
  }
  return static_cast<std::int32_t>(bucket);
}

Hashes hash_rows(const Tensor& q, const Tensor& rotation, const std::vector<Index>& factors) {
  const Index rounds = rotation.dim(0), heads = q.dim(0), length = q.dim(1), size = q.dim(2);
  const Index half = rotation.dim(3);
  Hashes hashes{IntTensor({rounds, heads, length}), IntTensor({rounds, heads, length}),
                std::vector<std::int32_t>(static_cast<std::size_t>(rounds * heads * length))};
  parallel_for(rounds * heads, 1, [&](Index first, Index last) {
    for (Index n = first; n < last && !is_stopping(); ++n) {
      const Index head = n % heads;
      std::int32_t* bucket = hashes.bucket.data() + n * length;
      for (Index i = 0; i < length && !is_stopping(); ++i) {
        bucket[i] = hash(q.data() + (head * length + i) * size, rotation.data() + n * size * half,
                         size, half, factors);
      }
      std::int32_t* order = hashes.order.data() + n * length;
      std::iota(order, order + length, 0);
      std::stable_sort(order, order + length,
                       [bucket](std::int32_t a, std::int32_t b) { return bucket[a] < bucket[b]; });
      for (Index r = 0; r < length; ++r) {
        hashes.rank[n * length + order[r]] = static_cast<std::int32_t>(r);
      }
    }
  });
  check_stop();
  return hashes;
}

// Adds the keys of the bucket of position i in one round, except i itself. With chunks (of sorted
// positions), adds only keys in the chunk of i and in neighbouring chunks.
void add_round(PatternBuilder& rows, const Hashes& hashes, Index round, Index head, Index i,
               const Values& values) {
  const Index chunk = values.integer("chunk");
  const Index heads = hashes.bucket.dim(1), length = hashes.bucket.dim(2);
  const Index offset = (round * heads + head) * length;
  const std::int32_t* order = hashes.order.data() + offset;
  const std::int32_t* bucket = hashes.bucket.data() + offset;
  const auto less = [bucket](std::int32_t position, std::int32_t b) {
    return bucket[position] < b;
  };
  const auto more = [bucket](std::int32_t b, std::int32_t position) {
    return b < bucket[position];
  };
  Index first = std::lower_bound(order, order + length, bucket[i], less) - order;
  Index end = std::upper_bound(order, order + length, bucket[i], more) - order;
  if (chunk > 0) {
    const Index query_chunk = hashes.rank[offset + i] / chunk;
    first = std::max(first, (query_chunk - values.integer("before")) * chunk);
    end = std::min(end, (query_chunk + values.integer("after") + 1) * chunk);
  }
  for (Index r = first; r < end; ++r) {
    if (order[r] != i) rows.add_column(static_cast<int>(round), order[r]);
  }
}

Pattern hashed_pattern(const OperationInput& input, const Hashes& hashes) {
  const Index rounds = hashes.bucket.dim(0), length = hashes.bucket.dim(2);
  std::vector<std::string> rules;
  for (Index n = 0; n < rounds; ++n) rules.push_back("bucket of round " + std::to_string(n + 1));
  rules.push_back("itself");
  PatternBuilder rows(input.heads, length, length, std::move(rules));
  for (Index head = 0; head < input.heads; ++head) {
    for (Index i = 0; i < length; ++i) {
      if (input.causal) rows.set_causal_limit(i + 1);
      for (Index n = 0; n < rounds; ++n) add_round(rows, hashes, n, head, i, input.variant.values);
      if (rows.row_is_empty()) rows.add_column(static_cast<int>(rounds), i);
      rows.next_row();
    }
  }
  return rows.finish();
}

// ---- Rules of the released code: The chunks of all rounds form a circle. A chunk sees its
// neighbouring chunks regardless of bucket. A key that a query sees n times has n columns.

// Number of times that a query sees a key, and the first round in which the query sees it.
struct KeyOccurrences {
  std::int32_t count = 0, round = 0;
};
using VisibleKeys = std::vector<std::map<std::int32_t, KeyOccurrences>>;  // [h L]

VisibleKeys find_visible_keys(const OperationInput& input, const Hashes& hashes) {
  const Values& values = input.variant.values;
  const Index rounds = hashes.bucket.dim(0), heads = input.heads, length = hashes.bucket.dim(2);
  const Index chunk = values.integer("chunk"), fill = values.integer("fill");
  const Index padded_length =
      (length + std::max(fill, chunk) - 1) / std::max(fill, chunk) * std::max(fill, chunk);
  const Index chunks = padded_length / chunk;  // chunks per round
  const bool is_single_chunk = chunks == 1;
  VisibleKeys visible_keys(static_cast<std::size_t>(heads * length));
  for (Index row = 0; row < heads * length; ++row) {
    const Index head = row / length, i = row % length;
    auto& keys = visible_keys[static_cast<std::size_t>(row)];
    const auto add_chunk = [&](Index round, Index first, Index end) {
      const std::int32_t* order = hashes.order.data() + (round * heads + head) * length;
      for (Index r = first; r < std::min(end, length); ++r) {
        if (order[r] == i || (input.causal && order[r] > i)) continue;
        KeyOccurrences& key = keys[order[r]];
        if (key.count++ == 0) key.round = static_cast<std::int32_t>(round);
      }
    };
    for (Index round = 0; round < (is_single_chunk ? 1 : rounds); ++round) {
      const Index rank = hashes.rank[(round * heads + head) * length + i];
      const Index query_chunk = round * chunks + rank / chunk, all_chunks = rounds * chunks;
      const Index chunks_before = is_single_chunk ? 0 : values.integer("before"),
                  chunks_after = is_single_chunk ? 0 : values.integer("after");
      for (Index c = query_chunk - chunks_before; c <= query_chunk + chunks_after; ++c) {
        const Index key_chunk = ((c % all_chunks) + all_chunks) % all_chunks;
        add_chunk(key_chunk / chunks, key_chunk % chunks * chunk, (key_chunk % chunks + 1) * chunk);
      }
    }
    if (keys.empty()) keys[static_cast<std::int32_t>(i)] = {1, static_cast<std::int32_t>(rounds)};
  }
  return visible_keys;
}

// Columns [copies L]: a key that is visible n times is allowed in the first n copies.
Pattern copies_pattern(const OperationInput& input, const VisibleKeys& visible_keys, Index rounds,
                       Index copies) {
  const Index length = static_cast<Index>(visible_keys.size()) / input.heads;
  std::vector<std::string> rules;
  for (Index n = 0; n < rounds; ++n) rules.push_back("chunks of round " + std::to_string(n + 1));
  rules.push_back("itself");
  PatternBuilder rows(input.heads, length, copies * length, std::move(rules));
  for (const auto& keys : visible_keys) {
    for (const auto& [key, occurrences] : keys) {
      for (Index n = 0; n < std::min<Index>(copies, occurrences.count); ++n) {
        rows.add_column(occurrences.round, n * length + key);
      }
    }
    rows.next_row();
  }
  return rows.finish();
}

// Merges the copies of each column: sums weights if `sum`, otherwise uses the first copy's scores.
Tensor merge_copies(const Tensor& columns, Index copies, bool sum) {
  const Index heads = columns.dim(0), queries = columns.dim(1);
  const Index length = columns.dim(2) / copies;
  Tensor result = Tensor::zeros({heads, queries, length});
  for (Index row = 0; row < heads * queries; ++row) {
    for (Index n = 0; n < (sum ? copies : 1); ++n) {
      const float* from = columns.data() + (row * copies + n) * length;
      for (Index j = 0; j < length; ++j) result[row * length + j] += from[j];
    }
  }
  return result;
}

Var repeat_rows(const Var& x, Index copies) {
  return copies == 1 ? x : concat(std::vector<Var>(static_cast<std::size_t>(copies), x), 1);
}

OperationResult evaluate_released(const OperationInput& input, const Hashes& hashes,
                                  Backend& backend, const ResultRequest& wanted) {
  const VisibleKeys visible_keys = find_visible_keys(input, hashes);
  const Index rounds = hashes.bucket.dim(0), length = input.q.dim(1), size = input.q.dim(2);
  Index copies = 1;
  for (const auto& keys : visible_keys) {
    for (const auto& [key, occurrences] : keys) copies = std::max<Index>(copies, occurrences.count);
  }
  Part part = plain_part(input, copies_pattern(input, visible_keys, rounds, copies));
  if (!input.scale) part.scale = 1;
  // With this weight, rms_norm() scales keys to unit length; its epsilon prevents division by zero.
  const auto norm_weight = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
  part.k = repeat_rows(rms_norm(input.q, Var(Tensor::full({size}, norm_weight)), 1e-6), copies);
  part.v = repeat_rows(repeat_heads(input.v, input.heads, input.kv_heads), copies);
  part.pos_k.clear();
  for (Index column = 0; column < copies * length; ++column) {
    part.pos_k.push_back(static_cast<std::int32_t>(column % length));
  }
  part.split.clear();
  const float scale = part.scale;
  apply_encoding(part, input, input.causal);
  part.scale = scale;
  if (copies == 1) return run_part(std::move(part), backend, wanted);
  ResultRequest copies_wanted = wanted;
  copies_wanted.attention = wanted.attention || wanted.device_attention;
  copies_wanted.device_attention = copies_wanted.tiles = false;
  OperationResult result = run_part(std::move(part), backend, copies_wanted);
  if (result.attention.defined()) result.attention = merge_copies(result.attention, copies, true);
  if (result.scores.defined()) result.scores = merge_copies(result.scores, copies, false);
  result.mask = ByteTensor();
  result.pattern = std::make_shared<const Pattern>(copies_pattern(input, visible_keys, rounds, 1));
  result.part.reset();
  return result;
}

OperationResult evaluate_item(const OperationInput& input, Backend& backend,
                              const ResultRequest& wanted) {
  const Values& values = input.variant.values;
  const Var* stored_rotation = find_weight(input.weights, "lsh.rotation");
  const Tensor rotation =
      stored_rotation ? stored_rotation->value()
                      : drawn_for_heads(input, "lsh.rotation",
                                        rotation_shape(values, input.heads, input.q.dim(2)), 1, 1,
                                        static_cast<std::uint64_t>(values.integer("seed")));
  const Hashes hashes = hash_rows(input.q.value(), rotation, hash_factors(values));
  if (is_released_form(values)) {
    OperationResult result = evaluate_released(input, hashes, backend, wanted);
    result.extra_counts["lsh.bucket"] = hashes.bucket;
    result.extra_counts["lsh.rank"] = hashes.rank;
    return result;
  }
  Part part = plain_part(input, hashed_pattern(input, hashes));
  part.k = unit_rows(input.q);                                  // [h, L, d_k]
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);  // [h, L, d_v]
  part.split.clear();
  apply_encoding(part, input, input.causal);
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.extra_counts["lsh.bucket"] = hashes.bucket;
  result.extra_counts["lsh.rank"] = hashes.rank;
  return result;
}

double lsh_memory(const MemoryInput& in) {
  const Values& values = in.values;
  const auto heads = static_cast<double>(in.heads), keys = static_cast<double>(in.keys);
  const auto rounds = static_cast<double>(values.integer("rounds"));
  const auto chunk = static_cast<double>(values.integer("chunk"));
  const double rotation =
      rounds * heads * static_cast<double>(in.key_size * rotation_columns(values));
  const double hashes = 3 * rounds * heads * keys;  // bucket, rank, order
  // Keys per row and round.
  double bucket_keys = keys / static_cast<double>(values.integer("buckets"));
  if (chunk > 0) {
    const auto chunks = static_cast<double>(1 + values.integer("before") + values.integer("after"));
    bucket_keys = is_released_form(values) ? chunk * chunks : std::min(bucket_keys, chunk * chunks);
  }
  const double keys_per_row = std::min(keys, rounds * bucket_keys) * (in.causal ? 0.5 : 1);
  const double runs = heads * static_cast<double>(in.queries) * keys_per_row;
  constexpr double kBytesOfMapNode = 64;
  return sizeof(float) * (rotation + hashes) +
         runs * (kBytesOfRun + (is_released_form(values) ? kBytesOfMapNode : 0));
}

}  // namespace

Variant lsh_variant() {
  Variant v;
  v.id = "lsh";
  v.label = "LSH (Reformer)";
  v.group = "Content-based patterns";
  v.equation =
      "kⱼ = qⱼ/|qⱼ|,   hash(x) = argmax([xR ; −xR]),   Sᵢ = { j : hash(qᵢ) = hash(qⱼ) in some "
      "round }";
  v.summary =
      "Only similar vectors receive much weight in a softmax, so the Reformer searches for those: "
      "random rotations sort positions into buckets such that near vectors are likely to share "
      "one, and attention stays within the bucket. Several rounds make misses rare. Queries serve "
      "as keys, and a position attends to itself only if its bucket is otherwise empty.";
  v.source = "Kitaev, Kaiser and Levskaya, 2020, Reformer, arXiv:2001.04451";
  v.complexity = "O(n·L·b·d_k) to hash, O(n·L·m·d) with chunks of m";
  v.cost.growth = {.power = 1, .logarithm = true, .sizes = [](Values& values, Index length) {
                     values.set("buckets", 2 * std::max<Index>(1, length / 128));
                   }};
  v.inputs.needs = [](const Values&) { return Needs{.keys = false}; };
  v.scores.has_terms = never;
  v.parameters = {
      {.key = "buckets",
       .symbol = "b",
       .label = "Buckets",
       .help = "Number of buckets in a round; even.",
       .required = true,
       .initial = Index{8},
       .illustrative_default = [](Index length) -> Value { return illustrative_buckets(length); },
       .limits = {.min = 2, .max = 1048576},
       .slider = {.min = 2, .max = 64}},
      {.key = "rounds",
       .symbol = "n",
       .label = "Rounds",
       .help = "Number of hashing rounds, each with other rotations.",
       .required = true,
       .initial = Index{2},
       .limits = {.min = 1, .max = 4096},
       .slider = {.min = 1, .max = 8}},
      {.key = "chunk",
       .symbol = "m",
       .label = "Chunk",
       .help = "Length of the chunks of the sorted positions; each sees itself and the one before. "
               "0: no chunks.",
       .initial = Index{0},
       // As in the paper, a chunk is as long as two buckets of average size.
       .illustrative_default = [](Index length) -> Value {
         return 2 * fraction_of_length(length, illustrative_buckets(length));
       },
       .slider = {.max = 64}},
      seed_parameter(),
      {.key = "form",
       .symbol = "",
       .label = "Form",
       .help =
           "Pairs as in the paper, or as in the released code of trained models: chunks see all "
           "of their neighbours regardless of bucket, the chunks of all rounds form a circle, a "
           "key met in two rounds counts twice, and products with keys of length 1 are not "
           "scaled.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("paper"),
       .choices = {"paper", "released"}},
      {.key = "before",
       .symbol = "",
       .label = "Chunks before",
       .help = "Number of preceding chunks that a position sees.",
       .initial = Index{1},
       .limits = {.max = 1 << 20},
       .slider = {.max = 4}},
      {.key = "after",
       .symbol = "",
       .label = "Chunks after",
       .help = "Number of following chunks that a position sees.",
       .initial = Index{0},
       .limits = {.max = 1 << 20},
       .slider = {.max = 4}},
      {.key = "factor",
       .symbol = "",
       .label = "Buckets of the first factor",
       .help =
           "Number of buckets of the first of two factors of the hash, a divisor of all buckets. "
           "0: one factor.",
       .initial = Index{0},
       .limits = {.max = 1048576},
       .slider = {.max = 16}},
      {.key = "fill",
       .symbol = "",
       .label = "Padding multiple",
       .help =
           "In the released form, count chunks as if the text were padded to a multiple of this "
           "number of tokens; 0: of the chunk length.",
       .initial = Index{0},
       .slider = {.max = 64}}};
  v.weights = {
      {.name = "lsh.rotation",
       .help = "Rotations of each round and head; drawn from the seed if missing.",
       .shape = [](const Dimensions& n,
                   const Values& values) { return rotation_shape(values, n.heads, n.key); },
       .file = {.optional = true},
       .training = {.constant = true}}};
  v.objection = [](const Values& values, const Situation&) -> std::string {
    const Index buckets = values.integer("buckets");
    if (buckets % 2 != 0) return "buckets: expected an even number" + found_text(buckets);
    const Index factor = values.integer("factor"), chunk = values.integer("chunk");
    if (factor > 0 && (factor % 2 != 0 || buckets % factor != 0 || buckets / factor % 2 != 0)) {
      return "factor: expected an even divisor of buckets with an even quotient" +
             found_text(factor);
    }
    if (!is_released_form(values)) return {};
    if (chunk == 0) return "chunk: expected at least 1 in the released form, found 0";
    const Index fill = values.integer("fill");
    if (fill % chunk == 0) return {};
    return "fill: expected a multiple of chunk" + found_text(fill);
  };
  v.causality.leaks_future = [](const Values& values, const NamedVars&) -> std::string {
    if (values.integer("chunk") == 0) return {};
    return "chunk borders in the sorted positions depend on the hashes of the whole text";
  };
  v.cost.bytes = lsh_memory;
  v.evaluate = item_by_item(evaluate_item);
  return v;
}

}  // namespace attnscope
