#!/usr/bin/env python3
"""Writes blocks.safetensors: random blocks of GGML's quantised formats and the numbers that the
package gguf decodes from them. Needs the packages gguf, numpy and safetensors."""
import pathlib

import numpy as np
from gguf import GGMLQuantizationType, quants
from gguf.constants import GGML_QUANT_SIZES
from safetensors.numpy import save_file

FORMATS = ("Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ4_NL IQ4_XS MXFP4").split()
BLOCKS = 3


def decode(blocks, name):
    if name == "Q8_K":  # not in the package: ggml-quants.c, dequantize_row_q8_K
        return blocks[:, :4].copy().view(np.float32) * blocks[:, 4:260].view(np.int8).astype(
            np.float32)
    return quants.dequantize(blocks, GGMLQuantizationType[name])


def main():
    random = np.random.default_rng(1)
    arrays = {}
    for name in FORMATS:
        size, count = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
        rows = []
        while len(rows) < BLOCKS:
            block = random.integers(0, 256, (1, count), dtype=np.uint8)
            with np.errstate(all="ignore"):
                numbers = decode(block, name)
            if np.isfinite(numbers).all():
                rows.append(block)
        blocks = np.concatenate(rows)
        arrays[name + ".bytes"] = blocks
        arrays[name + ".numbers"] = decode(blocks, name).astype(np.float32).reshape(BLOCKS, size)
    save_file(arrays, pathlib.Path(__file__).with_name("blocks.safetensors"))


main()
