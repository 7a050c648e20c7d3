// Turns products into scores in place, HEIGHT x CELLS cells per invocation. Invocation x: group of
// cells; y: tile; z: copy. Loop bounds are read from memory, so that compilers do not unroll all
// terms 64 times.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 3) buffer Scores { float scores[]; };

#include "pair_score.glsl"

void main() {
  Tile t;
  if (!find_tile(int(gl_GlobalInvocationID.y), int(gl_GlobalInvocationID.z), t)) return;
  int x0 = CELLS * int(gl_GlobalInvocationID.x), x_end = min(x0 + CELLS, t.stride);
  for (int r = 0; r < t.rows; ++r) {
    int i = query(t, r);
    uint bits = allowed(t, r, x0);
    for (int x = x0; x < x_end; ++x) {
      uint at = t.base + uint(r * t.stride + x);
      float score = MASKED;
      if ((bits >> (x - x0) & 1u) == 1u) {
#if defined(CONTENT) || PRODUCTS > 0
        float products = scores[at];
#else
        float products = 0.0;
#endif
        score = finish_score(products, t.head, i, column(t, x));
      }
      scores[at] = score;
    }
  }
}
