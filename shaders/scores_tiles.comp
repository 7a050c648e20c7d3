// Scores, 8 x 8 pairs an invocation: x counts tiles of columns, y tiles of rows, z heads.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) writeonly buffer Scores { vec4 scores[]; };

#include "pair_score.glsl"

// Row r of the block in two halves: columns 0..3 and 4..7.
vec4 low[TILE], high[TILE];

#define ADD_PRODUCTS(Q, q_row, K, k_row, width)                               \
  for (int e = 0; e < (width); ++e) {                                         \
    vec4 k[TILE];                                                             \
    for (int n = 0; n < TILE; ++n) k[n] = K[(k_row)[n] + e];                  \
    for (int r = 0; r < TILE; ++r) {                                          \
      vec4 q = Q[(q_row)[r] + e];                                             \
      low[r] += vec4(dot(q, k[0]), dot(q, k[1]), dot(q, k[2]), dot(q, k[3])); \
      high[r] += vec4(dot(q, k[4]), dot(q, k[5]), dot(q, k[6]), dot(q, k[7])); \
    }                                                                         \
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

#ifdef LOGITS
  for (int r = 0; r < TILE; ++r) {
    low[r] = vec4(logit(head, i[r], c[0]), logit(head, i[r], c[1]), logit(head, i[r], c[2]),
                  logit(head, i[r], c[3]));
    high[r] = vec4(logit(head, i[r], c[4]), logit(head, i[r], c[5]), logit(head, i[r], c[6]),
                   logit(head, i[r], c[7]));
  }
#else
  int q_row[TILE], k_row[TILE];
  for (int n = 0; n < TILE; ++n) {
    q_row[n] = (head * queries + i[n]) * key_width;
    k_row[n] = (key_head(head) * keys + c[n]) * key_width;
  }
#endif

#ifdef ADDITIVE
  for (int e = 0; e < key_width; ++e) {
    vec4 v = vectors[additive_v + (head % heads) * key_width + e];
    vec4 k[TILE];
    for (int n = 0; n < TILE; ++n) k[n] = keys_of[k_row[n] + e];
    for (int r = 0; r < TILE; ++r) {
      vec4 q = queries_of[q_row[r] + e];
      low[r] += vec4(dot(v, stable_tanh(q + k[0])), dot(v, stable_tanh(q + k[1])),
                     dot(v, stable_tanh(q + k[2])), dot(v, stable_tanh(q + k[3])));
      high[r] += vec4(dot(v, stable_tanh(q + k[4])), dot(v, stable_tanh(q + k[5])),
                      dot(v, stable_tanh(q + k[6])), dot(v, stable_tanh(q + k[7])));
    }
  }
#endif

#ifdef PRODUCT
#ifdef CONTENT
  ADD_PRODUCTS(queries_of, q_row, keys_of, k_row, key_width)
#endif
#ifdef RELU
  for (int r = 0; r < TILE; ++r) {
    low[r] = max(low[r], vec4(0.0));
    high[r] = max(high[r], vec4(0.0));
  }
#endif

#if PRODUCTS > 0
  for (int n = 0; n < PRODUCTS; ++n) {
    int extra_head = head % product[n].w;
    int extra_q[TILE], extra_k[TILE];
    for (int r = 0; r < TILE; ++r) {
      extra_q[r] = product[n].x + (extra_head * queries + i[r]) * product[n].z;
      extra_k[r] = product[n].y + (extra_head * keys + c[r]) * product[n].z;
    }
    ADD_PRODUCTS(vectors, extra_q, vectors, extra_k, product[n].z)
  }
#endif

#if QUERY_ROWS + KEY_ROWS > 0
  // Tables of vectors: QUERY_ROWS of them meet the query, the KEY_ROWS that follow the key.
  for (int t = 0; t < QUERY_ROWS + KEY_ROWS; ++t) {
    for (int r = 0; r < TILE; ++r) {
      int at[TILE];
      for (int n = 0; n < TILE; ++n) at[n] = table_row(t, head, offset_of(head, i[r], c[n]));
      for (int e = 0; e < key_width; ++e) {
        vec4 q = queries_of[q_row[r] + e];
        float terms[TILE];
        for (int n = 0; n < TILE; ++n) {
          terms[n] = dot(t < QUERY_ROWS ? q : keys_of[k_row[n] + e], vectors[at[n] + e]);
        }
        low[r] += vec4(terms[0], terms[1], terms[2], terms[3]);
        high[r] += vec4(terms[4], terms[5], terms[6], terms[7]);
      }
    }
  }
#endif
#endif

  uint to = (tile_base(head, tile) + uint(column)) / 4u;
  for (int r = 0; r < TILE; ++r) {
    for (int n = 0; n < 4; ++n) {
      low[r][n] = finish_score(low[r][n], head, i[r], c[n]);
      high[r][n] = finish_score(high[r][n], head, i[r], c[n + 4]);
    }
    scores[to] = low[r];
    scores[to + 1u] = high[r];
    to += uint(width) / 4u;
  }
}
