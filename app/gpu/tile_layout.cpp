#include "app/gpu/tile_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/part/arrangement.h"

namespace attnscope {
namespace {

// Work groups per dimension of a dispatch that every OpenGL implementation supports.
constexpr Index kMaxGroups = 65535;
// A dispatch of tiles padded to equal width has at most kMaxWaste * cells + kFreeWaste cells.
constexpr std::int64_t kMaxWaste = 4, kFreeWaste = 1 << 16;
constexpr Index kWord = 32;
constexpr std::uint32_t kAllBits = 0xFFFFFFFF;
constexpr std::int32_t kOnlyVisit = Arrangement::first_visit | Arrangement::last_visit;

static_assert(Arrangement::group_rows == TileLayout::tile);

std::size_t to_size(Index n) {
  return static_cast<std::size_t>(n);
}
template <class T>
std::int32_t to_int32(T n) {
  return static_cast<std::int32_t>(n);
}

// Bits [from, from + kWord) of a row of words.
std::uint32_t bits_at(const std::uint64_t* row_words, Index words, Index from) {
  constexpr Index bits = 64;
  const Index word = from / bits, shift = from % bits;
  std::uint64_t result = row_words[word] >> shift;
  if (shift > bits - kWord && word + 1 < words) result |= row_words[word + 1] << (bits - shift);
  return static_cast<std::uint32_t>(result);
}

// Union of the keys of several rows whose runs all have step 1.
struct Union {
  struct Part {
    std::int32_t begin, end, cell;  // `cell`: number of earlier keys
  };
  std::vector<Part> parts;
  std::int32_t width = 0;

  Union(const Pattern& pattern, Index head, Index first, Index end) {
    std::vector<Part> runs;
    for (Index i = first; i < end; ++i) {
      for (const Run& run : pattern.row(head, i)) runs.push_back({run.begin, run.end, 0});
    }
    std::sort(runs.begin(), runs.end(),
              [](const Part& x, const Part& y) { return x.begin < y.begin; });
    for (const Part& run : runs) {
      if (parts.empty() || run.begin > parts.back().end) {
        parts.push_back({run.begin, run.begin, width});
      }
      Part& last = parts.back();
      width += std::max(run.end - last.end, 0);
      last.end = std::max(last.end, run.end);
    }
  }

  // Extents of a row's runs in the union; adjacent ones are merged.
  std::vector<Arrangement::Extent> cells(const Pattern::Row& row) const {
    std::vector<Arrangement::Extent> result;
    for (const Run& run : row) {
      const auto next =
          std::upper_bound(parts.begin(), parts.end(), run.begin,
                           [](std::int32_t c, const Part& part) { return c < part.begin; });
      const std::int32_t cell = std::prev(next)->cell + run.begin - std::prev(next)->begin;
      if (result.empty() || result.back().end != cell) result.push_back({cell, cell});
      result.back().end = cell + run.end - run.begin;
    }
    return result;
  }
};

}  // namespace

class TileLayout::Builder {
 public:
  Builder(const Pattern& pattern, const Arrangement& arrangement, TileLayout& layout)
      : pattern_(pattern), arrangement_(arrangement), layout_(layout) {}

  void build();

 private:
  const Arrangement::Head& arranged(Index h) const { return arrangement_.heads[to_size(h)]; }
  void add_ordered_rows(Index h);
  void add_union_tile(Index h, Index first, Index end);
  void add_empty_rows(Index h);
  void add_block(Index h, const Arrangement::Block& block);
  void add_tile(Index h, Index columns, Index width, Index rows);
  void add_row(const Row& row);
  void end_list();
  std::int32_t append_bits(const Arrangement::Head& head, const Arrangement::Block& block, Index r,
                           const Arrangement::Extent& extent);
  std::int32_t append_bits(const std::vector<Arrangement::Extent>& cells, Index width);

