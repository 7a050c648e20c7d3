#!/usr/bin/env python3
"""Writes model.safetensors and config.json here: a model whose attention is a convolution.

Queries and keys are zero, and each of five heads has a bias for one distance, -2 to 2: after the
softmax all weight lies there, so the head is a shift by that distance (Cordonnier, Loukas and
Jaggi, 2020, arXiv:1911.03584). Nothing is trained; embeddings and values are random numbers.
"""

import json
import pathlib
import random
import struct

HERE = pathlib.Path(__file__).parent
HEADS, HEAD_SIZE, VOCABULARY, HIDDEN, CLIP = 5, 8, 1024, 8, 3
WIDTH = HEADS * HEAD_SIZE
BIAS = 60.0  # exp(-60) is negligible next to 1
numbers = random.Random(7)


def normal(rows, columns, deviation):
    return [rows, columns], [numbers.gauss(0, deviation) for _ in range(rows * columns)]


def constant(shape, value):
    size = 1
    for n in shape:
        size *= n
    return list(shape), [value] * size


def biases():
    """[heads, 2 CLIP + 1]: head a attends to distance a - 2."""
    rows = []
    for head in range(HEADS):
        row = [0.0] * (2 * CLIP + 1)
        row[head - HEADS // 2 + CLIP] = BIAS
        rows += row
    return [HEADS, 2 * CLIP + 1], rows


def main():
    deviation = WIDTH ** -0.5
    tensors = {
        "embed.weight": normal(VOCABULARY, WIDTH, 1.0),
        "final_norm.weight": constant([WIDTH], 1.0),
        "layers.0.attn_norm.weight": constant([WIDTH], 1.0),
        "layers.0.ffn_norm.weight": constant([WIDTH], 1.0),
        "layers.0.attn.wq": constant([WIDTH, WIDTH], 0.0),
        "layers.0.attn.wk": constant([WIDTH, WIDTH], 0.0),
        "layers.0.attn.wv": normal(WIDTH, WIDTH, deviation),
        "layers.0.attn.wo": normal(WIDTH, WIDTH, deviation),
        "layers.0.ffn.w_in": constant([WIDTH, HIDDEN], 0.0),
        "layers.0.ffn.w_out": constant([HIDDEN, WIDTH], 0.0),
        "layers.0.groups.0.pos.bias": biases(),
    }
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, (shape, values) in sorted(tensors.items()):
        data = struct.pack(f"<{len(values)}e", *values)
        header[name] = {"dtype": "F16", "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    (HERE / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + body)
    config = {
        "model_type": "attnscope", "vocabulary": VOCABULARY, "context": 256, "width": WIDTH,
        "layers": 1, "heads": HEADS, "kv_heads": HEADS, "head_size": HEAD_SIZE, "hidden": HIDDEN,
        "activation": "relu", "gated": False, "norm": "rms", "norm_epsilon": 1e-5,
        "pre_norm": True, "tied_output": True, "causal": False, "dropout": 0.0,
        "attention_biases": False, "feed_forward_biases": False,
        "variant": {"type": "full", "score": "dot"},
        "position": {"type": "relative_bias", "clip": CLIP},
    }
    (HERE / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
