// Tokenizers: conversion of text to token ids and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct Token {
  std::int32_t id = 0;
  std::size_t begin = 0, end = 0;  // byte range in the text; empty for special tokens
  bool special = false;            // added by the tokenizer (BOS)
  std::int32_t segment = 0;        // token type, for an encoder's segment embedding
  int text = 0;                    // 0: the first text, 1: the second of a pair
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual std::string kind() const = 0;  // "byte-level BPE"
  // Ids are in [0, size). Some may be unused.
  virtual std::int32_t vocabulary_size() const = 0;
  // Accepts any bytes, even invalid UTF-8. InputError if the vocabulary cannot represent the text.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  // Encodes two texts as one sequence for an encoder: "[CLS] first [SEP] second [SEP]". By default
  // concatenates the two texts; the second has segment 1.
  virtual std::vector<Token> encode_pair(std::string_view first, std::string_view second) const;
  // Bytes of the token's text; name of a special token: "<s>". InputError for an invalid id.
  virtual std::string bytes(std::int32_t id) const = 0;
  virtual bool is_special(std::int32_t id) const = 0;  // a marker, not text
  // Label for display: visible() of the token's bytes, or of its form in the vocabulary ("##ing")
  // where that is more informative.
  virtual std::string label(std::int32_t id) const;
  // Id of a token by its form in the vocabulary ("[SEP]"); -1: none.
  virtual std::int32_t id_of(std::string_view written) const;
  virtual std::int32_t mask_token() const { return -1; }  // -1: none
  // Token for text that the vocabulary lacks ("[UNK]"); -1: all text has tokens or is an error.
  virtual std::int32_t unknown_token() const { return -1; }
  // Writes tokenizer.json or the original files.
  virtual void save(const std::filesystem::path& folder) const = 0;
  // Text of a sequence without its special tokens; the inverse of encode().
  virtual std::string decode(const std::vector<std::int32_t>& ids) const;
};

// Loads a folder's tokenizer from the first of these that exists: tokenizer.json; vocab.json and
// merges.txt; source.spm and vocab.json; vocab.txt; spiece.model or tokenizer.model. Applies the
// settings of tokenizer_config.json, if present. Supports BPE, WordPiece, Unigram and word-level
// models, with the pre- and post-processing of the Hugging Face and SentencePiece libraries.
// InputError names unsupported features.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder);

// Loads a separate tokenizer for a model's output: target_tokenizer.json, or Marian's target.spm;
// null if the folder has none.
std::shared_ptr<const Tokenizer> load_target_tokenizer(const std::filesystem::path& folder);

// Names of the files that load_tokenizer() and load_target_tokenizer() read.
const std::vector<std::string>& tokenizer_file_names();

// Tokenizer with one token per byte; the id is the byte's value.
std::shared_ptr<const Tokenizer> byte_tokenizer();

// Printable form of a token for labels: leading and trailing spaces as "␣", line ends as "⏎", tabs
// as "⇥", invalid UTF-8 bytes as "0xE4", controls as "0x07", and tokens of other white space as
// "U+00A0". Never empty.
std::string visible(std::string_view bytes);

// Replaces leading and trailing spaces in visible().
inline constexpr std::string_view kSpaceMarker = "␣";
// Removes space markers from a label or a sentence with quoted labels. Markers between words of a
// label become spaces; a label that consists of markers is unchanged.
std::string without_space_markers(std::string_view text);

}  // namespace attnscope