  const Pattern& pattern_;
  const Arrangement& arrangement_;
  TileLayout& layout_;
  std::vector<Index> columns_;  // start of each head's keys in layout_.columns_
  Index height_ = tile;         // rows per tile of the current list
};

void TileLayout::Builder::build() {
  const Index heads = pattern_.heads();
  layout_.columns_.resize(to_size(pattern_.keys()));
  std::iota(layout_.columns_.begin(), layout_.columns_.end(), 0);
  for (Index h = 0; h < heads; ++h) {
    columns_.push_back(to_int32(layout_.columns_.size()));
    const auto& head_columns = arranged(h).columns;
    layout_.columns_.insert(layout_.columns_.end(), head_columns.begin(), head_columns.end());
  }
  for (Index h = 0; h < heads; ++h) {
    add_ordered_rows(h);
    add_empty_rows(h);
  }
  const std::size_t layers = std::max<std::size_t>(arrangement_.layers(), 1);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (Index h = 0; h < heads; ++h) {
      for (const Arrangement::Block& block : arranged(h).layer(layer)) add_block(h, block);
    }
    end_list();
  }
  height_ = 1;
  for (Index h = 0; h < heads; ++h) {
    for (const Arrangement::LoneRow& row : arranged(h).lone_rows) {
      add_tile(h, columns_[to_size(h)] + to_int32(row.columns), row.width, 1);
      const int visits = Arrangement::last_visit | (row.first ? Arrangement::first_visit : 0);
      add_row({row.query, 0, row.width, -1, visits});
    }
  }
  end_list();
}

void TileLayout::Builder::add_ordered_rows(Index h) {
  for (Index row = 0; row < pattern_.queries(); row += tile) {
    if (!arranged(h).is_in_order(row / Arrangement::block_rows)) continue;
    add_union_tile(h, row, std::min(row + tile, pattern_.queries()));
  }
}

// Adds a tile of neighbouring rows whose runs have step 1; its keys are the union of the runs.
void TileLayout::Builder::add_union_tile(Index h, Index first, Index end) {
  const Union keys(pattern_, h, first, end);
  Index columns = keys.parts.empty() ? 0 : keys.parts.front().begin;
  if (keys.parts.size() > 1) {
    columns = to_int32(layout_.columns_.size());
    for (const Union::Part& part : keys.parts) {
      for (std::int32_t c = part.begin; c < part.end; ++c) layout_.columns_.push_back(c);
    }
  }
  add_tile(h, columns, keys.width, end - first);
  for (Index i = first; i < end; ++i) {
    const std::vector<Arrangement::Extent> cells = keys.cells(pattern_.row(h, i));
    Row row{to_int32(i), 0, 0, -1, kOnlyVisit};
    if (!cells.empty()) {
      row.begin = cells.front().begin;
      row.end = cells.back().end;
    }
    if (cells.size() > 1) row.words = append_bits(cells, keys.width);
    add_row(row);
  }
}

std::int32_t TileLayout::Builder::append_bits(const std::vector<Arrangement::Extent>& cells,
                                              Index width) {
  const std::size_t start = layout_.words_.size();
  layout_.words_.resize(start + to_size((width + kWord - 1) / kWord), 0);
  for (const Arrangement::Extent& run : cells) {
    for (std::int32_t x = run.begin; x < run.end; ++x) {
      layout_.words_[start + to_size(x / kWord)] |= std::uint32_t{1} << (x % kWord);
    }
  }
  return to_int32(start);
}

// Places rows without keys in tiles without columns, so that every row is in a tile.
void TileLayout::Builder::add_empty_rows(Index h) {
  const std::vector<std::int32_t>& empty = arranged(h).empty;
  for (std::size_t n = 0; n < empty.size(); ++n) {
    const std::size_t remaining = empty.size() - n;
    if (n % to_size(tile) == 0) add_tile(h, 0, 0, std::min(tile, static_cast<Index>(remaining)));
    add_row({empty[n], 0, 0, -1, kOnlyVisit});
  }
}

void TileLayout::Builder::add_block(Index h, const Arrangement::Block& block) {
  const Arrangement::Head& head = arranged(h);
  for (Index r0 = 0; r0 < block.rows; r0 += tile) {
    const Arrangement::Extent extent = head.extents[block.extents + to_size(r0 / tile)];
    const Index rows = std::min(tile, block.rows - r0);
    add_tile(h, columns_[to_size(h)] + to_int32(block.columns) + extent.begin,
             extent.end - extent.begin, rows);
    for (Index r = r0; r < r0 + rows; ++r) {
      const std::size_t n = block.queries + to_size(r);
      add_row({head.queries[n], 0, extent.end - extent.begin, append_bits(head, block, r, extent),
               head.visits[n]});
    }
  }
}

