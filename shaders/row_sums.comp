// The maximum of each row's scores and the sum that normalises it, over this tile and earlier ones;
// a row an invocation: x counts rows, z copies. Softmax: sum of exp(score - maximum), weighted
// where there is a span; feature ratio: the sum of the scores. The sum of an empty row is 0.
#include "attention.glsl"
#include "span.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 3) readonly buffer Scores { float scores[]; };
layout(std430, binding = 4) buffer RowSums { vec4 row_sums[]; };  // see weight.glsl

const int BLOCK = 64;  // sums of blocks are summed, so that rounding errors stay small
const int FIRST_TURN = 1, LAST_TURN = 2;

void main() {
  Tile t;
  int n = int(gl_GlobalInvocationID.x), r = n % HEIGHT;
  if (!find_tile(n / HEIGHT, int(gl_GlobalInvocationID.z), t) || r >= t.rows) return;
  int i = query(t, r), turn = turns(t, r), to = t.head * queries + i;
  bool first = (turn & FIRST_TURN) != 0;
#if NORMALISER == NO_NORMALISER
  row_sums[to] = vec4(0.0, 0.0, first ? 0.0 : 1.0, 1.0);
#else
  vec4 before = first ? vec4(HIDDEN, 0.0, 0.0, 0.0) : row_sums[to];
  ivec2 cells = extent(t, r);
  uint line = t.base + uint(r * t.stride);
  float maximum = before.x, earlier = first ? 0.0 : 1.0;
#if NORMALISER != FEATURE_RATIO
  for (int x = cells.x; x < cells.y; ++x) maximum = max(maximum, scores[line + uint(x)]);
  if (!first) earlier = exp(before.x - maximum);
#endif
  float sum = earlier * before.y;
  for (int from = cells.x; from < cells.y; from += BLOCK) {
    float block = 0.0;
    for (int x = from; x < min(from + BLOCK, cells.y); ++x) {
      float score = scores[line + uint(x)];
#if NORMALISER == FEATURE_RATIO
      block += score;
#else
      float e = score <= HIDDEN ? 0.0 : exp(score - maximum);
#if NORMALISER == SPAN_SOFTMAX
      e *= span_weight(t.head, i, column(t, x));
#endif
      block += e;
#endif
    }
    sum += block;
  }
  float factor = (turn & LAST_TURN) == 0 ? 1.0 : sum == 0.0 ? 0.0 : 1.0 / sum;
  row_sums[to] = vec4(maximum, sum, earlier * factor, factor);
#endif
}
