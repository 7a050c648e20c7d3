#include "core/training/number_words.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(GermanNumber, IsWrittenAsOneWord) {
  const std::pair<Index, const char*> known[] = {
      {0, "null"},
      {1, "eins"},
      {7, "sieben"},
      {10, "zehn"},
      {11, "elf"},
      {12, "zwölf"},
      {16, "sechzehn"},
      {17, "siebzehn"},
      {20, "zwanzig"},
      {21, "einundzwanzig"},
      {24, "vierundzwanzig"},
      {30, "dreißig"},
      {66, "sechsundsechzig"},
      {70, "siebzig"},
      {100, "einhundert"},
      {101, "einhunderteins"},
      {111, "einhundertelf"},
      {999, "neunhundertneunundneunzig"},
      {1000, "eintausend"},
      {1001, "eintausendeins"},
      {1234, "eintausendzweihundertvierunddreißig"},
      {21000, "einundzwanzigtausend"},
      {101101, "einhunderteintausendeinhunderteins"},
      {999999, "neunhundertneunundneunzigtausendneunhundertneunundneunzig"}};
  for (const auto& [number, words] : known) EXPECT_EQ(german_number(number), words);
  EXPECT_THROW(german_number(-1), InputError);
  EXPECT_THROW(german_number(1'000'000), InputError);
}

TEST(GermanNumber, IsUnique) {
  std::set<std::string> words;
  for (Index n = 0; n < 20000; ++n) EXPECT_TRUE(words.insert(german_number(n)).second) << n;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
