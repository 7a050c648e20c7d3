#include "core/attention/variants/shared/wkv.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/attention/variants/shared/exact.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr double kEmpty = -std::numeric_limits<double>::infinity();  // exponent of an empty sum

// One channel of one sequence.
struct Channel {
  const float *k, *v;  // v may be null
  Index length, stride;
  double w, u;

  double key(Index t) const { return static_cast<double>(k[t * stride]); }
  double value(Index t) const { return static_cast<double>(v[t * stride]); }
};

// Calls body(channel, offset, n) for every channel n of all heads, in parallel over n. offset: index
// of the channel's first number in k, v and the result.
template <class Body>
void for_each_channel(const Tensor& k, const Tensor* v, const Tensor& decay, const Tensor& bonus,
                      Body&& body) {
  const Index heads = decay.dim(0), size = decay.dim(1), length = k.dim(1);
  const Index items = k.dim(0) / heads;
  parallel_for(heads * size, 1, [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      for (Index item = 0; item < items && !is_stopping(); ++item) {
        const Index offset = (item * heads + n / size) * length * size + n % size;
        body(Channel{k.data() + offset, v == nullptr ? nullptr : v->data() + offset, length, size,
                     std::exp(static_cast<double>(decay[n])), static_cast<double>(bonus[n])},
             offset, n);
      }
    }
  });
  check_stop();
}

// Sums over the tokens before t, divided by exp(exponent), and their derivatives by w.
struct PastSums {
  double exponent = kEmpty;
  double weight = 0, value = 0;              // Σ e^{k_j - (t-1-j) w}, and with v_j
  double weight_slope = 0, value_slope = 0;  // d / dw

  // Adds token t: sums over the tokens before t + 1.
  void add(const Channel& c, Index t) {
    const double next = std::max(exponent - c.w, c.key(t));
    const double kept = std::exp(exponent - c.w - next), added = std::exp(c.key(t) - next);
    weight_slope = kept * (weight_slope - weight);
    value_slope = kept * (value_slope - value);
    weight = kept * weight + added;
    value = kept * value + (c.v == nullptr ? 0 : added * c.value(t));
    exponent = next;
  }
};

// wkv at token t.
struct Reading {
  double past;     // e^{exponent of the sums}, divided by the denominator
  double own;      // weight a_tt
  double log_sum;  // logarithm of the denominator
  double output;

  Reading(const Channel& c, const PastSums& sums, Index t) {
    const double own_exponent = c.u + c.key(t), most = std::max(sums.exponent, own_exponent);
    const double scale = std::exp(sums.exponent - most), bonus = std::exp(own_exponent - most);
    const double sum = scale * sums.weight + bonus;
    past = scale / sum;
    own = bonus / sum;
    log_sum = most + std::log(sum);
    output = c.v == nullptr ? 0 : past * sums.value + own * c.value(t);
  }
};

// Gradients of one channel, added to the arrays at the channel's offset.
class ChannelGradients {
 public:
  ChannelGradients(const Channel& channel, const float* gradient)
      : c_(channel), gradient_(gradient) {
    PastSums sums;
    for (Index t = 0; t < c_.length; ++t) {
      const Reading& reading = readings_.emplace_back(c_, sums, t);
      bonus_ += g(t) * reading.own * (c_.value(t) - reading.output);
      rate_ += g(t) * reading.past * (sums.value_slope - reading.output * sums.weight_slope);
      sums.add(c_, t);
    }
  }

  double bonus() const { return bonus_; }
  double decay() const { return std::isinf(c_.w) ? 0 : c_.w * rate_; }

  // Gradients of k and v. Σ_{i>j} e^{-(i-1-j) w} / (denominator of i) is carried from right to
  // left.
  void write(float* d_k, float* d_v) const {
    double exponent = kEmpty, later = 0, later_output = 0;  // with g_i, and with g_i output_i
    for (Index j = c_.length - 1; j >= 0; --j) {
      const Reading& reading = readings_[static_cast<std::size_t>(j)];
      const double factor = std::exp(c_.key(j) + exponent), own = reading.own * g(j);
      d_v[j * c_.stride] = static_cast<float>(own + factor * later);
      d_k[j * c_.stride] = static_cast<float>(own * (c_.value(j) - reading.output) +
                                              factor * (c_.value(j) * later - later_output));
      const double next = std::max(exponent - c_.w, -reading.log_sum);
      const double kept = std::exp(exponent - c_.w - next);
      const double added = std::exp(-reading.log_sum - next) * g(j);
      later = kept * later + added;
      later_output = kept * later_output + added * reading.output;
      exponent = next;
    }
  }

