#include "core/model/beam.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// A continuation extended by one id, stored as a reference to the original.
struct Extension {
  std::size_t beam = 0;
  std::int32_t id = -1;  // -1: already ended, not extended
  double log_probability = 0;
};

// Log-softmax of a row.  [vocabulary]
std::vector<double> log_probabilities(const float* logits, Index vocabulary) {
  const double most = static_cast<double>(*std::max_element(logits, logits + vocabulary));
  double sum = 0;
  for (Index id = 0; id < vocabulary; ++id) {
    sum += std::exp(static_cast<double>(logits[id]) - most);
  }
  if (!std::isfinite(most) || !std::isfinite(sum)) {
    throw WorkError("the model's logits are not finite");
  }
  std::vector<double> result(static_cast<std::size_t>(vocabulary));
  for (Index id = 0; id < vocabulary; ++id) {
    result[static_cast<std::size_t>(id)] = static_cast<double>(logits[id]) - most - std::log(sum);
  }
  return result;
}

class Search {
 public:
  Search(const Model& model, const std::vector<std::int32_t>& prompt, const BeamOptions& options)
      : model_(model), prompt_(prompt), options_(options) {}

  // Most likely extensions of `beams` by one id.
  std::vector<Beam> after(const std::vector<Beam>& beams) const {
    const Index vocabulary = model_.config.vocabulary;
    std::vector<std::size_t> open;
    std::vector<Extension> all;
    for (std::size_t n = 0; n < beams.size(); ++n) {
      if (beams[n].ended) {
        all.push_back({n, -1, beams[n].log_probability});
      } else {
        open.push_back(n);
      }
    }
    // Batch size limited so that the logits of all positions use at most 256 MiB.
    const auto length = static_cast<Index>(prompt_.size() + beams[open.front()].ids.size());
    const auto some = static_cast<std::size_t>(
        std::max<Index>(1, (Index{1} << 26) / std::max<Index>(1, length * vocabulary)));
    for (std::size_t first = 0; first < open.size(); first += some) {
      const std::size_t last = std::min(first + some, open.size());
      add_extensions(beams,
                     {open.begin() + static_cast<std::ptrdiff_t>(first),
                      open.begin() + static_cast<std::ptrdiff_t>(last)},
                     all);
      all = best_of(std::move(all));
    }
    return written_out(beams, std::move(all));
  }

 private:
  std::vector<Extension> best_of(std::vector<Extension> all) const {
    const auto kept = std::min(all.size(), static_cast<std::size_t>(options_.width));
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                      [](const Extension& a, const Extension& b) {
                        if (a.log_probability != b.log_probability) {
                          return a.log_probability > b.log_probability;
                        }
                        return a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
                      });
    all.resize(kept);
    return all;
  }

  std::vector<Beam> written_out(const std::vector<Beam>& beams,
                                const std::vector<Extension>& kept) const {
    std::vector<Beam> result;
    for (const Extension& longer : kept) {
      Beam beam = beams[longer.beam];
      if (longer.id >= 0) {
        beam.ids.push_back(longer.id);
        beam.log_probability = longer.log_probability;
        beam.ended = std::ranges::count(options_.end_ids, longer.id) > 0;
      }
      result.push_back(std::move(beam));
    }
    return result;
  }

  // Adds the extensions of the `open` beams by every possible id.
  void add_extensions(const std::vector<Beam>& beams, const std::vector<std::size_t>& open,
                      std::vector<Extension>& all) const {
    const Index vocabulary = model_.config.vocabulary;
    const Tensor logits = next_logits(beams, open);  // [open, vocabulary]
    for (std::size_t row = 0; row < open.size(); ++row) {
      const std::vector<double> next =
          log_probabilities(logits.data() + static_cast<Index>(row) * vocabulary, vocabulary);
      for (Index id = 0; id < vocabulary; ++id) {
        const double p = next[static_cast<std::size_t>(id)];
        if (!std::isfinite(p)) continue;  // impossible
        all.push_back(
            {open[row], static_cast<std::int32_t>(id), beams[open[row]].log_probability + p});
      }
    }
  }

  Tensor next_logits(const std::vector<Beam>& beams, const std::vector<std::size_t>& open) const {
    const auto count = static_cast<Index>(open.size());
    const auto length = static_cast<Index>(prompt_.size() + beams[open.front()].ids.size());
    Batch batch;
    batch.ids = IntTensor({count, length});
    const auto sources = static_cast<Index>(options_.source.size());
    if (sources > 0) batch.source = IntTensor({count, sources});
    for (Index row = 0; row < count; ++row) {
      const Beam& beam = beams[open[static_cast<std::size_t>(row)]];
      std::ranges::copy(beam.ids, std::ranges::copy(prompt_, batch.ids.data() + row * length).out);
      if (sources > 0) std::ranges::copy(options_.source, batch.source.data() + row * sources);
    }
    ForwardOptions options;
    options.backend = options_.backend;
    options.exit = options_.exit;
    const Tensor all = run(model_, batch, options).logits.value();  // [count, length, vocabulary]
    const Index vocabulary = model_.config.vocabulary;
    Tensor last({count, vocabulary});
    for (Index row = 0; row < count; ++row) {
      std::copy_n(all.data() + (row * length + length - 1) * vocabulary, vocabulary,
                  last.data() + row * vocabulary);
    }
    return last;
  }

  const Model& model_;
  const std::vector<std::int32_t>& prompt_;
  const BeamOptions& options_;
};

}  // namespace

Index BeamSearch::best_at(std::size_t n) const {
  const std::vector<std::int32_t>& ids = best().ids;
  const std::vector<Beam>& then = steps.at(n);
  const auto begins = [&](const Beam& beam) {
    return beam.ids.size() == std::min(n + 1, ids.size()) &&
           std::equal(beam.ids.begin(), beam.ids.end(), ids.begin());
  };
  return std::ranges::find_if(then, begins) - then.begin();
}

BeamSearch beam_search(const Model& model, const std::vector<std::int32_t>& prompt,
                       const BeamOptions& options, const std::function<void(Index)>& progress) {
  if (prompt.empty()) throw InputError("ids: expected at least one token, found none");
  const auto positive = [](const char* name, Index number) {
    if (number >= 1) return;
    throw InputError(std::string(name) + ": expected a number from 1, found " +
                     std::to_string(number));
  };
  positive("beams", options.width);
  positive("tokens", options.max_tokens);
  const Search search(model, prompt, options);
  BeamSearch found;
  std::vector<Beam> beams{Beam{}};
  for (Index n = 0; n < options.max_tokens && !beams.front().ended; ++n) {
    check_stop();
    beams = search.after(beams);
    found.steps.push_back(beams);
    if (progress) progress(n + 1);
  }
  return found;
}

}  // namespace attnscope
