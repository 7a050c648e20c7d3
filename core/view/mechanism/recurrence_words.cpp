#include "core/view/mechanism/recurrence_words.h"

#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

RecurrenceWords feature_words(const Recurrence& recurrence, Index t, const std::string& word) {
  const bool is_gated = !recurrence.gates.empty(), is_rotated = recurrence.is_rotated();
  const std::string gate =
      is_gated ? brief(recurrence.gates[static_cast<std::size_t>(t)], 2) : std::string();
  RecurrenceWords words;
  words.write =
      is_gated ? Wordings{"Write: " + gate + " of the state remains, and " + word +
                              " adds the product of its key and value",
                          "Write: keep " + gate + ", add key times value", "Write"}
               : Wordings{"Write: " + word +
                              " adds the product of its key's features and its value to the state",
                          "Write: add key times value to the state", "Write to the state", "Write"};
  words.read = {"Read: its query's features select rows of the state", "Read with the query",
                "Read"};
  words.before = is_gated ? "g · state before" : "state before";
  words.added = is_gated ? "(1 − g) φ(k) ⊗ v" : is_rotated ? "added: Rφ(k) ⊗ v" : "added: φ(k) ⊗ v";
  words.after = "state now";
  words.key = is_rotated ? "Rφ(k)" : "φ(k)";
  words.query = is_rotated ? "Rφ(q)" : "φ(q)";
  words.value = "v";
  const std::string size = "The state is " + std::to_string(recurrence.k.dim(1)) + " features × " +
                           std::to_string(recurrence.v.dim(1)) + " values";
  words.note = {size +
                    ", for any number of previous tokens; the output is divided by z, the sum of "
                    "all φ(k)",
                size + ", for any text length; divided by z, the sum of all φ(k)",
                size + ", for any text length", size};
  return words;
}

RecurrenceWords wkv_words(const Recurrence& recurrence, const std::string& word) {
  RecurrenceWords words;
  words.write = {"Add " + word + " to the sums of all earlier tokens, with the bonus u",
                 "Add " + word + " with the bonus u", "Add the token"};
  words.read = {"Read: the receptance σ(r) opens channels of the average", "Read through σ(r)",
                "Read"};
  words.before = "sums before";
  words.added = "added: eᵘ⁺ᵏ (v, 1)";
  words.after = "sums now";
  words.value = "v";
  words.gate = "σ(r)";
  words.scale = "share";
  const std::string rows = "Top: Σ eᵏ v, bottom: Σ eᵏ, both divided by the bottom sum now";
  words.note = {rows + ". Then the sums decay by e⁻ʷ, and " + word + " is added without its bonus",
                rows + ". Then the sums decay by e⁻ʷ", rows,
                "2 sums × " + std::to_string(recurrence.v.dim(1)) + " channels"};
  words.channel_mean = "receptance";
  return words;
}

RecurrenceWords selective_words(const Recurrence& recurrence, const std::string& word) {
  RecurrenceWords words;
  words.write = {"Write: the state decays by its step size Δ, and " + word + " adds B times Δ·v",
                 "Write: decay by Δ, add B times Δ·v", "Write"};
  words.read = {"Read: C sums the rows of the state", "Read with C", "Read"};
  words.before = "e^(ΔA) ⊙ state before";
  words.added = "added: B ⊗ Δ·v";
  words.after = "state now";
  words.key = "B";
  words.query = "C";
  words.value = "Δ·v";
  const std::string size = "The state is " + std::to_string(recurrence.k.dim(1)) + " numbers × " +
                           std::to_string(recurrence.v.dim(1)) + " channels";
  words.note = {
      size + ", for any number of previous tokens; the output also has D·v, which skips it",
      size + ", for any text length; D·v is added", size + ", for any text length", size};
  words.channel_mean = "mean Δ";
  return words;
}

}  // namespace

RecurrenceWords recurrence_words(const Recurrence& recurrence, Index t, const std::string& word) {
  switch (recurrence.kind) {
    case Recurrence::Kind::Wkv:
      return wkv_words(recurrence, word);
    case Recurrence::Kind::Selective:
      return selective_words(recurrence, word);
    case Recurrence::Kind::Features:
      break;
  }
  return feature_words(recurrence, t, word);
}

}  // namespace attnscope