 private:
  double g(Index t) const { return static_cast<double>(gradient_[t * c_.stride]); }

  const Channel c_;
  const float* gradient_;
  std::vector<Reading> readings_;
  double bonus_ = 0, rate_ = 0;
};

void add_wkv_gradients(const Tensor& gradient, const std::vector<Var>& inputs) {
  const Tensor &k = inputs[0].value(), &v = inputs[1].value();
  const Tensor &decay = inputs[2].value(), &bonus = inputs[3].value();
  Tensor d_k(k.shape()), d_v(v.shape());
  Tensor d_decay = Tensor::zeros(decay.shape()), d_bonus = Tensor::zeros(bonus.shape());
  for_each_channel(k, &v, decay, bonus, [&](const Channel& channel, Index offset, Index n) {
    const ChannelGradients gradients(channel, gradient.data() + offset);
    gradients.write(d_k.data() + offset, d_v.data() + offset);
    d_decay[n] += static_cast<float>(gradients.decay());
    d_bonus[n] += static_cast<float>(gradients.bonus());
  });
  accumulate(inputs[0], d_k);
  accumulate(inputs[1], d_v);
  accumulate(inputs[2], d_decay);
  accumulate(inputs[3], d_bonus);
}

class WkvRows : public ImpliedRows {
 public:
  WkvRows(const Tensor& k, const Tensor& decay, const Tensor& bonus)
      : heads_(decay.dim(0)),
        length_(k.dim(1)),
        size_(k.dim(2)),
        keys_(zero_doubles(k.size())),
        log_sums_(zero_doubles(k.size())),
        rates_(zero_doubles(decay.size())),
        bonuses_(zero_doubles(bonus.size())) {
    for_each_channel(k, nullptr, decay, bonus, [&](const Channel& c, Index offset, Index n) {
      rates_[static_cast<std::size_t>(n)] = c.w;
      bonuses_[static_cast<std::size_t>(n)] = c.u;
      PastSums sums;
      for (Index t = 0; t < c.length; ++t) {
        const auto index = static_cast<std::size_t>(offset + t * c.stride);
        keys_[index] = c.key(t);
        log_sums_[index] = Reading(c, sums, t).log_sum;
        sums.add(c, t);
      }
    });
  }

  std::vector<double> weights(const Block& block) const override {
    std::vector<double> result(static_cast<std::size_t>(block.count * block.width()));
    const Index head = block.head % heads_;
    const Row rates(rates_.data() + head * size_, size_);
    const Row bonuses(bonuses_.data() + head * size_, size_);
    Eigen::ArrayXd exponents(size_);
    for (Index r = 0; r < block.count; ++r) {
      const Index i = block.first + r;
      const Row log_sums = row_of(log_sums_, block.head, i);
      for (Index j = block.first_key; j <= i && !is_stopping(); ++j) {
        exponents = row_of(keys_, block.head, j) - log_sums;
        if (j == i) exponents += bonuses;
        if (i - 1 - j > 0) exponents -= static_cast<double>(i - 1 - j) * rates;
        result[static_cast<std::size_t>(r * block.width() + j - block.first_key)] =
            exponents.exp().mean();
      }
    }
    return result;
  }

 private:
  using Row = Eigen::Map<const Eigen::ArrayXd>;

  Row row_of(const Doubles& rows, Index head, Index t) const {
    return Row(rows.data() + (head * length_ + t) * size_, size_);
  }

  const Index heads_, length_, size_;
  Doubles keys_, log_sums_;  // [B h, L, d]
  Doubles rates_, bonuses_;  // [h, d]
};

}  // namespace

Var wkv(const Var& k, const Var& v, const Var& decay, const Var& bonus) {
  Tensor output(k.shape());
  for_each_channel(k.value(), &v.value(), decay.value(), bonus.value(),
                   [&](const Channel& c, Index offset, Index) {
                     PastSums sums;
                     for (Index t = 0; t < c.length; ++t) {
                       output[offset + t * c.stride] =
                           static_cast<float>(Reading(c, sums, t).output);
                       sums.add(c, t);
                     }
                   });
  return record("wkv", output, {k, v, decay, bonus}, add_wkv_gradients);
}

std::shared_ptr<const ImpliedRows> wkv_rows(const Tensor& k, const Tensor& decay,
                                            const Tensor& bonus) {
  return std::make_shared<const WkvRows>(k, decay, bonus);
}

}  // namespace attnscope
