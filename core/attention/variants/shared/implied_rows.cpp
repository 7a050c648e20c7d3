#include "core/attention/variants/shared/implied_rows.h"

#include <algorithm>
#include <cmath>

#include "core/attention/variants/shared/assemble.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr Index kBlockRows = 16;  // rows that share the work of a key

// True if Pooling::Max selects `a` and not `b`.
bool is_stronger(double a, double b) {
  const double size_a = std::abs(a), size_b = std::abs(b);
  return size_a > size_b || (size_a == size_b && a > b);
}

class ImpliedTiles : public AttentionTiles {
 public:
  // heads: B h
  ImpliedTiles(std::shared_ptr<const ImpliedRows> rows, Index heads, Index queries, Index keys)
      : rows_(std::move(rows)), heads_(heads), queries_(queries), keys_(keys) {}

  Tensor tile(const TileRequest& request) const override {
    check(request, heads_, queries_, keys_);
    check_stop();
    Tensor cells = Tensor::zeros({request.cell_rows(), request.cell_columns()});
    parallel_for(cells.dim(0), 1, [&](Index first, Index last) {
      for (Index n = first; n < last && !is_stopping(); ++n) {
        pool_rows(request, n, cells.data() + n * cells.dim(1));
      }
    });
    check_stop();
    return cells;
  }

 private:
  // Pools the pairs of row n of the cells.
  void pool_rows(const TileRequest& request, Index n, float* cells) const {
    const Index first_row = request.row + n * request.step;
    const Index cell_rows = std::min(request.step, request.row + request.height - first_row);
    const Index begin = request.sampled ? first_row + cell_rows / 2 : first_row;
    const Index end = request.sampled ? begin + 1 : first_row + cell_rows;
    std::vector<double> pooled(static_cast<std::size_t>(request.cell_columns()));
    for (Index row = begin; row < end && !is_stopping(); row += kBlockRows) {
      add_block(request, row, std::min(kBlockRows, end - row), pooled);
    }
    for (Index cell = 0; cell < request.cell_columns(); ++cell) {
      const Index columns = std::min(request.step, request.width - cell * request.step);
      const double pairs = static_cast<double>((end - begin) * columns);
      const double sum = pooled[static_cast<std::size_t>(cell)];
      cells[cell] = static_cast<float>(request.pooling == Pooling::Mean ? sum / pairs : sum);
    }
  }

  void add_block(const TileRequest& request, Index row, Index count,
                 std::vector<double>& pooled) const {
    const Index first_query = keys_ - queries_ + row;  // queries are the last tokens
    const ImpliedRows::Block block{request.head, first_query, count, request.column};
    if (block.width() <= 0) return;
    const std::vector<double> weights = rows_->weights(block);
    const Index columns = std::min(request.width, block.width());
    for (Index r = 0; r < count; ++r) {
      for (Index column = 0; column < columns; ++column) {
        const double weight = weights[static_cast<std::size_t>(r * block.width() + column)];
        double& cell = pooled[static_cast<std::size_t>(column / request.step)];
        if (request.pooling == Pooling::Mean) {
          cell += weight;
        } else if (is_stronger(weight, cell)) {
          cell = weight;
        }
      }
    }
  }

  const std::shared_ptr<const ImpliedRows> rows_;
  const Index heads_, queries_, keys_;
};

Tensor whole_maps(const ImpliedRows& rows, Index heads, Index queries, Index keys) {
  Tensor maps = Tensor::zeros({heads, queries, keys});
  const Index blocks = (queries + kBlockRows - 1) / kBlockRows;
  parallel_for(heads * blocks, 1, [&](Index first, Index last) {
    for (Index n = first; n < last && !is_stopping(); ++n) {
      const Index head = n / blocks, row = n % blocks * kBlockRows;
      const ImpliedRows::Block block{head, keys - queries + row,
                                     std::min(kBlockRows, queries - row), 0};
      const std::vector<double> weights = rows.weights(block);
      for (Index r = 0; r < block.count; ++r) {
        std::transform(weights.begin() + r * block.width(),
                       weights.begin() + (r + 1) * block.width(),
                       maps.data() + (head * queries + row + r) * keys,
                       [](double weight) { return static_cast<float>(weight); });
      }
    }
  });
  check_stop();
  return maps;
}

}  // namespace

void add_implied_maps(OperationResult& result, std::shared_ptr<const ImpliedRows> rows,
                      const OperationInput& input, const ResultRequest& wanted) {
  const Index heads = input.batch * input.heads;
  const Index queries = query_count(input), keys = key_count(input);
  result.extra_counts["channels"] =
      IntTensor::from({1}, {static_cast<std::int32_t>(result.output.dim(2))});
  result.pattern = std::make_shared<const Pattern>(plain_pattern(input, true));
  if (wanted.attention || wanted.device_attention) {
    result.attention = whole_maps(*rows, heads, queries, keys);
  }
  if (wanted.tiles) {
    result.tiles = std::make_shared<const ImpliedTiles>(std::move(rows), heads, queries, keys);
  }
}

Index averaged_channels(const OperationRecord& result) {
  const auto count = result.extra_counts.find("channels");
  return count == result.extra_counts.end() ? 0 : count->second[0];
}

Var by_item(const Var& head_weight, Index batch) {
  const Var rows = reshape(head_weight, {head_weight.dim(0), 1, head_weight.dim(1)});
  const std::vector<Var> copies(static_cast<std::size_t>(batch), rows);
  return batch == 1 ? rows : concat(copies, 0);
}

Tensor first_item(const Var& rows, Index heads) {
  return rows.value().slice(0, heads).copy();
}

std::string recurrence_objection(const std::string& label, const Situation& in) {
  if (!in.causal) {
    return "causal: expected true, found false (" + label +
           " carries a state from left to right, which contains earlier tokens only)";
  }
  if (in.queries == in.keys || in.queries == 0 || in.keys == 0) return {};
  return "k: expected as many keys as queries for " + label + ", " + std::to_string(in.queries) +
         ", found " + std::to_string(in.keys);
}

}  // namespace attnscope
