// What scores_tiles computes, the way graphics processors like it: a work group takes 8 rows and 64
// columns, brings slices of them into shared memory together, and an invocation computes the 8
// scores of one column. x counts groups of columns, y tiles of rows, z heads.
#include "attention.glsl"

const int COLUMNS = 64;  // of a work group
const int SLICE = 4;     // vec4s of a row that are in shared memory at a time

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) writeonly buffer Scores { float scores[]; };

shared vec4 q_slice[TILE][SLICE];
shared vec4 k_slice[SLICE][COLUMNS];

float sums[TILE];

// The rows of q begin at q_first, those of k at k_first; `q_last` and `k_last` are the last ones
// that there are. All invocations of the group come here.
#define ADD_PRODUCTS(Q, q_first, q_last, K, k_first, k_last, width)                 \
  for (int from = 0; from < (width); from += SLICE) {                               \
    int id = int(gl_LocalInvocationID.x);                                           \
    for (int n = id; n < TILE * SLICE; n += COLUMNS) {                              \
      int r = min(n / SLICE, q_last), e = from + n % SLICE;                         \
      q_slice[n / SLICE][n % SLICE] =                                               \
          e < (width) ? Q[(q_first) + r * (width) + e] : vec4(0.0);                 \
    }                                                                               \
    for (int n = id; n < COLUMNS * SLICE; n += COLUMNS) {                           \
      int c = min(n / SLICE, k_last), e = from + n % SLICE;                         \
      k_slice[n % SLICE][n / SLICE] =                                               \
          e < (width) ? K[(k_first) + c * (width) + e] : vec4(0.0);                 \
    }                                                                               \
    barrier();                                                                      \
    for (int e = 0; e < SLICE; ++e) {                                               \
      vec4 k = k_slice[e][id];                                                      \
      for (int r = 0; r < TILE; ++r) sums[r] += dot(q_slice[r][e], k);              \
    }                                                                               \
    barrier();                                                                      \
  }

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i0 = row_first + TILE * int(gl_WorkGroupID.y);
  if (i0 >= row_end) return;  // the whole group, as below
  int tile = tile_of(head, i0), width = tile_width(tile);
  int column = COLUMNS * int(gl_WorkGroupID.x);
  if (column >= width) return;
  int c0 = min(tile_first(tile) + column, keys - 1);
  int last_row = queries - 1 - i0, last_column = keys - 1 - c0;
  for (int r = 0; r < TILE; ++r) sums[r] = 0.0;
#ifdef CONTENT
  ADD_PRODUCTS(queries_of, (head * queries + i0) * key_width, last_row, keys_of,
               (kv_head(head) * keys + c0) * key_width, last_column, key_width)
#ifdef RELU
  for (int r = 0; r < TILE; ++r) sums[r] = max(sums[r], 0.0);
#endif
#endif
#if PRODUCTS > 0
  for (int p = 0; p < PRODUCTS; ++p) {
    int extra_head = head % product[p].w;
    ADD_PRODUCTS(vectors, product[p].x + (extra_head * queries + i0) * product[p].z, last_row,
                 vectors, product[p].y + (extra_head * keys + c0) * product[p].z, last_column,
                 product[p].z)
  }
#endif
  column += int(gl_LocalInvocationID.x);
  if (column >= width) return;
  uint to = tile_base(head, tile) + uint(column);
  for (int r = 0; r < TILE; ++r) scores[to + uint(r * width)] = sums[r] * product_scale;
}
