// Rectangles of a map on the CPU. Scores are computed tile by tile, as in the forward pass, and
// pooled into cells immediately. Pairs that are not allowed are skipped.
#include "core/attention/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/attention/cpu/pooling.h"
#include "core/attention/cpu/tile_scores.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Computes rows of cells of one request; one instance per thread.
class TileRows {
 public:
  // max_rows: maximum number of rows of cells per compute().
  TileRows(const cpu::Prepared& prepared, const float* sums, const TileRequest& request,
           Index max_rows)
      : prepared_(prepared),
        sums_(sums),
        request_(request),
        columns_(prepared),
        scores_(prepared),
        s_(static_cast<std::size_t>(cpu::block_rows * cpu::tile_columns)),
        cells_(static_cast<std::size_t>(max_rows), {prepared, request}) {
    columns_.restrict_to(request.column, request.column + request.width);
    scores_.set_columns(columns_);
  }

  // Computes rows [first, last) of cells, at most `max_rows`.
  void compute(Index first, Index last, Tensor& cells) {
    const Index end = std::min(last * request_.step, request_.height);
    first_ = first;
    for (Index n = first; n < last; ++n) {
      const Index rows = std::min(request_.step, request_.height - n * request_.step);
      cell_row(n).begin(cells.data() + n * cells.dim(1), request_.sampled ? 1 : rows);
      if (request_.sampled) add_rows(n * request_.step + rows / 2, 1);
    }
    if (!request_.sampled) add_rows(first * request_.step, end - first * request_.step);
    for (Index n = first; n < last; ++n) cell_row(n).finish();
  }

 private:
  cpu::CellRow& cell_row(Index n) { return cells_[static_cast<std::size_t>(n - first_)]; }

  // Adds `count` rows of pairs; `from` is relative to the first row of the request.
  void add_rows(Index from, Index count) {
    for (Index added = 0; added < count && !is_stopping();) {
      const Index row = request_.row + from + added;
      const Index rows =
          columns_.choose(request_.head, row, std::min(cpu::block_rows, count - added));
      add_block(from + added, rows);
      added += rows;
    }
  }

  void add_block(Index from, Index rows) {
    const Normaliser normaliser = prepared_.part.normaliser;
    const bool softmax = normaliser == Normaliser::Softmax || normaliser == Normaliser::SpanSoftmax;
    const float hidden_score = softmax ? -std::numeric_limits<float>::infinity() : 0;
    for (Index x = 0; x < columns_.count() && !is_stopping();) {
      const cpu::Tile tile = columns_.tile(x);
      scores_.compute(tile, s_.data(), cpu::tile_columns, hidden_score);
      if (normaliser == Normaliser::SpanSoftmax) {
        scores_.add_span(tile, s_.data(), cpu::tile_columns);
      }
      for (Index r = 0; r < rows; ++r) {
        const float sum = sums_ == nullptr ? 0 : sums_[tile.row + r];
        cell_row((from + r) / request_.step).add(tile, r, s_.data() + r * cpu::tile_columns, sum);
      }
      x += tile.width;
    }
  }

  const cpu::Prepared& prepared_;
  const float* sums_;  // log-sum-exp or sum of each row; null without a normaliser
  const TileRequest& request_;
  cpu::BlockColumns columns_;
  cpu::TileScores scores_;
  std::vector<float> s_;  // [block_rows, tile_columns]
  std::vector<cpu::CellRow> cells_;
  Index first_ = 0;  // index of the first row of cells_
};

class CpuTiles : public AttentionTiles {
 public:
  CpuTiles(Part part, Tensor log_sum_exp)
      : part_(std::move(part)), log_sum_exp_(std::move(log_sum_exp)) {}

  Tensor tile(const TileRequest& request) const override {
    check(request, part_.batch * part_.heads, part_.queries(), part_.keys());
    check_stop();
    const cpu::Prepared& prepared = this->prepared();
    const float* sums =
        log_sum_exp_.defined() ? log_sum_exp_.data() + request.head * part_.queries() : nullptr;
    Tensor cells({request.cell_rows(), request.cell_columns()});
    if (cells.empty()) return cells;
    // A job covers up to block_rows rows of pairs, but at least one row of cells.
    const Index job_rows = request.sampled ? 1 : std::max<Index>(1, cpu::block_rows / request.step);
    const Index groups = (cells.dim(0) + job_rows - 1) / job_rows;
    parallel_for(groups, 1, [&](Index first, Index last) {
      TileRows rows(prepared, sums, request, job_rows);
      for (Index n = first; n < last && !is_stopping(); ++n) {
        rows.compute(n * job_rows, std::min((n + 1) * job_rows, cells.dim(0)), cells);
      }
    });
    check_stop();
    return cells;
  }

 private:
  const cpu::Prepared& prepared() const {
    std::call_once(once_, [this] {
      prepared_ = std::make_unique<const cpu::Prepared>(part_, cpu::Purpose::Tiles);
      // Huge finite sums result from clamped scores; an empty row has -infinity.
      prepared_->clamps_overflow =
          std::any_of(log_sum_exp_.begin(), log_sum_exp_.end(),
                      [](float sum) { return std::abs(sum) > 1e30F && !std::isinf(sum); });
    });
    return *prepared_;
  }

  const Part part_;
  const Tensor log_sum_exp_;  // [B h, L_q]
  mutable std::once_flag once_;
  mutable std::unique_ptr<const cpu::Prepared> prepared_;
};

}  // namespace

std::shared_ptr<const AttentionTiles> cpu_tiles(Part part, Tensor log_sum_exp) {
  check(part);
  return std::make_shared<CpuTiles>(std::move(part), std::move(log_sum_exp));
}

}  // namespace attnscope
