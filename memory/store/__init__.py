"""Where memories are kept: SQLite or PostgreSQL, one journal, one projection, one transaction per change.

- `database`: `Store`. `backend`: open, create, migrate; locks; faults; with `sqlite` and `postgres`.
- `tables`, `rows`, `values`, `journal`: the schema, rows as values, the form of the journal.
- `selection`, `text_index`, `fts5`, `postings`: what a search asks for, and the index of words.
- `reading`: what can be asked, of `current`, `past`, `decided` and `derived` matters.
- `writing`: what can be done, by `changing`, `using`, `deciding`, `deriving`, `importing`, `expunge`.
- `check`: does everything agree?

All of it imports SQLAlchemy (0.3 s); load `memory.store.database` only in the memory's process.
"""
