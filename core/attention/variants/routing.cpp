// routing: attention within clusters of queries and keys. Roy et al., 2020.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/rows.h"
#include "core/base/random.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr int kIterations = 10;

// Cluster of each row: the first centroid with the largest product.
template <class Centroid>
std::vector<std::int32_t> cluster_rows(const std::vector<double>& rows, const Centroid* centroids,
                                       Index clusters, Index size) {
  std::vector<std::int32_t> result;
  std::vector<double> products(static_cast<std::size_t>(clusters));
  for (std::size_t offset = 0; offset < rows.size(); offset += static_cast<std::size_t>(size)) {
    check_stop();
    for (Index c = 0; c < clusters; ++c) {
      products[static_cast<std::size_t>(c)] =
          exact_dot(rows.data() + offset, centroids + c * size, size);
    }
    result.push_back(static_cast<std::int32_t>(first_maximum(products)));
  }
  return result;
}

// k-means on unit vectors (Dhillon and Modha, 2001), starting at random rows.  [c, d_k]
Doubles k_means(const std::vector<double>& rows, Index clusters, Index size, std::uint64_t seed) {
  const Index count = static_cast<Index>(rows.size()) / size;
  Random random(seed);
  std::vector<Index> order(static_cast<std::size_t>(count));
  for (Index n = 0; n < count; ++n) order[static_cast<std::size_t>(n)] = n;
  Doubles centroids;
  centroids.reserve(static_cast<std::size_t>(clusters * size));
  for (Index c = 0; c < clusters; ++c) {
    check_stop();
    const Index position = c % count;  // rows repeat only if clusters > count
    const auto pick =
        position + static_cast<Index>(random.below(static_cast<std::uint64_t>(count - position)));
    std::swap(order[static_cast<std::size_t>(position)], order[static_cast<std::size_t>(pick)]);
    const double* row = rows.data() + order[static_cast<std::size_t>(position)] * size;
    centroids.insert(centroids.end(), row, row + size);
  }
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    check_stop();
    const std::vector<std::int32_t> cluster = cluster_rows(rows, centroids.data(), clusters, size);
    Doubles sums = zero_doubles(static_cast<Index>(centroids.size()));
    for (Index n = 0; n < count; ++n) {
      double* sum = sums.data() + cluster[static_cast<std::size_t>(n)] * size;
      for (Index i = 0; i < size; ++i) sum[i] += rows[static_cast<std::size_t>(n * size + i)];
    }
    for (Index c = 0; c < clusters; ++c) {
      check_stop();
      double* sum = sums.data() + c * size;
      const double length = std::sqrt(exact_dot(sum, sum, size));
      if (!(length > 0)) continue;  // empty cluster: keep its centroid
      for (Index i = 0; i < size; ++i) {
        centroids[static_cast<std::size_t>(c * size + i)] = sum[i] / length;
      }
    }
  }
  return centroids;
}

std::uint64_t head_seed(const OperationInput& input, Index head) {
  const auto seed = static_cast<std::uint64_t>(input.variant.values.integer("seed"));
  return derived_seed(seed, static_cast<std::uint64_t>(input.first_head + head));
}

struct Clusters {
  IntTensor query, key;  // [h, L]
};

Clusters assign_rows(const OperationInput& input, const Tensor& q, const Tensor& k) {
  const Values& values = input.variant.values;
  const Index clusters = values.integer("clusters"), size = q.dim(2);
  const Var* stored = find_weight(input.weights, "routing.centroid");
  Clusters result{IntTensor({input.heads, q.dim(1)}), IntTensor({input.heads, k.dim(1)})};
  for (Index head = 0; head < input.heads; ++head) {
    const auto scale_to_unit = [&](const Tensor& x) {
      return exact_unit_rows(x.data() + head * x.dim(1) * size, x.dim(1), size);
    };
    const std::vector<double> queries = scale_to_unit(q), keys = scale_to_unit(k);
    Doubles centroids;
    if (stored) {
      const float* first = stored->value().data() + head * clusters * size;
      centroids.assign(first, first + clusters * size);
    } else {
      std::vector<double> rows = queries;
      rows.insert(rows.end(), keys.begin(), keys.end());
      centroids = k_means(rows, clusters, size, head_seed(input, head));
    }
    const auto query_clusters = cluster_rows(queries, centroids.data(), clusters, size);
    const auto key_clusters = cluster_rows(keys, centroids.data(), clusters, size);
    std::copy(query_clusters.begin(), query_clusters.end(), result.query.data() + head * q.dim(1));
    std::copy(key_clusters.begin(), key_clusters.end(), result.key.data() + head * k.dim(1));
  }
  return result;
}

