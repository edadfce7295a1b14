"""What went wrong between here and the hub, each kind in one sentence that says what to do."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hardset.errors import UsageError

if TYPE_CHECKING:
    from hardset.sources.hub import Hub

INSTEAD = (
    "pass --data with a file or folder that is here, or run `hardset fetch` once where there is a "
    "network"
)


class WrongFileError(OSError):
    """A file arrived that is not the one the hub lists; it was deleted."""


def explain(error: Exception, hub: Hub, revision: str) -> UsageError:
    """Return the one sentence for an error of huggingface_hub or of the system below it."""
    from huggingface_hub import constants, errors, get_token

    causes = list(_causes(error))
    page = f"{constants.ENDPOINT}/{hub.kind}s/{hub.repo}"
    response = next((r for e in causes if (r := getattr(e, "response", None)) is not None), None)
    status = getattr(response, "status_code", 0)
    full = next((e for e in causes if getattr(e, "errno", None) in FULL), None)

    def caused(*kinds: type[BaseException]) -> bool:
        return any(isinstance(each, kinds) for each in causes)

    if caused(WrongFileError):
        return UsageError(
            f"{hub.repo} on the hub: {error}; it was fetched twice and deleted: run the same "
            f"command again, and if it recurs, tell the publishers at {page}/discussions"
        )
    if full is not None:
        return UsageError(
            f"the disk is full at {constants.HF_HUB_CACHE}: free some space, or set HF_HOME to a "
            "folder on another disk; what is complete stays"
        )
    if caused(errors.OfflineModeIsEnabled):
        return UsageError(
            f"{hub.repo} is not on this machine and HF_HUB_OFFLINE forbids to fetch it: {INSTEAD}"
        )
    if caused(errors.GatedRepoError) or (hub.gated and status in (401, 403)):
        return UsageError(_gated(hub, page, bool(get_token())))
    if caused(errors.RevisionNotFoundError):
        return UsageError(
            f"{hub.repo} on the hub has no revision {revision!r}; {page}/commits/main lists them"
        )
    if caused(errors.RepositoryNotFoundError):
        seen = "the token that is set does not see it" if get_token() else "no token is set"
        return UsageError(
            f"there is no {hub.kind} {hub.repo} on the hub (or it is private, and {seen}), and no "
            "file or folder of that name here: check the name"
        )
    if status == 401:
        return UsageError(
            f"the hub does not take the token that is set (status 401 for {hub.repo}): make a new "
            "one at https://huggingface.co/settings/tokens and set HF_TOKEN, or unset it"
        )
    if caused(errors.RemoteEntryNotFoundError):
        return UsageError(
            f"{hub.repo} lists a file at {revision} that the hub does not give (404): try again "
            f"with --update, or another --revision from {page}/commits/main"
        )
    if status in (403, 429) or status >= 500:
        why = {403: "the token may not read it", 429: "too many requests"}.get(status, "its fault")
        return UsageError(
            f"the hub answered with status {status} for {hub.repo} ({why}): try again later, or "
            "pass --data with a file or folder that is here"
        )
    if broke_off(error):
        return UsageError(
            f"a file of {hub.repo} broke off on its way, again and again: run the same command "
            "again later; what is complete stays"
        )
    if any(_of_network(each) for each in causes) or caused(ConnectionError, TimeoutError):
        return UsageError(
            f"the hub cannot be reached for {hub.repo} ({_reason(causes)}): {INSTEAD}"
        )
    return UsageError(f"{hub.repo} cannot be fetched: {_reason(causes)}; {INSTEAD}")


FULL = (errno.ENOSPC, errno.EDQUOT)


def transient(error: Exception) -> bool:
    """Say whether one more try may mend it; what the library has tried again itself is not."""
    return isinstance(error, WrongFileError) or (
        broke_off(error) and not any(_named(each, "RemoteProtocolError") for each in _causes(error))
    )


def broke_off(error: BaseException) -> bool:
    """Say whether a transfer ended before the file did."""
    return "Consistency check failed" in str(error) or any(
        _named(each, "ReadError", "RemoteProtocolError", "IncompleteRead", "ChunkedEncodingError")
        for each in _causes(error)
    )


def _named(error: BaseException, *names: str) -> bool:
    return _of_network(error) and type(error).__name__ in names


def _gated(hub: Hub, page: str, token: bool) -> str:
    if token:
        return (
            f"{hub.repo} is gated and the token that is set may not read it: accept its terms at "
            f"{page} with the account of the token, or give the token the right to read gated "
            "data sets at https://huggingface.co/settings/tokens"
        )
    return (
        f"{hub.repo} is gated: accept its terms at {page}, then set HF_TOKEN to a token of your "
        "account (or run `hf auth login`)"
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, down to the first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _of_network(error: BaseException) -> bool:
    """Say whether an error is one of the HTTP library's, which differs between versions."""
    return type(error).__module__.partition(".")[0] in ("httpx2", "httpx", "requests", "urllib3")


_ADDRESS = re.compile(r"https?://\S+")


def _reason(causes: list[BaseException]) -> str:
    """Return the first cause's own words: one line, and no address, which may be a signed one."""
    first = causes[-1]
    words = _ADDRESS.sub("(address)", str(first).strip().partition("\n")[0])[:160]
    return f"{type(first).__name__}: {words}" if words else type(first).__name__
