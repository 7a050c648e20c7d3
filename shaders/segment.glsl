// Walking the allowed pairs of a segment: at most SEGMENT pairs of one row.

struct Segment {
  int head, i;   // the row
  int c;         // the pair's key column
  uint at;       // where its score lies
  int run;       // index of the run that c is in,
  ivec3 bounds;  // and that run
  int runs_end, left;
};

// The segment of this invocation, at its first pair; false when there is none.
bool find_segment(out Segment s) {
  int n = segment_first + int(gl_GlobalInvocationID.x);
  if (n >= segment_end) return false;
  int from = segments + 4 * n;
  int row = integers[from];
  s.i = row % queries;
  s.head = pattern_heads == 1 ? head_first + int(gl_GlobalInvocationID.z)
                              : (head_first / heads) * heads + row / queries;
  s.run = integers[from + 1];
  s.runs_end = integers[starts + row + 1];
  s.bounds = run_at(s.run);
  s.c = s.bounds.x + integers[from + 2] * s.bounds.z;
  s.at = uint(integers[from + 3]) - origin + uint(s.head - head_first) * head_stride;
  s.left = SEGMENT;
  return true;
}

// On to the next pair; false at the end of the segment.
bool next_pair(inout Segment s) {
  --s.left;
  ++s.at;
  s.c += s.bounds.z;
  if (s.c >= s.bounds.y) {
    ++s.run;
    if (s.run >= s.runs_end) return false;
    s.bounds = run_at(s.run);
    s.c = s.bounds.x;
  }
  return s.left > 0;
}
