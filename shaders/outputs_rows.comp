// Weighted sums of values over listed pairs, 8 components of a row an invocation: x counts rows, y
// eights of components, z heads.
#include "attention.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Values { vec4 values[]; };
layout(std430, binding = 1) writeonly buffer Outputs { vec4 outputs[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) readonly buffer Weights { float weights[]; };

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i = row_first + int(gl_GlobalInvocationID.x);
  int e = 2 * int(gl_GlobalInvocationID.y);
  if (i >= row_end || e >= value_width) return;
  int row = pattern_row(head, i);
  uint at = row_base(head, row);
  vec4 low = vec4(0.0), high = vec4(0.0);
  for (int r = integers[starts + row]; r < integers[starts + row + 1]; ++r) {
    ivec3 run = run_at(r);
    for (int c = run.x; c < run.y; c += run.z) {
      float w = weights[at++];
      int v_row = (kv_head(head) * keys + c) * value_width + e;
      low += w * values[v_row];
      high += w * values[v_row + 1];
#ifdef VALUE_TABLE
      int from = table_row(VALUE_TABLE, head, offset_of(head, i, c)) + e;
      low += w * vectors[from];
      high += w * vectors[from + 1];
#endif
    }
  }
  int to = (head * queries + i) * value_width + e;
  outputs[to] = low;
  outputs[to + 1] = high;
}
