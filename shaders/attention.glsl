// What all passes of an attention operation share: sizes, buffers, positions and tables.
//
// The passes, over a chunk of rows whose scores fit a scratch buffer:
//   scores_tiles or scores_shared,     scores of the allowed pairs: products, then what else
//     terms_tiles / scores_rows        there is                            -> scores
//   row_sums                           maximum and sum of each row         -> row_sums
//   weights_tiles / weights_rows       scores into weights                 -> scores, attention
//   outputs_tiles or outputs_shared    weighted sums of values             -> outputs
//     / outputs_rows
// (_tiles keeps 8 x 8 sums in registers and reads what it needs, which a software rasteriser is
// fast at; _shared goes through shared memory, which graphics processors are. A calibration picks.)
// pooled_tile needs none of these: it derives any piece of a map from the rows' log-sum-exp.
//
// Two layouts of the scratch buffer. TILES, where the keys of each row are an interval: eight rows
// share a block of columns [tile first, first + width), and an invocation computes 8 x 8 pairs, or
// 8 x 8 outputs. Otherwise rows are lists of their allowed pairs, SEGMENT of which make a segment,
// and only these pairs are touched.
//
// Conventions: `head` counts batch and heads, i queries, c key columns; a row of floats is padded
// to whole vec4s ("width" counts vec4s). Mirrored by struct Sizes in app/gpu/part_upload.h.

layout(std140, binding = 0) uniform Sizes {
  int heads;          // h
  int kv_heads;       // h_kv
  int queries;        // L_q
  int keys;           // L_k
  int key_width;      // of a row of q and k
  int value_width;    // of a row of v; even
  int head_first;     // the chunk: heads from here on,
  int row_first;      // and rows [row_first, row_end)
  int row_end;
  int pattern_heads;  // 1: all heads share their rows of the pattern
  uint origin;        // where the chunk's scores begin among all of its head's
  uint head_stride;   // scores a head; 0 where heads have patterns of their own
  int segment_first;  // the chunk's segments
  int segment_end;
  int starts;         // where in integers[] the rows' runs begin: indices of runs
  int runs;           // begin, end, step of each run
  int offsets;        // of each tile (or row): where its scores begin
  int tiles;          // TILES: first column and width of each tile
  int segments;       // else: row, run, elements to skip, where its scores begin
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
  int spare;
  ivec4 table[2 * MOST_TABLES];  // see below
  ivec4 product[MOST_PRODUCTS];  // q', k' in vectors[]; their width; 1, h or B h of them
};

layout(std430, binding = 5) readonly buffer Integers { int integers[]; };
layout(std430, binding = 6) readonly buffer Numbers { float numbers[]; };

int kv_head(int head) {
  return (head / heads) * kv_heads + (head % heads) / (heads / kv_heads);
}

int pattern_row(int head, int i) { return pattern_heads == 1 ? i : (head % heads) * queries + i; }

// A run of the pattern: columns x, x + z, ... below y.
ivec3 run_at(int r) {
  return ivec3(integers[runs + 3 * r], integers[runs + 3 * r + 1], integers[runs + 3 * r + 2]);
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

#ifdef TILES
const int TILE = 8;  // rows and columns
int tile_of(int head, int i) {
  int tiles_a_head = (queries + TILE - 1) / TILE;
  return (pattern_heads == 1 ? 0 : (head % heads) * tiles_a_head) + i / TILE;
}
int tile_first(int tile) { return integers[tiles + 2 * tile]; }
int tile_width(int tile) { return integers[tiles + 2 * tile + 1]; }
// Where the tile's scores begin: eight rows of tile_width each.
uint tile_base(int head, int tile) {
  return uint(integers[offsets + tile]) - origin + uint(head - head_first) * head_stride;
}
#else
// Where the row's scores begin, one for each allowed pair.
uint row_base(int head, int row) {
  return uint(integers[offsets + row]) - origin + uint(head - head_first) * head_stride;
}
#endif
