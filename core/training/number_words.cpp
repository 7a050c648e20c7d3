#include "core/training/number_words.h"

#include <array>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr std::array kUnits{"null",     "ein",      "zwei",     "drei",     "vier",
                            "fünf",     "sechs",    "sieben",   "acht",     "neun",
                            "zehn",     "elf",      "zwölf",    "dreizehn", "vierzehn",
                            "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array kTens{"",        "",        "zwanzig", "dreißig", "vierzig",
                           "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

std::string unit(Index number) {
  return kUnits[static_cast<std::size_t>(number)];
}

// Words of 1 to 999 in the form used before "tausend": 1 is "ein".
std::string below_thousand(Index number) {
  std::string words;
  if (number >= 100) words = unit(number / 100) + "hundert";
  const Index remainder = number % 100;
  if (remainder == 0) return words;
  if (remainder < 20) return words + unit(remainder);
  if (remainder % 10 > 0) words += unit(remainder % 10) + "und";
  return words + kTens[static_cast<std::size_t>(remainder / 10)];
}

}  // namespace

std::string german_number(Index number) {
  if (number < 0 || number >= 1'000'000) {
    throw InputError("number: expected a number from 0 to 999999, found " + std::to_string(number));
  }
  if (number == 0) return unit(0);
  std::string words;
  if (number >= 1000) words = below_thousand(number / 1000) + "tausend";
  if (number % 1000 > 0) words += below_thousand(number % 1000);
  if (number % 100 == 1) words += "s";  // final "eins"
  return words;
}

}  // namespace attnscope
