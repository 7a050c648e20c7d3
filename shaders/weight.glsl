// Weight of a pair from its score.
#include "span.glsl"

// Per row, from row_sums.comp. x: maximum score so far; y: normalising sum so far; z: factor of the
// output accumulated over earlier tiles; w: factor of this tile's exponentials (of its scores for
// FEATURE_RATIO). x is unused without a softmax.
layout(std430, binding = 4) readonly buffer RowSums { vec4 row_sums[]; };
#ifdef KEEP_ATTENTION
layout(binding = 0, r32f) writeonly uniform image2DArray attention;  // (c, i, head); initially 0
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

// Stores nothing for pairs that this tile masks, because another tile may allow them.
void store_weight(int head, int i, int c, float value) {
#ifdef KEEP_ATTENTION
  if (value != 0.0) imageStore(attention, ivec3(c, i, head), vec4(value));
#endif
}
