// Rotary encodings of GGUF files.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/checkpoint/gguf_metadata.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

constexpr const char* kFactors = "rope_freqs.weight";
constexpr const char* kShortFactors = "rope_factors_short.weight";
constexpr const char* kLongFactors = "rope_factors_long.weight";
constexpr double kMaxFactor = 1e6;

std::vector<double> read_factors(const GgufMetadata& metadata, const std::string& name,
                                 Index pairs) {
  std::vector<double> factors = metadata.vector(name);
  const bool valid = std::ranges::all_of(
      factors, [](double factor) { return factor >= 1 / kMaxFactor && factor <= kMaxFactor; });
  if (static_cast<Index>(factors.size()) == pairs && valid) return factors;
  throw InputError(metadata.place() + ": tensor " + name + ": expected " + std::to_string(pairs) +
                   " positive numbers, one for each rotated pair, found " +
                   (valid ? std::to_string(factors.size()) : "others"));
}

// Factor by which Llama 3's rule, with its published bounds of 1 and 4 rotations, slows a pair.
double llama3_slowdown(double frequency, double factor, double original) {
  const double rotations = original * frequency / (2 * std::numbers::pi);
  const double share = std::clamp((rotations - 1) / 3, 0.0, 1.0);
  return 1 / (share + (1 - share) / factor);
}

// Original context length for which Llama 3's rule yields `factors`; 0 if there is none. Files
// store the factors but not the length. Tries the published length first.
Index llama3_original(const std::vector<double>& factors, double factor, double base) {
  constexpr Index kLengths[] = {8192, 32,   64,    128,   256,   512,    1024,
                                2048, 4096, 16384, 32768, 65536, 131072, 262144};
  const auto dims = 2 * static_cast<double>(factors.size());
  const auto matches = [&](Index original) {
    for (std::size_t pair = 0; pair < factors.size(); ++pair) {
      const double frequency = std::pow(base, -2 * static_cast<double>(pair) / dims);
      const double expected = llama3_slowdown(frequency, factor, static_cast<double>(original));
      if (std::abs(factors[pair] - expected) > 1e-5 * expected) return false;
    }
    return true;
  };
  const auto* const found = std::ranges::find_if(kLengths, matches);
  return found == std::end(kLengths) ? 0 : *found;
}

// Scaling by one factor per pair: "llama3" if the factors follow its rule, else "longrope" with
// equal factors for short and long texts.
Json factor_scaling(const std::vector<double>& factors, double base, Index context) {
  const double largest = *std::ranges::max_element(factors);
  const Index original = largest > 1 ? llama3_original(factors, largest, base) : 0;
  Json scaling = Json::object();
  if (original > 0) {
    scaling["rope_type"] = "llama3";
    scaling["factor"] = largest;
    scaling["low_freq_factor"] = 1.0;
    scaling["high_freq_factor"] = 4.0;
    scaling["original_max_position_embeddings"] = original;
    return scaling;
  }
  scaling["rope_type"] = "longrope";
  scaling["factor"] = 1.0;
  scaling["attention_factor"] = 1.0;
  scaling["original_max_position_embeddings"] = std::max<Index>(context, 2);
  scaling["short_factor"] = factors;
  scaling["long_factor"] = factors;
  return scaling;
}

// Default gain of the LongRoPE layout.
double usual_longrope_gain(Index context, Index original) {
  if (context <= original) return 1;
  const auto trained = static_cast<double>(original);
  return std::sqrt(1 + std::log(static_cast<double>(context) / trained) / std::log(trained));
}

Json longrope_scaling(GgufMetadata& metadata, Index context, Index pairs) {
  Json scaling = Json::object();
  scaling["rope_type"] = "longrope";
  scaling["short_factor"] = read_factors(metadata, kShortFactors, pairs);
  scaling["long_factor"] = read_factors(metadata, kLongFactors, pairs);
  const Index original =
      metadata.integer("rope.scaling.original_context_length", 2, kMaxModelTokens);
  scaling["original_max_position_embeddings"] = original;
  // Converters round the default gain. If omitted here, the layout computes it exactly.
  const double usual = usual_longrope_gain(context, original);
  const double gain = metadata.number_or("rope.scaling.attn_factor", usual, 1e-6, 1e6);
  if (std::abs(gain - usual) > 1e-6 * usual) scaling["attention_factor"] = gain;
  metadata.ignore("rope.scaling.factor");
  return scaling;
}