Pattern routed_pattern(const OperationInput& input, const Clusters& clusters) {
  const Index first = first_position(input), keys = clusters.key.dim(1);
  const PatternInput in{.values = input.variant.values,
                        .weights = input.weights,
                        .heads = input.heads,
                        .queries = clusters.query.dim(1),
                        .keys = keys,
                        .first = first,
                        .causal = input.causal};
  std::vector<std::map<std::int32_t, std::vector<Index>>> members(
      static_cast<std::size_t>(input.heads));
  for (Index head = 0; head < input.heads; ++head) {
    for (Index j = 0; j < keys; ++j) {
      members[static_cast<std::size_t>(head)][clusters.key(head, j)].push_back(j);
    }
  }
  return build_rows(in, input.heads, {"cluster"}, [&](PatternBuilder& rows, Index head, Index i) {
    const auto& head_members = members[static_cast<std::size_t>(head)];
    const auto cluster = head_members.find(clusters.query(head, i - first));
    if (cluster == head_members.end()) return;
    for (const Index j : cluster->second) rows.add_column(0, j);
  });
}

bool is_shared(const Values& values) {
  return values.flag("shared");
}

// Keys of every head. If queries also serve as keys, returns the queries.
Var head_keys(const OperationInput& input) {
  if (is_shared(input.variant.values)) return input.q;
  return repeat_heads(input.k, input.heads, input.kv_heads);
}

// Products of addends (see terms.h) with each key addend replaced by the corresponding query
// addend, because queries serve as keys. Empty if an addend is missing.
std::vector<ExtraProduct> shared_split(const std::vector<ExtraProduct>& split) {
  std::vector<ExtraProduct> result = split;
  for (ExtraProduct& product : result) {
    const bool is_position =
        product.term == Term::ContentPosition || product.term == Term::PositionPosition;
    const Term query_term = is_position ? Term::PositionContent : Term::Content;
    const auto found = std::ranges::find(split, query_term, &ExtraProduct::term);
    if (found == split.end()) return {};
    product.k = found->q;
  }
  return result;
}

OperationResult route_item(const OperationInput& input, Backend& backend,
                           const ResultRequest& wanted) {
  const Clusters clusters = assign_rows(input, input.q.value(), head_keys(input).value());
  Part part = plain_part(input, routed_pattern(input, clusters));
  if (is_shared(input.variant.values)) {
    part.k = input.q;
    part.v = repeat_heads(input.v, input.heads, input.kv_heads);
    part.split = shared_split(input.split);
  }
  apply_encoding(part, input, input.causal);
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.extra_counts["routing.query_cluster"] = clusters.query;
  result.extra_counts["routing.key_cluster"] = clusters.key;
  return result;
}

// Queries and keys of a head in all items of the batch, scaled to unit length.
std::vector<double> unit_rows_of_head(const OperationInput& input, Index head) {
  const Tensor &q = input.q.value(), k = head_keys(input).value();
  std::vector<double> rows;
  for (Index pair = head; pair < q.dim(0); pair += input.heads) {
    for (const Tensor* x : {&q, &k}) {
      const Index count = x->dim(1), size = x->dim(2);
      const std::vector<double> unit =
          exact_unit_rows(x->data() + pair * count * size, count, size);
      rows.insert(rows.end(), unit.begin(), unit.end());
      if (is_shared(input.variant.values)) break;
    }
  }
  return rows;
}

// Moves every centroid towards the mean of the rows in its cluster.
void move_centroids(const std::vector<double>& rows, const float* from, Index clusters, Index size,
                    double decay, float* to) {
  const std::vector<std::int32_t> cluster = cluster_rows(rows, from, clusters, size);
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(size, clusters);
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(clusters);
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    const double* row = rows.data() + n * static_cast<std::size_t>(size);
    sums.col(cluster[n]) += Eigen::Map<const Eigen::VectorXd>(row, size);
    ++counts[cluster[n]];
  }
  for (Index c = 0; c < clusters; ++c) {
    for (Index i = 0; i < size; ++i) {
      const auto previous = static_cast<double>(from[c * size + i]);
      const double mean = counts[c] > 0 ? sums(i, c) / counts[c] : previous;
      to[c * size + i] = static_cast<float>(decay * previous + (1 - decay) * mean);
    }
  }
}

