// What outputs_tiles computes, the way graphics processors like it: a work group takes 8 rows and
// eight vec4s of values, and brings the weights and values of eight keys at a time into shared
// memory. x counts groups of vec4s, y tiles of rows, z heads.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Values { vec4 values[]; };
layout(std430, binding = 1) writeonly buffer Outputs { vec4 outputs[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) readonly buffer Weights { float weights[]; };

shared vec4 v_slice[TILE][TILE];  // of key, vec4
shared float w_slice[TILE][TILE];  // of row, key

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i0 = row_first + TILE * int(gl_WorkGroupID.y);
  if (i0 >= row_end) return;  // the whole group
  int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
  int e = TILE * int(gl_WorkGroupID.x) + x;
  int tile = tile_of(head, i0), width = tile_width(tile), first = tile_first(tile);
  uint base = tile_base(head, tile);

  vec4 sum = vec4(0.0);
  for (int column = 0; column < width; column += TILE) {
    int c = min(first + column + y, keys - 1);  // past the end weights are 0
    v_slice[y][x] = e < value_width ? values[(kv_head(head) * keys + c) * value_width + e]
                                    : vec4(0.0);
    w_slice[y][x] = column + x < width ? weights[base + uint(y * width + column + x)] : 0.0;
    barrier();
    for (int n = 0; n < TILE; ++n) sum += w_slice[y][n] * v_slice[n][x];
    barrier();
  }
  int i = i0 + y;
  if (i >= row_end || e >= value_width) return;
#ifdef VALUE_TABLE
  for (int column = 0; column < width; ++column) {
    int c = min(first + column, keys - 1);
    float w = weights[base + uint(y * width + column)];
    sum += w * vectors[table_row(VALUE_TABLE, head, offset_of(head, i, c)) + e];
  }
#endif
  outputs[(head * queries + i) * value_width + e] = sum;
}
