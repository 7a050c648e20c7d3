// Expected pairs: sentences with a word (query) and the earlier word that it refers to (key).
// Measures how well the heads of a model and the search for salient pairs find the key.
// assets/samples/expected-pairs.json:
//   {"kinds": [{"kind": "pronoun", "label": "Pronoun to noun", "pairs": [
//       {"text": "The old sailor gave the girl his lamp because she was afraid of the dark.",
//        "query": "she", "key": "girl"}, ...]}, ...],
//    "recorded": [{"model": "default", "kind": "pronoun", "layer": 1, "head": 7, "right": 1,
//                "weight": 0.16, "others": 0.07, "found": 2}, ...]}
// Words are compared without case. The query is the last occurrence of its word, the key the first
// occurrence. Sentences come in couples of similar sentences: the head is chosen on the first,
// third, ... couple, and measured on the second, fourth, ... couple.
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
  Index right = 0;                // number of measured sentences in which that head prefers the key
  double weight = 0, others = 0;  // means over the measured half: weight of the query on the key,
                                  // and mean weight of the other queries on the key
  Index found = 0;  // number of all sentences in which the query's most salient pair is expected
  Index measured = 0, sentences = 0;  // numbers of measured sentences and of all sentences
  double chance = 0;                  // mean probability that a word chosen at random is the key
};

struct ExpectedPairs {
  std::vector<ExpectedKind> kinds;
  std::vector<ExpectedPairScore> scores;  // recorded, without the last three members
};

// Reads a file of this format. Throws InputError that names the invalid member.
ExpectedPairs read_expected_pairs(const std::filesystem::path& file);
ExpectedPairs expected_pairs_from_json(const Json& json, const std::string& path);

// Measures one kind. A head prefers the word with its largest weight among the words that the query
// may see, without the query itself and the first word (an attention sink). Throws InputError if
// a pair's words are missing among the words that the model's tokens form, or if the model has no
// attention between words.
ExpectedPairScore score_pairs(const std::string& model, const ExpectedKind& kind,
                              ExperimentRun& runner);

// Shortfall from the recorded score of the same model and kind: "3 right, recorded 5". Empty
// without a recorded score, and up to a shortfall of one sentence or of 0.05 of the weight.
std::string shortfall(const ExpectedPairScore& score,
                      const std::vector<ExpectedPairScore>& recorded);

}  // namespace attnscope
