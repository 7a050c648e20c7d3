// Expected pairs: sentences with a word and the word that it refers to, and how well the heads of a
// model and the search for salient pairs find it. assets/samples/expected-pairs.json:
//   {"kinds": [{"kind": "pronoun", "label": "Pronoun to noun", "pairs": [
//       {"text": "The old sailor gave the girl his lamp because she was afraid of the dark.",
//        "query": "she", "key": "girl"}, ...]}, ...],
//    "recorded": [{"model": "default", "kind": "pronoun", "layer": 1, "head": 7, "right": 1,
//                "weight": 0.16, "others": 0.07, "found": 2}, ...]}
// "query" is the last such word of the text, "key" the first, in any case; the key comes first.
// Sentences come in couples of similar ones: heads are chosen on the first, third, ... couple, and
// measured on the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/experiment/run.h"

namespace attnscope {

struct ExpectedPair {
  std::string text, query, key;
};

struct ExpectedKind {
  std::string id, label;            // "pronoun", "Pronoun to noun"
  std::vector<ExpectedPair> pairs;  // a multiple of 4, so that both halves have whole couples
};

// Score of a model for one kind of pairs.
struct ExpectedPairScore {
  std::string model, kind;
  Index layer = 0, head = 0;      // head with the largest contrast on the choosing half
  Index right = 0;                // measured sentences in which that head prefers the expected word
  double weight = 0, others = 0;  // means over the measured half: weight on the expected word, and
                                  // the other queries' weight on it
  Index found = 0;  // sentences, of all, in which the query's most salient pair is right
  Index measured = 0, sentences = 0;
  double chance = 0;  // mean share of right answers of a head that picks one of the words at random
};

struct ExpectedPairs {
  std::vector<ExpectedKind> kinds;
  std::vector<ExpectedPairScore> scores;  // recorded; without measured, sentences and chance
};

// Reads a file of this format. Throws InputError with the invalid member.
ExpectedPairs read_expected_pairs(const std::filesystem::path& file);
ExpectedPairs expected_pairs_from_json(const Json& json, const std::string& path);

// Measures one kind. A head prefers the word with its largest weight among the words that the query
// may see, without the query itself and the first word (an attention sink). Throws InputError if
// the model's tokens do not form the words of a sentence.
ExpectedPairScore score_pairs(const std::string& model, const ExpectedKind& kind,
                              ExperimentRun& runner);

// Differences from the recorded score of the same model and kind, such as "3 of 6 right, recorded
// 6"; empty if it is at most one sentence or 0.05 of weight lower, or nothing is recorded.
std::string shortfall(const ExpectedPairScore& score,
                      const std::vector<ExpectedPairScore>& recorded);

}  // namespace attnscope
