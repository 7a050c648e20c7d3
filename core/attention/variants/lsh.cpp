// lsh: locality-sensitive hashing, shared queries and keys. Kitaev et al., 2020.
#include <algorithm>
#include <numeric>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/drawn.h"
#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/parallel.h"

namespace attnscope {

namespace {

// What the rounds of hashing say of each position, [n, h, L] each.
struct Hashes {
  IntTensor bucket, rank;
  // Positions in the order of a round, [n, h, L]: sorted by bucket, then position.
  std::vector<std::int32_t> order;
};

Shape rotation_shape(const Values& values, Index heads, Index size) {
  return {values.integer("rounds"), heads, size, values.integer("buckets") / 2};
}

// argmax([x R ; -x R]), the first maximum. R: [d_k, b/2]
std::int32_t hash(const float* x, const float* rotation, Index size, Index half) {
  std::vector<double> turned(static_cast<std::size_t>(2 * half), 0.0);
  for (Index c = 0; c < size; ++c) {
    for (Index b = 0; b < half; ++b) {
      turned[static_cast<std::size_t>(b)] +=
          static_cast<double>(x[c]) * static_cast<double>(rotation[c * half + b]);
    }
  }
  for (Index b = 0; b < half; ++b) {
    turned[static_cast<std::size_t>(half + b)] = -turned[static_cast<std::size_t>(b)];
  }
  return static_cast<std::int32_t>(first_greatest(turned));
}

Hashes hashed(const Tensor& q, const Tensor& rotation, const Stop& stop) {
  const Index rounds = rotation.dim(0), heads = q.dim(0), length = q.dim(1), size = q.dim(2);
  const Index half = rotation.dim(3);
  Hashes hashes{IntTensor({rounds, heads, length}), IntTensor({rounds, heads, length}),
                std::vector<std::int32_t>(static_cast<std::size_t>(rounds * heads * length))};
  parallel_for(rounds * heads, 1, [&](Index first, Index last) {
    for (Index n = first; n < last && !stop.requested(); ++n) {
      const Index head = n % heads;
      std::int32_t* bucket = hashes.bucket.data() + n * length;
      for (Index i = 0; i < length; ++i) {
        bucket[i] = hash(q.data() + (head * length + i) * size, rotation.data() + n * size * half,
                         size, half);
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
  stop.check();
  return hashes;
}

// Adds what position i may see in one round, itself left out: its bucket, and of that, with
// chunks, its own chunk of the round's order and the one before.
void add_round(PatternBuilder& rows, const Hashes& hashes, Index round, Index head, Index i,
               Index chunk) {
  const Index heads = hashes.bucket.dim(1), length = hashes.bucket.dim(2);
  const Index at = (round * heads + head) * length;
  const std::int32_t* order = hashes.order.data() + at;
  const std::int32_t* bucket = hashes.bucket.data() + at;
  const auto less = [bucket](std::int32_t position, std::int32_t b) {
    return bucket[position] < b;
  };
  const auto more = [bucket](std::int32_t b, std::int32_t position) {
    return b < bucket[position];
  };
  Index first = std::lower_bound(order, order + length, bucket[i], less) - order;
  Index end = std::upper_bound(order, order + length, bucket[i], more) - order;
  if (chunk > 0) {
    const Index own = hashes.rank[at + i] / chunk;
    first = std::max(first, (own - 1) * chunk);
    end = std::min(end, (own + 1) * chunk);
  }
  for (Index r = first; r < end; ++r) {
    if (order[r] != i) rows.add_column(static_cast<int>(round), order[r]);
  }
}

Pattern hashed_pattern(const OperationInput& input, const Hashes& hashes) {
  const Index rounds = hashes.bucket.dim(0), length = hashes.bucket.dim(2);
  const Index chunk = input.variant.values.integer("chunk");
  std::vector<std::string> rules;
  for (Index n = 0; n < rounds; ++n) rules.push_back("bucket of round " + std::to_string(n + 1));
  rules.push_back("itself");
  PatternBuilder rows(input.heads, length, length, std::move(rules));
  for (Index head = 0; head < input.heads; ++head) {
    for (Index i = 0; i < length; ++i) {
      if (input.causal) rows.causal_limit(i + 1);
      for (Index n = 0; n < rounds; ++n) add_round(rows, hashes, n, head, i, chunk);
      if (rows.row_is_empty()) rows.add_column(static_cast<int>(rounds), i);
      rows.next_row();
    }
  }
  return rows.finish();
}

OperationResult evaluate_item(const OperationInput& input, Backend& backend, const Wanted& wanted,
                              const Stop& stop) {
  const Values& values = input.variant.values;
  const Var* given = find_weight(input.weights, "lsh.rotation");
  const Tensor rotation =
      given ? given->value()
            : drawn_for_heads(input, "lsh.rotation",
                              rotation_shape(values, input.heads, input.q.dim(2)), 1, 1,
                              static_cast<std::uint64_t>(values.integer("seed")));
  const Hashes hashes = hashed(input.q.value(), rotation, stop);
  Part part = plain_part(input, hashed_pattern(input, hashes));
  part.k = unit_rows(input.q);                                  // [h, L, d_k]
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);  // [h, L, d_v]
  part.split.clear();
  apply_encoding(part, input, input.causal);
  OperationResult result = run_part(std::move(part), backend, wanted, stop);
  result.extra_counts["lsh.bucket"] = hashes.bucket;
  result.extra_counts["lsh.rank"] = hashes.rank;
  return result;
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
      "Only similar vectors get much weight in a softmax, so the Reformer looks for those alone: "
      "random rotations sort positions into buckets such that near vectors likely share one, and "
      "attention stays within the bucket. Several rounds make misses rare. Queries serve as keys, "
      "and a position attends to itself only when there is nobody else.";
  v.source = "Kitaev, Kaiser and Levskaya, 2020, Reformer, arXiv:2001.04451";
  v.cost = "O(n·L·b·d_k) to hash, O(n·L·m·d) with chunks of m";
  v.growth = {.power = 1, .logarithm = true, .sizes = [](Values& values, Index length) {
                values.set("buckets", 2 * std::max<Index>(1, length / 128));
              }};
  v.needs = [](const Values&) { return Needs{.keys = false}; };
  v.has_terms = never;
  v.parameters = {
      {.key = "buckets",
       .symbol = "b",
       .label = "Buckets",
       .help = "Into how many buckets a round sorts; even.",
       .required = true,
       .initial = Index{8},
       .telling = [](Index length) -> Value { return 2 * std::max<Index>(2, share_of(length, 8)); },
       .least = 2,
       .most = 1048576,
       .slider_least = 2,
       .slider_most = 64},
      {.key = "rounds",
       .symbol = "n",
       .label = "Rounds",
       .help = "How often hashing is repeated with other rotations.",
       .required = true,
       .initial = Index{2},
       .least = 1,
       .most = 4096,
       .slider_least = 1,
       .slider_most = 8},
      {.key = "chunk",
       .symbol = "m",
       .label = "Chunk",
       .help = "Length of the pieces that the sorted positions are cut into; each sees "
               "itself and the one before. 0 leaves them whole.",
       .initial = Index{0},
       .slider_most = 64},
      seed_parameter()};
  v.weights = {
      {.name = "lsh.rotation",
       .help = "The rotations of each round and head, in place of drawn ones.",
       .shape = [](const Dimensions& n,
                   const Values& values) { return rotation_shape(values, n.heads, n.key); },
       .optional = true,
       .constant = true}};
  v.objection = [](const Values& values, const Situation&) -> std::string {
    const Index buckets = values.integer("buckets");
    if (buckets % 2 == 0) return {};
    return "buckets: expected an even number" + found_text(buckets);
  };
  v.looks_ahead = [](const Values& values, const NamedVars&) -> std::string {
    if (values.integer("chunk") == 0) return {};
    return "where a chunk of the sorted positions begins depends on the hashes of the whole text";
  };
  v.evaluate = item_by_item(evaluate_item);
  return v;
}

}  // namespace attnscope
