#include "core/training/extrapolation.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/position/encoding.h"

namespace attnscope {
namespace {

PositionKind kind_of(const Encoding& encoding) {
  if (!encoding.embed && !encoding.apply) return PositionKind::None;
  return encoding.absolute ? PositionKind::Absolute : PositionKind::Relative;
}

LengthSeries describe_series(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.model.config;
  LengthSeries series{
      .model = checkpoint.name, .position = "", .trained_length = config.context, .points = {}};
  std::set<std::string> ids;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (!ids.insert(group.encoding.id).second) continue;
      const Encoding& heads = encoding(group.encoding.id);
      series.position += (series.position.empty() ? "" : "; ") + heads.label;
      series.kind = ids.size() == 1 ? kind_of(heads) : PositionKind::Mixed;
    }
  }
  return series;
}

void check_model(const Checkpoint& checkpoint) {
  const std::string refusal = lengths_refusal(checkpoint.model.config);
  if (!refusal.empty()) throw InputError(checkpoint.name + ": " + refusal);
  if (!checkpoint.tokenizer) throw InputError(checkpoint.tokenizer_problem);
}

Index longest_text(const Checkpoint& checkpoint, const std::vector<std::string>& texts) {
  Index longest = 0;
  for (const std::string& text : texts) {
    const auto tokens = static_cast<Index>(checkpoint.tokenizer->encode(text).size());
    longest = std::max(longest, tokens - 1);
  }
  return longest;
}

LengthPoint evaluate_point(const Checkpoint& checkpoint, const std::vector<std::string>& texts,
                           Index length, EvaluationOptions settings) {
  settings.length = length;
  LengthPoint point{.length = length};
  try {
    Evaluation all;
    for (const std::string& text : texts) {
      all.add(evaluate_text(checkpoint, text, settings));
    }
    point.bits_per_byte = all.bits_per_byte();
    point.loss = all.loss();
  } catch (const InputError& e) {
    point.missing = e.what();
  }
  return point;
}

}  // namespace

const char* name_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::Absolute:
      return "absolute";
    case PositionKind::Relative:
      return "relative";
    case PositionKind::Mixed:
      return "mixed";
    case PositionKind::None:
      break;
  }
  return "none";
}

std::string lengths_refusal(const ModelConfig& config) {
  if (architecture(config.architecture.id).reads != Reads::Tokens ||
      !input_kind(config.input.id).is_text) {
    return "expected a model of text";
  }
  if (is_masked_model(config) || leaks_future(config)) {
    return "expected a causal model, which predicts next tokens";
  }
  if (config.segment > 0) return "expected a model that reads windows, found segments";
  return "";
}

LengthCurves evaluate_lengths(const std::vector<std::shared_ptr<const Checkpoint>>& models,
                              const std::vector<std::string>& texts,
                              const std::vector<Index>& lengths, const EvaluationOptions& settings,
                              const LengthProgress& progress) {
  LengthCurves curves;
  curves.lengths = lengths;
  std::ranges::sort(curves.lengths);
  const auto repeated = std::ranges::unique(curves.lengths);
  curves.lengths.erase(repeated.begin(), repeated.end());
  for (const std::string& text : texts) curves.bytes += static_cast<double>(text.size());
  const double count = static_cast<double>(models.size() * curves.lengths.size());
  double completed = 0;
  try {
    for (const auto& checkpoint : models) {
      check_model(*checkpoint);
      const Index longest = longest_text(*checkpoint, texts);
      curves.series.push_back(describe_series(*checkpoint));
      std::vector<LengthPoint>& points = curves.series.back().points;
      for (const Index length : curves.lengths) {
        if (length > longest) {
          points.push_back(
              {.length = length, .missing = "the text has " + count_text(longest + 1, "token")});
        } else {
          points.push_back(evaluate_point(*checkpoint, texts, length, settings));
        }
        if (progress) progress(curves, ++completed / count);
      }
      if (std::ranges::all_of(points, [](const LengthPoint& p) { return !p.missing.empty(); })) {
        throw InputError(checkpoint->name + ": " + points.front().missing);
      }
    }
  } catch (const Stopped&) {
    curves.stopped = true;
  }
  return curves;
}

}  // namespace attnscope
