"""The store: one SQLite file that remembers every reply, and what was found in every image.

    replies   key -> reply      never asked again
    failures  key -> reply      why there is none; asked again by the next run, gone on success
    files     where, stamp -> sha256 of the bytes that were there
    media     sha256 -> what `images.Library` found in those bytes

It holds no prompts, no image bytes and no secrets. Several processes may use one store.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

import msgspec

from hardset.errors import UsageError
from hardset.records import Reply

SCHEMA = 1
APPLICATION = 0x48534554  # "HSET" in the file's header: an SQLite file of ours
BUSY_SECONDS = 60.0  # how long to wait for another process's commit
KEYS_PER_QUERY = 500  # SQLite builds before 3.32 take 999 parameters
MEDIA_PER_COMMIT = 512  # images found, not yet committed: a crash only costs looking again

_TABLES = """
CREATE TABLE replies (key BLOB PRIMARY KEY, model TEXT NOT NULL, reply TEXT NOT NULL,
                      created REAL NOT NULL);
CREATE TABLE failures (key BLOB PRIMARY KEY, model TEXT NOT NULL, reply TEXT NOT NULL,
                       created REAL NOT NULL);
CREATE TABLE files (place TEXT PRIMARY KEY, stamp TEXT NOT NULL, sha256 TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE media (sha256 TEXT PRIMARY KEY, found BLOB NOT NULL) WITHOUT ROWID;
"""

_WAYS_OUT = {
    "locked": "; another program holds it: let that end, and run the same command again",
    "disk is full": "; make room and run the same command again: what was committed is kept",
    "unable to open": "; it is a folder, or its own folder cannot be written to",
    "readonly": "; give it a place that can be written to",
}

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Reply).decode


class StoreError(UsageError):
    """The store cannot be read or written; the message says which file and what to do."""


class Entry(NamedTuple):
    """One row to commit: a reply's JSON under its key, or why there is none."""

    key: bytes
    model: str
    reply: str
    failed: bool


def sound(reply: Reply) -> Reply:
    """Return the reply as the store will give it back.

    Half surrogate pairs, which UTF-8 cannot hold, become U+FFFD.

    Raises:
        TypeError: it is no reply.
        ValueError: one of its fields holds what it must not.
    """
    if not isinstance(reply, Reply):
        raise TypeError(f"{type(reply).__name__} in place of a Reply")
    try:
        encoded = _encode(reply)
    except UnicodeEncodeError:
        text = reply.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        encoded = _encode(msgspec.structs.replace(reply, text=text))
    return _decode(encoded)


def entry(key: bytes, model: str, reply: Reply) -> Entry:
    """Make the row for a sound reply. A failure of the row, not of the model, is kept apart."""
    failed = reply.failure is not None and reply.failure.state.failed
    return Entry(key, model, _encode(reply).decode(), failed)


class Store:
    """Replies by key, durable once committed, and the memory of `images.Library`.

    Any thread may call any method. Use it as a context manager, or close it.

    Raises:
        StoreError: from every method, where the file is not a store, is from another version,
            is damaged, or cannot be written.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._local = threading.local()  # a reading connection a thread: WAL lets them read on
        self._opened: list[sqlite3.Connection] = []
        self._writing = threading.Lock()
        self._finding = threading.Lock()  # over the two below, for a moment only
        self._files: dict[str, tuple[str, str]] = {}  # found, waiting for the next commit
        self._media: dict[str, bytes] = {}
        with self._said():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._connect()
        try:
            with self._said():
                self._prepare()
        except BaseException:
            self._writer.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is waiting and close the file. Closing twice is closing once."""
        try:
            if self._files or self._media:
                self.commit(())
        finally:
            with self._writing:  # a commit in another thread is finished first
                for connection in self._opened:
                    connection.close()
                self._opened.clear()

    def leave(self) -> None:
        """Close what the calling thread reads by, and its cache; it may read again all the same."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            self._opened.remove(connection)
            connection.close()

    # Replies

    def replies(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """Read the replies that are stored under any of the keys."""
        return self._decoded(self._select("key, reply", "replies", keys))

    def failures(self, keys: Sequence[bytes], since: float = 0.0) -> dict[bytes, Reply]:
        """Read why there is no reply for any of the keys, where it failed at or after `since`.

        Args:
            keys: at most as many as there is memory for their replies.
            since: seconds since the epoch.
        """
        rows = self._select("key, reply", "failures", keys, "AND created >= ?", (since,))
        return self._decoded(rows)

    def held(self, keys: Sequence[bytes]) -> set[bytes]:
        """Say which of the keys have a reply, without reading it."""
        return {key for (key,) in self._select("key", "replies", keys)}

    def put(self, replies: Iterable[tuple[bytes, Reply]], model: str) -> None:
        """Commit replies, and failures apart from them. When it returns they are durable."""
        self.commit([entry(key, model, sound(reply)) for key, reply in replies])

    def commit(self, entries: Sequence[Entry]) -> None:
        """Commit rows in one transaction, with whatever was found in images meanwhile.

        The first reply under a key stands; the last failure does.
        """
        now = time.time()
        good = [(row.key, row.model, row.reply, now) for row in entries if not row.failed]
        bad = [(row.key, row.model, row.reply, now) for row in entries if row.failed]
        with self._said(), self._writing:
            with self._finding:
                files, media = list(self._files.items()), list(self._media.items())
            with _transaction(self._writer):
                run = self._writer.executemany
                run("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?)", good)
                run("DELETE FROM failures WHERE key = ?", [row[:1] for row in good])
                run("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", bad)
                run("INSERT OR REPLACE INTO media VALUES (?, ?)", media)
                places = [(place, *there) for place, there in files]
                run("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", places)
            with self._finding:
                _forget(self._files, files)
                _forget(self._media, media)

    # What `images.Library` remembers

    def recall_file(self, where: str, stamp: str) -> str | None:
        """Say the SHA-256 of a place's bytes, if its stamp is still the one remembered."""
        waiting = self._files.get(where)
        if waiting is None:
            query = "SELECT stamp, sha256 FROM files WHERE place = ?"
            with self._said():
                waiting = self._reader().execute(query, (where,)).fetchone()
        return waiting[1] if waiting is not None and waiting[0] == stamp else None

    def remember_file(self, where: str, stamp: str, sha256: str) -> None:
        """Remember which bytes are at a place; committed with the next group."""
        with self._finding:
            self._files[where] = (stamp, sha256)
        self._commit_found()

    def recall_media(self, sha256: str) -> bytes | None:
        """Say what was found in some bytes, in the library's own words."""
        found = self._media.get(sha256)
        if found is None:
            query = "SELECT found FROM media WHERE sha256 = ?"
            with self._said():
                row = self._reader().execute(query, (sha256,)).fetchone()
            found = None if row is None else row[0]
        return found

    def remember_media(self, sha256: str, found: bytes) -> None:
        """Remember what was found in some bytes; committed with the next group."""
        with self._finding:
            self._media[sha256] = found
        self._commit_found()

    def _commit_found(self) -> None:
        if len(self._files) + len(self._media) >= MEDIA_PER_COMMIT:
            self.commit(())

    # SQLite

    def _decoded(self, rows: Iterable[tuple[bytes, ...]]) -> dict[bytes, Reply]:
        with self._said():
            return {key: _decode(reply) for key, reply in rows}

    def _select(
        self,
        columns: str,
        table: str,
        keys: Sequence[bytes],
        condition: str = "",
        values: tuple[float, ...] = (),
    ) -> Iterator[tuple[bytes, ...]]:
        for start in range(0, len(keys), KEYS_PER_QUERY):
            some = keys[start : start + KEYS_PER_QUERY]
            marks = ",".join("?" * len(some))
            query = f"SELECT {columns} FROM {table} WHERE key IN ({marks}) {condition}"
            with self._said():
                rows = self._reader().execute(query, (*some, *values)).fetchall()
            yield from rows

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._opened.append(connection)
        return connection

    def _prepare(self) -> None:
        """Make a new file a store, or see that the file is one; set how it is written."""
        connection = self._writer
        # Writing is locked first: of two processes that start on a new file, one makes the tables.
        with _transaction(connection):
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not (version or application or tables):
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            elif application != APPLICATION:
                raise StoreError(
                    f"{self.path} is an SQLite file, but not a store of replies; "
                    "name another file for the store."
                )
            elif version != SCHEMA:
                raise StoreError(
                    f"{self.path} is a store of version {version}, and this hardset reads "
                    f"version {SCHEMA}; use the hardset that made it, or name a new store."
                )
        _write_ahead(connection)
        # A commit is appended to the write-ahead log. The log is the kernel's once written, so
        # SIGKILL loses nothing that was committed, whatever `synchronous` says. FULL also waits
        # for the disk at every commit, so power loss loses nothing either (NORMAL could lose the
        # commits since the last checkpoint). Replies cost money and groups make the waits few.
        connection.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Turn SQLite's errors into one sentence with the file's name and the way out."""
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # ours: a closed store, a wrong query
        except sqlite3.OperationalError as error:
            way = next((way for words, way in _WAYS_OUT.items() if words in str(error)), "")
            raise StoreError(f"The store {self.path} cannot be used: {error}{way}.") from error
        except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
            raise StoreError(
                f"The store {self.path} is damaged or is no SQLite file ({error}); "
                "move it away to start a new one, or name another."
            ) from error
        except OSError as error:
            raise StoreError(f"The store {self.path} cannot be made: {error}.") from error


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _forget(waiting: dict[str, T], committed: list[tuple[str, T]]) -> None:
    """Drop what was committed, unless something newer was found meanwhile."""
    for key, found in committed:
        if waiting.get(key) is found:
            del waiting[key]


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that reading goes on while a group is committed.

    SQLite does not wait for other processes here, so this does. Where the file system cannot
    (some network drives), the rollback journal stays, which is as durable.
    """
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
