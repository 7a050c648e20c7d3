"""Encoders, encoder-decoders, and image encoders: one function per layout."""

import numpy as np
import torch
import transformers as t

from layout_tools import EAGER, VOCABULARY, as_array, layout, texts

SIZES = dict(
    vocab_size=VOCABULARY,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=24,
    max_position_embeddings=70,
)
SMALL = dict(SIZES, num_hidden_layers=1)
PADDED = dict(SIZES, pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1)


def encoder_arrays(model, seed):
    """Arrays of an encoder. If it has token types, one of the texts consists of two sentences."""
    arrays = {}
    kinds = getattr(model.config, "type_vocab_size", 0) or 0
    for length, ids in texts(seed):
        given = dict(input_ids=ids)
        if kinds > 1 and length == 7:
            given["token_type_ids"] = torch.tensor([[0, 0, 0, 1, 1, 1, 1]])
            arrays[f"{length}/types"] = given["token_type_ids"][0].numpy().astype(np.int32)
        of = getattr(model, "text_model", model)  # of CLIP
        with torch.no_grad():
            out = of(**given, output_hidden_states=True, output_attentions=True)
        rows = some_rows(length)
        arrays[f"{length}/ids"] = ids[0].numpy().astype(np.int32)
        arrays[f"{length}/rows"] = np.array(rows, np.int32)
        add_states(arrays, f"{length}/tap/", out.hidden_states, rows, closed(model))
        for n, attention in enumerate(out.attentions):
            arrays[f"{length}/attention/self.{n}"] = as_array(attention[0, :, rows, :length])
        logits = getattr(out, "logits", None)
        if logits is None:
            logits = getattr(out, "prediction_logits", None)
        if logits is not None and logits.shape[-1] == VOCABULARY:
            arrays[f"{length}/logits"] = as_array(logits[0, rows])
    return arrays


def some_rows(length):
    return [20, 63] if length > 7 else list(range(length))


def closed(model):
    """True if the last hidden state is the output of a final norm."""
    return model.config.model_type in ("t5", "mt5", "mbart", "pegasus", "modernbert")


def add_states(arrays, prefix, states, rows, norm_behind):
    layers = len(states) - 1
    names = ["embed"] + [f"layers.{n}.residual" for n in range(layers)]
    if norm_behind:
        names[-1] = "final"
    for name, state in zip(names, states):
        arrays[prefix + name] = as_array(state[0, rows])


