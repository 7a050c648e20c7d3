// Score of a pair from the sum of its products: adds the terms that are looked up or computed for
// each pair.
#include "span.glsl"

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

#ifdef ADDITIVE
// tanh without overflow; exactly 1 from 15 on.
vec4 stable_tanh(vec4 x) { return 1.0 - 2.0 / (exp(2.0 * clamp(x, -15.0, 15.0)) + 1.0); }

// queries_of[] and keys_of[] are already projected. keys_of[] has rows for each head.
float additive_score(int head, int i, int c) {
  int q_row = (head * queries + i) * key_width, k_row = (head * keys + c) * key_width;
  int v_row = additive_v + (head % heads) * key_width;
  vec4 sum = vec4(0.0);
  for (int e = 0; e < key_width; ++e) {
    sum += vectors[v_row + e] * stable_tanh(queries_of[q_row + e] + keys_of[k_row + e]);
  }
  return dot(sum, vec4(1.0));
}
#endif

#if QUERY_ROWS + KEY_ROWS > 0
// Tables of vectors: the first QUERY_ROWS multiply the query, the next KEY_ROWS the key.
float products_with_rows(int head, int i, int c, int offset) {
  int q_row = (head * queries + i) * key_width, k_row = (kv_head(head) * keys + c) * key_width;
  vec4 sum = vec4(0.0);
  for (int t = 0; t < QUERY_ROWS + KEY_ROWS; ++t) {
    int at = table_row(t, head, offset);
    for (int e = 0; e < key_width; ++e) {
      sum += (t < QUERY_ROWS ? queries_of[q_row + e] : keys_of[k_row + e]) * vectors[at + e];
    }
  }
  return dot(sum, vec4(1.0));
}
#endif

float finish_score(float products, int head, int i, int c) {
  int offset = offset_of(head, i, c);
#if defined(LOGITS)
  float score = logit(head, i, c);
#elif defined(ADDITIVE)
  float score = additive_score(head, i, c);
#else
#if QUERY_ROWS + KEY_ROWS > 0
  products += products_with_rows(head, i, c, offset);
#endif
  for (int n = 0; n < SCALED_BIASES; ++n) {
    products += table_value(SCALED_BIAS_TABLE + n, head, offset);
  }
  float score = products * scale;
#ifdef FACTOR_TABLE
  score *= table_value(FACTOR_TABLE, head, offset);
#endif
#endif
#ifdef BIAS_TABLE
  score += table_value(BIAS_TABLE, head, offset);
#endif
#ifdef SCORE_CAP
  score = score_cap * tanh(clamp(score / score_cap, -15.0, 15.0));
#endif
#if NORMALISER == SPAN_SOFTMAX
  if (span_weight(head, i, c) == 0.0) return MASKED;  // equivalent to a masked pair
#endif
  return score;
}
