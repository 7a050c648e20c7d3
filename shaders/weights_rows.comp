// Scores of listed pairs into weights in place, a segment an invocation: x counts segments, z
// heads.
#include "attention.glsl"
#include "segment.glsl"
#include "weight.glsl"

layout(local_size_x = 64) in;

layout(std430, binding = 3) buffer Scores { float scores[]; };

void main() {
  Segment s;
  if (!find_segment(s)) return;
  do {
    float w = weight(scores[s.at], s.head, s.i, s.c);
    scores[s.at] = w;
    keep(s.head, s.i, s.c, w);
  } while (next_pair(s));
}