def both_arrays(model, seed):
    """Arrays of an encoder and its decoder."""
    arrays = {}
    for (length, ids), (_, target) in zip(texts(seed), texts(seed + 1)):
        target = target[:, : max(1, length // 2 + 1)]
        with torch.no_grad():
            out = model(input_ids=ids, decoder_input_ids=target, output_hidden_states=True,
                        output_attentions=True)
        source_rows = some_rows(length)
        rows = [n for n in source_rows if n < target.shape[1]]
        arrays[f"{length}/source"] = ids[0].numpy().astype(np.int32)
        arrays[f"{length}/ids"] = target[0].numpy().astype(np.int32)
        arrays[f"{length}/rows"] = np.array(rows, np.int32)
        arrays[f"{length}/source_rows"] = np.array(source_rows, np.int32)
        tap = f"{length}/tap/"
        add_states(arrays, tap + "encoder.", out.encoder_hidden_states, source_rows, closed(model))
        add_states(arrays, tap, out.decoder_hidden_states, rows, closed(model))
        for kind, of, which in (("encoder", out.encoder_attentions, source_rows),
                                ("self", out.decoder_attentions, rows),
                                ("cross", out.cross_attentions, rows)):
            for n, attention in enumerate(of):
                arrays[f"{length}/attention/{kind}.{n}"] = as_array(attention[0, :, which])
        arrays[f"{length}/logits"] = as_array(out.logits[0, rows])
    return arrays


def image_arrays(model, seed):
    """Arrays of an image encoder, with the colours of the image from 0 to 1."""
    side = model.config.image_size
    generator = torch.Generator().manual_seed(seed)
    colours = torch.rand((side, side, 3), generator=generator).to(torch.float32)
    mean, deviation = (torch.tensor(COLOURS[f"image_{key}"]) for key in ("mean", "std"))
    pixels = ((colours.to(torch.float64) - mean) / deviation).permute(2, 0, 1)[None]
    with torch.no_grad():
        out = model(pixels, output_hidden_states=True, output_attentions=True)
    rows = list(range(out.hidden_states[0].shape[1]))
    extra = len(rows) - (side // model.config.patch_size) ** 2
    arrays = {
        "picture/colours": as_array(colours),
        "picture/ids": np.array([min(n, extra) for n in rows], np.int32),
        "picture/rows": np.array(rows, np.int32),
    }
    add_states(arrays, "picture/tap/", out.hidden_states, rows, False)
    for n, attention in enumerate(out.attentions):
        arrays[f"picture/attention/self.{n}"] = as_array(attention[0])
    return arrays


# ---- Encoders


@layout("bert", "BERT", arrays_of=encoder_arrays)
def bert():
    return t.BertForMaskedLM(t.BertConfig(**SIZES))


@layout("bert-pretraining", "BERT with the next-sentence head", arrays_of=encoder_arrays)
def bert_pretraining():
    return t.BertForPreTraining(t.BertConfig(**SMALL))


@layout("bert-headless", "sentence encoders: MiniLM, E5, BGE and others",
        arrays_of=encoder_arrays)
def bert_headless():
    return t.BertModel(t.BertConfig(**SMALL))


@layout("roberta", "RoBERTa", arrays_of=encoder_arrays)
def roberta():
    return t.RobertaForMaskedLM(t.RobertaConfig(**PADDED))


@layout("xlm-roberta", "XLM-R, multilingual E5", arrays_of=encoder_arrays)
def xlm_roberta():
    return t.XLMRobertaForMaskedLM(t.XLMRobertaConfig(**dict(PADDED, num_hidden_layers=1)))


@layout("camembert", "CamemBERT", torch.bfloat16, arrays_of=encoder_arrays)
def camembert():
    return t.CamembertForMaskedLM(t.CamembertConfig(**dict(PADDED, num_hidden_layers=1)))


@layout("distilbert", "DistilBERT", arrays_of=encoder_arrays)
def distilbert():
    return t.DistilBertForMaskedLM(t.DistilBertConfig(
        vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=24,
        max_position_embeddings=70))


@layout("electra", "ELECTRA, generator", arrays_of=encoder_arrays)
def electra():
    return t.ElectraForMaskedLM(t.ElectraConfig(**SMALL, embedding_size=20))


@layout("electra-discriminator", "ELECTRA, discriminator", arrays_of=encoder_arrays)
def electra_discriminator():
    return t.ElectraForPreTraining(t.ElectraConfig(**SMALL, embedding_size=32))


@layout("albert", "ALBERT", arrays_of=encoder_arrays)
def albert():
    sizes = dict(SIZES, num_hidden_layers=4)
    return t.AlbertForMaskedLM(t.AlbertConfig(
        **sizes, embedding_size=20, num_hidden_groups=2, hidden_act="gelu_new"))


def deberta_config(**more):
    return t.DebertaV2Config(**dict(SIZES, **more), relative_attention=True, max_relative_positions=-1,
                             pos_att_type=["p2c", "c2p"], share_att_key=True,
                             norm_rel_ebd="layer_norm", position_biased_input=False,
                             type_vocab_size=0)


@layout("deberta-v2", "DeBERTa-v2 and v3", arrays_of=encoder_arrays)
def deberta_v2():
    return t.DebertaV2ForMaskedLM(deberta_config(position_buckets=8))


@layout("deberta-v2-unbucketed", "DeBERTa layouts without buckets", arrays_of=encoder_arrays)
def deberta_unbucketed():
    return t.DebertaV2Model(deberta_config(num_hidden_layers=1))


@layout("modernbert", "ModernBERT", arrays_of=encoder_arrays)
def modernbert():
    return t.ModernBertForMaskedLM(t.ModernBertConfig(
        **dict(SIZES, num_hidden_layers=3), local_attention=8, global_attn_every_n_layers=2,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2))


@layout("nomic_bert", "Nomic Embed Text 1 and 1.5", arrays_of=encoder_arrays)
def nomic_bert():
    return t.NomicBertForMaskedLM(t.NomicBertConfig(**SIZES))


# In single precision, because the library computes some numbers in it for any weights.
@layout("xlnet", "XLNet", way=dict(EAGER, dtype=torch.float32), arrays_of=encoder_arrays)
def xlnet():
    return t.XLNetLMHeadModel(t.XLNetConfig(
        vocab_size=VOCABULARY, d_model=32, n_layer=2, n_head=4, d_inner=24))


# ---- Encoder-decoders

BART = dict(
    vocab_size=VOCABULARY,
    d_model=32,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=24,
    decoder_ffn_dim=24,
    max_position_embeddings=70,
    pad_token_id=1,
    bos_token_id=0,
    eos_token_id=2,
    decoder_start_token_id=2,
    forced_eos_token_id=None,
)


ONE = dict(BART, encoder_layers=1, decoder_layers=1)


@layout("bart", "BART, DistilBART", arrays_of=both_arrays)
def bart():
    model = t.BartForConditionalGeneration(t.BartConfig(**BART))
    model.final_logits_bias.copy_(torch.linspace(-0.5, 0.5, VOCABULARY))
    return model


@layout("mbart", "mBART, mBART-50", arrays_of=both_arrays)
def mbart():
    return t.MBartForConditionalGeneration(t.MBartConfig(**ONE, scale_embedding=True))


@layout("marian", "Marian, OPUS-MT", arrays_of=both_arrays)
def marian():
    return t.MarianMTModel(t.MarianConfig(
        **ONE, decoder_vocab_size=VOCABULARY, scale_embedding=True, activation_function="swish"))


@layout("pegasus", "Pegasus", arrays_of=both_arrays)
def pegasus():
    return t.PegasusForConditionalGeneration(t.PegasusConfig(
        **ONE, scale_embedding=True, activation_function="relu"))


@layout("pegasus-table", "Pegasus with a stored table of positions", arrays_of=both_arrays)
def pegasus_table():
    model = pegasus()
    with torch.no_grad():
        for stack in (model.model.encoder, model.model.decoder):
            stack.embed_positions.weight.copy_(0.7 * torch.randn(stack.embed_positions.weight.shape))
    return model


T5 = dict(
    vocab_size=VOCABULARY,
    d_model=32,
    d_kv=12,
    d_ff=24,
    num_layers=2,
    num_heads=4,
    relative_attention_num_buckets=8,
    relative_attention_max_distance=20,
    pad_token_id=0,
    decoder_start_token_id=0,
)


@layout("t5", "T5", arrays_of=both_arrays)
def t5():
    return t.T5ForConditionalGeneration(t.T5Config(**T5))


@layout("t5-gated", "T5 v1.1, Flan-T5", arrays_of=both_arrays)
def t5_gated():
    return t.T5ForConditionalGeneration(t.T5Config(
        **dict(T5, num_layers=1), feed_forward_proj="gated-gelu", tie_word_embeddings=False))


@layout("mt5", "mT5", arrays_of=both_arrays)
def mt5():
    return t.MT5ForConditionalGeneration(t.MT5Config(**dict(T5, num_layers=1), feed_forward_proj="gated-gelu"))


@layout("t5-encoder", "sentence encoders of T5", arrays_of=encoder_arrays)
def t5_encoder():
    return t.T5EncoderModel(t.T5Config(**dict(T5, num_layers=1)))


# ---- Images, and texts with images

IMAGE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
             image_size=12, patch_size=4)
ONE_IMAGE = dict(IMAGE, num_hidden_layers=1)
COLOURS = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.3, 0.25]}
BESIDE = {"preprocessor_config.json": COLOURS}


