#!/usr/bin/env python3
"""Measures the peak resident memory of loading a synthetic Llama and running it on 16 tokens, in
several formats: tests/layouts/memory.py BUILD_FOLDER/attnscope. Needs numpy and 700 MB of disk."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

BIN = sys.argv[1]
ROOT = tempfile.mkdtemp()
V, D, N, H, F = 16000, 1024, 4, 16, 4096

def tensors():
    rng = np.random.default_rng(0)
    def m(*s): return (rng.standard_normal(s, dtype=np.float32) * 0.02)
    yield "model.embed_tokens.weight", m(V, D)
    for n in range(N):
        p = f"model.layers.{n}."
        yield p + "input_layernorm.weight", np.ones(D, np.float32)
        for x in "qkvo": yield p + f"self_attn.{x}_proj.weight", m(D, D)
        yield p + "post_attention_layernorm.weight", np.ones(D, np.float32)
        yield p + "mlp.gate_proj.weight", m(F, D)
        yield p + "mlp.up_proj.weight", m(F, D)
        yield p + "mlp.down_proj.weight", m(D, F)
    yield "model.norm.weight", np.ones(D, np.float32)

def stored(a, dtype):
    if dtype == "F32": return a.tobytes()
    if dtype == "F16": return a.astype(np.float16).tobytes()
    return (a.view(np.uint32) >> 16).astype(np.uint16).tobytes()

def write(path, some, dtype):
    head, at, blobs = {}, 0, []
    for name, a in some:
        b = stored(a, dtype)
        head[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [at, at + len(b)]}
        at += len(b); blobs.append(b)
    h = json.dumps(head).encode(); h += b" " * (-len(h) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(h))); f.write(h)
        for b in blobs: f.write(b)
    return [n for n in head], at

def folder(name, dtype, shards):
    d = os.path.join(ROOT, name); os.makedirs(d, exist_ok=True)
    json.dump({"model_type": "llama", "vocab_size": V, "hidden_size": D, "num_hidden_layers": N, "num_attention_heads": H,
      "intermediate_size": F, "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": True}, open(d + "/config.json", "w"))
    all_ = list(tensors())
    if shards == 1: return d, write(d + "/model.safetensors", all_, dtype)[1]
    index, size = {}, 0
    for s in range(shards):
        file = f"model-{s+1:05d}-of-{shards:05d}.safetensors"
        names, b = write(os.path.join(d, file), all_[s::shards], dtype); size += b
        index.update({n: file for n in names})
    json.dump({"metadata": {}, "weight_map": index}, open(d + "/model.safetensors.index.json", "w"))
    return d, size

for name, dtype, shards in (("f32", "F32", 1), ("f16", "F16", 1), ("bf16", "BF16", 1), ("f16-shards", "F16", 3), ("f32-shards", "F32", 3)):
    # A child process writes the model: a started process inherits the peak of its parent.
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        d, size = folder(name, dtype, shards)
        os.write(w, json.dumps([d, size]).encode()); os._exit(0)
    os.waitpid(pid, 0)
    d, size = json.loads(os.read(r, 4096))
    p = subprocess.Popen([BIN, "run", "--model", d, "--ids", ",".join(map(str, range(16))), "-o", ROOT + "/out.safetensors"], stderr=subprocess.PIPE)
    _, status, usage = os.wait4(p.pid, 0)
    print(f"{name}: file {size/1e6:.0f} MB, peak {usage.ru_maxrss*1024/1e6:.0f} MB, status {status}", p.stderr.read()[:200])
    shutil.rmtree(d)
shutil.rmtree(ROOT)
