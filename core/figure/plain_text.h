// Formatting of text and numbers for figures, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// Valid UTF-8 without control characters; invalid bytes become U+FFFD. Text may come from a hostile
// file (a model's name).
std::string plain_text(std::string_view text);

// plain_text() with special characters as entities, for XML and HTML.
std::string markup(std::string_view text);

// "-0.25" for (-0.25, 2); never "-0.00".
std::string fixed(double value, int decimals);
// Format of measured values: `digits` significant digits without trailing zeros, "0.25", "128.5".
// Uses an exponent, "1.56e-4", for numbers below 0.001, and for numbers from a million on that have
// more than `digits` digits before the point.
std::string brief(double value, int digits = 4);
// Format of numbers in data files: "%.*g", as "1.5e+08".
std::string general(double value, int digits);
// At most `places` decimal places: "12", "12.4", "20.95".
std::string decimal(double value, int places = 2);
// Ratio as a percentage with `digits` significant digits: "42%" for 0.42, "6.5%", "99.8%". Only
// 0 and 1 are "0%" and "100%"; ratios near them are "<0.01%" and ">99.99%".
std::string percent(double ratio, int digits = 2);
// "1,234,567".
std::string grouped(long long value);
// "1 head", "1,024 heads". `plural`: the singular plus "s" if empty.
std::string count_text(long long count, std::string_view singular, std::string_view plural = {});

}  // namespace attnscope