@layout("vit", "ViT", arrays_of=image_arrays, files=BESIDE)
def vit():
    return t.ViTModel(t.ViTConfig(**IMAGE))


@layout("deit", "DeiT", arrays_of=image_arrays, files=BESIDE)
def deit():
    return t.DeiTForImageClassificationWithTeacher(t.DeiTConfig(**ONE_IMAGE))


CLIP_TEXT = dict(SMALL, projection_dim=24, eos_token_id=98, bos_token_id=97)


@layout("clip-vision", "CLIP, image tower", arrays_of=image_arrays, files=BESIDE)
def clip_vision():
    return t.CLIPVisionModel(t.CLIPVisionConfig(**ONE_IMAGE, projection_dim=24))


@layout("clip-text", "CLIP, text tower", arrays_of=encoder_arrays)
def clip_text():
    return t.CLIPTextModel(t.CLIPTextConfig(**CLIP_TEXT))


@layout("clip", "CLIP with both towers", arrays_of=encoder_arrays)
def clip():
    return t.CLIPModel(t.CLIPConfig(
        text_config=CLIP_TEXT, vision_config=dict(ONE_IMAGE, projection_dim=24), projection_dim=24))


# ---- Windows and blocks


def window_arrays(model, seed):
    """The first token is global. Longformer reports weights by distance, after the weight on the
    global token, and the global row separately: moves them to the columns of their keys."""
    reach = model.config.attention_window[0] // 2
    plain = model.forward

    def forward(input_ids, **k):
        mask = torch.zeros_like(input_ids)
        mask[:, 0] = 1
        out = plain(input_ids=input_ids, global_attention_mask=mask, **k)
        length = out.attentions[0].shape[2]
        full = []
        for local, of_global in zip(out.attentions, out.global_attentions):
            rows = torch.zeros(*local.shape[:2], length, length, dtype=local.dtype)
            for i in range(1, length):
                rows[:, :, i, 0] = local[:, :, i, 0]
                for j in range(max(1, i - reach), min(length, i + reach + 1)):
                    rows[:, :, i, j] = local[:, :, i, 1 + j - i + reach]
            rows[:, :, 0] = of_global[:, :, :length, 0]
            full.append(rows)
        out.attentions = tuple(full)
        return out

    model.forward = forward
    return encoder_arrays(model, seed)


