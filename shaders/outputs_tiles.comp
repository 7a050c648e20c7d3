// Weighted sums of values, HEIGHT rows x 8 components per invocation. Invocation x: group of 8
// components; y: tile; z: copy.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Values { vec4 values[]; };
layout(std430, binding = 1) buffer Outputs { vec4 outputs[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) readonly buffer Weights { vec4 weights[]; };
layout(std430, binding = 4) readonly buffer RowSums { vec4 row_sums[]; };

void main() {
  Tile t;
  if (!find_tile(int(gl_GlobalInvocationID.y), int(gl_GlobalInvocationID.z), t)) return;
  int e = 2 * int(gl_GlobalInvocationID.x);
  if (e >= value_width) return;
  uint base = t.base / 4u;
  int v_first = kv_head(t.head) * keys * value_width + e;

  vec4 low[HEIGHT], high[HEIGHT];
  for (int r = 0; r < HEIGHT; ++r) {
    low[r] = vec4(0.0);
    high[r] = vec4(0.0);
  }
  for (int x = 0; x < t.stride; x += 4) {
    vec4 v_low[4], v_high[4];
    for (int n = 0; n < 4; ++n) {  // weights past the end are 0
      int v_row = v_first + column(t, x + n) * value_width;
      v_low[n] = values[v_row];
      v_high[n] = values[v_row + 1];
    }
    for (int r = 0; r < HEIGHT; ++r) {
      vec4 w = weights[base + uint(r * t.stride + x) / 4u];
      low[r] += w.x * v_low[0] + w.y * v_low[1] + w.z * v_low[2] + w.w * v_low[3];
      high[r] += w.x * v_high[0] + w.y * v_high[1] + w.z * v_high[2] + w.w * v_high[3];
    }
  }
#ifdef VALUE_TABLE
  for (int x = 0; x < t.width; ++x) {
    int c = column(t, x);
    for (int r = 0; r < HEIGHT; ++r) {
      float w = weights[base + uint(r * t.stride + x) / 4u][x % 4];
      int at = table_row(VALUE_TABLE, t.head, offset_of(t.head, query(t, r), c)) + e;
      low[r] += w * vectors[at];
      high[r] += w * vectors[at + 1];
    }
  }
#endif
  for (int r = 0; r < HEIGHT; ++r) {
    if (r < t.rows) {
      int row = t.head * queries + query(t, r), to = row * value_width + e;
      float earlier_factor = row_sums[row].z;
      if (earlier_factor != 0.0) {  // else the output is uninitialised
        low[r] += earlier_factor * outputs[to];
        high[r] += earlier_factor * outputs[to + 1];
      }
      outputs[to] = low[r];
      outputs[to + 1] = high[r];
    }
  }
}
