#include "core/analysis/recurrence.h"

#include <stdexcept>
#include <utility>

#include "core/analysis/matrices.h"
#include "core/attention/variants/shared/implied_rows.h"

namespace attnscope {
namespace {

// Rows of one head of [h, L, n].
Tensor head_rows(const Tensor& x, Index head) {
  return x.slice(x.dim(0) == 1 ? 0 : head, 1).reshaped({x.dim(1), x.dim(2)});
}

Eigen::VectorXd row_of(const Tensor& rows, Index t) {
  Eigen::VectorXd row(rows.dim(1));
  for (Index i = 0; i < rows.dim(1); ++i) row[i] = static_cast<double>(rows(t, i));
  return row;
}

std::vector<double> means_of_rows(const Tensor& rows) {
  std::vector<double> means;
  for (Index t = 0; t < rows.dim(0); ++t) means.push_back(row_of(rows, t).mean());
  return means;
}

Recurrence wkv_recurrence(const AttentionTap& tap, Index head) {
  const auto& extra = tap.result.extra;
  Recurrence result{head_rows(extra.at("rwkv.receptance"), head),
                    head_rows(extra.at("rwkv.k"), head),
                    head_rows(extra.at("rwkv.v"), head),
                    {},
                    {},
                    {}};
  result.kind = Recurrence::Kind::Wkv;
  const Index size = result.k.dim(1);
  result.kept = extra.at("rwkv.kept").slice(head, 1).reshaped({size});
  result.bonus = extra.at("rwkv.bonus").slice(head, 1).reshaped({size});
  result.channel_means = means_of_rows(result.q);
  return result;
}

Recurrence selective_recurrence(const AttentionTap& tap, Index head) {
  const auto& extra = tap.result.extra;
  Recurrence result{
      extra.at("mamba.c"), extra.at("mamba.b"), head_rows(extra.at("mamba.v"), head), {}, {}, {}};
  result.kind = Recurrence::Kind::Selective;
  result.delta = head_rows(extra.at("mamba.delta"), head);
  result.rates = head_rows(extra.at("mamba.a"), head);
  result.skip = extra.at("mamba.skip").slice(head, 1).reshaped({result.v.dim(1)});
  result.channel_means = means_of_rows(result.delta);
  return result;
}

}  // namespace

std::string recurrence_refusal(const AttentionTap& tap) {
  const auto& extra = tap.result.extra;
  if (averaged_channels(tap.result) > 0) {
    const bool has_vectors = extra.contains("rwkv.k") || extra.contains("mamba.b");
    return has_vectors ? "" : "There are too many channels to list.";
  }
  const auto keys = extra.find("features.k");
  if (keys == extra.end()) {
    return extra.contains("state") ? "There are too many features to list."
                                   : "This method has no features of queries and keys.";
  }
  const std::shared_ptr<const Part> part = tap.part();
  if (part == nullptr || !part->v.defined()) return "Values were not stored.";
  if (!tap.causal) {
    return "Every query reads the sum over all keys: the recurrent form requires causal "
           "attention.";
  }
  if (tap.queries() != tap.keys() || keys->second.dim(1) != tap.keys()) {
    return "Queries and keys are not the same tokens.";
  }
  return {};
}

Recurrence recurrence_of(const AttentionTap& tap, Index head) {
  if (!recurrence_refusal(tap).empty()) throw std::logic_error("this head has no recurrence");
  const auto& extra = tap.result.extra;
  if (extra.contains("rwkv.k")) return wkv_recurrence(tap, head);
  if (extra.contains("mamba.b")) return selective_recurrence(tap, head);
  const Tensor v = tap.part()->v.value();
  const Index heads = extra.at("features.k").dim(0);
  Recurrence result{head_rows(extra.at("features.q"), head),
                    head_rows(extra.at("features.k"), head),
                    head_rows(v, head * v.dim(0) / heads),
                    {},
                    {},
                    {}};
  if (extra.contains("features.rotated_k")) {
    result.plain_q = std::exchange(result.q, head_rows(extra.at("features.rotated_q"), head));
    result.plain_k = std::exchange(result.k, head_rows(extra.at("features.rotated_k"), head));
  }
  if (const auto gates = extra.find("rfa.gate"); gates != extra.end()) {
    for (Index t = 0; t < result.length(); ++t) {
      result.gates.push_back(static_cast<double>(gates->second(head, t)));
    }
  }
  return result;
}

RecurrentStep recurrent_step(const Recurrence& recurrence, Index t) {
  if (recurrence.kind != Recurrence::Kind::Features) return channel_step(recurrence, t);
  const Index features = recurrence.k.dim(1), size = recurrence.v.dim(1);
  RecurrentStep step;
  step.counts.assign(static_cast<std::size_t>(t) + 1, 1);
  RowMatrix decayed_state = RowMatrix::Zero(features, size), update = decayed_state;
  Eigen::VectorXd z = Eigen::VectorXd::Zero(features);
  double decay = 1;  // fraction of token j's contribution that remains at token t
  for (Index j = t; j >= 0; --j) {
    const auto index = static_cast<std::size_t>(j);
    const double factor = recurrence.gates.empty() ? 1 : decay * (1 - recurrence.gates[index]);
    if (!recurrence.gates.empty()) decay *= recurrence.gates[index];
    step.counts[index] = factor;
    const Eigen::VectorXd key = factor * row_of(recurrence.k, j);
    (j == t ? update : decayed_state).noalias() += key * row_of(recurrence.v, j).transpose();
    z += recurrence.is_rotated() ? Eigen::VectorXd(factor * row_of(recurrence.plain_k, j)) : key;
  }
  const RowMatrix state = decayed_state + update;
  const Eigen::VectorXd query = row_of(recurrence.q, t);
  const double sum = (recurrence.is_rotated() ? row_of(recurrence.plain_q, t) : query).dot(z);
  step.before = tensor_of(decayed_state);
  step.added = tensor_of(update);
  step.after = tensor_of(state);
  step.z = tensor_of(z.transpose()).reshaped({features});
  step.output = tensor_of(query.transpose() * state / sum).reshaped({size});
  for (Index j = 0; j <= t; ++j) {
    step.weights.push_back(step.counts[static_cast<std::size_t>(j)] *
                           query.dot(row_of(recurrence.k, j)) / sum);
  }
  return step;
}

}  // namespace attnscope