@layout("longformer", "Longformer", arrays_of=window_arrays)
def longformer():
    return t.LongformerForMaskedLM(t.LongformerConfig(
        **dict(PADDED, num_hidden_layers=1), attention_window=8))


@layout("big_bird", "BigBird, where its attention is full", arrays_of=encoder_arrays)
def big_bird():
    return t.BigBirdForMaskedLM(t.BigBirdConfig(**SMALL, attention_type="original_full"))


# ---- Trajectories


def trajectory_arrays(model, seed):
    arrays = {}
    c = model.config
    for steps in (1, 7, 12):
        generator = torch.Generator().manual_seed(seed + steps)
        returns = torch.rand((1, steps, 1), generator=generator).to(torch.float32)
        states = torch.randn((1, steps, c.state_dim), generator=generator).to(torch.float32)
        actions = torch.randint(0, c.act_dim, (1, steps), generator=generator)
        given = dict(states=states.double(), returns_to_go=returns.double(),
                     actions=torch.nn.functional.one_hot(actions, c.act_dim).double(),
                     rewards=None, timesteps=torch.arange(steps)[None],
                     attention_mask=torch.ones(1, steps))
        with torch.no_grad():
            out = model(**given, output_hidden_states=True, output_attentions=True)
        rows = list(range(3 * steps))
        arrays[f"{steps}/returns"] = as_array(returns[0, :, 0])
        arrays[f"{steps}/states"] = as_array(states[0])
        arrays[f"{steps}/ids"] = actions[0].numpy().astype(np.int32)
        arrays[f"{steps}/rows"] = np.array(rows, np.int32)
        add_states(arrays, f"{steps}/tap/", out.hidden_states, rows, True)
        for n, attention in enumerate(out.attentions):
            arrays[f"{steps}/attention/self.{n}"] = as_array(attention[0])
        arrays[f"{steps}/logits"] = as_array(torch.atanh(out.action_preds[0]))
    return arrays


