// Turns scores into weights in place, HEIGHT x CELLS cells per invocation; 0 for masked pairs.
// Invocation x: group of cells; y: tile; z: copy.
#include "attention.glsl"
#include "weight.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 3) buffer Scores { float scores[]; };

void main() {
  Tile t;
  if (!find_tile(int(gl_GlobalInvocationID.y), int(gl_GlobalInvocationID.z), t)) return;
  int x0 = CELLS * int(gl_GlobalInvocationID.x), x_end = min(x0 + CELLS, t.stride);
  for (int r = 0; r < t.rows; ++r) {
    int i = query(t, r);
    vec4 row = row_sums[t.head * queries + i];
    uint row_start = t.base + uint(r * t.stride);
    for (int x = x0; x < x_end; ++x) {
      int c = column(t, x);
      float w = weight(scores[row_start + uint(x)], row, t.head, i, c);
      scores[row_start + uint(x)] = w;
      store_weight(t.head, i, c, w);
    }
  }
}
