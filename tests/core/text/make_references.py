#!/usr/bin/env python3
"""Writes references/: small tokenizers of every kind, and the libraries' tokens of difficult strings.

Requires the packages tokenizers and sentencepiece (with protobuf); the project itself does not.
    python3 tests/core/text/make_references.py
Each folder contains the files of one tokenizer and "expected": one line per string of strings.txt
(JSON texts), then "pairs" and one line per entry of PAIRS. A token is written as its id, then "!" if
the tokenizer added it, else "@" and its first byte (omitted if it begins at the end of the previous
token), "+" and its number of bytes; in pairs also ":" and its segment.
"""
import base64
import json
import os
import pathlib
import random
import shutil
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as proto
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

TOP = pathlib.Path(__file__).resolve().parent / "references"
PAIRS = [(3, 4), (5, 0), (0, 6), (20, 41), (60, 61), (75, 33), (100, 12), (140, 150)]


def difficult_strings():
    fixed = [
        "", "a", " ", "  ", "Hello world", "Hello, world! It's 12:30.", "the cat sat on the mat",
        "don't WE'LL they'Ve I'm he'd 'squote 's", "a  b   c    d", " leading", "trailing ", "\t tab\tstop \t",
        "line\nends\r\nof\rall\n\nkinds\n", "\n\n\n", " \n \n x", "x = 12.5e-3; y+=1;\n\treturn x", "1234567890 12345 007",
        "3.14159 1,000,000 1/2 2^10", "naïve café résumé", "nai\u0308ve cafe\u0301", "e\u0301\u0323 e\u0323\u0301 q\u0307\u0323",
        "Ångström Å Å", "ẛ̣ ﬁ ﬂ ﬃ ſt", "Ⅷ Ⅻ ⅓ ½ ²³ ①②③", "ＦＵＬＬ ｗｉｄｔｈ １２３！", "ｶﾞｷﾞｸﾞ ﾊﾟ ガギグ が",
        "İstanbul ıI ẞß ΣΊΣΥΦΟΣ", "ǅ ǈ ǋ Ǆ ǆ", "中文字符 测试", "中 文，标点。", "日本語のテキストです。カタカナ", "한국어 텍스트 각", "각 가 ᄀ",
        "ไทยไม่มีช่องว่าง", "हिन्दी पाठ क्षत्रिय", "العربية مرحبا بالعالم", "עברית שלום עולם", "\u202bRTL\u202c mark \u200f\u200e",
        "😀😃 smile", "👩‍👩‍👧‍👦 family", "👍🏽 skin 🏳️‍🌈 flag 🇩🇪🇫🇷", "❤️ vs ❤", "1️⃣ keycap", "zero\u200bwidth\u200cnon\u200djoin",
        "soft\u00adhyphen no\u00a0break thin\u2009space ideo\u3000space", "\u2028line\u2029para\u0085next", "\ufeffbom inside\ufeff",
        "\x00nul \x01\x02 \x1b[0m esc \x7f del", "\x0b\x0c vt ff", "\ufffd replacement \ufffe \uffff", "\ue000 private \uf8ff \U000f0000",
        "\u0378 unassigned \U0003fffd", "\U0001f9ff \U0001fae0 new", "𝕬𝖇𝖈 𝒜 𝟘𝟙", "𠀀𠁀 rare", "ａ゛か゛", "ﷺ ﷽", "ªº µ Ω Ω K K",
        "a" * 130, "pneumonoultramicroscopicsilicovolcanoconiosis", "no" * 60 + " yes", "x" + " " * 40 + "y", "=" * 50, "!?" * 12 + "...", "-" * 9 + "\n" + "-" * 9,
        "``quoted'' ''x``", "snake_case camelCase PascalCase HTTPServer", "user@example.com https://x.org/a?b=c&d#e", "C++ C# F# .NET", "§ © ® ™ € £ ¥ ¢ $ + < = > ^ ` | ~",
        "[MASK] the [CLS] and [SEP]", "<s> text </s> <unk> <pad>", " <mask> ", "a<mask>b", "x <mask>  y", "<|endoftext|>after", "<tag> word<tag>word <tag>", "word word2 TAGGED tagged",
        "▁under▁score ▁", "Ġspace Ċline", "##ing un##able", "</w> low</w>", "<0x41><0xE4>", "'ſ 'S ’s ‘q’ “d” „l“ «g»", "…。，、।۔،！？", "a\u0300\u0301\u0302\u0303b", "\u0301start combining", " \u0301 space combining",
        "क्षि ಕ್ಷ ශ්‍ර", "ﬀ ﬅ ꜳ", "ǰ ΐ ΰ ẖ", "ﾞﾟ lone", "々〆ヵヶ ー", "㍿ ㌔ ㏂ ㈱", "𝄞 ♫ ♯", "⁰¹²³ ₀₁₂", "٠١٢ ०१२ ๐๑๒ 〇一二", "१२३४५ ١٢٣٤٥", "Ⓐⓑ ㉆ 🅰️", "Ａ\u0301 Å̈",
    ]
    rng = random.Random(5)
    words = "the of and cat dog house running under happiness Tokenizer straße groß Ähre été año 東京 大学 привет мир γεια 123 4567 it's can't U.S.A. e.g. x_1 f(x) [0] {a:b} <p> 100% $5 #tag @me -- ... \u00a0 \t \n".split(" ")
    marks = list("  \n\t.,;:!?'\"-_()[]/\\") + ["\u0301", "\u00a0", "\u200d", "é", "ß", "中", "の", "한", "😀", "ﬁ", "１", "½", "\u3000", "\r\n", "\u0308", "ا", "क", "\x01", "Ω"]
    all_strings = list(dict.fromkeys(fixed))
    while len(all_strings) < 300:
        text = ""
        for _ in range(rng.randint(1, 6)):
            text += rng.choice(words) if rng.random() < 0.55 else "".join(rng.choice(marks) for _ in range(rng.randint(1, 3)))
            if rng.random() < 0.6:
                text += " " * rng.randint(0, 2)
        if rng.random() < 0.12:
            text = "".join(chr(rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x300, 0x370), rng.randrange(0x2000, 0x2070), rng.randrange(0x3040, 0x3100), rng.randrange(0xff00, 0xfff0)])) for _ in range(8))
        if text not in all_strings:
            all_strings.append(text)
    return all_strings


