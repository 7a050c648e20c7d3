#include "core/model/beam.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/capability.h"

namespace attnscope {
namespace {

// Continuation `beam` (index) extended by one id.
struct Extension {
  std::size_t beam = 0;
  std::int32_t id = -1;  // -1: already ended, not extended
  double log_probability = 0;
};

// Log-softmax of a row.  [vocabulary]
std::vector<double> log_probabilities(const float* logits, Index vocabulary) {
  const double maximum = static_cast<double>(*std::max_element(logits, logits + vocabulary));
  double sum = 0;
  for (Index id = 0; id < vocabulary; ++id) {
    sum += std::exp(static_cast<double>(logits[id]) - maximum);
  }
  if (!std::isfinite(maximum) || !std::isfinite(sum)) {
    throw WorkError("the model's logits are not finite");
  }
  std::vector<double> result(static_cast<std::size_t>(vocabulary));
  for (Index id = 0; id < vocabulary; ++id) {
    result[static_cast<std::size_t>(id)] =
        static_cast<double>(logits[id]) - maximum - std::log(sum);
  }
  return result;
}

class Search {
 public:
  Search(const Model& model, const std::vector<std::int32_t>& prompt, const BeamOptions& options)
      : model_(model), prompt_(prompt), options_(options) {}

  // Returns the most likely extensions of `beams` by one id. At least one beam must not have ended.
  std::vector<Beam> extend(const std::vector<Beam>& beams) const {
    const Index vocabulary = model_.config.vocabulary;
    std::vector<std::size_t> active;
    std::vector<Extension> extensions;
    for (std::size_t n = 0; n < beams.size(); ++n) {
      if (beams[n].ended) {
        extensions.push_back({n, -1, beams[n].log_probability});
      } else {
        active.push_back(n);
      }
    }
    // Batch size limited so that the logits of all positions use at most 256 MiB.
    const auto length = static_cast<Index>(prompt_.size() + beams[active.front()].ids.size());
    const auto batch_size = static_cast<std::size_t>(
        std::max<Index>(1, (Index{1} << 26) / std::max<Index>(1, length * vocabulary)));
    for (std::size_t first = 0; first < active.size(); first += batch_size) {
      const std::size_t last = std::min(first + batch_size, active.size());
      add_extensions(beams,
                     {active.begin() + static_cast<std::ptrdiff_t>(first),
                      active.begin() + static_cast<std::ptrdiff_t>(last)},
                     extensions);
      extensions = keep_best(std::move(extensions));
    }
    return to_beams(beams, std::move(extensions));
  }

 private:
  std::vector<Extension> keep_best(std::vector<Extension> extensions) const {
    const auto count = std::min(extensions.size(), static_cast<std::size_t>(options_.width));
    std::partial_sort(extensions.begin(), extensions.begin() + static_cast<std::ptrdiff_t>(count),
                      extensions.end(), [](const Extension& a, const Extension& b) {
                        if (a.log_probability != b.log_probability) {
                          return a.log_probability > b.log_probability;
                        }
                        return a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
                      });
    extensions.resize(count);
    return extensions;
  }

  std::vector<Beam> to_beams(const std::vector<Beam>& beams,
                             const std::vector<Extension>& extensions) const {
    std::vector<Beam> result;
    for (const Extension& extension : extensions) {
      Beam beam = beams[extension.beam];
      if (extension.id >= 0) {
        beam.ids.push_back(extension.id);
        beam.log_probability = extension.log_probability;
        beam.ended = std::ranges::count(options_.end_ids, extension.id) > 0;
      }
      result.push_back(std::move(beam));
    }
    return result;
  }

  // Adds the extensions of beams `active` (indices) by every id of non-zero probability.
  void add_extensions(const std::vector<Beam>& beams, const std::vector<std::size_t>& active,
                      std::vector<Extension>& extensions) const {
    const Index vocabulary = model_.config.vocabulary;
    const Tensor logits = next_logits(beams, active);
    for (std::size_t row = 0; row < active.size(); ++row) {
      const std::vector<double> log_p =
          log_probabilities(logits.data() + static_cast<Index>(row) * vocabulary, vocabulary);
      for (Index id = 0; id < vocabulary; ++id) {
        const double p = log_p[static_cast<std::size_t>(id)];
        if (!std::isfinite(p)) continue;  // probability 0
        extensions.push_back(
            {active[row], static_cast<std::int32_t>(id), beams[active[row]].log_probability + p});
      }
    }
  }

  // Next-token logits of beams `active` (indices), which have equal length.  [active, vocabulary]
  Tensor next_logits(const std::vector<Beam>& beams, const std::vector<std::size_t>& active) const {
    const auto count = static_cast<Index>(active.size());
    const auto length = static_cast<Index>(prompt_.size() + beams[active.front()].ids.size());
    Batch batch;
    batch.ids = IntTensor({count, length});
    const auto source_length = static_cast<Index>(options_.source.size());
    if (source_length > 0) batch.source = IntTensor({count, source_length});
    for (Index row = 0; row < count; ++row) {
      const Beam& beam = beams[active[static_cast<std::size_t>(row)]];
      std::ranges::copy(beam.ids, std::ranges::copy(prompt_, batch.ids.data() + row * length).out);
      if (source_length > 0)
        std::ranges::copy(options_.source, batch.source.data() + row * source_length);
    }
    ForwardOptions options;
    options.backend = options_.backend;
    options.exit = options_.exit;
    const Tensor logits = run(model_, batch, options).logits.value();  // [active, L, vocabulary]
    const Index vocabulary = model_.config.vocabulary;
    Tensor last_rows({count, vocabulary});
    for (Index row = 0; row < count; ++row) {
      std::copy_n(logits.data() + (row * length + length - 1) * vocabulary, vocabulary,
                  last_rows.data() + row * vocabulary);
    }
    return last_rows;
  }

  const Model& model_;
  const std::vector<std::int32_t>& prompt_;
  const BeamOptions& options_;
};

}  // namespace

Index BeamSearch::rank_of_best_prefix(std::size_t n) const {
  const std::vector<std::int32_t>& ids = best().ids;
  const std::vector<Beam>& beams = steps.at(n);
  const auto is_prefix = [&](const Beam& beam) {
    return beam.ids.size() == std::min(n + 1, ids.size()) &&
           std::equal(beam.ids.begin(), beam.ids.end(), ids.begin());
  };
  return std::ranges::find_if(beams, is_prefix) - beams.begin();
}

BeamSearch beam_search(const Model& model, const std::vector<std::int32_t>& prompt,
                       const BeamOptions& options, const std::function<void(Index)>& progress) {
  if (prompt.empty()) throw InputError("ids: expected at least one token, found none");
  require(Capability::Logits, model.config, "a model", "output_head");
  const auto check_positive = [](const char* name, Index number) {
    if (number >= 1) return;
    throw InputError(std::string(name) + ": expected a number from 1, found " +
                     std::to_string(number));
  };
  check_positive("beams", options.width);
  check_positive("tokens", options.max_tokens);
  const Search search(model, prompt, options);
  BeamSearch result;
  std::vector<Beam> beams{Beam{}};
  for (Index n = 0; n < options.max_tokens && !beams.front().ended; ++n) {
    check_stop();
    beams = search.extend(beams);
    result.steps.push_back(beams);
    if (progress) progress(n + 1);
  }
  return result;
}

}  // namespace attnscope
