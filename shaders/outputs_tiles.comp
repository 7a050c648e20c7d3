// Weighted sums of values, 8 rows x 8 components an invocation: x counts eights of components, y
// tiles of rows, z heads.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Values { vec4 values[]; };
layout(std430, binding = 1) writeonly buffer Outputs { vec4 outputs[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) readonly buffer Weights { vec4 weights[]; };

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i0 = row_first + TILE * int(gl_GlobalInvocationID.y);
  int e = 2 * int(gl_GlobalInvocationID.x);
  if (i0 >= row_end || e >= value_width) return;
  int tile = tile_of(head, i0), width = tile_width(tile), first = tile_first(tile);
  uint base = tile_base(head, tile) / 4u;

  vec4 low[TILE], high[TILE];
  for (int r = 0; r < TILE; ++r) {
    low[r] = vec4(0.0);
    high[r] = vec4(0.0);
  }
  for (int column = 0; column < width; column += 4) {
    vec4 v_low[4], v_high[4];
    for (int n = 0; n < 4; ++n) {
      int c = min(first + column + n, keys - 1);  // past the end weights are 0
      int v_row = (kv_head(head) * keys + c) * value_width + e;
      v_low[n] = values[v_row];
      v_high[n] = values[v_row + 1];
    }
    for (int r = 0; r < TILE; ++r) {
      vec4 w = weights[base + uint(r * width + column) / 4u];
      low[r] += w.x * v_low[0] + w.y * v_low[1] + w.z * v_low[2] + w.w * v_low[3];
      high[r] += w.x * v_high[0] + w.y * v_high[1] + w.z * v_high[2] + w.w * v_high[3];
    }
  }
#ifdef VALUE_TABLE
  for (int column = 0; column < width; ++column) {
    int c = min(first + column, keys - 1);
    for (int r = 0; r < TILE; ++r) {
      float w = weights[base + uint(r * width + column) / 4u][column % 4];
      int i = min(i0 + r, queries - 1);
      int at = table_row(VALUE_TABLE, head, offset_of(head, i, c)) + e;
      low[r] += w * vectors[at];
      high[r] += w * vectors[at + 1];
    }
  }
#endif
  for (int r = 0; r < TILE; ++r) {
    if (i0 + r < row_end) {
      int to = (head * queries + i0 + r) * value_width + e;
      outputs[to] = low[r];
      outputs[to + 1] = high[r];
    }
  }
}
