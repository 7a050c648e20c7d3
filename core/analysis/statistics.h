// Statistics that characterise an attention head.
#pragma once

#include <cstdint>
#include <vector>

#include "core/part/pattern.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Means over the rows that have weights and to which the statistic applies; NaN without such rows.
struct HeadStatistics {
  double entropy = 0;         // bits: -sum_j a_ij log2 a_ij
  double distance = 0;        // tokens: sum_j a_ij |i - j|
  double first_token = 0;     // weight on key 0, over rows i >= 1
  double previous_token = 0;  // weight on key i - 1, over rows i >= 1
  double same_token = 0;  // weight on earlier occurrences of the query's token, over rows with any
  double induction = 0;   // weight on tokens after an earlier occurrence of the query's
                          // token, if any (Olsson et al., 2022, arXiv:2209.11895)
};

// Accumulates the rows of one head, over one or several texts.
class HeadStatisticsSum {
 public:
  // Arguments as for head_statistics().
  void add(const Tensor& attention, const std::vector<std::int32_t>& tokens,
           Index first_token_column = 0);
  HeadStatistics means() const;

 private:
  struct Mean {
    double sum = 0;
    Index count = 0;
    void add(double value) {
      sum += value;
      ++count;
    }
    double value() const;
  };
  void add_token_scores(const float* row, Index keys, Index query,
                        const std::vector<std::int32_t>& tokens);
  Mean entropy_, distance_, first_, previous_, same_, induction_;
};

// attention: [L_q, L_k], rows of non-negative weights. Key column c holds token
// c - first_token_column; earlier columns are memory and count towards entropy only.
// tokens: ids of the L_q query tokens; for another number of ids, same_token and induction are NaN.
HeadStatistics head_statistics(const Tensor& attention, const std::vector<std::int32_t>& tokens,
                               Index first_token_column = 0);

// Statistics of a head that ignores the text, for comparison with a measured head.
struct HeadBaseline {
  HeadStatistics mean;  // statistics if each row attends equally to its allowed keys
  // Standard deviations if each row attends to one random allowed key: the largest deviations from
  // `mean` that chance alone causes. Entropy: 0.
  HeadStatistics spread;
  HeadStatistics rows;  // number of rows that each statistic averages
};
// Baseline of head `head` of a pattern with one row per query; other arguments as for
// head_statistics(). Statistics without rows are NaN.
HeadBaseline head_baseline(const Pattern& pattern, Index head,
                           const std::vector<std::int32_t>& tokens, Index first_token_column = 0);

// Entropy of a row of `count` weights, in bits; 0 for a row without weights.
double row_entropy(const float* weights, Index count);

}  // namespace attnscope
