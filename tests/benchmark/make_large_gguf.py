#!/usr/bin/env python3
"""Writes a GGUF model of Llama 2 7B's sizes with random Q4_K blocks (3.9 GB), for measurements of time
and memory. The tokenizer is that of another GGUF file.

    tests/benchmark/make_large_gguf.py TOKENIZER.gguf LARGE.gguf [--layers 32]

Needs numpy and gguf.
"""

import argparse

import gguf
import numpy as np

WIDTH, HIDDEN, HEADS, CONTEXT = 4096, 11008, 32, 4096
BLOCK, BLOCK_BYTES = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q4_K]


def random_blocks(rows, columns, generator):
    """Blocks whose numbers have a mean of about 0 and a deviation of about 0.02."""
    blocks = generator.integers(0, 256, (rows * columns // BLOCK, BLOCK_BYTES), np.uint8)
    scales = np.array([7.5e-5, 5.6e-4], np.float16)  # of the 4-bit numbers and of their minimum
    blocks[:, :4] = scales.view(np.uint8)
    return blocks.reshape(rows, columns // BLOCK * BLOCK_BYTES)


def copy_tokenizer(writer, path):
    for key, field in gguf.GGUFReader(path).fields.items():
        if not key.startswith("tokenizer."):
            continue
        kind = field.types[0]
        element = field.types[1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), kind, element)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer")
    parser.add_argument("output")
    parser.add_argument("--layers", type=int, default=32)
    options = parser.parse_args()
    fields = gguf.GGUFReader(options.tokenizer).fields
    vocabulary = len(fields["tokenizer.ggml.tokens"].data)

    writer = gguf.GGUFWriter(options.output, "llama", use_temp_file=True)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(options.layers)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    copy_tokenizer(writer, options.tokenizer)

    generator = np.random.default_rng(1)
    matrices = {}  # equal matrices of all layers: random numbers are slow

    def matrix(name, rows, columns):
        stem = name.rsplit(".", 2)[-2]
        if stem not in matrices:
            matrices[stem] = random_blocks(rows, columns, generator)
        writer.add_tensor(name, matrices[stem], raw_dtype=gguf.GGMLQuantizationType.Q4_K)

    def norm(name):
        writer.add_tensor(name, np.ones(WIDTH, np.float32))

    matrix("token_embd.weight", vocabulary, WIDTH)
    for layer in range(options.layers):
        prefix = f"blk.{layer}."
        norm(prefix + "attn_norm.weight")
        for stem in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{prefix}{stem}.weight", WIDTH, WIDTH)
        norm(prefix + "ffn_norm.weight")
        matrix(prefix + "ffn_gate.weight", HIDDEN, WIDTH)
        matrix(prefix + "ffn_up.weight", HIDDEN, WIDTH)
        matrix(prefix + "ffn_down.weight", WIDTH, HIDDEN)
    norm("output_norm.weight")
    matrix("output.weight", vocabulary, WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
