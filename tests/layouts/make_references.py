#!/usr/bin/env python3
"""Writes the references of checkpoint layouts: a folder for each, with config.json,
model.safetensors and reference.npz (tests/core/checkpoint/layouts_test.cpp reads them).

    tests/layouts/make_references.py [NAME...]

The models are tiny, with random weights and fixed seeds; reference.npz has ids, states, attention
and logits of texts of 1, 7 and 64 tokens, computed by the Hugging Face libraries in double
precision. Needs torch, transformers (5.23), safetensors and numpy; building and testing does not.
"""

import os
import sys

import decoders  # noqa: F401: fills LAYOUTS
import encoders  # noqa: F401
from layout_tools import LAYOUTS, write

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for name in sys.argv[1:] or LAYOUTS:
        write(here, name)