NamedVars update_centroids(const OperationInput& input) {
  const Values& values = input.variant.values;
  const Var* stored = find_weight(input.weights, "routing.centroid");
  const Index clusters = values.integer("clusters"), size = input.q.dim(2);
  Tensor centroids({input.heads, clusters, size});
  for (Index head = 0; head < input.heads; ++head) {
    const std::vector<double> rows = unit_rows_of_head(input, head);
    const Index offset = head * clusters * size;
    if (stored) {
      move_centroids(rows, stored->value().data() + offset, clusters, size, values.real("decay"),
                     centroids.data() + offset);
      continue;
    }
    const Doubles initial = k_means(rows, clusters, size, head_seed(input, head));
    std::ranges::transform(initial, centroids.data() + offset,
                           [](double x) { return static_cast<float>(x); });
  }
  return {{"routing.centroid", Var(centroids)}};
}

double routing_memory(const MemoryInput& in) {
  const auto queries = static_cast<double>(in.queries), keys = static_cast<double>(in.keys);
  const auto clusters = static_cast<double>(in.values.integer("clusters"));
  const double pairs = (in.causal ? 0.5 : 1) * static_cast<double>(in.heads) * queries * keys;
  // Assumes clusters of similar size, most of whose members are not adjacent.
  const double runs = pairs / clusters * (1 - 1 / clusters);
  const double rows = 2 * static_cast<double>(in.key_size) * (queries + keys);  // unit rows
  const double centroids = 2 * static_cast<double>(in.key_size) * clusters;  // centroids and sums
  return runs * kBytesOfRun + (rows + centroids) * sizeof(double);
}

}  // namespace

Variant routing_variant() {
  Variant v;
  v.id = "routing";
  v.label = "Routing";
  v.group = "Content-based patterns";
  v.equation = "Sᵢ = { j : cluster(kⱼ) = cluster(qᵢ) },   cluster(x) = argmax_c (x/|x|)·μ_c";
  v.summary =
      "Queries and keys are assigned to the nearest of a few centroids, and attention stays within "
      "a cluster. With √L clusters each token compares itself with about √L others, selected by "
      "content and not by position.";
  v.source = "Roy et al., 2020, Routing Transformer, arXiv:2003.05997";
  v.complexity = "O(L·c·d + L²/c·d), O(L√L·d) for c = √L";
  v.cost.growth = {.power = 1.5, .sizes = [](Values& values, Index length) {
                     values.set("clusters", rounded_root(length));
                   }};
  v.parameters = {
      {.key = "clusters",
       .symbol = "c",
       .label = "Clusters",
       .help = "Number of centroids.",
       .required = true,
       .initial = Index{4},
       .illustrative_default = [](Index length) -> Value { return rounded_root(length); },
       .limits = {.min = 1, .max = 1048576},
       .slider = {.min = 1, .max = 32}},
      {.key = "shared",
       .symbol = "",
       .label = "Shared",
       .help = "Use queries as keys, so that a token always sees itself.",
       .kind = Parameter::Kind::Flag,
       .initial = false,
       .illustrative_default = [](Index) -> Value { return true; }},
      {.key = "decay",
       .symbol = "λ",
       .label = "Decay",
       .help = "Share of a centroid that a training step keeps.",
       .kind = Parameter::Kind::Real,
       .scope = {.training = true},
       .initial = 0.999,
       .limits = {.min = 0, .max = 1},
       .slider = {.max = 1}},
      seed_parameter()};
  v.weights = {{.name = "routing.centroid",
                .help = "Trained centroids of each head; without them, k-means on the text.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  return {n.heads, values.integer("clusters"), n.key};
                },
                .file = {.optional = true},
                .training = {.constant = true}}};
  v.inputs.needs = [](const Values& values) { return Needs{.keys = !is_shared(values)}; };
  v.causality.leaks_future = [](const Values&, const NamedVars& weights) -> std::string {
    if (find_weight(weights, "routing.centroid")) return {};
    return "clusters depend on the whole text, since there are no trained centroids";
  };
  v.cost.head = [](const CostInput& in) {  // products with all centroids and within clusters
    const Index rows = is_shared(in.values) ? in.queries : in.queries + in.keys;
    return in.pairs + static_cast<double>(rows * in.values.integer("clusters"));
  };
  v.update_constants = update_centroids;
  v.cost.bytes = routing_memory;
  v.evaluate = item_by_item(route_item);
  return v;
}

}  // namespace attnscope
