// What all passes of an attention operation share: sizes, buffers, positions and tables.
//
// The passes, over a chunk of tiles whose scores fit a scratch buffer:
//   scores_tiles or scores_shared,  scores of the allowed pairs: products, then what else there
//     terms_tiles                   is                                   -> scores
//   row_sums                        maximum and sum of each row so far   -> row_sums
//   weights_tiles                   scores into weights                  -> scores, attention
//   outputs_tiles or                weighted sums of values, added to
//     outputs_shared                earlier ones                         -> outputs
// (_tiles keeps 8 x 8 sums in registers and reads what it needs, which a software rasteriser is
// fast at; _shared goes through shared memory, which graphics processors are. A calibration picks.)
// pooled_tile needs none of these: it derives any piece of a map from the rows' log-sum-exp.
//
// A tile (app/gpu/tile_layout.h): up to HEIGHT rows, 8 or 1, and a list of keys that they share;
// neither need be neighbours. Its cells are all pairs of these; those that the pattern forbids have
// HIDDEN as their score. A query may be in tiles of several lists, and these are computed one after
// the other: what a row has summed up so far is then made smaller as its maximum grows (online
// softmax: Milakov and Gimelshein, 2018, arXiv:1805.02867).
//
// Conventions: `head` counts batch and heads, i queries, c key columns, x cells of a row; a row of
// floats is padded to whole vec4s ("width" counts vec4s). Mirrored by struct Sizes in
// app/gpu/part_upload.h.

layout(std140, binding = 0) uniform Sizes {
  int heads;          // h
  int kv_heads;       // h_kv
  int queries;        // L_q
  int keys;           // L_k
  int key_width;      // of a row of q and k
  int value_width;    // of a row of v; even
  int tile_first;     // the chunk: tiles [tile_first, tile_end),
  int tile_end;
  int head_first;     // for heads from here on, each head_step further (plus the tile's own head)
  int head_step;
  uint origin;        // where the chunk's scores begin among all of its list's
  uint copy_stride;   // scores of a list
  int tiles;          // in integers[]: columns, width, head, rows, row, base of each tile
  int columns;        // where lists of keys begin
  int words;          // and bits of rows
  int starts;         // for pooled_tile: where in integers[] the rows' runs begin: indices of runs
  int runs;           // begin, end, step of each run
  int pattern_heads;  // 1: all heads share their rows of the pattern
  int spare;
  int pos_q;          // positions of queries
  int pos_k;          // of keys,
  int pos_k_stride;   // and how far the next head's are: 0 where heads share them
  int additive_v;     // in vectors[], key_width a head
  int logits;         // in numbers[], logits_width a query
  int logits_heads;   // 1, h or B h
  int logits_width;
  int span;           // in numbers[]
  int span_rows;      // 1: a span a row, 0: a span a head
  float span_ramp;    // R
  float scale;
  float product_scale;  // scale, or 1 where terms are added before it
  int spare2;
  ivec4 table[2 * MOST_TABLES];  // see below
  ivec4 product[MOST_PRODUCTS];  // q', k' in vectors[]; their width; 1, h or B h of them
};

layout(std430, binding = 5) readonly buffer Integers { int integers[]; };
layout(std430, binding = 6) readonly buffer Numbers { float numbers[]; };

// The score of a pair that has no weight. Below any score, but a number: exponentials of infinities
// are not 0 everywhere.
#if NORMALISER == SOFTMAX || NORMALISER == SPAN_SOFTMAX
const float HIDDEN = -3.4028e38;
#else
const float HIDDEN = 0.0;
#endif

int kv_head(int head) {
  return (head / heads) * kv_heads + (head % heads) / (heads / kv_heads);
}

// i - j, in positions.
int offset_of(int head, int i, int c) {
  return integers[pos_q + i] - integers[pos_k + (head % heads) * pos_k_stride + c];
}

// Tables by offset. table[2 t]: where its values begin, how far the next head's are, where the
// buckets of its offsets begin in integers[], and how many offsets there are; table[2 t + 1]: the
// least offset, the width of a row of values, heads (1, h or B h).
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
int table_row(int t, int head, int offset) {  // where the row begins in vectors[]
  return table_head(t, head) + bucket(t, offset) * table[2 * t + 1].y;
}

#ifdef HEIGHT
const int TILE = 8;  // cells of a row that are computed together
#if SHARED_MEMORY == 1
const int CELLS = 1;  // of each row for an invocation of a pass that looks at cells one by one, so
#else                 // that neighbours read neighbours; or all of them
const int CELLS = TILE;
#endif

struct Tile {
  int head;
  int columns, width;  // where its list of keys begins, and how many there are
  int stride;          // of its rows of scores: `width` in whole TILEs
  int rows, row;       // how many, and where in integers[] they begin
  uint base;           // where its scores begin
};

// Tile n of the chunk, for copy z; false when there is none.
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

// Past the last one they repeat it.
int query(Tile t, int r) { return integers[t.row + 5 * r]; }
int column(Tile t, int x) { return integers[t.columns + min(x, t.width - 1)]; }

// The cells [x, y) that hold all allowed ones of a row.
ivec2 extent(Tile t, int r) {
  return ivec2(integers[t.row + 5 * r + 1], integers[t.row + 5 * r + 2]);
}
// Whether the row's query is met for the first time (1), the last time (2).
int turns(Tile t, int r) { return integers[t.row + 5 * r + 4]; }

// Which cells of a row are allowed, from x on, at most TILE and up to the next multiple of that: a
// bit each.
uint allowed(Tile t, int r, int x) {
  ivec2 cells = clamp(extent(t, r) - x, 0, TILE);
  uint bits = (1u << cells.y) - (1u << cells.x);
  int at = integers[t.row + 5 * r + 3];
  if (at >= 0) bits &= uint(integers[words + at + x / 32]) >> (x % 32);
  return bits;
}
#endif
