// Targets for tokenizer files, and for texts that the test tokenizers encode.
#include <filesystem>
#include <stdexcept>

#include "core/base/error.h"
#include "core/text/aligned_text.h"
#include "core/text/file/tokenizer_files.h"
#include "core/text/utf8_stream.h"
#include "core/text/words.h"
#include "tests/fuzz/target.h"
#include "tests/support/places.h"

namespace attnscope::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 40000;
constexpr const char* kReferences = "tests/core/text/references";
constexpr const char* kText = "text.txt";  // input text in a tokenizer's folder

void encode(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::int32_t> ids;
  std::vector<WordPiece> pieces;
  for (const Token& token : tokenizer.encode(text)) {
    if (token.id < 0 || token.id >= tokenizer.vocabulary_size() || token.begin > token.end ||
        token.end > text.size()) {
      throw std::logic_error("invalid token id or span");
    }
    ids.push_back(token.id);
    pieces.push_back({tokenizer.bytes(token.id), tokenizer.is_special(token.id)});
  }
  Utf8Stream stream;
  stream.push(tokenizer.decode(ids));
  stream.finish();
  begins_word(pieces);
}

void read_tokenizer(const std::string& input) {
  Files files = unpack(input);
  std::string text = "The ab\xc3\xa9 12,\n <s>\xe4\xb8\xad";
  if (const auto found = files.find(kText); found != files.end()) {
    text = found->second;
    files.erase(found);
  }
  encode(*tokenizer_from_files(files, "m"), text);
}

std::vector<fs::path> references() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / kReferences)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

std::vector<std::string> tokenizer_seeds() {
  std::vector<std::string> seeds;
  for (const fs::path& folder : references()) {
    Files files = files_of(folder, kMaxFileBytes);
    files.erase("expected");
    files.erase("kind");
    if (files.empty()) continue;
    files[kText] = "Ab caf\xc3\xa9, 1234 don't [MASK]\n\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80";
    seeds.push_back(pack(files));
  }
  return seeds;
}

// The first byte selects the tokenizer.
void read_text(const std::string& input) {
  static const std::vector<std::shared_ptr<const Tokenizer>> tokenizers = [] {
    std::vector<std::shared_ptr<const Tokenizer>> list;
    for (const fs::path& folder : references()) {
      try {
        list.push_back(load_tokenizer(folder));
      } catch (const InputError&) {  // a folder that only other tests use
      }
    }
    return list;
  }();
  if (input.empty()) return;
  encode(*tokenizers[static_cast<unsigned char>(input[0]) % tokenizers.size()], input.substr(1));
}

std::vector<std::string> text_seeds() {
  const std::string strings = source_file(std::string(kReferences) + "/strings.txt");
  std::vector<std::string> seeds;
  constexpr std::size_t kPiece = 300;
  for (std::size_t i = 0; i < references().size(); ++i) {
    seeds.push_back(static_cast<char>(i) + strings.substr(i * kPiece % strings.size(), kPiece));
  }
  return seeds;
}

}  // namespace

Target tokenizer_target() {
  return {"tokenizer", Format::Folder, read_tokenizer, tokenizer_seeds};
}
Target text_target() {
  return {"text", Format::Bytes, read_text, text_seeds};
}

}  // namespace attnscope::fuzz
