// The maximum of each row's scores and the sum that normalises it, a row an invocation: x counts
// rows, z heads. Softmax: sum of exp(score - maximum), weighted where there is a span; feature
// ratio: the sum of the scores. The sum of an empty row is 0.
#include "attention.glsl"
#include "span.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 3) readonly buffer Scores { float scores[]; };
layout(std430, binding = 4) writeonly buffer RowSums { vec2 row_sums[]; };

const uint BLOCK = 64u;        // sums of blocks are summed, so that rounding errors stay small
const float NONE = -3.4028e38;  // of an empty row: below any score
// Pairs beyond the span have weight 0, whatever their scores.
#if NORMALISER == SPAN_SOFTMAX
#define COUNTS (span_weight(head, i, c) > 0.0)
#else
#define COUNTS true
#endif

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i = row_first + int(gl_GlobalInvocationID.x);
  if (i >= row_end) return;
  int row = pattern_row(head, i);
  int first = integers[starts + row], end = integers[starts + row + 1];
#ifdef TILES
  int tile = tile_of(head, i);
  uint base = tile_base(head, tile) + uint((i % TILE) * tile_width(tile) - tile_first(tile));
#define SCORE scores[base + uint(c)]
#else
  uint base = row_base(head, row);
#define SCORE scores[base + n]
#endif

  float maximum = NONE;
  uint n = 0u;
#if NORMALISER != FEATURE_RATIO
  for (int r = first; r < end; ++r) {
    ivec3 run = run_at(r);
    for (int c = run.x; c < run.y; c += run.z) {
      if (COUNTS) maximum = max(maximum, SCORE);
      ++n;
    }
  }
  n = 0u;
#endif
  float sum = 0.0, block = 0.0;
  for (int r = first; r < end; ++r) {
    ivec3 run = run_at(r);
    for (int c = run.x; c < run.y; c += run.z) {
#if NORMALISER == SPAN_SOFTMAX
      if (COUNTS) block += span_weight(head, i, c) * exp(SCORE - maximum);
#elif NORMALISER == SOFTMAX
      block += exp(SCORE - maximum);
#else
      block += SCORE;
#endif
      if (++n % BLOCK == 0u) {
        sum += block;
        block = 0.0;
      }
    }
  }
  row_sums[head * queries + i] = vec2(maximum, sum + block);
}
