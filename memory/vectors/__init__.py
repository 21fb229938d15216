"""Vectors by the number of their record, searched by cosine: one small port and what fills it.

`port` says what an index is. `brute` compares with every vector, exactly, in memory. `chroma` keeps a local
Chroma store and `chroma_http` uses a Chroma server; `auto` puts either beside `brute` where there are many
vectors. None of them is the truth: each can be thrown away and filled again.

Importing any module of this package loads numpy; chromadb and httpx2 come with the first use of theirs.
"""
