// Number of each pixel: the strongest cell in its range, NaN if all cells are NaN. Row 0 is at the
// top. The CPU computes the ranges, by the function that CPU drawing uses.

layout(location = 0) uniform sampler2DArray cells;  // (column, row, plane)
layout(location = 1) uniform isampler2D ranges;     // [first, last): row 0 for columns, 1 for rows
layout(location = 2) uniform int plane;
layout(location = 3) uniform bool by_magnitude;     // for diverging colour maps

layout(location = 0) out float number;

bool is_stronger(float a, float b) {
  if (isnan(b)) return true;
  if (by_magnitude) return abs(a) > abs(b) || (abs(a) == abs(b) && a > b);
  return a > b;
}

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  ivec2 columns = texelFetch(ranges, ivec2(pixel.x, 0), 0).xy;
  ivec2 rows = texelFetch(ranges, ivec2(pixel.y, 1), 0).xy;
  float best = uintBitsToFloat(0x7fc00000u);  // NaN
  for (int r = rows.x; r < rows.y; ++r) {
    for (int c = columns.x; c < columns.y; ++c) {
      float value = texelFetch(cells, ivec3(c, r, plane), 0).r;
      if (is_stronger(value, best)) best = value;
    }
  }
  number = best;
}
