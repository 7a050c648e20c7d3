#include "core/analysis/head_name.h"

#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

constexpr double kMajority = 0.6, kSubstantial = 0.35;  // fractions of the weight
constexpr double kNear = 0.5;                           // fraction of the baseline's distance

// A behaviour, measured as the weight on some keys.
struct Behaviour {
  HeadName name;
  double HeadStatistics::*share;
  double threshold;
};

// Behaviours that name heads, in order of priority.
const std::vector<Behaviour>& behaviours() {
  static const std::vector<Behaviour> list{
      {{"previous token", "previous", "attends mostly to the previous token"},
       &HeadStatistics::previous_token,
       kSubstantial},
      {{"induction", "induction",
        "attends to the token after an earlier occurrence of the current one"},
       &HeadStatistics::induction,
       kSubstantial},
      {{"first token", "first", "attends mostly to the first token"},
       &HeadStatistics::first_token,
       kMajority},
      {{"same token", "same", "attends to earlier copies of the same token"},
       &HeadStatistics::same_token,
       kSubstantial}};
  return list;
}

const HeadName& nearby() {
  static const HeadName name{"nearby", "nearby", "attends to the last few tokens"};
  return name;
}

std::string with_spread(const std::string& mean, const std::string& spread) {
  return ", at equal attention " + mean + " ± " + spread;
}

}  // namespace

const std::vector<HeadName>& head_names() {
  static const std::vector<HeadName> list = [] {
    std::vector<HeadName> names;
    for (const Behaviour& behaviour : behaviours()) names.push_back(behaviour.name);
    names.push_back(nearby());
    return names;
  }();
  return list;
}

HeadName head_name(const HeadStatistics& s, const HeadBaseline& baseline) {
  for (const Behaviour& b : behaviours()) {
    if (!(baseline.rows.*b.share >= kNameRows)) continue;
    const double share = s.*b.share, mean = baseline.mean.*b.share,
                 spread = baseline.spread.*b.share;
    if (!(share >= b.threshold && share >= mean + kNameSpreads * spread)) continue;
    if (b.share == &HeadStatistics::induction && s.first_token > share) continue;
    HeadName name = b.name;
    name.description += ": " + percent(share) + with_spread(percent(mean), percent(spread));
    return name;
  }
  const double mean = baseline.mean.distance, spread = baseline.spread.distance;
  if (baseline.rows.distance >= kNameRows && mean > 0 && s.distance <= kNear * mean &&
      s.distance <= mean - kNameSpreads * spread) {
    HeadName name = nearby();
    name.description +=
        ": mean distance " + brief(s.distance, 2) + with_spread(brief(mean, 2), brief(spread, 2));
    return name;
  }
  return {
      "", "",
      "has no clear pattern on this text: no statistic is large enough and far enough from equal "
      "attention"};
}

}  // namespace attnscope
