// Expressions of each model's published tokenizer.json, else of llama.cpp's llama-vocab.cpp, which
// rewrites features that its engine lacks, such as classes of upper-case letters.
#include "core/text/file/gguf_pretokenizers.h"

#include <algorithm>

#include "core/text/split/pieces.h"

namespace attnscope {
namespace {

using Steps = std::vector<std::string>;

const std::string kDigit = R"(\p{N})", kDigits = R"(\p{N}+)", kThreeDigits = R"(\p{N}{1,3})";
const std::string kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const std::string kLines = R"([^\n]+|[\n]+)";
const std::string kHanAndKana = "[一-龥぀-ゟ゠-ヿ]+";
const std::string kSpaces = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Words, numbers (expression `number`), punctuation with line ends, spaces.
std::string words_and(const std::string& number) {
  return R"([^\r\n\p{L}\p{N}]?\p{L}+|)" + number + R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)" + kSpaces;
}

// Words of letters of the class `upper` followed by letters of the class `lower`.
std::string cased_words(const std::string& upper, const std::string& lower,
                        const std::string& ending) {
  const std::string mark = R"([^\r\n\p{L}\p{N}]?)";
  return mark + upper + "*" + lower + "+" + ending + "|" + mark + upper + "+" + lower + "*" +
         ending;
}

std::string cased_words(const std::string& ending) {
  return cased_words(R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])", ending);
}

std::string gpt4o(const std::string& number) {
  return cased_words(kContractions + "?") + "|" + number + R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)" +
         kSpaces;
}

std::string tekken() {
  return cased_words("") + R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" + kSpaces;
}

std::string kimi() {
  return R"([\p{Han}]+|)" +
         cased_words(R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])",
                     R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])", kContractions + "?") +
         R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" + kSpaces;
}

std::string qwen35() {
  return kContractions +
         R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" + kSpaces;
}

std::string jais2() {
  return kContractions +
         R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
         R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|)"
         R"(\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";
}

std::string seed_coder() {
  return kContractions + R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)" + kSpaces;
}

std::string exaone_moe() {
  return kContractions +
         R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|)"
         R"(\s*[\r\n]|\s+(?!\S)|\s+)";
}

std::string bailing() {
  return R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|)"
         R"(\s*[\r\n]|\s+(?!\S)|\s+)";
}

// Words and punctuation. `ends` continues the expression after a run of punctuation.
std::string deepseek3(const std::string& ends) {
  return R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
         R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+)" +
         ends;
}

Steps deepseek_llm() {
  return {
      "[\r\n]",
      R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)",
      R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)",
      R"(\s+$)",
      "[一-龥ࠀ-一가-퟿]+",
      kDigit};
}

Steps deepseek_coder() {
  return {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", kDigit};
}

// Splits digits in the byte alphabet, where bytes of other characters can also be digits ("²").
Steps falcon() {
  return {R"({"type": "Punctuation", "behavior": "Contiguous"})",
          R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
              "use_regex": true})",
          R"({"type": "Digits", "individual_digits": false})", "[0-9][0-9][0-9]"};
}

Steps chameleon() {
  return {"<sentinel:[0-9]+>",       "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
          R"(([\t\n]|    |  ))",     kDigit,
          R"([\p{P}!-/:-@\[-`{-~])", kGpt2Expression};
}

// Groups the digits of a number by three, counted from the last digit.
Steps afmoe() {
  return {R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))",
          "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-"
          "꧿가-"
          "힯ᄀ-"
          "ᇿ]"
          "+",
          deepseek3(R"([\r\n]*)" + kSpaces)};
}

Steps youtu() {
  return {
      "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-"
      "ゟ゠-"
      "ヿ]"
      "+",
      gpt4o(kDigit)};
}