STRINGS = difficult_strings()
CORPUS = STRINGS * 2 + [
    "the quick brown fox jumps over the lazy dog and runs under the house",
    "She sells sea shells by the sea shore; the shells she sells are surely sea shells.",
    "it's what they're doing that we'll see, isn't it? I'd say you've been running.",
    "def function(x): return x + 1 # 12345", "Die Straße ist groß und schön. L'été à Paris. El año pasado.",
    "東京大学で日本語を勉強しています。中文字符测试文本", "привет мир как дела", "The Cat sat on THE mat at 12:30 in 2024.",
] * 6

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = "|".join([rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{ENDING}", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{ENDING}",
                  r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
TEKKEN = O200K.replace(ENDING, "").replace("{1,3}", "")
HAN = r"&&[^\p{Han}]]"
KIMI = "|".join([r"[\p{Han}]+", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER[:-1]}{HAN}*{LOWER[:-1]}{HAN}+{ENDING}",
                 rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER[:-1]}{HAN}+{LOWER[:-1]}{HAN}*{ENDING}", r"\p{N}{1,3}",
                 r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK3 = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
DEEPSEEK1 = r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿͰ-ϿЀ-ӿ]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
NEW = dict(special_tokens=[], show_progress=False, min_frequency=1)
P, N, D = pre_tokenizers, normalizers, decoders


def split(pattern, behavior="isolated", invert=False):
    return P.Split(Regex(pattern), behavior, invert)


def bpe(pre, normalizer=None, vocab=330, byte=True, specials=(), trainer=None, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre is not None:
        tokenizer.pre_tokenizer = pre
    settings = dict(NEW, vocab_size=vocab, special_tokens=list(specials), **(trainer or {}))
    if byte:
        settings["initial_alphabet"] = P.ByteLevel.alphabet()
        tokenizer.decoder = D.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(**settings))
    return tokenizer


def on_bytes(*steps):
    return P.Sequence([*steps, P.ByteLevel(add_prefix_space=False, use_regex=False)])


def byte_tokens(tokenizer, count=400):
    """Adds tokens for all bytes to a BPE."""
    saved = json.loads(tokenizer.to_str())
    saved["model"]["byte_fallback"] = True
    for byte in range(256):
        saved["model"]["vocab"].setdefault("<0x%02X>" % byte, len(saved["model"]["vocab"]))
    return Tokenizer.from_str(json.dumps(saved))


def small_alphabet(tokenizer_args):
    return dict(tokenizer_args, limit_alphabet=60)


def wordpiece(normalizer, vocab=400, pre=None):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre or P.BertPreTokenizer()
    tokenizer.decoder = D.WordPiece()
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        **dict(NEW, vocab_size=vocab, limit_alphabet=110, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])))
    return tokenizer


