"""Which arguments' names and which words tell something about the topic of a call."""

from __future__ import annotations

KEY_NAMES = frozenset(
    (
        *("query", "q", "question", "questions", "search", "term", "terms", "keyword", "keywords"),
        *("title", "subject", "topic", "topics", "theme", "headline", "summary", "heading"),
        *("message", "description", "prompt", "task", "issue", "problem", "error", "exception"),
        *("text", "comment", "body", "content", "note", "notes", "reason", "goal", "intent"),
        *("name", "names", "symbol", "symbols", "function", "method", "identifier", "feature"),
        *("instruction", "instructions", "request", "purpose", "context", "thought", "command"),
        *("label", "labels", "tag", "tags", "category", "component", "entity", "entities"),
        *("expression", "statement", "jql", "sql", "package", "library", "module"),
    )
)
"""Arguments whose text says what a call is about; also as the last part of a longer name."""

PATH_NAMES = frozenset(
    (
        *("path", "paths", "file", "files", "filename", "file_name", "filepath", "file_path"),
        *("uri", "url", "urls", "uris", "href", "link", "dir", "directory", "folder", "source"),
        *("destination", "target", "glob", "globs", "pattern", "patterns", "regex", "include"),
        *("relative_path", "absolute_path", "target_file", "file_paths", "notebook_path"),
        *(
            "folder_path",
            "directory_path",
            "resource",
            "document",
            "page_url",
            "repo",
            "repository",
        ),
    )
)
"""Arguments that are places even when nothing else shows it."""

SCOPE_NAMES = frozenset(
    (
        *("repo", "repository", "repos", "repositories", "dir", "directory", "folder"),
        *("folder_path", "directory_path"),
    )
)
"""Places in which something is looked for: beside a question they say little."""

FOLDER_OR_FILE_NAMES = frozenset(
    ("path", "paths", "target", "source", "include", "relative_path", "absolute_path")
)
"""Places of which only the value shows whether it is a folder."""

OPAQUE_NAMES = frozenset(
    (
        *("password", "passwd", "passphrase", "secret", "secrets", "token", "cookie", "cookies"),
        *("credential", "credentials", "authorization", "auth", "apikey", "signature", "bearer"),
        *("cursor", "hash", "sha", "checksum", "etag", "nonce", "session", "id", "ids", "uuid"),
        *("format", "encoding", "mime", "mimetype", "accept", "timezone", "locale", "charset"),
        *("cwd", "root", "workdir", "workspace", "since", "until", "before", "after"),
    )
)
"""Parts of names of arguments that never say what a call is about, or must not be told."""

PERSON_NAMES = frozenset(
    ("user_name", "username", "first_name", "last_name", "full_name", "display_name", "host_name")
)

VERBS = frozenset(
    (
        *("get", "list", "read", "search", "find", "show", "view", "fetch", "query", "lookup"),
        *("describe", "load", "open", "check", "run", "call", "execute", "exec", "do", "make"),
        *("set", "put", "add", "use", "browse", "retrieve", "select", "count", "scan", "return"),
        *("create", "update", "delete", "remove", "write", "edit", "send", "push", "start", "stop"),
    )
)
"""In a tool's name they say what it does, not what about."""

QUIET_WORDS = frozenset(
    (
        # Function words.
        *("the", "and", "for", "with", "from", "this", "that", "these", "those", "into", "onto"),
        *("what", "how", "why", "when", "where", "which", "who", "are", "was", "were", "been"),
        *("has", "have", "had", "does", "did", "can", "could", "will", "would", "should", "may"),
        *("not", "but", "all", "any", "some", "our", "your", "you", "its", "his", "her", "their"),
        *("about", "please", "there", "here", "then", "than", "also", "just", "let", "out"),
        *("now", "new", "old", "one", "two", "use", "using", "used", "via", "per", "more", "most"),
        *("true", "false", "null", "none", "yes", "undefined", "default", "every", "each", "only"),
        # Places that every project has, and endings of files.
        *("src", "lib", "libs", "bin", "usr", "var", "tmp", "temp", "opt", "etc", "home", "users"),
        *(
            "root",
            "mnt",
            "srv",
            "work",
            "app",
            "apps",
            "code",
            "projects",
            "project",
            "repo",
            "repos",
        ),
        *("workspace", "workspaces", "documents", "desktop", "downloads", "node", "modules"),
        *("dist", "build", "out", "target", "public", "static", "assets", "index", "main", "init"),
        *("mod", "test", "tests", "spec", "readme", "license", "dev", "proc", "sys", "github"),
        *("www", "com", "org", "net", "http", "https", "html", "htm", "php", "json", "jsonl"),
        *("yaml", "yml", "toml", "xml", "csv", "txt", "log", "pdf", "png", "jpg", "svg", "css"),
        *("tsx", "jsx", "mjs", "cjs", "cpp", "hpp", "java", "lock", "blob", "tree", "raw", "head"),
        *("master", "git", "localhost", "localdomain", "api", "utils", "util", "helpers"),
        # What a tool or an upstream is called without saying what it is about.
        *("mcp", "server", "tool", "tools", "file", "files", "folder", "folders", "directory"),
        *("data", "item", "items", "list", "content", "contents", "text", "info", "information"),
        *("result", "results", "resource", "resources", "value", "values", "object", "objects"),
        *("multiple", "many", "batch", "single", "media", "details", "detail", "entry", "entries"),
        *("path", "paths", "name", "names", "type", "types", "query", "search", "get", "find"),
        *("show", "read", "allowed", "directories", "string", "args", "option", "options"),
    )
)
"""Words that mean nothing to a memory, in lower case."""
