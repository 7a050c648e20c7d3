#include "core/part/arrangement.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Kernel costs, relative to one cell of a rectangle: per gathered column, per rectangle, per pair
// of a lone row and per lone row.
constexpr double column_cost = 8, block_cost = 400, lone_pair_cost = 6, lone_row_cost = 60;
// Fraction of allowed pairs at which the search for better rectangles stops.
constexpr double good_fill = 0.75;
// Minimum size of a rectangle in rows, and of a run in columns.
constexpr Index min_rows = 8, min_run = 8;
// Maximum average runs per row in the pattern's order: kernels scan all runs of a row in each pass.
constexpr Index max_runs_in_order = 2;
constexpr double min_fill_in_order = 0.6, min_fill_of_single_runs = 0.3;
// Extents are rounded to whole SIMD vectors.
constexpr std::int32_t extent_step = 16;

std::size_t to_size(Index n) {
  return static_cast<std::size_t>(n);
}

// Runs of one query that are placed in the same block or lone row.
struct Piece {
  std::int32_t query, first_column;
  const Run *first, *last;
  Index pairs() const {
    Index count = 0;
    for (const Run* run = first; run != last; ++run) count += run->count();
    return count;
  }
};

// Pieces [first, first + count) of a list: one block, or lone rows.
struct Span {
  Index first, count;
  bool is_block;
};

struct Plan {
  std::vector<Piece> pieces;
  std::vector<Span> spans;
  double cost = 0;
  void add(const std::vector<Piece>& new_pieces, std::vector<Span> new_spans, double new_cost) {
    for (Span& span : new_spans) span.first += static_cast<Index>(pieces.size());
    spans.insert(spans.end(), new_spans.begin(), new_spans.end());
    pieces.insert(pieces.end(), new_pieces.begin(), new_pieces.end());
    cost += new_cost;
  }
};

class HeadArranger {
 public:
  HeadArranger(const Pattern& pattern, Index head) : pattern_(pattern), head_index_(head) {}

  Arrangement::Head arrange();

 private:
  bool is_in_order(Index row, Index end);
  bool single_runs_are_in_order(Index row, Index end) const;
  std::vector<Piece> whole_rows(Index row, Index end);
  void divide(const std::vector<Piece>& rows);
  double plan_sorted(const std::vector<Piece>& pieces, std::vector<Span>& spans);
  double plan_pieces(const std::vector<Piece>& pieces, Index first, Index count,
                     std::vector<Span>& spans);
  bool unite_columns(const std::vector<Piece>& pieces, Index first, Index count);
  double compute_extents(const std::vector<Piece>& pieces, Index first, Index count);
  void commit(const std::vector<Piece>& pieces, const std::vector<Span>& spans,
              std::vector<Arrangement::Block>& layer);
  Arrangement::Block make_block(const std::vector<Piece>& pieces, const Span& span);
  void mark_pairs(const std::vector<Piece>& pieces, const Span& span, Arrangement::Block& block);
  void collect_lone_rows();
  void mark_visits();

  const Pattern& pattern_;
  const Index head_index_;
  Arrangement::Head result_;
  // Union of the columns of some pieces.
  std::vector<std::int32_t> columns_;
  Index pairs_ = 0;
  std::vector<std::int32_t> last_union_;    // [L_k]: number of the last union with this column
  std::vector<std::int32_t> column_index_;  // [L_k]: index of the column in columns_
  std::int32_t union_count_ = 0;            // number of unions so far
  std::vector<Arrangement::Extent> extents_;
  std::vector<Piece> lone_pieces_;
  // Pieces by class: 2 * rule, plus 1 for contiguous runs.
  std::map<int, std::vector<Piece>> classes_;
  std::vector<Run> class_runs_;
};

