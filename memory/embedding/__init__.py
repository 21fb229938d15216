"""Texts as unit vectors: one small port, three ways to fill it, and a choice that always works.

`port` says what an embedder is. `minilm` runs weights that were installed as a package, `openai` asks a
server for ``/v1/embeddings``, `hashing` needs nothing and compares words only. `choose` picks one by the
settings and falls back to `hashing` with a reason. `cache` remembers vectors of queries.

Importing any module of this package loads numpy; onnxruntime, tokenizers and httpx2 come with first use.
"""
