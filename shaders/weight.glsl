// From a pair's score to its weight.
#include "span.glsl"

// Of each row: the maximum of its scores so far, their sum, what its earlier outputs are multiplied
// by, and what exponentials of scores are (see row_sums.comp).
layout(std430, binding = 4) readonly buffer RowSums { vec4 row_sums[]; };
#ifdef KEEP_ATTENTION
layout(binding = 0, r32f) writeonly uniform image2DArray attention;  // (c, i, head), zeros
#endif

float weight(float score, vec4 row, int head, int i, int c) {
#if NORMALISER == NO_NORMALISER
  return score;
#elif NORMALISER == FEATURE_RATIO
  return score * row.w;
#else
  if (score <= HIDDEN) return 0.0;
#if NORMALISER == SPAN_SOFTMAX
  return span_weight(head, i, c) * exp(score - row.x) * row.w;
#else
  return exp(score - row.x) * row.w;
#endif
#endif
}

// Not for pairs that are not allowed: another tile may have them.
void keep(int head, int i, int c, float value) {
#ifdef KEEP_ATTENTION
  if (value != 0.0) imageStore(attention, ivec3(c, i, head), vec4(value));
#endif
}