// Appends the bits of the block's row `r` to words(). Returns their start; -1 if all bits are set.
std::int32_t TileLayout::Builder::append_bits(const Arrangement::Head& head,
                                              const Arrangement::Block& block, Index r,
                                              const Arrangement::Extent& extent) {
  if (block.words < 0) return -1;
  const Index words = (block.width + 63) / 64;
  const std::uint64_t* const row_words = head.words.data() + block.words + r * words;
  const std::size_t start = layout_.words_.size();
  bool all_allowed = true;
  for (Index x = extent.begin; x < extent.end; x += kWord) {
    const Index count = std::min(kWord, extent.end - x);
    const std::uint32_t mask = kAllBits >> (kWord - count);
    const std::uint32_t word = bits_at(row_words, words, x) & mask;
    all_allowed &= word == mask;
    layout_.words_.push_back(word);
  }
  if (!all_allowed) return to_int32(start);
  layout_.words_.resize(start);
  return -1;
}

void TileLayout::Builder::add_tile(Index h, Index columns, Index width, Index rows) {
  layout_.tiles_.push_back({to_int32(columns), to_int32(width), to_int32(h), to_int32(rows),
                            to_int32(layout_.rows_.size()), 0});
}

// Adds a row. After the last row of a tile, adds copies of that row as padding.
void TileLayout::Builder::add_row(const Row& row) {
  const Tile& t = layout_.tiles_.back();
  layout_.has_several_visits_ |= row.visits != kOnlyVisit;
  layout_.rows_.push_back(row);
  if (to_int32(layout_.rows_.size()) == t.row + t.rows) {
    layout_.rows_.resize(to_size(t.row + height_), {row.query, 0, 0, -1, 0});
  }
}

// Sorts tiles by decreasing width, rounded to powers of two, so that tiles of a chunk have similar
// widths. Then sets Tile::base of all tiles.
void TileLayout::Builder::end_list() {
  List list{height_, 0, 0};
  if (!layout_.lists_.empty())
    list.first = layout_.lists_.back().first + layout_.lists_.back().count;
  list.count = to_int32(layout_.tiles_.size()) - list.first;
  if (list.count == 0) return;
  const auto begin = layout_.tiles_.begin() + list.first;
  std::stable_sort(begin, layout_.tiles_.end(), [](const Tile& x, const Tile& y) {
    return std::bit_width(static_cast<std::uint32_t>(x.width)) >
           std::bit_width(static_cast<std::uint32_t>(y.width));
  });
  std::int64_t cells = 0;
  for (auto t = begin; t != layout_.tiles_.end(); ++t) {
    t->base = cells;
    cells += layout_.cells(*t, list);
  }
  layout_.lists_.push_back(list);
}

TileLayout::TileLayout(const Pattern& pattern) : heads_(pattern.heads()) {
  Builder(pattern, *pattern.arrangement(), *this).build();
}

bool TileLayout::allows(const Row& row, Index cell) const {
  if (cell < row.begin || cell >= row.end) return false;
  return row.words < 0 || (words_[to_size(row.words + cell / kWord)] >> (cell % kWord) & 1) != 0;
}

std::int64_t TileLayout::cells(const List& list) const {
  const Tile& last = tiles_[to_size(list.first + list.count - 1)];
  return last.base + cells(last, list);
}

Chunk next_chunk(const TileLayout& layout, Index copies, std::int64_t max_cells,
                 ChunkStart& start) {
  const TileLayout::List& list = layout.lists()[start.list];
  const TileLayout::Tile* const tiles = layout.tiles().data() + list.first;
  Chunk chunk{start.list, start.copy, 1, start.tile, 0, 0, 0};
  while (start.tile < list.count && chunk.tiles < kMaxGroups) {
    const TileLayout::Tile& next = tiles[start.tile];
    const std::int64_t cells = chunk.cells + layout.cells(next, list);
    const Index widest = std::max(chunk.widest, next.stride());
    const std::int64_t covered = (chunk.tiles + 1) * list.height * widest;
    if (chunk.tiles > 0 && (cells > max_cells || covered > kMaxWaste * cells + kFreeWaste)) break;
    chunk.cells = cells;
    chunk.widest = widest;
    ++chunk.tiles;
    ++start.tile;
  }
  if (chunk.tiles == list.count) {
    const std::int64_t max_copies = max_cells / std::max<std::int64_t>(chunk.cells, 1);
    chunk.copies = std::clamp<Index>(max_copies, 1, std::min(copies - start.copy, kMaxGroups));
  }
  if (start.tile == list.count) {
    start.tile = 0;
    start.copy += chunk.copies;
  }
  if (start.copy == copies) {
    start.copy = 0;
    ++start.list;
  }
  return chunk;
}

}  // namespace attnscope
