"""Tools for the references of layouts: tiny models with random weights, stored and computed by the
Hugging Face libraries. Needs torch, transformers, safetensors and numpy."""

import json
import os
import shutil

import numpy as np
import torch
import transformers

LENGTHS = (1, 7, 64)
VOCABULARY = 99
FEW_ROWS = (0, 20, 41, 63)  # of the longest text, to keep the files small

# Other implementations, also of experts, do not support double precision.
EAGER = dict(attn_implementation="eager", experts_implementation="eager")
# For models whose eager implementation adds ALiBi twice; returns no attention.
SDPA = dict(attn_implementation="sdpa")

LAYOUTS = {}  # name -> (names of models, function that returns a model, ...)


def layout(name, models, dtype=torch.float16, shards=False, way=EAGER, arrays_of=None,
           files=None):
    """Registers a function that returns a model. draw() then sets its weights. arrays_of: returns the
    arrays of the reference (default: those of a decoder); files: JSON files of the folder, by name."""

    def take(function):
        LAYOUTS[name] = (models, function, dtype, shards, way, arrays_of or decoder_arrays,
                         files or {})
        return function

    return take


def draw(model, seed):
    """Sets weights with which attention is far from uniform and no bias, gain or gate is trivial."""
    generator = torch.Generator().manual_seed(seed)
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Embedding)}
    with torch.no_grad():
        for name, p in model.named_parameters():
            if not p.requires_grad:  # sinusoidal positions
                continue
            noise = torch.randn(p.shape, generator=generator)
            if id(p) in embeddings:
                p.copy_(noise)
            elif p.ndim == 1:
                is_gain = name.endswith("weight")  # of a norm: near its initial value, 0 or 1
                p.copy_(p.mean() + 0.3 * noise if is_gain else 0.4 * noise)
            else:
                sharp = any(s in name for s in ("q_proj", "k_proj", "query", "key", "qkv", "c_attn"))
                p.copy_(noise * (1.6 if sharp else 1.0) / max(p.shape[-1:], default=1) ** 0.5)


def as_array(tensor):
    return tensor.detach().to(torch.float32).numpy()


def texts(seed):
    generator = torch.Generator().manual_seed(1000 + seed)
    for length in LENGTHS:
        yield length, torch.randint(3, VOCABULARY, (1, length), generator=generator)


def rows_of(length):
    return list(FEW_ROWS) if length > 7 else list(range(length))


def decoder_arrays(model, seed):
    """Arrays of a model with one stack: taps named as in attnscope, attention by layer, logits."""
    arrays = {}
    for length, ids in texts(seed):
        with torch.no_grad():
            of = model.base_model if hasattr(model, "score") else model
            out = of(ids, output_hidden_states=True, output_attentions=of.config._attn_implementation == "eager",
                     use_cache=False)
        rows = rows_of(length)
        arrays[f"{length}/ids"] = ids[0].numpy().astype(np.int32)
        arrays[f"{length}/rows"] = np.array(rows, np.int32)
        states = out.hidden_states
        names = ["embed"] + [f"layers.{n}.residual" for n in range(len(states) - 2)] + ["final"]
        for name, state in zip(names, states):
            if state.shape[-1] != states[0].shape[-1]:  # projected already (OPT 350M)
                continue
            arrays[f"{length}/tap/{name}"] = as_array(state[0, rows])
        for n, attention in enumerate(out.attentions or []):
            arrays[f"{length}/attention/self.{n}"] = as_array(attention[0, :, rows, :length])
        if getattr(out, "logits", None) is not None:
            arrays[f"{length}/logits"] = as_array(out.logits[0, rows])
    return arrays


def write(root, name):
    models, function, dtype, shards, way, arrays_of, files = LAYOUTS[name]
    seed = sum(map(ord, name))
    torch.manual_seed(seed)
    model = function().eval()
    draw(model, seed)
    model = model.to(dtype)  # the reference is computed from the stored numbers
    folder = os.path.join(root, name)
    shutil.rmtree(folder, ignore_errors=True)
    how = {} if transformers.__version__ >= "5" else {"safe_serialization": True}
    model.save_pretrained(folder, **how, **({"max_shard_size": "20KB"} if shards else {}))
    for extra in ("generation_config.json",):
        if os.path.exists(os.path.join(folder, extra)):
            os.remove(os.path.join(folder, extra))
    for file, content in files.items():
        with open(os.path.join(folder, file), "w") as f:
            json.dump(content, f)
    # Loads the stored model, in double precision unless the libraries require float32.
    model = type(model).from_pretrained(folder, **({} if "torch_dtype" in way else {"dtype": torch.float64}), **way)
    np.savez_compressed(os.path.join(folder, "reference.npz"), **arrays_of(model.eval(), seed))
    with open(os.path.join(folder, "models.txt"), "w") as f:
        f.write(models + "\n")
    size = sum(e.stat().st_size for e in os.scandir(folder))
    print(f"{name}: {size / 1000:.0f} kB")
