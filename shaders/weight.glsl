// From a pair's score to its weight.
#include "span.glsl"

#if NORMALISER != NO_NORMALISER
layout(std430, binding = 4) readonly buffer RowSums { vec2 row_sums[]; };
#endif
#ifdef KEEP_ATTENTION
layout(binding = 0, r32f) writeonly uniform image2DArray attention;  // (c, i, head)
#endif

float weight(float score, int head, int i, int c) {
#if NORMALISER == NO_NORMALISER
  return score;
#else
  vec2 row = row_sums[head * queries + i];
  if (row.y == 0.0) return 0.0;
#if NORMALISER == FEATURE_RATIO
  return score / row.y;
#elif NORMALISER == SPAN_SOFTMAX
  float m = span_weight(head, i, c);
  return m == 0.0 ? 0.0 : m * exp(score - row.x) / row.y;
#else
  return exp(score - row.x) / row.y;
#endif
#endif
}

void keep(int head, int i, int c, float value) {
#ifdef KEEP_ATTENTION
  imageStore(attention, ivec3(c, i, head), vec4(value));
#endif
}
