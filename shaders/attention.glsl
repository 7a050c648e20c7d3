// Common parts of all passes of an attention operation: sizes, buffers, positions and tables.
//
// The passes, over a chunk of tiles whose scores fit in a scratch buffer:
//   scores_tiles or scores_shared,  scores of the allowed pairs: products, then the remaining
//     terms_tiles                   terms                                -> scores
//   row_sums                        maximum and sum of each row so far   -> row_sums
//   weights_tiles                   scores to weights                    -> scores, attention
//   outputs_tiles or                weighted sums of values, added to
//     outputs_shared                earlier ones                         -> outputs
// (_tiles keeps 8 x 8 sums in registers and reads memory directly, which is fast on a software
// rasteriser; _shared uses shared memory, which is fast on GPUs. A calibration selects one.)
// pooled_tile needs no other pass: it computes any region of a map from the rows' log-sum-exp.
//
// A tile (app/gpu/tile_layout.h) has at most HEIGHT (8 or 1) rows and one list of keys for all its
// rows. Rows and keys need not be contiguous. Its cells are all pairs of a row and a key; masked
// pairs have the score MASKED. A query can be in several lists of tiles, which are computed in
// sequence: when the maximum of a row grows, its earlier sums are rescaled (online softmax: Milakov
// and Gimelshein, 2018, arXiv:1805.02867).
//
// Conventions: `head` counts batch and heads, i queries, c key columns, x cells of a row. Rows of
// floats are padded to whole vec4s, and "width" counts vec4s. Mirrored by struct Sizes in
// app/gpu/part_upload.h.

layout(std140, binding = 0) uniform Sizes {
  int heads;          // h
  int kv_heads;       // h_kv
  int queries;        // L_q
  int keys;           // L_k
  int key_width;      // vec4s per row of q and k
  int value_width;    // vec4s per row of v; even
  int tile_first;     // the chunk has the tiles [tile_first, tile_end)
  int tile_end;
  int head_first;     // dispatch z is a copy for head head_first + z * head_step + Tile.head
  int head_step;
  uint origin;        // start of the chunk's scores in its list of tiles
  uint copy_stride;   // scores of the chunk per copy
  int tiles;          // start in integers[] of tiles: columns, width, head, rows, row, base
  int columns;        // start in integers[] of the lists of keys
  int words;          // start in integers[] of the bit masks of rows
  int starts;         // start in integers[] of the index of each row's first run (pooled_tile)
  int runs;           // start in integers[] of the runs: begin, end, step
  int pattern_heads;  // 1: all heads share the pattern
  int sinks;          // start in numbers[] of the sinks of the heads
  int pos_q;          // start in integers[] of the positions of queries
  int pos_k;          // start in integers[] of the positions of keys
  int pos_k_stride;   // stride of pos_k between heads; 0 if heads share positions
  int additive_v;     // start in vectors[] of v of additive scores; key_width per head
  int logits;         // start in numbers[] of the logits; logits_width per query
  int logits_heads;   // 1, h or B h
  int logits_width;
  int span;           // start in numbers[] of the spans z
  int span_rows;      // 1: a span per row, 0: a span per head
  float span_ramp;    // R
  float scale;
  float product_scale;  // scale, or 1 if terms are added before scaling
  float score_cap;      // scores s become score_cap tanh(s / score_cap)
  ivec4 table[2 * MAX_TABLES];  // see bucket()
  ivec4 product[MAX_PRODUCTS];  // starts of q' and k' in vectors[], width, heads: 1, h or B h
};

layout(std430, binding = 5) readonly buffer Integers { int integers[]; };
layout(std430, binding = 6) readonly buffer Numbers { float numbers[]; };

// Score of a masked pair: below any other score. It is finite, because the exponential of -infinity
// is not 0 on all devices.
#if NORMALISER == SOFTMAX || NORMALISER == SPAN_SOFTMAX
const float MASKED = -3.4028e38;
#else
const float MASKED = 0.0;
#endif

int kv_head(int head) {
  return (head / heads) * kv_heads + (head % heads) / (heads / kv_heads);
}

// Position of query i minus position of key column c.
int offset_of(int head, int i, int c) {
  return integers[pos_q + i] - integers[pos_k + (head % heads) * pos_k_stride + c];
}

// Index of an offset's values in table t. table[2 t]: start of the values, their stride between
// heads, start of the buckets in integers[], number of offsets. table[2 t + 1]: smallest offset,
// vec4s per row of values, number of heads (1, h or B h).
int bucket(int t, int offset) {
  ivec4 at = table[2 * t];
  return integers[at.z + clamp(offset - table[2 * t + 1].x, 0, at.w - 1)];
}
int table_head(int t, int head) {
  return table[2 * t].x + head % table[2 * t + 1].z * table[2 * t].y;
}
float table_value(int t, int head, int offset) {  // from numbers[]
  return numbers[table_head(t, head) + bucket(t, offset)];
}
int table_row(int t, int head, int offset) {  // start of the row in vectors[]
  return table_head(t, head) + bucket(t, offset) * table[2 * t + 1].y;
}

#ifdef HEIGHT
const int TILE = 8;  // cells of a row that an invocation computes
// Cells per row and invocation in passes without sums over cells.
#if SHARED_MEMORY == 1
const int CELLS = 1;  // coalesces reads
#else
const int CELLS = TILE;
#endif

struct Tile {
  int head;
  int columns, width;  // start of the tile's list of keys; number of keys
  int stride;          // scores per row: `width` rounded up to a multiple of TILE
  int rows, row;       // number of rows, and their start in integers[]
  uint base;           // start of the tile's scores
};

// Finds tile n of the chunk for copy z. Returns false if the chunk has no such tile.
bool find_tile(int n, int z, out Tile t) {
  if (tile_first + n >= tile_end) return false;
  int at = tiles + 6 * (tile_first + n);
  t.columns = columns + integers[at];
  t.width = integers[at + 1];
  t.stride = (t.width + TILE - 1) / TILE * TILE;
  t.head = head_first + z * head_step + integers[at + 2];
  t.rows = integers[at + 3];
  t.row = integers[at + 4];
  t.base = uint(integers[at + 5]) - origin + uint(z) * copy_stride;
  return true;
}

// Query of row r and key column of cell x. Rows and cells past the end repeat the last one.
int query(Tile t, int r) { return integers[t.row + 5 * r]; }
int column(Tile t, int x) { return integers[t.columns + min(x, t.width - 1)]; }

// Range [x, y) that contains all allowed cells of a row.
ivec2 extent(Tile t, int r) {
  return ivec2(integers[t.row + 5 * r + 1], integers[t.row + 5 * r + 2]);
}
// Flags: first visit (1) and last visit (2) of the row's query.
int visits(Tile t, int r) { return integers[t.row + 5 * r + 4]; }

// Bits of the allowed cells among the TILE cells of a row from x on.
uint allowed(Tile t, int r, int x) {
  ivec2 cells = clamp(extent(t, r) - x, 0, TILE);
  uint bits = (1u << cells.y) - (1u << cells.x);
  int at = integers[t.row + 5 * r + 3];
  if (at >= 0) bits &= uint(integers[words + at + x / 32]) >> (x % 32);
  return bits;
}
#endif
