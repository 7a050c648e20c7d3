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
  uint base = tile_base(head, tile) + uint(column);
  for (int n = 0; n < TILE * TILE; ++n) {  // one loop, see terms_tiles
    int i = i0 + n / TILE, c = c0 + n % TILE;
    uint at = base + uint((n / TILE) * width + n % TILE);
    float w = 0.0;
    if (i < row_end) {
      int row = pattern_row(head, i), run = integers[starts + row];
      ivec2 allowed = run < integers[starts + row + 1] ? run_at(run).xy : ivec2(0);
      if (c >= allowed.x && c < allowed.y) {
        w = weight(scores[at], head, i, c);
        keep(head, i, c, w);
      }
    }
    scores[at] = w;
  }
}
