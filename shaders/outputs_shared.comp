// Variant of outputs_tiles for GPUs. A work group computes eight vec4s of a tile's outputs. If the
// tile has several rows, the group loads weights and values of eight keys at a time into shared
// memory. Work group x: group of vec4s; y: tile; z: copy.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Values { vec4 values[]; };
layout(std430, binding = 1) buffer Outputs { vec4 outputs[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) readonly buffer Weights { float weights[]; };
layout(std430, binding = 4) readonly buffer RowSums { vec4 row_sums[]; };

#if HEIGHT == 1
shared vec4 sums[TILE][TILE];
#else
shared vec4 v_slice[TILE][TILE];   // [key][vec4]
shared float w_slice[TILE][TILE];  // [row][key]
#endif

void main() {
  Tile t;  // identical in all invocations of the group
  if (!find_tile(int(gl_WorkGroupID.y), int(gl_WorkGroupID.z), t)) return;
  int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
  int e = TILE * int(gl_WorkGroupID.x) + x;

  vec4 sum = vec4(0.0);
#if HEIGHT == 1  // a single row: each invocation sums every eighth key
  for (int n = y; n < t.stride && e < value_width; n += TILE) {
    int v_row = (kv_head(t.head) * keys + column(t, n)) * value_width;
    sum += weights[t.base + uint(n)] * values[v_row + e];
  }
  sums[y][x] = sum;
  barrier();
  for (int n = 1; n < TILE && y == 0; ++n) sum += sums[n][x];
#else
  for (int from = 0; from < t.stride; from += TILE) {
    int v_row = (kv_head(t.head) * keys + column(t, from + y)) * value_width;
    v_slice[y][x] = e < value_width ? values[v_row + e] : vec4(0.0);
    w_slice[y][x] = weights[t.base + uint(y * t.stride + from + x)];  // weights past the end are 0
    barrier();
    for (int n = 0; n < TILE; ++n) sum += w_slice[y][n] * v_slice[n][x];
    barrier();
  }
#endif
  if (y >= t.rows || e >= value_width) return;
  int i = query(t, y);
#ifdef VALUE_TABLE
  for (int n = 0; n < t.width; ++n) {
    float w = weights[t.base + uint(y * t.stride + n)];
    sum += w * vectors[table_row(VALUE_TABLE, t.head, offset_of(t.head, i, column(t, n))) + e];
  }
#endif
  int row = t.head * queries + i;
  float earlier_factor = row_sums[row].z;
  if (earlier_factor != 0.0) sum += earlier_factor * outputs[row * value_width + e];
  outputs[row * value_width + e] = sum;
}
