// Span mask m_z of a pair, by its distance beyond the span z.
#if NORMALISER == SPAN_SOFTMAX
float span_weight(int head, int i, int c) {
  float z = numbers[span + (span_rows == 1 ? head * queries + i : head % heads)];
  return clamp((span_ramp + z - float(offset_of(head, i, c))) / span_ramp, 0.0, 1.0);
}
#endif
