#include "core/experiment/expected_pairs.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/columns.h"
#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/lower_case.h"
#include "core/base/strict_json.h"
#include "core/experiment/salient_pairs.h"
#include "core/figure/plain_text.h"
#include "core/trace/key_token.h"

namespace attnscope {
namespace {

constexpr Index kCouple = 2;                // sentences per couple
constexpr Index kMaxSentenceShortfall = 1;  // tolerances of shortfall()
constexpr double kMaxWeightShortfall = 0.05;

ExpectedKind kind_of(const Json& json, const std::string& path) {
  JsonObject object(json, path);
  ExpectedKind kind{object.text("kind"), object.text("label"), {}};
  const Json& pairs = object.array("pairs");
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    JsonObject pair(pairs[i], object.path_of("pairs") + "[" + std::to_string(i) + "]");
    kind.pairs.push_back({pair.text("text"), pair.text("query"), pair.text("key")});
    pair.finish();
  }
  if (kind.pairs.empty() || kind.pairs.size() % (2 * kCouple) != 0) {
    object.fail("pairs", "a positive multiple of 4 pairs");
  }
  object.finish();
  return kind;
}

ExpectedPairScore score_of(const Json& json, const std::string& path) {
  JsonObject object(json, path);
  ExpectedPairScore score;
  score.model = object.text("model");
  score.kind = object.text("kind");
  score.layer = object.integer("layer", 0, kMaxIndex);
  score.head = object.integer("head", 0, kMaxIndex);
  score.right = object.integer("right", 0, kMaxIndex);
  score.weight = object.number("weight", 0, 1);
  score.others = object.number("others", 0, 1);
  score.found = object.integer("found", 0, kMaxIndex);
  object.finish();
  return score;
}

// Positions of a pair's words in its sentence, ignoring case; -1: not found.
struct PairWords {
  Index query = -1, key = -1;
};

PairWords find_words(const std::vector<TraceToken>& words, const ExpectedPair& pair) {
  PairWords found;
  for (Index i = 0; i < static_cast<Index>(words.size()); ++i) {
    const std::string name = lower_case(word_name(words[static_cast<std::size_t>(i)]));
    if (name == lower_case(pair.query)) found.query = i;
    if (name == lower_case(pair.key) && found.key < 0) found.key = i;
  }
  if (found.key < 1 || found.query <= found.key) {
    throw InputError("\"" + pair.text + "\": expected the word \"" + pair.key +
                     "\" after the first word and before \"" + pair.query + "\", found none");
  }
  return found;
}

// Result of one head on one sentence.
struct HeadResult {
  double weight = 0, others = 0;
  bool is_right = false;
};
using HeadResults = std::map<HeadRef, HeadResult>;

HeadResult result_of(const AttentionTap& tap, Index head, const PairWords& pair) {
  const Tensor weights = tap.attention(head);  // [words, words]
  const auto row = [&](Index key) { return static_cast<double>(weights(pair.query, key)); };
  HeadResult result{.weight = row(pair.key), .is_right = true};
  result.others =
      column_sums(tap, weights)[static_cast<std::size_t>(pair.key)].mean_without(result.weight);
  const Index end = tap.causal ? pair.query : weights.dim(1);
  for (Index key = 1; key < end; ++key) {
    if (key == pair.key || key == pair.query) continue;
    result.is_right = result.is_right && result.weight > row(key);
  }
  return result;
}

bool is_square_self_attention(const AttentionTap& tap, std::size_t words) {
  const auto count = static_cast<Index>(words);
  return tap.address.kind == AttentionKind::Self && tap.queries() == count && tap.keys() == count;
}

// Results of all heads and of the search for salient pairs on one sentence.
struct SentenceResult {
  HeadResults heads;
  bool is_found = false;
  double chance = 0;
};

SentenceResult measure(const std::string& model, const ExpectedPair& pair, ExperimentRun& runner) {
  RunSpec spec;
  spec.model = model;
  spec.text = pair.text;
  const std::shared_ptr<const Trace> trace = runner.run(spec);
  const std::shared_ptr<const WordTrace> merged = merge_words(*trace);
  const std::vector<TraceToken>& words = merged->trace.text_tokens();
  const PairWords expected = find_words(words, pair);
  SentenceResult result;
  bool is_causal = true;
  for (const AttentionTap& tap : merged->trace.attention) {
    if (!is_square_self_attention(tap, words.size())) continue;
    is_causal = tap.causal;
    for (std::size_t n = 0; n < tap.heads.size(); ++n) {
      const HeadRef head{tap.address.layer, tap.heads[n], part_of(tap.address)};
      result.heads[head] = result_of(tap, static_cast<Index>(n), expected);
    }
  }
  const Index candidates = is_causal ? expected.query - 1 : static_cast<Index>(words.size()) - 2;
  result.chance = 1 / static_cast<double>(candidates);
  const IntTensor& starts = merged->trace.counts.at(kWordStarts);
  const std::optional<SalientPair> salient = most_salient_pair(*trace, starts[expected.query]);
  result.is_found = salient && salient->key == starts[expected.key];
  return result;
}

}  // namespace