std::vector<GgufPretokenizer> make_pretokenizers() {
  const std::string gpt2 = kGpt2Expression;
  const std::string llama3 = kContractions + "|" + words_and(kThreeDigits);
  const std::string qwen2 = kContractions + "|" + words_and(kDigit);
  const std::string bloom = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";
  return {
      {.names = {"", "default"},
       .steps = {R"([\p{P}\$\+<=>\^~\|]+)", gpt2, kDigits, "[0-9][0-9][0-9]"}},
      {.names = {"gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de",
                 "a.x-4.0", "mellum", "exaone4", "jais", "trillion", "granite-docling"},
       .steps = {gpt2}},
      {.names = {"mpt", "olmo", "modern-bert"}, .steps = {gpt2}, .composes = true},
      {.names = {"jina-v1-en", "jina-v2-code", "roberta-bpe"},
       .steps = {gpt2},
       .adds_separator = true},
      {.names = {"starcoder", "refact", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"},
       .steps = {kDigit, gpt2}},
      {.names = {"command-r"}, .steps = {kDigit, gpt2}, .composes = true},
      {.names = {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0",
                 "lfm2", "jina-v5-nano"},
       .steps = {llama3},
       .ignores_merges = true,
       .adds_begin = true},
      {.names = {"glm4", "glm5"}, .steps = {llama3}, .ignores_merges = true},
      {.names = {"dbrx", "smaug-bpe", "chatglm-bpe"}, .steps = {llama3}},
      {.names = {"jais-2"}, .steps = {jais2()}},
      {.names = {"qwen2"}, .steps = {qwen2}, .composes = true},
      {.names = {"stablelm2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "hunyuan",
                 "solar-open", "grok-2"},
       .steps = {qwen2}},
      {.names = {"qwen35"}, .steps = {qwen35()}, .composes = true},
      {.names = {"ufakzeka"}, .steps = {words_and(kDigit)}},
      {.names = {"minicpm5"},
       .steps = {kThreeDigits, kContractions + "|" + words_and(kDigits)},
       .ignores_merges = true},
      {.names = {"laguna"}, .steps = {kLines, qwen2}},
      {.names = {"seed-coder"}, .steps = {seed_coder()}},
      {.names = {"exaone-moe"}, .steps = {exaone_moe()}},
      {.names = {"bailingmoe", "bailingmoe2", "llada-moe"}, .steps = {bailing()}},
      {.names = {"deepseek-llm"}, .steps = deepseek_llm()},
      {.names = {"deepseek-coder"}, .steps = deepseek_coder()},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
       .steps = {kThreeDigits, kHanAndKana, deepseek3(R"([\r\n]*)" + kSpaces)}},
      {.names = {"spark2_5"},
       .steps = {kThreeDigits, kHanAndKana, deepseek3(R"(|[\r\n]|\s+(?!\S)|\s+)"), kDigit}},
      {.names = {"afmoe"}, .steps = afmoe()},
      {.names = {"youtu"}, .steps = youtu(), .ignores_merges = true},
      {.names = {"falcon"}, .steps = falcon()},
      {.names = {"bloom", "poro-chat", "gpt3-finnish"}, .steps = {bloom}},
      {.names = {"viking"}, .steps = {bloom, kDigit}},
      {.names = {"tekken"}, .steps = {tekken()}, .ignores_merges = true, .adds_begin = true},
      {.names = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
       .steps = {gpt4o(kThreeDigits)}},
      {.names = {"granite-embed-multi-97m"},
       .steps = {gpt4o(kThreeDigits)},
       .ignores_merges = true},
      {.names = {"tiny_aya", "cohere2moe"},
       .steps = {R"(\d{1,3}(?=(?:\d{3})*\b))", gpt4o(kThreeDigits)}},
      {.names = {"kimi-k2"}, .steps = {kimi()}},
      {.names = {"superbpe"}, .steps = {kDigits, R"((?=(\d{3})+(?!\d)))"}},
      {.names = {"chameleon"}, .steps = chameleon(), .adds_begin = true},
      {.names = {"gemma4", "granite-embed-multi-311m"},
       .steps = {kLines},
       .alphabet = GgufAlphabet::MarkedSpaces,
       .ignores_merges = true,
       .adds_begin = true},
      {.names = {"sarvam-moe"}, .steps = {kLines}, .alphabet = GgufAlphabet::MarkedSpaces},
  };
}

}  // namespace

const std::vector<GgufPretokenizer>& gguf_pretokenizers() {
  static const std::vector<GgufPretokenizer> all = make_pretokenizers();
  return all;
}

const GgufPretokenizer* find_gguf_pretokenizer(std::string_view name) {
  for (const GgufPretokenizer& pretokenizer : gguf_pretokenizers()) {
    if (std::ranges::find(pretokenizer.names, name) != pretokenizer.names.end()) {
      return &pretokenizer;
    }
  }
  return nullptr;
}

Json pretokenizer_json(const GgufPretokenizer& pretokenizer) {
  Json steps = Json::array();
  bool in_byte_alphabet = pretokenizer.alphabet != GgufAlphabet::Bytes;
  for (const std::string& step : pretokenizer.steps) {
    if (step.starts_with('{')) {
      steps.push_back(Json::parse(step));
      in_byte_alphabet = in_byte_alphabet || step.find("ByteLevel") != std::string::npos;
    } else {
      steps.push_back({{"type", "Split"},
                       {"pattern", {{"Regex", step}}},
                       {"behavior", "Isolated"},
                       {"invert", false}});
    }
  }
  if (!in_byte_alphabet) {
    steps.push_back({{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", false}});
  }
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

}  // namespace attnscope