@layout("decision_transformer", "Decision Transformer", arrays_of=trajectory_arrays)
def decision_transformer():
    return t.DecisionTransformerModel(t.DecisionTransformerConfig(
        state_dim=5, act_dim=3, hidden_size=32, n_layer=1, n_head=4, n_inner=24, max_ep_len=24,
        n_positions=8, bos_token_id=0, eos_token_id=0))


# ---- Reformer


def reformer_arrays(model, seed):
    """Arrays in single precision, because the drawn rotations depend on the number format. The library
    returns attention by chunks of sorted positions: it is compared only if a text is one chunk. The
    bias of the head is added as in transformers 4; version 5.23 omits it."""
    arrays = {}
    if hasattr(model, "lm_head"):
        model.lm_head.decoder.bias = model.lm_head.bias
    streams = []
    for layer in model.base_model.encoder.layers if hasattr(model, "lm_head") else model.encoder.layers:
        layer.register_forward_hook(
            lambda _, inputs, out: streams.append((out.attn_output, out.hidden_states)))
    chunk = min(model.config.lsh_attn_chunk_length, model.config.local_attn_chunk_length)
    for length, ids in texts(seed):
        streams.clear()
        with torch.no_grad():
            out = model(input_ids=ids, output_attentions=True)
        rows = some_rows(length)
        arrays[f"{length}/ids"] = ids[0].numpy().astype(np.int32)
        arrays[f"{length}/rows"] = np.array(rows, np.int32)
        for n, (first, second) in enumerate(streams):
            state = torch.cat([first, second], -1)
            arrays[f"{length}/tap/layers.{n}.residual"] = as_array(state[0, rows])
        if length <= chunk:
            for n, attention in enumerate(out.attentions):
                arrays[f"{length}/attention/self.{n}"] = as_array(attention[0][:, rows])
        if hasattr(out, "logits"):
            arrays[f"{length}/logits"] = as_array(out.logits[0, rows])
        else:
            arrays[f"{length}/tap/final"] = as_array(out.last_hidden_state[0, rows])
    return arrays


REFORMER = dict(
    vocab_size=VOCABULARY, hidden_size=32, num_attention_heads=2, attention_head_size=8,
    feed_forward_size=24, max_position_embeddings=80, axial_pos_shape=(10, 8),
    axial_pos_embds_dim=(12, 20), lsh_attn_chunk_length=8, local_attn_chunk_length=12,
    hash_seed=7)
SINGLE = dict(EAGER, dtype=torch.float32)


@layout("reformer", "Reformer, decoder", way=SINGLE, arrays_of=reformer_arrays)
def reformer():
    return t.ReformerModelWithLMHead(t.ReformerConfig(
        **REFORMER, attn_layers=["local", "lsh", "lsh"], num_hashes=3, num_buckets=4,
        is_decoder=True))


@layout("reformer-masked", "Reformer, masked, hashes in two factors", way=SINGLE,
        arrays_of=reformer_arrays)
def reformer_masked():
    return t.ReformerForMaskedLM(t.ReformerConfig(
        **REFORMER, attn_layers=["lsh", "local"], num_hashes=2, num_buckets=[4, 2],
        lsh_num_chunks_after=1, local_num_chunks_after=1))


@layout("reformer-headless", "Reformer without a head or axial positions", way=SINGLE,
        arrays_of=reformer_arrays)
def reformer_headless():
    return t.ReformerModel(t.ReformerConfig(
        **dict(REFORMER, lsh_attn_chunk_length=4), attn_layers=["lsh"], num_hashes=1, num_buckets=6,
        axial_pos_embds=False, is_decoder=True))


# ---- Transformer-XL, part of transformers up to version 4: TRANSFORMERS_4 is a folder with 4.35
# (pip install --no-deps --target FOLDER transformers==4.35.2 tokenizers==0.14.1
# huggingface_hub==0.17.3)


