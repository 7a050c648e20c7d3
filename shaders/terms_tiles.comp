// Products into scores in place, 8 x 8 pairs an invocation: x counts tiles of columns, y tiles of
// rows, z heads. One loop, so that compilers do not write all ingredients out 64 times.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) buffer Scores { float scores[]; };

#include "pair_score.glsl"

void main() {
  int head = head_first + int(gl_GlobalInvocationID.z);
  int i0 = row_first + TILE * int(gl_GlobalInvocationID.y);
  int column = TILE * int(gl_GlobalInvocationID.x);
  if (i0 >= row_end) return;
  int tile = tile_of(head, i0), width = tile_width(tile), c0 = tile_first(tile) + column;
  if (column >= width) return;
  uint base = tile_base(head, tile) + uint(column);
  for (int n = 0; n < TILE * TILE; ++n) {
    int i = i0 + n / TILE, c = c0 + n % TILE;
    if (i >= row_end || c >= keys) continue;
    uint at = base + uint((n / TILE) * width + n % TILE);
#if defined(CONTENT) || PRODUCTS > 0
    float products = scores[at];
#else
    float products = 0.0;
#endif
    scores[at] = finish_score(products, head, i, c);
  }
}
