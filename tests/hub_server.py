"""A server on loopback that speaks the part of the Hugging Face hub's API that downloads need.

    with HubServer() as hub:
        sets = hub.add("owner/name", {"test.parquet": b"..."})
        ... run with HF_ENDPOINT=hub.url ...
        hub.seen            # (method, path) in order of arrival

It goes wrong exactly when it is told to: `sets.gated`, `sets.faults[path]`. Files whose name is in
`large` are LFS files: their content comes from another address, behind a redirect, as the hub does
it, and their SHA-256 is in the listing; the others are listed with git's blob id.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_" + "a" * 34
WEAK_TOKEN = "hf_" + "b" * 34  # one whose account has not accepted the terms
PAGE = 100  # entries of a listing before the next page


@dataclass
class Repo:
    """A data set: its commits, and what goes wrong with its files.

    `faults`, by path: "broken N" breaks the first N transfers off halfway (every one, if N is 0,
    and sends nothing of the rest); "wrong" sends other bytes of the same length; "short" sends
    fewer than listed, soundly; "gone" lists the file and gives it not; "status N" answers so, and
    with the path "" whatever is asked of the API; "slow" sends half, and the rest at `go_on`.
    """

    name: str
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    large: tuple[str, ...] = ()
    gated: bool = False
    licence: str = "apache-2.0"
    faults: dict[str, str] = field(default_factory=dict)

    def push(self, files: dict[str, bytes]) -> str:
        """Make `files` the newest commit of main, and return its id."""
        commit = hashlib.sha1(f"{self.name} {len(self.commits)}".encode()).hexdigest()
        self.commits[commit] = dict(files)
        self.refs["main"] = commit
        return commit

    def is_large(self, path: str) -> bool:
        return path.endswith((".parquet", ".zip", *self.large))


def git_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class HubServer:
    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.seen: list[tuple[str, str]] = []
        self.ranges: list[str] = []
        self.tokens: list[tuple[str, str]] = []  # (path, the Authorization that came with it)
        self.broken: dict[str, int] = {}
        self.halfway = threading.Event()  # a slow transfer has sent its first half
        self.go_on = threading.Event()
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.cdn = self.url.replace("127.0.0.1", "localhost")  # another host, as the hub's is

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, files: dict[str, bytes], **settings: Any) -> Repo:
        repo = self.repos[name] = Repo(name, **settings)
        repo.push(files)
        return repo

    def got(self, path: str) -> int:
        """How often the content of a file was sent for."""
        return sum(method == "GET" and seen.endswith(f"/{path}") for method, seen in self.seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: HubServer

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.path, _, query = self.path.partition("?")
        self.hub.seen.append((self.command, unquote(self.path)))
        self.hub.tokens.append((self.path, self.headers.get("Authorization", "")))
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        match parts:
            case ["api", "datasets", owner, name, "revision", revision]:
                self._info(f"{owner}/{name}", revision)
            case ["api", "datasets", owner, name, "tree", revision, *_]:
                self._tree(f"{owner}/{name}", revision, int(parse_qs(query).get("at", ["0"])[0]))
            case ["datasets", owner, name, "resolve", revision, *path]:
                self._resolve(f"{owner}/{name}", revision, "/".join(path))
            case ["cdn", owner, name, commit, *path]:
                repo = self.hub.repos[f"{owner}/{name}"]
                self._content(repo, commit, "/".join(path), {})
            case _:
                self._fail(404, "", "Not here")

    # what the hub's API says

    def _found(self, name: str, revision: str) -> tuple[Repo, str] | None:
        repo = self.hub.repos.get(name)
        if repo is not None and (fault := repo.faults.get("")):
            self._fail(int(fault.split()[1]), "", "As told")
            return None
        if repo is None:  # the hub does not tell a missing one from a private one
            self._fail(404 if self._token() else 401, "RepoNotFound", "Repository not found")
            return None
        commit = repo.refs.get(revision, revision)
        if commit not in repo.commits:
            self._fail(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return None
        return repo, commit

    def _info(self, name: str, revision: str) -> None:
        if found := self._found(name, revision):
            repo, commit = found
            self._json(
                {
                    "_id": "1",
                    "id": name,
                    "sha": commit,
                    "private": False,
                    "gated": "auto" if repo.gated else False,
                    "tags": [],
                    "downloads": 0,
                    "likes": 0,
                    "cardData": {"license": repo.licence} if repo.licence else {},
                    "siblings": [{"rfilename": path} for path in repo.commits[commit]],
                }
            )

    def _tree(self, name: str, revision: str, at: int) -> None:
        if found := self._found(name, revision):
            repo, commit = found
            entries = []
            for path, content in repo.commits[commit].items():
                entry: dict[str, Any] = {
                    "type": "file",
                    "oid": git_id(content),
                    "size": len(content),
                    "path": path,
                }
                if repo.is_large(path):
                    entry["lfs"] = {
                        "oid": sha256(content),
                        "size": len(content),
                        "pointerSize": 134,
                    }
                entries.append(entry)
            folders = {path.rpartition("/")[0] for path in repo.commits[commit]} - {""}
            entries += [{"type": "directory", "oid": "0" * 40, "path": path} for path in folders]
            after = at + PAGE
            link = {}
            if after < len(entries):
                link["Link"] = f'<{self.hub.url}{self.path}?recursive=True&at={after}>; rel="next"'
            self._json(entries[at:after], link)

    def _resolve(self, name: str, revision: str, path: str) -> None:
        found = self._found(name, revision)
        if found is None:
            return
        repo, commit = found
        if repo.gated and self._token() != TOKEN:
            status = 403 if self._token() else 401
            self._fail(status, "GatedRepo", f"Access to dataset {name} is restricted.")
            return
        fault = repo.faults.get(path, "")
        content = repo.commits[commit].get(path)
        if content is None or fault == "gone":
            self._fail(404, "EntryNotFound", "Entry not found")
            return
        if fault.startswith("status"):
            self._fail(int(fault.split()[1]), "", "As told")
            return
        headers = {"X-Repo-Commit": commit}
        if repo.is_large(path):
            headers["X-Linked-Etag"] = f'"{sha256(content)}"'
            headers["X-Linked-Size"] = str(len(content))
            headers["Location"] = f"{self.hub.cdn}/cdn/{name}/{commit}/{path}?Signature=secret"
            self._send(302, b"", headers)
            return
        self._content(repo, commit, path, headers | {"ETag": f'"{git_id(content)}"'})

    # bytes

    def _content(self, repo: Repo, commit: str, path: str, headers: dict[str, str]) -> None:
        content = repo.commits[commit][path]
        fault = repo.faults.get(path, "")
        if self.command == "GET" and fault == "wrong":
            content = bytes(byte ^ 1 for byte in content)
        if self.command == "GET" and fault == "short":
            content = content[: len(content) // 2]
        start = 0
        status = 200
        headers = headers | {"Accept-Ranges": "bytes"}
        if asked := self.headers.get("Range"):
            self.hub.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = content[start:]
        if self.command == "GET" and fault.startswith("broken"):
            times = int(fault.split()[1])
            sofar = self.hub.broken[path] = self.hub.broken.get(path, 0) + 1
            if times == 0 or sofar <= times:
                sent = b"" if start else body[: len(body) // 2]
                self._send(status, sent, headers, length=len(body))
                self.wfile.flush()
                self.close_connection = True
                return
        if self.command == "GET" and fault == "slow":
            self._send(status, body[: len(body) // 2], headers, length=len(body))
            self.wfile.flush()
            self.hub.halfway.set()
            self.hub.go_on.wait(60)
            self.wfile.write(body[len(body) // 2 :])
            return
        self._send(status, body, headers)

    def _json(self, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self._send(200, body, {"Content-Type": "application/json", **(headers or {})})

    def _fail(self, status: int, code: str, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        headers = {"X-Error-Message": message, "Content-Type": "application/json"}
        self._send(status, body, headers | ({"X-Error-Code": code} if code else {}))

    def _send(
        self, status: int, body: bytes, headers: dict[str, str], length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")
