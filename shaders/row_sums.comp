// Maximum and normalising sum of each row's scores, over this tile and earlier ones. Invocation x:
// lane of a row; z: copy. Softmax sums exp(score - maximum), weighted by the span mask if the part
// has spans; the feature ratio sums the scores. The sum of an empty row is 0. A sink
// adds its exponential to the divisor of the weights alone.
#include "attention.glsl"
#include "span.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 3) readonly buffer Scores { float scores[]; };
layout(std430, binding = 4) buffer RowSums { vec4 row_sums[]; };  // see weight.glsl

const int BLOCK = 64;  // block-wise summation keeps rounding errors small
const int FIRST_VISIT = 1, LAST_VISIT = 2;

#if SHARED_MEMORY == 1
const int LANES = 8;  // invocations per row, for coalesced reads
shared float lane_values[64];
#define REDUCE_LANES(value, combined)                           \
  {                                                             \
    int id = int(gl_LocalInvocationID.x);                       \
    int first_lane = id / LANES * LANES;                        \
    barrier();                                                  \
    lane_values[id] = value;                                    \
    barrier();                                                  \
    value = lane_values[first_lane];                            \
    for (int n = first_lane + 1; n < first_lane + LANES; ++n) { \
      float other = lane_values[n];                             \
      value = combined;                                         \
    }                                                           \
  }
#else
const int LANES = 1;
#define REDUCE_LANES(value, combined)
#endif

void main() {
  int n = int(gl_GlobalInvocationID.x) / LANES, lane = int(gl_GlobalInvocationID.x) % LANES;
  int r = n % HEIGHT, i = 0, visit_flags = FIRST_VISIT, to = 0;
  ivec2 cells = ivec2(0);
  uint row_start = 0u;
  Tile t;
  bool is_row = find_tile(n / HEIGHT, int(gl_GlobalInvocationID.z), t) && r < t.rows;
  if (is_row) {
    i = query(t, r);
    visit_flags = visits(t, r);
    to = t.head * queries + i;
    cells = extent(t, r);
    row_start = t.base + uint(r * t.stride);
  }
  bool is_first = (visit_flags & FIRST_VISIT) != 0;
#if NORMALISER == NO_NORMALISER
  if (is_row && lane == 0) row_sums[to] = vec4(0.0, 0.0, is_first ? 0.0 : 1.0, 1.0);
#else
  vec4 before = is_first ? vec4(MASKED, 0.0, 0.0, 0.0) : row_sums[to];
  float maximum = before.x, earlier = is_first ? 0.0 : 1.0;
#if NORMALISER != FEATURE_RATIO
  for (int x = cells.x + lane; x < cells.y; x += LANES) {
    maximum = max(maximum, scores[row_start + uint(x)]);
  }
  REDUCE_LANES(maximum, max(maximum, other))
  if (!is_first) earlier = exp(before.x - maximum);
#endif
  float sum = 0.0;
  for (int from = cells.x + lane; from < cells.y; from += BLOCK * LANES) {
    float block = 0.0;
    for (int x = from; x < min(from + BLOCK * LANES, cells.y); x += LANES) {
      float score = scores[row_start + uint(x)];
#if NORMALISER == FEATURE_RATIO
      block += score;
#else
      float e = score <= MASKED ? 0.0 : exp(score - maximum);
#if NORMALISER == SPAN_SOFTMAX
      e *= span_weight(t.head, i, column(t, x));
#endif
      block += e;
#endif
    }
    sum += block;
  }
  REDUCE_LANES(sum, sum + other)
  sum += earlier * before.y;
  float total = sum;
#ifdef SINKS
  if (sum != 0.0) total += exp(numbers[sinks + t.head % heads] - maximum);
#endif
  float factor = (visit_flags & LAST_VISIT) == 0 ? 1.0 : sum == 0.0 ? 0.0 : 1.0 / total;
  if (is_row && lane == 0) row_sums[to] = vec4(maximum, sum, earlier * factor, factor);
#endif
}
