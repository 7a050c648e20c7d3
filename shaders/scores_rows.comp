// Scores of listed pairs, a segment of a row an invocation: x counts segments, z heads.
#include "attention.glsl"
#include "segment.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) writeonly buffer Scores { float scores[]; };

#include "pair_score.glsl"

float sum_of_products(int head, int i, int c) {
#ifdef LOGITS
  return logit(head, i, c);
#else
  int q_row = (head * queries + i) * key_width;
  int k_row = (key_head(head) * keys + c) * key_width;
  vec4 sum = vec4(0.0);
#ifdef ADDITIVE
  int v_row = additive_v + (head % heads) * key_width;
  for (int e = 0; e < key_width; ++e) {
    sum += vectors[v_row + e] * stable_tanh(queries_of[q_row + e] + keys_of[k_row + e]);
  }
#endif
#ifdef CONTENT
  for (int e = 0; e < key_width; ++e) sum += queries_of[q_row + e] * keys_of[k_row + e];
#endif
  float products = dot(sum, vec4(1.0));
#ifdef RELU
  products = max(products, 0.0);
#endif
#if PRODUCTS > 0
  for (int n = 0; n < PRODUCTS; ++n) {
    int extra_head = head % product[n].w;
    int extra_q = product[n].x + (extra_head * queries + i) * product[n].z;
    int extra_k = product[n].y + (extra_head * keys + c) * product[n].z;
    sum = vec4(0.0);
    for (int e = 0; e < product[n].z; ++e) sum += vectors[extra_q + e] * vectors[extra_k + e];
    products += dot(sum, vec4(1.0));
  }
#endif
#if QUERY_ROWS + KEY_ROWS > 0
  int offset = offset_of(head, i, c);
  for (int t = 0; t < QUERY_ROWS + KEY_ROWS; ++t) {
    int at = table_row(t, head, offset);
    sum = vec4(0.0);
    for (int e = 0; e < key_width; ++e) {
      sum += (t < QUERY_ROWS ? queries_of[q_row + e] : keys_of[k_row + e]) * vectors[at + e];
    }
    products += dot(sum, vec4(1.0));
  }
#endif
  return products;
#endif
}

void main() {
  Segment s;
  if (!find_segment(s)) return;
  do {
    scores[s.at] = finish_score(sum_of_products(s.head, s.i, s.c), s.head, s.i, s.c);
  } while (next_pair(s));
}
