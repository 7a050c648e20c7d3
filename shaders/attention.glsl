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
// A tile (app/gpu/tile_layout.h): up to HEIGHT rows, 8 or 1, and a list of keys that they share;
// rows and keys need not be contiguous. Its cells are all pairs of these; masked pairs have MASKED
// as their score. A query can be in tiles of several lists, which are computed one after the other:
// earlier sums of a row are rescaled as its maximum grows (online softmax: Milakov and Gimelshein,
// 2018, arXiv:1805.02867).
//
// Conventions: `head` counts batch and heads, i queries, c key columns, x cells of a row; a row of
// floats is padded to whole vec4s ("width" counts vec4s). Mirrored by struct Sizes in
// app/gpu/part_upload.h.

layout(std140, binding = 0) uniform Sizes {
  int heads;          // h
  int kv_heads;       // h_kv
  int queries;        // L_q
  int keys;           // L_k
  int key_width;      // per row of q and k
  int value_width;    // per row of v; even
  int tile_first;     // the chunk: tiles [tile_first, tile_end)
  int tile_end;
  int head_first;     // copy z computes head head_first + z * head_step, plus the tile's head
  int head_step;
  uint origin;        // start of the chunk's scores within its list
  uint copy_stride;   // scores of the chunk per copy
  int tiles;          // start in integers[] of each tile's columns, width, head, rows, row, base
  int columns;        // start of the lists of keys
  int words;          // start of the bits of rows
  int starts;         // for pooled_tile: start in integers[] of the index of each row's first run
  int runs;           // begin, end, step of each run
  int pattern_heads;  // 1: all heads share the pattern
  int spare;
  int pos_q;          // positions of queries
  int pos_k;          // positions of keys,
  int pos_k_stride;   // and their stride between heads; 0 if heads share them
  int additive_v;     // in vectors[], key_width per head
  int logits;         // in numbers[], logits_width per query
  int logits_heads;   // 1, h or B h
  int logits_width;
  int span;           // in numbers[]
  int span_rows;      // 1: a span per row, 0: a span per head
  float span_ramp;    // R
  float scale;
  float product_scale;  // scale, or 1 if terms are added before scaling
  int spare2;
  ivec4 table[2 * MAX_TABLES];  // see below
  ivec4 product[MAX_PRODUCTS];  // q', k' in vectors[]; their width; number of heads: 1, h or B h
};

layout(std430, binding = 5) readonly buffer Integers { int integers[]; };
layout(std430, binding = 6) readonly buffer Numbers { float numbers[]; };

// Score of a masked pair: below any other score, but finite, since the exponential of -infinity is
// not 0 on all devices.
#if NORMALISER == SOFTMAX || NORMALISER == SPAN_SOFTMAX
const float MASKED = -3.4028e38;
#else
const float MASKED = 0.0;
#endif

int kv_head(int head) {
  return (head / heads) * kv_heads + (head % heads) / (heads / kv_heads);
}

// i - j, in positions.
int offset_of(int head, int i, int c) {
  return integers[pos_q + i] - integers[pos_k + (head % heads) * pos_k_stride + c];
}

// Tables by offset. table[2 t]: start of its values, stride between heads, start of its offsets'
// buckets in integers[], number of offsets; table[2 t + 1]: smallest offset, width of a row of
// values, heads (1, h or B h).
int bucket(int t, int offset) {
  ivec4 at = table[2 * t];
  return integers[at.z + clamp(offset - table[2 * t + 1].x, 0, at.w - 1)];
}
int table_head(int t, int head) {
  return table[2 * t].x + head % table[2 * t + 1].z * table[2 * t].y;
}
float table_value(int t, int head, int offset) {  // numbers[]
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
  int columns, width;  // start of its list of keys, and their number
  int stride;          // of its rows of scores: `width` rounded up to a multiple of TILE
  int rows, row;       // number, and start in integers[]
  uint base;           // start of its scores
};

// Tile n of the chunk, for copy z; false if there is none.
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

// Rows past the last one repeat it.
int query(Tile t, int r) { return integers[t.row + 5 * r]; }
int column(Tile t, int x) { return integers[t.columns + min(x, t.width - 1)]; }

// Range [x, y) that contains all allowed cells of a row.
ivec2 extent(Tile t, int r) {
  return ivec2(integers[t.row + 5 * r + 1], integers[t.row + 5 * r + 2]);
}
// Flags: first visit (1) and last visit (2) of the row's query.
int visits(Tile t, int r) { return integers[t.row + 5 * r + 4]; }

// Bits of the allowed cells of a row, from x to the next multiple of TILE.
uint allowed(Tile t, int r, int x) {
  ivec2 cells = clamp(extent(t, r) - x, 0, TILE);
  uint bits = (1u << cells.y) - (1u << cells.x);
  int at = integers[t.row + 5 * r + 3];
  if (at >= 0) bits &= uint(integers[words + at + x / 32]) >> (x % 32);
  return bits;
}
#endif
