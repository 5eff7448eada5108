"""CLIP and Instructor with random weights and a few thousand parameters, as folders on disk.

Torch and its libraries take seconds to import, so only the worker that makes a model does it.
"""

SENTENCES = ["the forest is wide", "a fair tree learns", "represent a comment", "toxic or not toxic"]


def tiny_clip(folder):
    """The whole of CLIP, text side too, as the hub's folders have it."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel

    torch.manual_seed(0)
    side = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    CLIPModel(CLIPConfig(text_config={**side, "vocab_size": 64}, projection_dim=12, vision_config={
        **side, "image_size": 32, "patch_size": 8, "projection_dim": 12})).save_pretrained(folder)
    CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def tiny_instructor(folder):
    """A T5 encoder, pooling, projection and normalisation, as Instructor's folders have it."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, T5Config, T5EncoderModel

    torch.manual_seed(0)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(SENTENCES * 20, trainers.UnigramTrainer(
        vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False))
    base = folder / "base"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
                            model_max_length=256).save_pretrained(base)
    T5EncoderModel(T5Config(vocab_size=tokenizer.get_vocab_size(), d_model=16, d_kv=8, d_ff=32, num_layers=2,
                            num_heads=2)).save_pretrained(base)
    transformer = Transformer(str(base))
    SentenceTransformer(modules=[transformer, Pooling(16, "mean"), Dense(16, 12, bias=False), Normalize()]).save(
        str(folder / "model"))
    return folder / "model"