Arrangement::Head HeadArranger::arrange() {
  const Index queries = pattern_.queries();
  Plan dense, sparse;  // dense: row groups in order that form dense rectangles; sparse: the others
  std::vector<Span> spans;
  for (Index row = 0; row < queries && !is_stopping(); row += Arrangement::block_rows) {
    const Index end = std::min(row + Arrangement::block_rows, queries);
    result_.in_order.push_back(is_in_order(row, end));
    if (result_.in_order.back()) continue;
    last_union_.resize(to_size(pattern_.keys()));
    column_index_.resize(to_size(pattern_.keys()));
    const std::vector<Piece> rows = whole_rows(row, end);
    Index pairs = 0;
    for (const Piece& piece : rows) pairs += piece.pairs();
    spans.clear();
    const double cost = plan_pieces(rows, 0, static_cast<Index>(rows.size()), spans);
    const bool is_dense = cost <= static_cast<double>(pairs) / good_fill + 2 * block_cost;
    (is_dense ? dense : sparse).add(rows, spans, cost);
  }
  std::vector<Arrangement::Block> layer;
  commit(dense.pieces, dense.spans, layer);
  divide(sparse.pieces);
  double divided_cost = 0;
  std::map<int, std::vector<Span>> class_spans;
  for (const auto& [class_id, pieces] : classes_)
    divided_cost += plan_sorted(pieces, class_spans[class_id]);
  if (sparse.cost <= divided_cost) {
    commit(sparse.pieces, sparse.spans, layer);
    result_.layers.push_back(std::move(layer));
  } else {
    for (const auto& [class_id, pieces] : classes_) {
      commit(pieces, class_spans[class_id], layer);
      result_.layers.push_back(std::move(layer));
      layer.clear();
    }
  }
  std::erase_if(result_.layers, [](const auto& blocks) { return blocks.empty(); });
  collect_lone_rows();
  mark_visits();
  return std::move(result_);
}

bool HeadArranger::is_in_order(Index row, Index end) {
  Index runs = 0, pairs = 0;
  bool has_single_runs = true;
  std::vector<std::pair<std::int32_t, std::int32_t>> intervals;
  for (Index i = row; i < end; ++i) {
    const Pattern::Row runs_of_row = pattern_.row(head_index_, i);
    const Index run_count = runs_of_row.end() - runs_of_row.begin();
    has_single_runs &= run_count <= 1;
    runs += run_count;
    if (runs > max_runs_in_order * Arrangement::block_rows) return false;
    for (const Run& run : runs_of_row) {
      if (run.step != 1) return false;
      intervals.emplace_back(run.begin, run.end);
      pairs += run.count();
    }
  }
  if (has_single_runs) return single_runs_are_in_order(row, end);
  std::sort(intervals.begin(), intervals.end());
  std::int32_t covered_end = 0;
  Index width = 0;
  for (const auto& [first, last] : intervals) {
    if (last <= covered_end) continue;
    width += last - std::max(first, covered_end);
    covered_end = last;
  }
  return static_cast<double>(pairs) >= min_fill_in_order * static_cast<double>((end - row) * width);
}

bool HeadArranger::single_runs_are_in_order(Index row, Index end) const {
  Index pairs = 0, cells = 0;
  for (Index i = row; i < end; i += Arrangement::group_rows) {
    Index first = pattern_.keys(), last = 0;
    const Index group_end = std::min(i + Arrangement::group_rows, end);
    for (Index r = i; r < group_end; ++r) {
      for (const Run& run : pattern_.row(head_index_, r)) {
        first = std::min<Index>(first, run.begin);
        last = std::max<Index>(last, run.end);
        pairs += run.count();
      }
    }
    if (first < last) cells += (group_end - i) * (last - first);
  }
  return static_cast<double>(pairs) >= min_fill_of_single_runs * static_cast<double>(cells);
}

// Returns each whole row as one piece. Records rows without keys in result_.
std::vector<Piece> HeadArranger::whole_rows(Index row, Index end) {
  std::vector<Piece> pieces;
  for (Index i = row; i < end; ++i) {
    const Pattern::Row runs = pattern_.row(head_index_, i);
    if (runs.empty()) {
      result_.empty.push_back(static_cast<std::int32_t>(i));
      continue;
    }
    pieces.push_back({static_cast<std::int32_t>(i), runs.first->begin, runs.first, runs.last});
  }
  return pieces;
}

