"""What went wrong at an endpoint, as a `Failure`: what is worth asking again, and what is not.

The rules, in the order they are tried: a content policy spoke; the key or the model is wrong
(no other request can fare better); the endpoint is busy or broken (worth asking again); it
does not accept this request (final, for this request).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from hardset.records import Failure, State

BUSY = frozenset({408, 409, 425, 429})  # and every 5xx
POLICY_CODES = frozenset({
    "content_filter", "content_policy_violation", "data_inspection_failed",
    "datainspectionfailed", "image_content_policy_violation", "moderation_blocked",
    "prohibited_content", "responsibleaipolicyviolation",
})  # fmt: skip
POLICY_PHRASES = (
    "content exists risk", "content filter", "content management policy", "content policies",
    "content policy", "flagged as potentially", "inappropriate content", "prohibited content",
    "prohibited_content", "requires moderation", "safety system", "usage guidelines",
    "usage policies", "usage policy", "敏感",
)  # fmt: skip
NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
WRONG_KEY = ("api key not valid", "incorrect api key", "invalid api key", "invalid_api_key")
NEVER = frozenset({"unsupported_parameter", "unsupported_value", "model_not_found"})


@dataclass(frozen=True)
class Endpoint:
    """Who is asked, as far as messages need it; the key is here only to be kept out of them."""

    title: str
    address: str
    model: str
    key_env: str
    key: str = field(default="", repr=False)

    def scrub(self, text: str) -> str:
        """Return the text without the key, or the half-masked key some servers send back."""
        if len(self.key) < 8:  # "EMPTY" and such are no secrets
            return text
        if self.key[:6] not in text:
            return text
        text = text.replace(self.key, "[key]")
        return re.sub(re.escape(self.key[:6]) + r"[\w*.…-]*", "[key]", text)

    def failed(self, reason: str, **more: Any) -> Failure:
        """Make a failed request's failure, with the key kept out."""
        return Failure(state=State.REQUEST_FAILED, reason=self.scrub(reason), **more)


def of_status(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """Say what an HTTP status other than 200 means."""
    error = read_error(body)
    if 300 <= status < 400:
        to = headers.get("Location", "another address")
        return endpoint.failed(
            f"{endpoint.address} redirects ({status}) to {shorten(to)}, which is not followed "
            "(it could take the key elsewhere): give that address with --base-url",
            hopeless=True,
        )
    if status < 300:
        return endpoint.failed(f"{endpoint.title} answered {status}, without a chat reply")
    return of_error(endpoint, error, status, retry_after(headers, body))


def of_error(
    endpoint: Endpoint, error: tuple[str, str], status: int, wait: float | None = None
) -> Failure:
    """Say what an error object means; `status` is its own, where it came inside a 200."""
    code, message = error
    who, said = endpoint.title, f": {message}" if message else ""
    if status < 500 and speaks_of_policy(code, message):
        refused = endpoint.scrub(f"{who} refused by its content policy ({status}){said}")
        return Failure(state=State.PROVIDER_REFUSED, reason=refused)
    low = f"{code} {message}".lower()
    if status == 401 or any(words in low for words in WRONG_KEY):
        where = endpoint.key_env
        if endpoint.key:
            reason = f"{who} does not accept the key in {where} ({status}): set a valid one"
        else:
            reason = f"{who} asks for a key ({status}): set {where}"
        return endpoint.failed(reason, hopeless=True)
    if 400 <= status < 500 and status not in BUSY and "logprobs" in low:
        return endpoint.failed(
            f"{who} gives no log-probabilities for {endpoint.model!r} ({status}): run it without "
            f"--confidence logprobs, or with --confidence stated{said}",
            hopeless=True,
        )
    if status == 402 or code in NO_MONEY:
        return endpoint.failed(
            f"{who} says the account has no credit ({status}){said}", hopeless=True
        )
    if status == 403:
        return endpoint.failed(
            f"{who} forbids {endpoint.model} to the key in {endpoint.key_env} (403){said}",
            hopeless=True,
        )
    if status in (404, 405) or code in NEVER:
        return endpoint.failed(
            f"{who} cannot serve model {endpoint.model!r} as asked at {endpoint.address} "
            f"({status}){said}",
            hopeless=True,
        )
    if status in BUSY or status >= 500:
        return endpoint.failed(f"{who} answered {status}{said}", transient=True, retry_after=wait)
    return endpoint.failed(f"{who} does not accept the request ({status}){said}")


def speaks_of_policy(code: str, message: str) -> bool:
    """Whether an error is a content policy's, by its code or by its words."""
    low = message.lower()
    return code.lower() in POLICY_CODES or any(phrase in low for phrase in POLICY_PHRASES)


def read_error(body: bytes) -> tuple[str, str]:
    """Read an error's code and message out of whatever shape a server sends it in."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "", shorten(body[:4096].decode("utf-8", "replace"))
    if isinstance(found, list):  # Gemini sends a list of one
        found = found[0] if found else {}
    return code_and_message(found)


def code_and_message(found: Any) -> tuple[str, str]:
    """Read code and message from a decoded error, wherever they stand."""
    if isinstance(found, dict) and found.get("error"):
        found = found["error"]
    if not isinstance(found, dict):
        return "", shorten(str(found or ""))
    inner = found.get("innererror")
    codes = [
        inner.get("code") if isinstance(inner, dict) else None,
        found.get("code"),
        found.get("type"),
    ]
    code = next((str(c) for c in codes if c and not str(c).isdigit()), "")
    message = found.get("message") or found.get("detail") or found.get("msg") or found
    return code, shorten(message if isinstance(message, str) else _json(message))


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Return the seconds the server asks to wait, however it says so; never negative."""
    if (ms := _number(headers.get("retry-after-ms", ""))) is not None:
        return max(0.0, ms / 1000)
    said = headers.get("Retry-After", "").strip()
    if said:
        if (seconds := _number(said)) is not None:
            return max(0.0, seconds)
        try:
            then = parsedate_to_datetime(said)
        except (ValueError, OverflowError):  # a year that no calendar has
            return None
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0.0, (then - datetime.now(UTC)).total_seconds())
    found = re.search(rb'"retryDelay":\s*"(\d+(?:\.\d+)?)s"', body[:65536])  # Gemini
    return float(found[1]) if found else None


def shorten(text: str, limit: int = 300) -> str:
    """Bring a server's message to one line without markup, of at most `limit` characters."""
    if text.lstrip()[:1] == "<":
        text = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", text)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) < 1e9 else None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