def add_template(tokenizer, begin, end, pair=None, single=None):
    ids = [(t, tokenizer.token_to_id(t)) for t in (begin, end) if t]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single or f"{begin or ''} $A {end or ''}".strip(), pair=pair or f"{begin or ''} $A {end or ''} $B:1 {(end + ':1') if end else ''}".strip(),
        special_tokens=ids)
    return tokenizer


def spm(name, **options):
    """Trains a SentencePiece model; returns the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text")
        with open(text, "w") as file:
            for line in CORPUS:
                file.write(line.replace("\n", " ").replace("\r", " ").replace("\x00", "") + "\n")
        settings = dict(input=text, model_prefix=os.path.join(folder, "m"), vocab_size=450, hard_vocab_limit=False,
                        character_coverage=0.98, minloglevel=2, num_threads=1)
        settings.update(options)
        rules = settings.pop("rules", None)
        if rules:
            path = os.path.join(folder, "rules.tsv")
            with open(path, "w") as file:
                for old, new in (r for r in rules if r[0] != r[1]):
                    file.write(" ".join("%X" % ord(c) for c in old) + "\t" + " ".join("%X" % ord(c) for c in new) + "\n")
            settings["normalization_rule_tsv"] = path
        sentencepiece.SentencePieceTrainer.train(**settings)
        with open(os.path.join(folder, "m.model"), "rb") as file:
            return file.read()


RULES = ([(chr(0xff01 + i), chr(0x21 + i)) for i in range(94)] + [("ﬁ", "fi"), ("ﬃ", "ffi"), ("\u3000", " "), ("\u00a0", " "), ("\t", " "), ("\n", " "), ("\x01", ""), ("\x7f", ""),
         ("e\u0301", "é"), ("か\u3099", "が"), ("ｶ\uff9e", "ガ"), ("ｶ", "カ"), ("½", "1\u20442"), ("①", "1"), ("…", "..."), ("ﷺ", "صلى الله"), ("\u200b", " "), ("\u212b", "\u00c5"), ("²", "2"), ("\u00ad", ""), ("🇩🇪", "DE")])


def charsmap(model):
    message = proto.ModelProto()
    message.ParseFromString(model)
    return message.normalizer_spec.precompiled_charsmap


def from_spm(model, before=(), after=None, pre=None):
    """Converts a SentencePiece model to a Unigram tokenizer, as the transformers library does."""
    message = proto.ModelProto()
    message.ParseFromString(model)
    pieces = [(p.piece, p.score) for p in message.pieces]
    tokenizer = Tokenizer(models.Unigram(pieces, message.trainer_spec.unk_id, message.trainer_spec.byte_fallback))
    steps = [*before, N.Precompiled(charsmap(model))]
    steps += after if after is not None else [N.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = N.Sequence(steps)
    tokenizer.pre_tokenizer = pre or P.Metaspace()
    tokenizer.decoder = D.Metaspace()
    return tokenizer


def word_level(pre, vocab, normalizer=None):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre
    tokenizer.train_from_iterator(CORPUS, trainers.WordLevelTrainer(**dict(NEW, vocab_size=vocab, special_tokens=["[UNK]", "[PAD]"])))
    return tokenizer


def kinds():
    """Yields names, their lines in the table of assets/docs/tokenizers.md, and tokenizers."""
    simple = P.ByteLevel(add_prefix_space=False)
    yield "gpt2", "byte-level BPE", bpe(simple, specials=["<|endoftext|>"])
    yield "gpt2-prefix-space", "byte-level BPE", bpe(P.ByteLevel(add_prefix_space=True))
    roberta = bpe(simple, specials=["<s>", "<pad>", "</s>", "<unk>"])
    roberta.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    roberta.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False, add_prefix_space=False)
    yield "roberta", "byte-level BPE", roberta
    llama3 = bpe(on_bytes(split(LLAMA3)), specials=["<s>"], ignore_merges=True)
    yield "llama3", "byte-level BPE", add_template(llama3, "<s>", None, pair="<s> $A <s>:1 $B:1")
    yield "qwen2", "byte-level BPE", bpe(on_bytes(split(QWEN2)), N.NFC())
    yield "cl100k", "byte-level BPE", bpe(on_bytes(split(CL100K)))
    yield "o200k", "byte-level BPE", bpe(on_bytes(split(O200K)))
    yield "tekken", "byte-level BPE", bpe(on_bytes(split(TEKKEN)))
    yield "kimi", "byte-level BPE", bpe(on_bytes(split(KIMI)))
    yield "deepseek-v3", "byte-level BPE", bpe(on_bytes(split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK3)))
    yield "deepseek-llm", "byte-level BPE", bpe(on_bytes(split("[\r\n]"), split(DEEPSEEK1), split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"),
                                                          split(r"\s+$"), split("[一-龥ࠀ-一가-퟿]+"), P.Digits(True)))
    yield "starcoder", "byte-level BPE", bpe(P.Sequence([P.Digits(True), simple]))
    spaces = bpe(simple, N.NFC(), specials=["<|endoftext|>"])
    spaces.add_tokens([AddedToken(" " * n, normalized=n % 2 == 0) for n in range(2, 8)])
    yield "neox", "byte-level BPE", spaces
    yield "bloom", "byte-level BPE", bpe(on_bytes(split(BLOOM)))
    yield "falcon", "byte-level BPE", bpe(P.Sequence([P.Punctuation("contiguous"), simple, P.Digits(False), split("[0-9][0-9][0-9]")]))
    clip = bpe(P.Sequence([split(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "removed", True), simple]),
               N.Sequence([N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()]), vocab=620, trainer=dict(end_of_word_suffix="</w>"),
               end_of_word_suffix="</w>", unk_token="<|endoftext|>", specials=["<|startoftext|>", "<|endoftext|>"])
    saved = json.loads(clip.to_str())
    for piece in P.ByteLevel.alphabet():  # as in CLIP's vocabulary
        saved["model"]["vocab"].setdefault(piece + "</w>", len(saved["model"]["vocab"]))
    clip = Tokenizer.from_str(json.dumps(saved))
    clip.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False)
    yield "clip", "byte-level BPE", clip
    # BPE of characters
    alphabet = dict(limit_alphabet=70)
    llama2 = byte_tokens(bpe(None, N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]), byte=False, vocab=240, trainer=alphabet, specials=["<unk>", "<s>", "</s>"],
                             unk_token="<unk>", fuse_unk=True))
    llama2.decoder = D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
    yield "llama2", "BPE of characters", add_template(llama2, "<s>", None, pair="<s> $A <s>:1 $B:1")
    yield "mistral", "BPE of characters", byte_tokens(bpe(P.Metaspace(prepend_scheme="first", split=False), byte=False, vocab=240, trainer=alphabet, specials=["<unk>", "<s>", "</s>"], unk_token="<unk>", fuse_unk=True))
    yield "gemma", "BPE of characters", byte_tokens(bpe(P.Split(" ", "merged_with_previous"), N.Replace(" ", "▁"), byte=False, vocab=240, trainer=alphabet, specials=["<unk>", "<bos>"], unk_token="<unk>", fuse_unk=True))
    yield "bpe-prefix", "BPE of characters", bpe(P.WhitespaceSplit(), byte=False, vocab=420, trainer=dict(limit_alphabet=90, continuing_subword_prefix="##"),
                                                  specials=["[UNK]"], unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=True)
    gpt = bpe(P.BertPreTokenizer(), N.BertNormalizer(), byte=False, vocab=420, trainer=dict(limit_alphabet=90, end_of_word_suffix="</w>"),
              specials=["<unk>"], unk_token="<unk>", end_of_word_suffix="</w>")
    gpt.decoder = D.BPEDecoder()
    yield "openai-gpt", "BPE of characters", gpt
    # WordPiece
    for name, options in (("bert-uncased", {}), ("bert-cased", dict(lowercase=False)), ("bert-accents", dict(strip_accents=False)),
                          ("bert-plain", dict(lowercase=False, handle_chinese_chars=False, clean_text=False))):
        yield name, "WordPiece", add_template(wordpiece(N.BertNormalizer(**options)), "[CLS]", "[SEP]")
    added = wordpiece(N.BertNormalizer())
    added.add_tokens([AddedToken("<tag>", lstrip=True, normalized=False), AddedToken("tagged", single_word=True), AddedToken("WORD"),
                      AddedToken("sat on", rstrip=True, lstrip=True), AddedToken("é"), AddedToken("12", single_word=True, normalized=False)])
    added.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    yield "bert-added", "WordPiece", added
    yield "wordpiece-whitespace", "WordPiece", wordpiece(N.Sequence([N.NFD(), N.Lowercase(), N.StripAccents()]), pre=P.Whitespace())
    # Unigram
    plain = spm("plain", rules=RULES)
    yield "unigram-albert", "Unigram", add_template(from_spm(plain, before=[N.Replace("``", '"'), N.Replace("''", '"'), N.NFKD(), N.StripAccents(), N.Lowercase()]), "<s>", "</s>")
    yield "unigram-xlmr", "Unigram", add_template(from_spm(plain, pre=P.Metaspace()), "<s>", "</s>", pair="<s> $A </s> </s> $B </s>")
    yield "unigram-t5", "Unigram", add_template(from_spm(plain, after=[], pre=P.Sequence([P.WhitespaceSplit(), P.Metaspace()])), None, "</s>", pair="$A </s> $B </s>")
    fallback = spm("fallback", byte_fallback=True, rules=RULES, vocab_size=760)
    yield "unigram-bytes", "Unigram", from_spm(fallback, after=[N.Strip(left=False, right=True), N.Replace(Regex(" {2,}"), "▁")], pre=P.Metaspace(prepend_scheme="first", split=False))
    nmt = from_spm(plain)
    nmt.normalizer = N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " ")])
    yield "unigram-nmt", "Unigram", nmt
    # words
    yield "words", "whole words", word_level(P.Whitespace(), 260, N.Sequence([N.Strip(), N.NFKD(), N.Lowercase()]))
    yield "characters", "whole words", word_level(split(r"[\s\S]"), 260)
    yield "digits", "whole words", word_level(P.Sequence([P.Digits(False), P.Punctuation("merged_with_next")]), 260, N.NFKC())
    yield "delimiter", "whole words", word_level(P.Sequence([P.CharDelimiterSplit(" "), P.FixedLength(3)]), 260)
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        yield "split-" + behavior.replace("_", "-"), "whole words", word_level(split(r"\s|[[:punct:]]|\d\b|\h(?=x)", behavior), 220)
    yield "split-invert", "whole words", word_level(P.Sequence([split(r"[\w&&[^_\d]]+", "merged_with_next", True), P.Split("e", "isolated")]), 220)


def spm_kinds():
    yield "spm-unigram", spm("a", rules=RULES)
    yield "spm-nmt-nfkc", spm("b", normalization_rule_name="nmt_nfkc")
    yield "spm-bpe", spm("c", model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, vocab_size=760, split_digits=True)
    yield "spm-bpe-unknown", spm("d", model_type="bpe", user_defined_symbols=["<tag>", "word", "  "], rules=RULES)
    yield "spm-user-defined", spm("e", user_defined_symbols=["<tag>", "the cat", "ab", "▁"], normalization_rule_name="identity", add_dummy_prefix=False)
    yield "spm-suffix", spm("f", treat_whitespace_as_suffix=True, byte_fallback=True, vocab_size=760, normalization_rule_name="identity")


def bytes_before(text):
    at = [0]
    for c in text:
        at.append(at[-1] + len(c.encode()))
    return at


# If SentencePiece's replacement table removes the first character of a text, the reference shifts all
# following offsets by one: offsets are not written then.
VANISHING = "\x01\x7f\u00ad"


def token_line(encoding, text, pair=None, vanishing=""):
    is_shifted = bool(vanishing) and (text[:1] + (pair or "")[:1]).strip(vanishing) != text[:1] + (pair or "")[:1]
    offsets = [bytes_before(text), bytes_before(pair or "")]
    ends = [0, 0]
    out = []
    for id_, (begin, end), is_special, sequence, segment in zip(encoding.ids, encoding.offsets, encoding.special_tokens_mask, encoding.sequence_ids, encoding.type_ids):
        note = ":" + str(segment) if pair is not None else ""
        if sequence is None or is_shifted:
            out.append(f"{id_}{'!' if sequence is None else ''}{note}")
            continue
        begin, end = offsets[sequence][begin], offsets[sequence][end]
        out.append(f"{id_}{'' if begin == ends[sequence] else '@' + str(begin)}+{end - begin}{note}")
        ends[sequence] = end
    return " ".join(out)


def expected_text(tokenizer):
    vanishing = VANISHING if "Precompiled" in tokenizer.to_str() else ""
    lines = [token_line(tokenizer.encode(s), s, None, vanishing) for s in STRINGS] + ["pairs"]
    lines += [token_line(tokenizer.encode(STRINGS[a], STRINGS[b]), STRINGS[a], STRINGS[b], vanishing) for a, b in PAIRS]
    return "\n".join(lines) + "\n"


def write(name, kind, files, expected=None):
    folder = TOP / name
    folder.mkdir(parents=True)
    for file, content in files.items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    if expected is not None:
        (folder / "expected").write_text(expected)
    (folder / "kind").write_text(kind + "\n")


def vocabulary_kinds():
    """Yields older files (vocab.txt, or vocab.json and merges.txt) with the vocabulary of another folder: its name, and tokenizer_config.json."""
    def config(name, **rest):
        return json.dumps(dict(tokenizer_class=name, **rest))
    for name, options in (("bert-uncased", {}), ("bert-cased", dict(do_lower_case=False)), ("bert-accents", dict(strip_accents=False))):
        yield "vocab-" + name, "WordPiece", name, config("BertTokenizer", **options)
    for name, class_name, extra in (("gpt2", "GPT2Tokenizer", dict(bos_token="<|endoftext|>")), ("roberta", "RobertaTokenizer", {}),
                                    ("qwen2", "Qwen2Tokenizer", {}), ("clip", "CLIPTokenizerFast", dict(unk_token="<|endoftext|>"))):
        yield "merges-" + name, "byte-level BPE", name, config(class_name, **extra)


def write_marian():
    """Writes a SentencePiece model whose tokens have the ids of another vocabulary, which lacks some."""
    model = spm("marian", rules=RULES)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(n) for n in range(processor.get_piece_size())]
    kept_pieces = [p for n, p in enumerate(pieces) if p not in ("<s>", "<unk>", "</s>") and n % 9]
    vocab = {p: n for n, p in enumerate(["</s>", "<unk>", *reversed(kept_pieces), "<pad>"])}
    lines = [" ".join([str(vocab.get(p, 1)) for p in processor.encode(s, out_type=str)] + ["0!"]) for s in STRINGS]
    write("marian", "SentencePiece models", {"source.spm": model, "vocab.json": json.dumps(vocab, ensure_ascii=False),
                                             "tokenizer_config.json": json.dumps(dict(tokenizer_class="MarianTokenizer"))}, "\n".join(lines) + "\n")


def main():
    shutil.rmtree(TOP, ignore_errors=True)
    TOP.mkdir()
    (TOP / "strings.txt").write_text("\n".join(json.dumps(s) for s in STRINGS) + "\n")
    (TOP / "pairs.txt").write_text("".join(f"{a} {b}\n" for a, b in PAIRS))
    for name, kind, tokenizer in kinds():
        saved = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
        write(name, kind, {"tokenizer.json": saved}, expected_text(tokenizer))
    for name, kind, vocabulary, config in vocabulary_kinds():
        write(name, kind, {"vocabulary_of": vocabulary + "\n", "tokenizer_config.json": config})
    for name, model in spm_kinds():
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        lines = [" ".join(map(str, processor.encode(s))) for s in STRINGS]
        write(name, "SentencePiece models", {"tokenizer.model" if name.startswith("spm-bpe") else "spiece.model": model}, "\n".join(lines) + "\n")
    write_marian()
    size = sum(f.stat().st_size for f in TOP.rglob("*") if f.is_file())
    print(f"{len(list(TOP.iterdir())) - 2} kinds, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