Json yarn_scaling(GgufMetadata& metadata, bool truncate) {
  Json scaling = Json::object();
  scaling["rope_type"] = "yarn";
  scaling["factor"] = metadata.number("rope.scaling.factor", 1e-6, 1e6);
  const char* original = "rope.scaling.original_context_length";
  if (metadata.has(original)) {
    scaling["original_max_position_embeddings"] = metadata.integer(original, 1, kMaxModelTokens);
  }
  metadata.require_number("rope.scaling.yarn_ext_factor", 1);
  metadata.require_number("rope.scaling.yarn_log_multiplier", 0);
  for (const auto& [stored, name] :
       {std::pair{"attn_factor", "attention_factor"},
        std::pair{"yarn_attn_factor", "attention_factor"}, std::pair{"yarn_beta_fast", "beta_fast"},
        std::pair{"yarn_beta_slow", "beta_slow"}}) {
    const std::string key = std::string("rope.scaling.") + stored;
    if (metadata.has(key)) scaling[name] = metadata.number(key, 1e-6, 1e6);
  }
  if (!truncate) scaling["truncate"] = false;
  return scaling;
}

// Factor of a linear scaling; 1: no scaling.
double linear_factor(GgufMetadata& metadata) {
  const double old = metadata.number_or("rope.scale_linear", 1, 1e-6, 1e6);  // files until 2023
  return metadata.number_or("rope.scaling.factor", old, 1e-6, 1e6);
}

// Value of "rope_scaling"; may be null.
Json read_scaling(GgufMetadata& metadata, const GgufSizes& sizes, double base, Index dims,
                  bool truncate) {
  const std::string type = metadata.text_or("rope.scaling.type", "");
  metadata.ignore("rope.scaling.finetuned");
  const bool has_factors = metadata.has_tensor(kFactors);
  if (metadata.has_tensor(kLongFactors) || metadata.has_tensor(kShortFactors)) {
    if (type != "" && type != "none" && type != "longrope") {
      metadata.fail("rope.scaling.type",
                    "\"longrope\", since the file has " + std::string(kLongFactors));
    }
    return longrope_scaling(metadata, sizes.context, dims / 2);
  }
  if (type == "yarn" && !has_factors) return yarn_scaling(metadata, truncate);
  if (type != "" && type != "none" && type != "linear") {
    metadata.fail("rope.scaling.type", has_factors
                                           ? "\"none\", since the file has rope_freqs.weight"
                                           : "\"none\", \"linear\", \"yarn\" or, with "
                                             "factors, \"longrope\"");
  }
  metadata.ignore("rope.scaling.original_context_length");
  metadata.require_number("rope.scaling.attn_factor", 1);
  const double factor = type == "none" ? 1 : linear_factor(metadata);
  metadata.ignore("rope.scaling.factor");
  metadata.ignore("rope.scale_linear");
  if (has_factors) {
    if (factor != 1) {
      metadata.fail("rope.scaling.factor", "1, since the file has rope_freqs.weight");
    }
    return factor_scaling(read_factors(metadata, kFactors, dims / 2), base, sizes.context);
  }
  if (factor == 1) return {};
  Json scaling = Json::object();
  scaling["rope_type"] = "linear";
  scaling["factor"] = factor;
  return scaling;
}

}  // namespace

void add_rope(GgufMetadata& metadata, const GgufSizes& sizes, Json& config, const GgufRope& rules) {
  const double base = metadata.number_or("rope.freq_base", 10000, 1e-3, 1e18);
  config["rope_theta"] = base;
  const Index min_dims = rules.whole_head ? sizes.head_size : 2;
  const Index dims =
      metadata.integer_or("rope.dimension_count", sizes.head_size, min_dims, sizes.head_size);
  if (dims != sizes.head_size) {
    config["rotary_share"] = static_cast<double>(dims) / static_cast<double>(sizes.head_size);
  } else {
    config["rotary_share"] = 1.0;
  }
  const Json scaling = read_scaling(metadata, sizes, base, dims, rules.truncate);
  if (!scaling.is_null()) config["rope_scaling"] = scaling;
}

}  // namespace attnscope