// Fills classes_ with the pieces of all queries, sorted by first column.
void HeadArranger::divide(const std::vector<Piece>& rows) {
  const auto class_of = [](const Run& run) {
    return 2 * run.rule + (run.step == 1 && run.count() >= min_run ? 1 : 0);
  };
  std::size_t runs = 0;
  for (const Piece& row : rows) runs += static_cast<std::size_t>(row.last - row.first);
  class_runs_.reserve(runs);  // pieces point into class_runs_
  std::vector<int> ids;
  for (const Piece& row : rows) {
    ids.clear();
    for (const Run* run = row.first; run != row.last; ++run) {
      const int class_id = class_of(*run);
      if (std::find(ids.rbegin(), ids.rend(), class_id) == ids.rend()) ids.push_back(class_id);
    }
    if (ids.size() == 1) {
      classes_[ids[0]].push_back(row);
      continue;
    }
    for (const int class_id : ids) {
      const std::size_t first = class_runs_.size();
      std::copy_if(row.first, row.last, std::back_inserter(class_runs_),
                   [&](const Run& run) { return class_of(run) == class_id; });
      const Run* const begin = class_runs_.data() + first;
      classes_[class_id].push_back(
          {row.query, begin->begin, begin, class_runs_.data() + class_runs_.size()});
    }
  }
  for (auto& [class_id, pieces] : classes_) {
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return a.first_column < b.first_column;
    });
  }
}

// Splits sorted pieces into spans. A first column shared by at least min_rows pieces gets its own
// spans; pieces with rarer first columns share spans. Returns the cost.
double HeadArranger::plan_sorted(const std::vector<Piece>& pieces, std::vector<Span>& spans) {
  const auto count = static_cast<Index>(pieces.size());
  const auto count_same_column = [&](Index from) {
    Index n = 1;
    while (from + n < count &&
           pieces[to_size(from + n)].first_column == pieces[to_size(from)].first_column) {
      ++n;
    }
    return n;
  };
  double cost = 0;
  for (Index from = 0; from < count && !is_stopping();) {
    Index n = count_same_column(from);
    if (n >= min_rows) {
      const Index parts = (n + Arrangement::block_rows - 1) / Arrangement::block_rows;
      const Index end = from + n;
      const Index step = ((n + parts - 1) / parts + min_rows - 1) / min_rows * min_rows;
      for (Index first = from; first < end; first += step) {
        cost += plan_pieces(pieces, first, std::min(step, end - first), spans);
      }
      from = end;
      continue;
    }
    while (n < Arrangement::block_rows && from + n < count) {
      const Index next = count_same_column(from + n);
      if (next >= min_rows) break;
      n = std::min(n + next, Arrangement::block_rows);
    }
    cost += plan_pieces(pieces, from, n, spans);
    from += n;
  }
  return cost;
}

// Finds the cheapest plan for at most block_rows pieces: one block, two halves, or lone rows.
double HeadArranger::plan_pieces(const std::vector<Piece>& pieces, Index first, Index count,
                                 std::vector<Span>& spans) {
  if (count == 0) return 0;
  const bool is_shared = unite_columns(pieces, first, count);
  const double lone_total =
      lone_pair_cost * static_cast<double>(pairs_) + lone_row_cost * static_cast<double>(count);
  if (!is_shared) {
    spans.push_back({first, count, false});
    return lone_total;
  }
  const auto pairs = static_cast<double>(pairs_);
  const double cell_count = compute_extents(pieces, first, count);
  const double block_total =
      cell_count + column_cost * static_cast<double>(columns_.size()) + block_cost;
  if (count <= min_rows || pairs >= good_fill * cell_count) {
    spans.push_back({first, count, block_total < lone_total});
    return std::min(block_total, lone_total);
  }
  const std::size_t span_count = spans.size();
  const Index half = (count / 2 + min_rows - 1) / min_rows * min_rows;
  const double halves_total = plan_pieces(pieces, first, half, spans) +
                              plan_pieces(pieces, first + half, count - half, spans);
  if (halves_total < std::min(block_total, lone_total)) return halves_total;
  spans.resize(span_count);
  spans.push_back({first, count, block_total < lone_total});
  return std::min(block_total, lone_total);
}

