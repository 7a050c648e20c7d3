// Scores into weights in place, 8 x 8 pairs an invocation; 0 where the pattern forbids a pair. x
// counts tiles of columns, y tiles of rows, z heads.
#include "attention.glsl"
#include "weight.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 3) buffer Scores { float scores[]; };

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i0 = row_first + TILE * int(gl_GlobalInvocationID.y);
  int column = TILE * int(gl_GlobalInvocationID.x);
  if (i0 >= row_end) return;
  int tile = tile_of(head, i0), width = tile_width(tile), c0 = tile_first(tile) + column;
  if (column >= width) return;
  uint at = tile_base(head, tile) + uint(column);
  for (int r = 0; r < TILE; ++r) {
    ivec2 allowed = ivec2(0);
    if (i0 + r < row_end) {
      int row = pattern_row(head, i0 + r), run = integers[starts + row];
      if (run < integers[starts + row + 1]) allowed = run_at(run).xy;
    }
    for (int n = 0; n < TILE; ++n) {
      int c = c0 + n;
      float w = 0.0;
      if (c >= allowed.x && c < allowed.y) {
        w = weight(scores[at + uint(n)], head, i0 + r, c);
        keep(head, i0 + r, c, w);
      }
      scores[at + uint(n)] = w;
    }
    at += uint(width);
  }
}
