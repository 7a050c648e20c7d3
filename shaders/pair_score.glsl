// From a pair's sum of products (or additive score, or logit) to its score.

// Which head's row of keys_of[] serves this head: additive scores have projected keys for each.
#ifdef ADDITIVE
int key_head(int head) { return head; }
#else
int key_head(int head) { return kv_head(head); }
#endif

#ifdef LOGITS
float logit(int head, int i, int c) {
#ifdef LOGITS_TABLE
  int n = bucket(LOGITS_TABLE, offset_of(head, i, c));
#else
  int n = c;
#endif
  return numbers[logits + ((head % logits_heads) * queries + i) * logits_width + n];
}
#endif

float finish_score(float score, int head, int i, int c) {
#if SCALED_BIASES > 0 || defined(BIAS_TABLE) || defined(FACTOR_TABLE)
  int offset = offset_of(head, i, c);
#endif
#ifdef PRODUCT
#if SCALED_BIASES > 0
  for (int n = 0; n < SCALED_BIASES; ++n) {
    score += table_value(SCALED_BIAS_TABLE + n, head, offset);
  }
#endif
  score *= scale;
#ifdef FACTOR_TABLE
  score *= table_value(FACTOR_TABLE, head, offset);
#endif
#endif
#ifdef BIAS_TABLE
  score += table_value(BIAS_TABLE, head, offset);
#endif
#if NORMALISER == SPAN_SOFTMAX
  if (span_weight(head, i, c) == 0.0) return 0.0;  // as good as not allowed
#endif
  return score;
}

// tanh by the exponential; at 15 it is 1 to the last bit.
vec4 stable_tanh(vec4 x) { return 1.0 - 2.0 / (exp(2.0 * clamp(x, -15.0, 15.0)) + 1.0); }