ExpectedPairs expected_pairs_from_json(const Json& json, const std::string& path) {
  JsonObject object(json, path);
  ExpectedPairs result;
  const Json& kinds = object.array("kinds");
  std::set<std::string> ids;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    result.kinds.push_back(
        kind_of(kinds[i], object.path_of("kinds") + "[" + std::to_string(i) + "]"));
    if (!ids.insert(result.kinds.back().id).second) object.fail("kinds", "each kind once");
  }
  const Json& scores = object.array("recorded");
  for (std::size_t i = 0; i < scores.size(); ++i) {
    result.scores.push_back(
        score_of(scores[i], object.path_of("recorded") + "[" + std::to_string(i) + "]"));
    if (!ids.contains(result.scores.back().kind)) object.fail("recorded", "kinds of the file");
  }
  object.finish();
  return result;
}

ExpectedPairs read_expected_pairs(const std::filesystem::path& file) {
  const std::string name = file.string();
  return expected_pairs_from_json(parse_json(read_file(file, limits::kMaxLesson), name), name);
}

ExpectedPairScore score_pairs(const std::string& model, const ExpectedKind& kind,
                              ExperimentRun& runner) {
  ExpectedPairScore score{.model = model, .kind = kind.id};
  std::map<HeadRef, double> contrast;  // sums over the choosing half
  std::vector<HeadResults> measured;
  for (const ExpectedPair& pair : kind.pairs) {
    const SentenceResult result = measure(model, pair, runner);
    const bool chooses = score.sentences / kCouple % 2 == 0;
    ++score.sentences;
    score.found += result.is_found ? 1 : 0;
    if (!chooses) {
      measured.push_back(result.heads);
      score.chance += result.chance;
      continue;
    }
    for (const auto& [head, r] : result.heads) contrast[head] += r.weight - r.others;
  }
  if (contrast.empty()) {
    throw InputError(model + ": expected attention between the words of a text, found none");
  }
  const HeadRef best =
      std::ranges::max_element(contrast, {}, [](const auto& entry) { return entry.second; })->first;
  score.layer = best.layer;
  score.head = best.head;
  score.measured = static_cast<Index>(measured.size());
  const auto count = static_cast<double>(score.measured);
  for (const HeadResults& heads : measured) {
    const HeadResult& result = heads.at(best);
    score.right += result.is_right ? 1 : 0;
    score.weight += result.weight / count;
    score.others += result.others / count;
  }
  score.chance /= count;
  return score;
}

std::string shortfall(const ExpectedPairScore& score,
                      const std::vector<ExpectedPairScore>& recorded) {
  const auto found = std::ranges::find_if(recorded, [&](const ExpectedPairScore& r) {
    return r.model == score.model && r.kind == score.kind;
  });
  if (found == recorded.end()) return "";
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (score.right + kMaxSentenceShortfall < found->right) {
    add(std::to_string(score.right) + " right, recorded " + std::to_string(found->right));
  }
  if (score.found + kMaxSentenceShortfall < found->found) {
    add(std::to_string(score.found) + " found, recorded " + std::to_string(found->found));
  }
  if (!(score.weight + kMaxWeightShortfall >= found->weight)) {
    add(percent(score.weight) + " of the weight, recorded " + percent(found->weight));
  }
  return text;
}

}  // namespace attnscope
