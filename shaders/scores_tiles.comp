// Products of queries and keys, 8 x 8 pairs an invocation: x counts tiles of columns, y tiles of
// rows, z heads. They are the scores where no other ingredient follows (see terms_tiles).
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) writeonly buffer Scores { vec4 scores[]; };

// Row r of the block in two halves: columns 0..3 and 4..7.
vec4 low[TILE], high[TILE];

#define ADD_PRODUCTS(Q, q_row, K, k_row, width)                                \
  for (int e = 0; e < (width); ++e) {                                          \
    vec4 k[TILE];                                                              \
    for (int n = 0; n < TILE; ++n) k[n] = K[(k_row)[n] + e];                   \
    for (int r = 0; r < TILE; ++r) {                                           \
      vec4 q = Q[(q_row)[r] + e];                                              \
      low[r] += vec4(dot(q, k[0]), dot(q, k[1]), dot(q, k[2]), dot(q, k[3]));  \
      high[r] += vec4(dot(q, k[4]), dot(q, k[5]), dot(q, k[6]), dot(q, k[7])); \
    }                                                                          \
  }

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i0 = row_first + TILE * int(gl_GlobalInvocationID.y);
  int column = TILE * int(gl_GlobalInvocationID.x);
  if (i0 >= row_end) return;
  int tile = tile_of(head, i0), width = tile_width(tile);
  if (column >= width) return;

  // Rows and columns past the end repeat the last: their scores are never read.
  int i[TILE], c[TILE];
  for (int n = 0; n < TILE; ++n) {
    i[n] = min(i0 + n, queries - 1);
    c[n] = min(tile_first(tile) + column + n, keys - 1);
    low[n] = vec4(0.0);
    high[n] = vec4(0.0);
  }
  int q_row[TILE], k_row[TILE];
#ifdef CONTENT
  for (int n = 0; n < TILE; ++n) {
    q_row[n] = (head * queries + i[n]) * key_width;
    k_row[n] = (kv_head(head) * keys + c[n]) * key_width;
  }
  ADD_PRODUCTS(queries_of, q_row, keys_of, k_row, key_width)
#ifdef RELU
  for (int r = 0; r < TILE; ++r) {
    low[r] = max(low[r], vec4(0.0));
    high[r] = max(high[r], vec4(0.0));
  }
#endif
#endif
#if PRODUCTS > 0
  for (int p = 0; p < PRODUCTS; ++p) {
    int extra_head = head % product[p].w;
    for (int n = 0; n < TILE; ++n) {
      q_row[n] = product[p].x + (extra_head * queries + i[n]) * product[p].z;
      k_row[n] = product[p].y + (extra_head * keys + c[n]) * product[p].z;
    }
    ADD_PRODUCTS(vectors, q_row, vectors, k_row, product[p].z)
  }
#endif

  uint to = (tile_base(head, tile) + uint(column)) / 4u;
  for (int r = 0; r < TILE; ++r) {
    scores[to] = low[r] * product_scale;
    scores[to + 1u] = high[r] * product_scale;
    to += uint(width) / 4u;
  }
}
