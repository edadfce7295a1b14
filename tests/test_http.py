"""Every fault of an endpoint, over real HTTP; and the key, which must be nowhere."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest
from aiohttp.test_utils import unused_port
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pil

from hardset.errors import UsageError
from hardset.images import Library
from hardset.models import make_model
from hardset.models.faults import Endpoint, read_error, retry_after, shorten
from hardset.models.http import ChatModel, chat_address, is_loopback, proxy_for
from hardset.models.providers import ANY, PROVIDERS
from hardset.models.wire import Body, read_chat
from hardset.records import Image, Item, Message, Prompt, Reply, Sampling, State
from loopback import Fault, Loopback, chat, prompt_text

ITEM = Item(id="1", question="Is it red?")
PLAIN = Prompt(messages=(Message("user", ("Is it red?",)),))
KEY = "sk-very-secret-0123456789"


def ask(server: Loopback, *prompts: Prompt, library: Library | None = None, **options) -> list:
    """Ask each prompt once, over one session."""

    async def go() -> list[Reply]:
        model = make_model("my/model", base_url=server.base_url, **options)
        async with model:
            return [await model.reply(p, ITEM, library or Library()) for p in prompts]

    return asyncio.run(go())


def failure(fault: Fault, **options):
    """What one fault becomes; the server must still be usable for the next request."""
    with Loopback(faults=[fault]) as server:
        bad, good = ask(server, PLAIN, PLAIN, **options)
    assert good.failure is None, "the next request on the session is sound"
    assert bad.text == ""
    assert bad.failure is not None
    return bad.failure


def picture(kind="JPEG", size=(30, 20), colour="red") -> bytes:
    out = io.BytesIO()
    Pil.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def test_a_sound_reply_is_read_whole():
    with Loopback(answer=lambda prompt: f"«{prompt}» ✓") as server:
        (reply,) = ask(server, PLAIN)
    assert reply.text == "«Is it red?» ✓"
    assert (reply.finish, reply.tokens_in, reply.tokens_out) == ("stop", 11, 7)
    assert reply.failure is None
    assert reply.seconds > 0
    assert server.requests == [
        {
            "model": "my/model",
            "messages": [{"role": "user", "content": "Is it red?"}],
            "temperature": 0.0,
            "max_tokens": 2048,
        }
    ]
    assert "Authorization" not in server.headers[0]


BUSY = [408, 409, 425, 429, 500, 502, 503, 504, 529]


@pytest.mark.parametrize("status", BUSY)
def test_busy_and_broken_endpoints_are_worth_asking_again(status):
    found = failure(Fault("status", status, {"error": {"message": "overloaded"}}))
    assert (found.state, found.transient, found.hopeless) == (State.REQUEST_FAILED, True, False)
    assert found.reason == f"the endpoint answered {status}: overloaded"
    assert found.retry_after is None


@pytest.mark.parametrize("status", [429, 503, 529])
def test_retry_after_is_honoured_in_seconds_and_as_a_date(status):
    assert failure(Fault("status", status, headers={"Retry-After": "7"})).retry_after == 7.0
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    wait = failure(Fault("status", status, headers={"Retry-After": then})).retry_after
    assert 40 < wait <= 60
    past = failure(
        Fault("status", status, headers={"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"})
    )
    assert past.retry_after == 0.0


def test_other_ways_of_saying_how_long_to_wait():
    assert retry_after({"retry-after-ms": "1500"}) == 1.5
    assert retry_after({}, b'{"error":{"details":[{"retryDelay": "23s"}]}}') == 23.0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({"Retry-After": "nan"}) is None
    assert retry_after({"Retry-After": "-5"}) == 0.0
    assert retry_after({}) is None


@pytest.mark.parametrize("kind", ["garbage", "truncate", "cut", "reset"])
def test_broken_replies_are_worth_asking_again(kind):
    found = failure(Fault(kind))
    assert (found.state, found.transient, found.hopeless) == (State.REQUEST_FAILED, True, False)
    assert found.reason


def test_silence_is_given_up_after_the_timeout():
    found = failure(Fault("hang", seconds=3), timeout=0.3)
    assert found.transient
    assert found.reason == "the endpoint was silent for 0.3 s"


def test_a_slow_reply_that_keeps_coming_is_no_fault():
    with Loopback(faults=[Fault("slow", seconds=0.6)]) as server:
        (reply,) = ask(server, PLAIN, timeout=0.4)
    assert reply.failure is None
    assert reply.text


def test_no_more_than_the_limit_of_a_reply_is_read():
    found = failure(Fault("huge", size=17 * 2**20))
    assert found.reason == "the endpoint sent more than 16 MiB"


def test_nobody_listening_is_transient_and_named():
    port = unused_port()

    async def go() -> Reply:
        async with make_model("m", base_url=f"http://127.0.0.1:{port}") as model:
            return await model.reply(PLAIN, ITEM, Library())

    found = asyncio.run(go()).failure
    assert found.transient
    assert found.reason.startswith(f"no connection to 127.0.0.1:{port}: ")


def test_a_400_is_final_with_the_servers_words_shortened():
    found = failure(Fault("status", 400, {"error": {"message": "context too long " * 100}}))
    assert (found.state, found.transient, found.hopeless) == (State.REQUEST_FAILED, False, False)
    assert found.reason.startswith("the endpoint does not accept the request (400): context too")
    assert len(found.reason) < 360


POLICY = [
    (400, {"error": {"code": "content_policy_violation", "message": "no"}}),
    (400, {"error": {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (400, {"error": {"message": "Your prompt was flagged as potentially violating a rule"}}),
    (400, {"error": {"message": "Content Exists Risk"}}),
    (400, {"code": "data_inspection_failed", "message": "Input data may be unsuitable"}),
    (403, {"error": {"message": "This model requires moderation, and your input was flagged"}}),
    (400, {"error": {"message": "Output blocked by content filtering policy"}}),
    (200, {"error": {"message": "PROHIBITED_CONTENT"}}),
    (200, {"choices": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), POLICY)
def test_a_content_policy_is_a_refusal_by_the_provider(status, body):
    found = failure(Fault("status", status, body))
    assert found.state is State.PROVIDER_REFUSED
    assert not found.transient
    assert not found.hopeless


HOPELESS = [
    (401, {"error": {"message": "no"}}, "asks for a key (401): set HARDSET_API_KEY"),
    (400, [{"error": {"code": 400, "message": "API key not valid."}}], "set HARDSET_API_KEY"),
    (402, {"error": {"message": "Insufficient Balance"}}, "has no credit (402): Insufficient"),
    (429, {"error": {"code": "insufficient_quota", "message": "plan"}}, "has no credit (429)"),
    (403, {"detail": "not in your region"}, "forbids my/model to the key in HARDSET_API_KEY (403)"),
    (404, {"error": {"message": "no such model"}}, "cannot serve model 'my/model'"),
    (404, b"<html><title>404</title><p>Not Found</p></html>", "(404): 404 Not Found"),
    (405, b"", "cannot serve model"),
    (400, {"error": {"code": "unsupported_parameter", "message": "'top_p'"}}, "(400): 'top_p'"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "said"), HOPELESS)
def test_what_no_other_request_can_mend_is_hopeless(status, body, said):
    found = failure(Fault("status", status, body))
    assert (found.state, found.transient, found.hopeless) == (State.REQUEST_FAILED, False, True)
    assert said in found.reason


def test_redirects_are_not_followed():
    with Loopback() as other:
        found = failure(Fault("status", 307, headers={"Location": other.base_url}))
        assert other.count == 0
    assert found.hopeless
    assert f"redirects (307) to {other.base_url}" in found.reason


def message(finish: str | None = "stop", **fields) -> Reply:
    with Loopback(faults=[Fault("message", body=fields, finish=finish)]) as server:
        (reply,) = ask(server, PLAIN)
    assert reply.failure is None
    return reply


def test_null_content_cut_off_is_an_empty_text_with_its_finish():
    reply = message("length", content=None)
    assert (reply.text, reply.finish) == ("", "length")


def test_finish_reasons_are_kept_in_one_vocabulary():
    assert message("content_filter", content="I").finish == "content_filter"
    assert message("SAFETY", content="").finish == "content_filter"
    assert message("MAX_TOKENS", content="a").finish == "length"
    assert message(None, content="a").finish == "stop"
    assert message("end_turn", content="a").finish == "stop"


def test_a_refusal_is_the_models_text():
    assert (
        message(content=None, refusal="I can't help with that.").text == "I can't help with that."
    )


def test_content_parts_are_joined_and_reasoning_is_none_of_them():
    parts = [
        {"type": "thinking", "thinking": "it is A"},
        {"type": "text", "text": "The answer "},
        {"type": "text", "text": "is B."},
    ]
    assert message(content=parts).text == "The answer is B."
    assert message(content="B", reasoning_content="A? no").text == "B"
    assert message(content="<think>A</think>B").text == "<think>A</think>B"


def test_tool_calls_are_passed_on_as_text():
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "zoom", "arguments": '{"x":1}'}},
        {"id": "c2", "type": "function", "function": {"name": "crop", "arguments": {"y": 2}}},
    ]
    reply = message("tool_calls", content=None, tool_calls=calls)
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [
        ("c1", "zoom", '{"x":1}'),
        ("c2", "crop", '{"y":2}'),
    ]


ODD_200 = [
    {"error": {"message": "upstream died", "code": 502}},
    {"error": "cannot say"},
    {"choices": []},
    {"choices": None},
    {},
    {"choices": [{"message": None}]},
    {"choices": [{"error": {"code": 503, "message": "x"}, "message": {"content": ""}}]},
    {"choices": [{"finish_reason": "error", "message": {"content": "half"}}]},
    {"choices": "none"},
    [],
    "ok",
    5,
]


@pytest.mark.parametrize("body", ODD_200)
def test_a_200_without_a_reply_is_a_failure_worth_asking_again(body):
    found = failure(Fault("body", body=body))
    assert (found.state, found.transient) == (State.REQUEST_FAILED, True)


def test_an_error_of_its_own_status_inside_a_200_counts_as_that():
    found = failure(Fault("body", body={"error": {"message": "no such", "code": 404}}))
    assert found.hopeless


def test_images_are_sent_as_their_original_bytes_with_their_true_type(tmp_path):
    data = picture("PNG")
    (tmp_path / "a.jpg").write_bytes(data)
    library = Library(root=tmp_path)
    image = library.examine(Image(where="a.jpg"))
    prompt = Prompt(messages=(Message("system", ("Be brief.",)), Message("user", (image, "What?"))))
    with Loopback() as server:
        (reply,) = ask(server, prompt, library=library)
    assert reply.failure is None
    assert reply.sent == ()
    system, user = server.requests[0]["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    url = user["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert base64.b64decode(url.partition(",")[2]) == data
    assert user["content"][1] == {"type": "text", "text": "What?"}


def test_large_images_arrive_whole(tmp_path):
    out = io.BytesIO()
    Pil.effect_noise((1400, 1400), 90).convert("RGB").save(out, "PNG", compress_level=1)
    (tmp_path / "big.png").write_bytes(out.getvalue())
    library = Library(root=tmp_path)
    image = library.examine(Image(where="big.png"))
    assert image.size > 2**21
    prompt = Prompt(messages=(Message("user", (image, "one", image, "two")),))
    with Loopback() as server:
        (reply,) = ask(server, prompt, library=library)
    assert reply.failure is None
    parts = server.requests[0]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url", "text", "image_url", "text"]
    for part in (parts[0], parts[2]):
        assert base64.b64decode(part["image_url"]["url"].partition(",")[2]) == out.getvalue()


def test_what_was_converted_is_said_in_the_reply(tmp_path):
    (tmp_path / "a.bmp").write_bytes(picture("BMP"))
    library = Library(root=tmp_path)
    prompt = Prompt(messages=(Message("user", (library.examine(Image(where="a.bmp")), "?")),))
    with Loopback() as server:
        (reply,) = ask(server, prompt, library=library)
    assert reply.sent == ("converted from image/bmp (RGB) to image/png",)


def test_an_image_that_cannot_be_sent_is_bad_media_and_nothing_is_sent(tmp_path):
    prompt = Prompt(messages=(Message("user", (Image(where=str(tmp_path / "no.jpg")), "?")),))
    with Loopback() as server:
        (reply,) = ask(server, prompt)
    assert server.count == 0
    assert reply.failure.state is State.BAD_MEDIA
    assert "does not exist" in reply.failure.reason


def sampled(provider, model="m", **settings) -> dict:
    body = Body(model, provider, {})
    prompt = Prompt(messages=(), sampling=Sampling(**settings))
    return json.loads(b"".join(body(prompt, lambda image: ("", b""))))


def test_providers_get_the_fields_they_know():
    every = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 5, "seed": 3}
    head = {"model": "m", "messages": []}
    assert sampled(ANY, **every) == {**head, **every}
    assert sampled(PROVIDERS["anthropic"], **every).keys() == {*head, *every} - {"seed"}
    assert sampled(PROVIDERS["mistral"], **every)["random_seed"] == 3
    assert sampled(PROVIDERS["openai"], **every)["max_completion_tokens"] == 5
    fixed = sampled(PROVIDERS["openai"], "gpt-5-mini", **every)
    assert fixed == {"model": "gpt-5-mini", "messages": [], "max_completion_tokens": 5, "seed": 3}
    nothing = {"temperature": None, "max_tokens": None}
    assert sampled(ANY, **nothing) == head
    assert Body("o3", PROVIDERS["openai"], {}).left_out(Sampling()) == (
        "temperature and top_p left out: the model takes none",
    )
    assert Body("gpt-4o", PROVIDERS["openai"], {}).left_out(Sampling()) == ()


def test_a_schema_is_sent_where_the_provider_holds_to_one():
    schema = '{"type":"object","properties":{"verdict":{"type":"boolean"}}}'
    prompt = Prompt(messages=(Message("user", ("?",)),), schema=schema)

    def sent(provider, prompt):
        return json.loads(b"".join(Body("m", provider, {})(prompt, lambda image: ("", b""))))

    assert sent(ANY, prompt)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": json.loads(schema)},
    }
    assert "response_format" not in sent(PROVIDERS["deepseek"], prompt)
    assert "response_format" not in sent(ANY, Prompt(messages=prompt.messages))


def test_extra_fields_and_tools_go_into_the_body_and_extra_into_the_options():
    tool = {"type": "function", "function": {"name": "zoom"}}
    prompt = Prompt(messages=PLAIN.messages, tools=(tool,))
    with Loopback() as server:
        ask(server, prompt, extra={"reasoning_effort": "low", "max_tokens": 9})
        model = make_model("m", base_url=server.base_url, extra={"b": 1, "a": 2})
    (body,) = server.requests
    assert body["tools"] == [tool]
    assert (body["reasoning_effort"], body["max_tokens"]) == ("low", 9)
    assert model.options == {"base_url": server.base_url, "extra": '{"a":2,"b":1}'}


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.lists(text))))
def test_every_body_is_json_and_says_what_was_asked(turns):
    prompt = Prompt(messages=tuple(Message(role, tuple(texts)) for role, texts in turns))
    body = json.loads(b"".join(Body('m"\\', ANY, {})(prompt, lambda image: ("", b""))))
    assert body["model"] == 'm"\\'
    assert [m["role"] for m in body["messages"]] == [role for role, _ in turns]
    assert prompt_text(body) == "\n".join("\n".join(texts) for _, texts in turns)


@settings(max_examples=200)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["choices", "message", "content", "error", "usage", "code", "text",
                         "tool_calls", "function", "finish_reason", "prompt_tokens", "detail"]),
        inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_no_json_whatever_makes_reading_raise(value):
    raw = json.dumps(value).encode()
    reply = read_chat(raw, Endpoint("it", "http://x", "m", "KEY"))
    assert isinstance(reply, Reply)
    assert isinstance(read_error(raw)[1], str)


# -- keys ---------------------------------------------------------------------------------------


def everything_said(model: ChatModel, replies: list[Reply], caplog) -> str:
    return "\n".join(
        [repr(model), repr(vars(model)), str(model.options), *map(repr, replies), caplog.text]
    )


def test_the_key_is_sent_and_is_nowhere_else(monkeypatch, caplog, capfd):
    """Even where the server sends it back: whole in a message, in a reply, in a header."""
    monkeypatch.setenv("HARDSET_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    masked = KEY[:8] + "********" + KEY[-4:]
    faults = [
        None,
        Fault("status", 400, {"error": {"message": f"you sent Bearer {KEY} to us"}}),
        Fault("status", 403, {"error": {"message": f"key {masked} may not"}}),
        Fault("status", 500, f"dump: Authorization: Bearer {KEY}".encode()),
        Fault("message", body={"content": f"Your headers: {KEY}"}),
        Fault("body", body=f"<html>{KEY}".encode()),
        Fault("status", 302, headers={"Location": f"http://elsewhere/?k={KEY}"}),
        Fault("body", body={"error": {"message": KEY}}),
        Fault("reset"),
    ]
    replies: list[Reply] = []

    async def go() -> str:
        model = make_model("my/model", base_url=server.base_url)
        async with model:
            replies.extend([await model.reply(PLAIN, ITEM, Library()) for _ in faults])
            return everything_said(model, replies, caplog)

    with Loopback(faults=faults, key=KEY) as server:
        said = asyncio.run(go())
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert replies[0].failure is None
    assert all(r.failure for r in replies[1:] if r is not replies[4])
    assert replies[4].text == "Your headers: [key]"
    out = capfd.readouterr()
    for place in (said, out.out, out.err):
        assert KEY not in place
        assert KEY[:6] not in place


def test_a_wrong_key_is_hopeless_and_names_the_variable_not_the_key(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-wrong-123456")
    with Loopback(key=KEY) as server:
        (reply,) = ask(server, PLAIN, key_env="MY_KEY")
    assert reply.failure.hopeless
    assert reply.failure.reason == (
        "the endpoint does not accept the key in MY_KEY (401): set a valid one"
    )


def test_a_missing_key_is_a_usage_error_that_names_the_variable(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = make_model("openai/gpt-4o")  # making it needs none: stored replies can be read

    async def enter() -> None:
        async with model:
            pass

    with pytest.raises(UsageError, match="set the environment variable OPENAI_API_KEY"):
        asyncio.run(enter())


def test_a_key_that_cannot_stand_in_a_header_is_not_shown(monkeypatch):
    monkeypatch.setenv("HARDSET_API_KEY", "sk-\x01secret")
    with Loopback() as server, pytest.raises(UsageError) as error:
        ask(server, PLAIN)
    assert "HARDSET_API_KEY" in str(error.value)
    assert "secret" not in str(error.value)
    monkeypatch.setenv("HARDSET_API_KEY", f"  {KEY}\n")
    with Loopback(key=KEY) as server:
        assert ask(server, PLAIN)[0].failure is None


def test_a_providers_own_key_is_not_sent_to_another_address(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("HARDSET_API_KEY", raising=False)

    async def go() -> None:
        async with make_model("openai/gpt-4o", base_url=server.base_url) as model:
            await model.reply(PLAIN, ITEM, Library())

    with Loopback() as server:
        asyncio.run(go())
    assert "Authorization" not in server.headers[0]
    assert server.requests[0]["model"] == "gpt-4o"


@pytest.mark.parametrize("url", ["http://u:pw@host/v1", "https://host/v1?api_key=abc"])
def test_an_address_that_holds_a_secret_is_refused_without_repeating_it(url):
    with pytest.raises(UsageError) as error:
        make_model("m", base_url=url)
    assert "pw" not in str(error.value)
    assert "abc" not in str(error.value)


@pytest.mark.parametrize(
    ("given_", "completed"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions"),
        ("https://h/api/v3/", "https://h/api/v3/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        (
            "https://h/d/chat/completions?api-version=1",
            "https://h/d/chat/completions?api-version=1",
        ),
    ],
)
def test_addresses_are_completed(given_, completed):
    assert str(chat_address(given_)) == completed


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://h/", "http://", "localhost", "http://h:x/"]
)
def test_what_is_no_address_is_said(url):
    with pytest.raises(UsageError, match="base address"):
        make_model("m", base_url=url)


def test_this_machine_is_never_reached_through_a_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert proxy_for(chat_address("http://127.0.0.1:1")) is None
    assert proxy_for(chat_address("https://api.example.org")) == "http://proxy:3128"
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("localhost.example.org")


def test_the_models_an_endpoint_lists_and_what_it_says_if_not():
    async def listed(url: str) -> tuple[str, ...]:
        async with ChatModel("m", "m", ANY, base_url=url) as model:
            return await model.listed()

    with Loopback() as server:
        assert asyncio.run(listed(server.base_url)) == ("loopback",)
    with Loopback(key=KEY) as server, pytest.raises(UsageError, match="asks for a key"):
        asyncio.run(listed(server.base_url))
    with pytest.raises(UsageError, match="no connection"):
        asyncio.run(listed(f"http://127.0.0.1:{unused_port()}"))


def test_a_session_is_closed_on_leaving_and_a_model_can_be_entered_again():
    async def go() -> None:
        model = make_model("m", base_url=server.base_url)
        for _ in range(2):
            async with model:
                assert (await model.reply(PLAIN, ITEM, Library())).failure is None
            with pytest.raises(RuntimeError):
                await model.reply(PLAIN, ITEM, Library())

    with Loopback() as server:
        asyncio.run(go())


def test_cancelling_is_no_fault_and_goes_through():
    async def go() -> None:
        async with make_model("m", base_url=server.base_url) as model:
            task = asyncio.create_task(model.reply(PLAIN, ITEM, Library()))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await model.reply(PLAIN, ITEM, Library())).failure is None

    with Loopback(faults=[Fault("hang", seconds=2)]) as server:
        asyncio.run(go())


def test_many_requests_share_one_session():
    async def go() -> list[Reply]:
        async with make_model("m", base_url=server.base_url) as model:
            prompts = [Prompt(messages=(Message("user", (f"q{i}",)),)) for i in range(100)]
            return await asyncio.gather(*(model.reply(p, ITEM, Library()) for p in prompts))

    with Loopback(answer=lambda prompt: prompt[1:]) as server:
        replies = asyncio.run(go())
    assert [int(reply.text) for reply in replies] == list(range(100))


def test_messages_are_brought_to_one_line():
    assert shorten("a\n\n b\x00\t c") == "a b c"
    assert shorten("<p>x</p><script>evil()</script>") == "x"
    assert len(shorten("y" * 1000)) == 300


def test_error_objects_are_read_in_every_shape():
    assert read_error(b'{"error": {"message": "m", "code": "c"}}') == ("c", "m")
    assert read_error(b'[{"error": {"message": "m", "code": 400}}]') == ("", "m")
    assert read_error(b'{"error": "m"}') == ("", "m")
    assert read_error(b'{"object": "error", "message": "m", "type": "t", "code": 40}') == ("t", "m")
    assert read_error(b'{"detail": [{"loc": "x"}]}') == ("", '[{"loc":"x"}]')
    assert read_error(b"\xff\xfe") == ("", "��")
    assert read_error(b"") == ("", "")


def test_the_loopback_server_speaks_for_itself():
    async def go() -> dict:
        async with aiohttp.ClientSession() as session:
            body = {"model": "m", "messages": [{"role": "user", "content": "A. x\nB. y\nPick"}]}
            async with session.post(f"{server.base_url}/chat/completions", json=body) as answer:
                return await answer.json()

    with Loopback() as server:
        assert asyncio.run(go()) == chat("A")  # 14 characters: 14 % 2 = 0, the first of A, B
    assert (server.count, server.busy, server.prompts()) == (1, 0, ["A. x\nB. y\nPick"])
