// Weight of a pair from its score.
#include "span.glsl"

// For each row: maximum and sum of its scores so far, factor of its earlier outputs, and factor of
// the exponentials of scores (see row_sums.comp).
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
  if (score <= MASKED) return 0.0;
#if NORMALISER == SPAN_SOFTMAX
  return span_weight(head, i, c) * exp(score - row.x) * row.w;
#else
  return exp(score - row.x) * row.w;
#endif
#endif
}

// Skips masked pairs: another tile may contain the pair.
void store_weight(int head, int i, int c, float value) {
#ifdef KEEP_ATTENTION
  if (value != 0.0) imageStore(attention, ivec3(c, i, head), vec4(value));
#endif
}