def segment_arrays(model, seed):
    """Arrays of segments of config.tgt_len tokens. The memory is initially empty, as in the paper; the
    library's own initial memory is rows of zeros. In single precision, as the library's scores."""
    arrays = {}
    model = model.float()
    c = model.config
    hidden = []
    of = getattr(model, "transformer", model)
    for layer in of.layers:
        layer.register_forward_hook(lambda _, inputs, out: hidden.append(out[0]))
    for length, ids in texts(seed):
        memory = [torch.zeros(0, 1, c.d_model, dtype=torch.float32) for _ in range(c.n_layer)]
        states, logits, attentions = [[] for _ in range(c.n_layer)], [], []
        for first in range(0, length, c.tgt_len):
            hidden.clear()
            with torch.no_grad():
                out = model(ids[:, first:first + c.tgt_len], mems=memory, output_attentions=True)
            memory = out.mems
            for n, state in enumerate(hidden):
                states[n].append(state[:, 0])
            given = (getattr(out, "logits", None) if hasattr(out, "prediction_scores") or
                     hasattr(out, "losses") else None)
            if given is not None and not c.cutoffs:  # the library returns log-probabilities
                head = model.crit
                with torch.no_grad():
                    given = head._compute_logit(hidden[-1].transpose(0, 1), head.out_layers[0].weight,
                                                head.out_layers[0].bias, head.out_projs[0])
            logits.append(given)
            attentions.append(out.attentions)
        rows = some_rows(length)
        arrays[f"{length}/ids"] = ids[0].numpy().astype(np.int32)
        arrays[f"{length}/rows"] = np.array(rows, np.int32)
        for n, pieces in enumerate(states):
            name = "final" if n == c.n_layer - 1 else f"layers.{n}.residual"
            arrays[f"{length}/tap/{name}"] = as_array(torch.cat(pieces)[rows])
        if length <= c.tgt_len:
            for n, attention in enumerate(attentions[0]):
                arrays[f"{length}/attention/self.{n}"] = as_array(attention[0][:, rows])
        if logits[0] is not None:
            arrays[f"{length}/logits"] = as_array(torch.cat([x[0] for x in logits])[rows])
    return arrays


def transfo_xl_config(**more):
    from transformers import TransfoXLConfig
    return TransfoXLConfig(**dict(
        dict(vocab_size=VOCABULARY, cutoffs=[20, 60], d_model=32, d_embed=32, n_head=4, d_head=8,
             d_inner=24, div_val=2, n_layer=2, mem_len=20, tgt_len=16, clamp_len=14,
             same_length=True), **more))


if hasattr(t, "TransfoXLLMHeadModel"):
    OLDER = dict(torch_dtype=torch.float32)

    @layout("transfo-xl", "Transformer-XL", torch.float32, way=OLDER,
            arrays_of=segment_arrays)
    def transfo_xl():
        return t.TransfoXLLMHeadModel(transfo_xl_config())

    @layout("transfo-xl-plain", "Transformer-XL, tables of one width, shared biases",
            torch.float32, way=OLDER, arrays_of=segment_arrays)
    def transfo_xl_plain():
        return t.TransfoXLLMHeadModel(transfo_xl_config(
            div_val=1, untie_r=False, same_length=False, clamp_len=-1))

    @layout("transfo-xl-projected", "Transformer-XL, tables narrower than the model",
            torch.float32, way=OLDER, arrays_of=segment_arrays)
    def transfo_xl_projected():
        return t.TransfoXLLMHeadModel(transfo_xl_config(n_layer=1, d_embed=24))

    @layout("transfo-xl-projected-plain", "Transformer-XL, one table wider than the model",
            torch.float32, way=OLDER, arrays_of=segment_arrays)
    def transfo_xl_projected_plain():
        return t.TransfoXLLMHeadModel(transfo_xl_config(n_layer=1, d_embed=40, div_val=1))

    @layout("transfo-xl-single", "Transformer-XL, one narrower table without clusters",
            torch.float32, way=OLDER, arrays_of=segment_arrays)
    def transfo_xl_single():
        return t.TransfoXLLMHeadModel(transfo_xl_config(
            n_layer=1, d_embed=24, div_val=1, cutoffs=[]))

    @layout("transfo-xl-headless", "Transformer-XL without a head", torch.float32,
            way=OLDER, arrays_of=segment_arrays)
    def transfo_xl_headless():
        return t.TransfoXLModel(transfo_xl_config(n_layer=1))
