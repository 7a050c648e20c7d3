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
  float products = 0.0;
#ifdef CONTENT
  int q_row = (head * queries + i) * key_width, k_row = (kv_head(head) * keys + c) * key_width;
  vec4 content = vec4(0.0);
  for (int e = 0; e < key_width; ++e) content += queries_of[q_row + e] * keys_of[k_row + e];
  products = dot(content, vec4(1.0));
#ifdef RELU
  products = max(products, 0.0);
#endif
#endif
#if PRODUCTS > 0
  for (int p = 0; p < PRODUCTS; ++p) {
    int extra_head = head % product[p].w;
    int extra_q = product[p].x + (extra_head * queries + i) * product[p].z;
    int extra_k = product[p].y + (extra_head * keys + c) * product[p].z;
    vec4 sum = vec4(0.0);
    for (int e = 0; e < product[p].z; ++e) sum += vectors[extra_q + e] * vectors[extra_k + e];
    products += dot(sum, vec4(1.0));
  }
#endif
  return products;
}

void main() {
  Segment s;
  if (!find_segment(s)) return;
  do {
    scores[s.at] = finish_score(sum_of_products(s.head, s.i, s.c), s.head, s.i, s.c);
  } while (next_pair(s));
}
