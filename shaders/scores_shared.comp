// Variant of scores_tiles for GPUs. A work group computes 64 cells of each row of a tile; an
// invocation computes the cells of one key. The group loads slices of the queries and keys into
// shared memory. Work group x: group of cells; y: tile; z: copy.
#include "attention.glsl"

const int COLUMNS = 64;  // cells of a row per work group
const int SLICE = 4;     // vec4s of a row in shared memory at a time

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) writeonly buffer Scores { float scores[]; };

shared int i_of[HEIGHT], c_of[COLUMNS];
shared vec4 q_slice[HEIGHT][SLICE];
shared vec4 k_slice[SLICE][COLUMNS];

float sums[HEIGHT];

// Rows of Q start at q_first, rows of K at k_first. All invocations of the group must call this.
#define ADD_PRODUCTS(Q, q_first, K, k_first, width)                         \
  for (int from = 0; from < (width); from += SLICE) {                       \
    int id = int(gl_LocalInvocationID.x);                                   \
    for (int n = id; n < HEIGHT * SLICE; n += COLUMNS) {                    \
      int e = from + n % SLICE;                                             \
      int row = (q_first) + i_of[n / SLICE] * (width);                      \
      q_slice[n / SLICE][n % SLICE] = e < (width) ? Q[row + e] : vec4(0.0); \
    }                                                                       \
    for (int n = id; n < COLUMNS * SLICE; n += COLUMNS) {                   \
      int e = from + n % SLICE;                                             \
      int row = (k_first) + c_of[n / SLICE] * (width);                      \
      k_slice[n % SLICE][n / SLICE] = e < (width) ? K[row + e] : vec4(0.0); \
    }                                                                       \
    barrier();                                                              \
    for (int e = 0; e < SLICE; ++e) {                                       \
      vec4 k = k_slice[e][id];                                              \
      for (int r = 0; r < HEIGHT; ++r) sums[r] += dot(q_slice[r][e], k);    \
    }                                                                       \
    barrier();                                                              \
  }

void main() {
  Tile t;  // identical in all invocations of the group
  if (!find_tile(int(gl_WorkGroupID.y), int(gl_WorkGroupID.z), t)) return;
  int x = COLUMNS * int(gl_WorkGroupID.x);
  if (x >= t.stride) return;
  int id = int(gl_LocalInvocationID.x);
  x += id;
  c_of[id] = column(t, x);
  if (id < HEIGHT) i_of[id] = query(t, id);
  barrier();
  for (int r = 0; r < HEIGHT; ++r) sums[r] = 0.0;
#ifdef CONTENT
  ADD_PRODUCTS(queries_of, t.head * queries * key_width, keys_of,
               kv_head(t.head) * keys * key_width, key_width)
#ifdef RELU
  for (int r = 0; r < HEIGHT; ++r) sums[r] = max(sums[r], 0.0);
#endif
#endif
#if PRODUCTS > 0
  for (int p = 0; p < PRODUCTS; ++p) {
    int extra_head = t.head % product[p].w, width = product[p].z;
    ADD_PRODUCTS(vectors, product[p].x + extra_head * queries * width, vectors,
                 product[p].y + extra_head * keys * width, width)
  }
#endif
  if (x >= t.stride) return;
  uint to = t.base + uint(x);
  for (int r = 0; r < HEIGHT; ++r) {
    float score = sums[r] * product_scale;
#ifndef TERMS
    if ((allowed(t, r, x) & 1u) == 0u) score = MASKED;
#endif
    scores[to + uint(r * t.stride)] = score;
  }
}
