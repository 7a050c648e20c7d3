// Products of queries and keys, HEIGHT x 8 cells per invocation. Invocation x: group of 8 cells; y:
// tile; z: copy. The products are the final scores unless terms_tiles adds further terms.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) writeonly buffer Scores { vec4 scores[]; };

// Scores of each row in two halves: cells 0..3 and 4..7.
vec4 low[HEIGHT], high[HEIGHT];

#define ADD_PRODUCTS(Q, q_row, K, k_row, width)                                \
  for (int e = 0; e < (width); ++e) {                                          \
    vec4 k[TILE];                                                              \
    for (int n = 0; n < TILE; ++n) k[n] = K[(k_row)[n] + e];                   \
    for (int r = 0; r < HEIGHT; ++r) {                                         \
      vec4 q = Q[(q_row)[r] + e];                                              \
      low[r] += vec4(dot(q, k[0]), dot(q, k[1]), dot(q, k[2]), dot(q, k[3]));  \
      high[r] += vec4(dot(q, k[4]), dot(q, k[5]), dot(q, k[6]), dot(q, k[7])); \
    }                                                                          \
  }

void main() {
  Tile t;
  if (!find_tile(int(gl_GlobalInvocationID.y), int(gl_GlobalInvocationID.z), t)) return;
  int x0 = TILE * int(gl_GlobalInvocationID.x);
  if (x0 >= t.stride) return;

  // Rows and cells past the end repeat the last one.
  int i[HEIGHT], c[TILE];
  for (int r = 0; r < HEIGHT; ++r) {
    i[r] = query(t, r);
    low[r] = vec4(0.0);
    high[r] = vec4(0.0);
  }
  for (int n = 0; n < TILE; ++n) c[n] = column(t, x0 + n);
  int q_row[HEIGHT], k_row[TILE];
#ifdef CONTENT
  for (int r = 0; r < HEIGHT; ++r) q_row[r] = (t.head * queries + i[r]) * key_width;
  for (int n = 0; n < TILE; ++n) k_row[n] = (kv_head(t.head) * keys + c[n]) * key_width;
  ADD_PRODUCTS(queries_of, q_row, keys_of, k_row, key_width)
#ifdef RELU
  for (int r = 0; r < HEIGHT; ++r) {
    low[r] = max(low[r], vec4(0.0));
    high[r] = max(high[r], vec4(0.0));
  }
#endif
#endif
#if PRODUCTS > 0
  for (int p = 0; p < PRODUCTS; ++p) {
    int extra_head = t.head % product[p].w, q_first = extra_head * queries;
    int k_first = extra_head * keys, width = product[p].z;
    for (int r = 0; r < HEIGHT; ++r) q_row[r] = product[p].x + (q_first + i[r]) * width;
    for (int n = 0; n < TILE; ++n) k_row[n] = product[p].y + (k_first + c[n]) * width;
    ADD_PRODUCTS(vectors, q_row, vectors, k_row, width)
  }
#endif

  uint to = (t.base + uint(x0)) / 4u;
  for (int r = 0; r < HEIGHT; ++r) {
    low[r] *= product_scale;
    high[r] *= product_scale;
#ifndef TERMS
    uint bits = allowed(t, r, x0);
    uvec4 low_bits = bits & uvec4(1u, 2u, 4u, 8u), high_bits = bits & uvec4(16u, 32u, 64u, 128u);
    low[r] = mix(vec4(MASKED), low[r], notEqual(low_bits, uvec4(0u)));
    high[r] = mix(vec4(MASKED), high[r], notEqual(high_bits, uvec4(0u)));
#endif
    scores[to] = low[r];
    scores[to + 1u] = high[r];
    to += uint(t.stride) / 4u;
  }
}