// Fills pairs_ and columns_. Returns true and sorts columns_ if the rows share many columns.
bool HeadArranger::unite_columns(const std::vector<Piece>& pieces, Index first, Index count) {
  columns_.clear();
  pairs_ = 0;
  ++union_count_;
  for (Index n = first; n < first + count; ++n) {
    const Piece& piece = pieces[to_size(n)];
    const Piece* previous = n > first ? &pieces[to_size(n - 1)] : nullptr;
    for (const Run* run = piece.first; run != piece.last; ++run) {
      pairs_ += run->count();
      if (previous != nullptr && run - piece.first < previous->last - previous->first) {
        const Run& above = previous->first[run - piece.first];
        if (above.begin == run->begin && above.end == run->end && above.step == run->step) continue;
      }
      for (std::int32_t c = run->begin; c < run->end; c += run->step) {
        std::int32_t& last_union = last_union_[to_size(c)];
        if (last_union == union_count_) continue;
        last_union = union_count_;
        columns_.push_back(c);
      }
    }
  }
  if (2 * static_cast<Index>(columns_.size()) > pairs_) return false;
  std::sort(columns_.begin(), columns_.end());
  return true;
}

// Fills extents_ and column_index_ for the united pieces. Returns the cell count of the extents.
double HeadArranger::compute_extents(const std::vector<Piece>& pieces, Index first, Index count) {
  const auto width = static_cast<std::int32_t>(columns_.size());
  for (std::int32_t x = 0; x < width; ++x) column_index_[to_size(columns_[to_size(x)])] = x;
  extents_.clear();
  double cell_count = 0;
  for (Index n = first; n < first + count; n += Arrangement::group_rows) {
    const Index end = std::min(n + Arrangement::group_rows, first + count);
    Arrangement::Extent extent{width, 0};
    for (Index r = n; r < end; ++r) {
      const Piece& piece = pieces[to_size(r)];
      extent.begin = std::min(extent.begin, column_index_[to_size(piece.first->begin)]);
      for (const Run* run = piece.first; run != piece.last; ++run) {
        const std::int32_t last = run->begin + (run->end - 1 - run->begin) / run->step * run->step;
        extent.end = std::max(extent.end, column_index_[to_size(last)] + 1);
      }
    }
    extent.begin = extent.begin / extent_step * extent_step;
    extent.end = std::min((extent.end + extent_step - 1) / extent_step * extent_step, width);
    cell_count += static_cast<double>((end - n) * (extent.end - extent.begin));
    extents_.push_back(extent);
  }
  return cell_count;
}

void HeadArranger::commit(const std::vector<Piece>& pieces, const std::vector<Span>& spans,
                          std::vector<Arrangement::Block>& layer) {
  for (const Span& span : spans) {
    if (is_stopping()) return;
    if (span.is_block) {
      layer.push_back(make_block(pieces, span));
    } else {
      lone_pieces_.insert(lone_pieces_.end(), pieces.begin() + span.first,
                          pieces.begin() + span.first + span.count);
    }
  }
}

Arrangement::Block HeadArranger::make_block(const std::vector<Piece>& pieces, const Span& span) {
  unite_columns(pieces, span.first, span.count);
  compute_extents(pieces, span.first, span.count);
  Arrangement::Block block;
  block.rows = static_cast<std::int32_t>(span.count);
  block.width = static_cast<std::int32_t>(columns_.size());
  block.queries = result_.queries.size();
  block.columns = result_.columns.size();
  block.extents = result_.extents.size();
  for (Index n = span.first; n < span.first + span.count; ++n) {
    result_.queries.push_back(pieces[to_size(n)].query);
  }
  result_.columns.insert(result_.columns.end(), columns_.begin(), columns_.end());
  result_.extents.insert(result_.extents.end(), extents_.begin(), extents_.end());
  if (pairs_ != span.count * block.width) mark_pairs(pieces, span, block);
  return block;
}

void HeadArranger::mark_pairs(const std::vector<Piece>& pieces, const Span& span,
                              Arrangement::Block& block) {
  const std::size_t words = (static_cast<std::size_t>(block.width) + 63) / 64;
  block.words = static_cast<std::int64_t>(result_.words.size());
  result_.words.resize(result_.words.size() + words * to_size(span.count), 0);
  std::uint64_t* mask_row = result_.words.data() + block.words;
  for (Index n = span.first; n < span.first + span.count; ++n, mask_row += words) {
    for (const Run* run = pieces[to_size(n)].first; run != pieces[to_size(n)].last; ++run) {
      for (std::int32_t c = run->begin; c < run->end; c += run->step) {
        const auto x = static_cast<std::uint32_t>(column_index_[to_size(c)]);
        mask_row[x / 64] |= std::uint64_t{1} << (x % 64);
      }
    }
  }
}

// Merges the lone pieces of each query into one row.
void HeadArranger::collect_lone_rows() {
  std::stable_sort(lone_pieces_.begin(), lone_pieces_.end(),
                   [](const Piece& a, const Piece& b) { return a.query < b.query; });
  StorageVector<std::int32_t>& columns = result_.columns;
  for (std::size_t n = 0; n < lone_pieces_.size();) {
    Arrangement::LoneRow row{lone_pieces_[n].query, 0, columns.size(), false};
    for (; n < lone_pieces_.size() && lone_pieces_[n].query == row.query; ++n) {
      for (const Run* run = lone_pieces_[n].first; run != lone_pieces_[n].last; ++run) {
        for (std::int32_t c = run->begin; c < run->end; c += run->step) columns.push_back(c);
      }
    }
    const auto begin = columns.begin() + static_cast<Index>(row.columns);
    if (!std::is_sorted(begin, columns.end())) std::sort(begin, columns.end());
    row.width = static_cast<std::int32_t>(columns.end() - begin);
    result_.lone_rows.push_back(row);
  }
}

void HeadArranger::mark_visits() {
  result_.visits.resize(result_.queries.size(), 0);
  std::vector<std::uint8_t*> latest(to_size(pattern_.queries()), nullptr);
  for (const auto& layer : result_.layers) {
    for (const Arrangement::Block& block : layer) {
      for (std::size_t n = block.queries; n < block.queries + to_size(block.rows); ++n) {
        std::uint8_t*& latest_visit = latest[to_size(result_.queries[n])];
        if (latest_visit == nullptr) result_.visits[n] |= Arrangement::first_visit;
        latest_visit = &result_.visits[n];
      }
    }
  }
  for (Arrangement::LoneRow& row : result_.lone_rows) {
    row.first = latest[to_size(row.query)] == nullptr;
    latest[to_size(row.query)] = nullptr;
  }
  for (std::uint8_t* visit : latest) {
    if (visit != nullptr) *visit |= Arrangement::last_visit;
  }
}

}  // namespace

std::size_t Arrangement::layers() const {
  std::size_t max = 0;
  for (const Head& head : heads) max = std::max(max, head.layers.size());
  return max;
}

bool Arrangement::all_in_order() const {
  return std::ranges::all_of(heads, [](const Head& head) {
    return std::ranges::all_of(head.in_order, [](std::uint8_t flag) { return flag != 0; });
  });
}

bool Arrangement::has_intervals() const {
  return std::ranges::any_of(heads, [](const Head& head) {
    const auto is_interval = [&head](const Block& block) {
      const std::int32_t* columns = head.columns.data() + block.columns;
      return columns[block.width - 1] - columns[0] == block.width - 1;
    };
    return std::ranges::any_of(head.in_order, [](std::uint8_t flag) { return flag != 0; }) ||
           std::ranges::any_of(head.layers, [&](const std::vector<Block>& layer) {
             return std::ranges::any_of(layer, is_interval);
           });
  });
}

Arrangement arrange(const Pattern& pattern) {
  Arrangement arrangement;
  arrangement.heads.resize(to_size(pattern.heads()));
  parallel_for(pattern.heads(), 1, [&](Index first, Index last) {
    for (Index head = first; head < last && !is_stopping(); ++head) {
      arrangement.heads[to_size(head)] = HeadArranger(pattern, head).arrange();
    }
  });
  check_stop();
  return arrangement;
}

}  // namespace attnscope
