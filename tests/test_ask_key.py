"""The key's laws: one key for one thing asked, another for any other."""

from hashlib import sha256

from hypothesis import event, given
from hypothesis import strategies as st
from msgspec.structs import replace

from hardset.ask import prompt_key
from hardset.records import Image, Item, Message, Prompt, Sampling

ITEM = Item(id="1", question="?")
PLAIN = Prompt(messages=(Message("user", (Image(where="a.png", sha256="aa"), "What is it?")),))


class Model:
    takes = frozenset({"image/png"})

    def __init__(self, name="fake/model", options=None, takes=None):
        self.name, self.options = name, options or {}
        self.takes = takes or self.takes


class Seer(Model):
    sees_item = True


# Few values of each kind, so that two drawn prompts are often equal or nearly so.
texts = st.sampled_from(["", "a", "b", "ab", '{"sha256":"aa"}', "ä", "a\nb"])
filled = st.builds(
    Image,
    where=st.sampled_from(["a.png", "b.png"]),
    sha256=st.sampled_from(["aa", "bb"]),
    type=st.just("image/png"),
)
parts = st.lists(texts | filled, max_size=3).map(tuple)
messages = st.builds(Message, st.sampled_from(["system", "user"]), parts)
samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([None, 0.0, -0.0, 0, 1, 1.0]),
    top_p=st.sampled_from([None, 0.5]),
    max_tokens=st.sampled_from([None, 0, 1]),
    seed=st.sampled_from([None, 0, 1]),
)
tools = st.lists(st.dictionaries(texts, texts, max_size=2), max_size=2).map(tuple)
asked = st.builds(
    Prompt,
    messages=st.lists(messages, max_size=2).map(tuple),
    tools=tools,
    sampling=samplings,
    repeat=st.integers(0, 2),
    schema=st.sampled_from(["", "{}", '{"type":"object"}']),
)


def elsewhere(prompt: Prompt) -> Prompt:
    """The same prompt with its images at one place: where they are is not what is sent."""
    return replace(
        prompt,
        messages=tuple(
            Message(
                message.role,
                tuple(
                    replace(part, where="") if isinstance(part, Image) else part
                    for part in message.content
                ),
            )
            for message in prompt.messages
        ),
    )


@st.composite
def near(draw):
    """Two prompts that differ in one drawn field at most, and often only in how it is written."""
    one = draw(asked)
    field = draw(
        st.sampled_from(["messages", "tools", "sampling", "repeat", "schema", "temperature"])
    )
    drawn = draw(asked)
    if field == "temperature":
        changed = {"sampling": replace(one.sampling, temperature=drawn.sampling.temperature)}
    else:
        changed = {field: getattr(drawn, field)}
    return one, replace(one, **changed)


@given(near())
def test_keys_are_equal_exactly_when_prompts_are(pair):
    one, other = pair
    same = elsewhere(one) == elsewhere(other)
    event("equal" if same else "different")
    assert (prompt_key(Model(), one) == prompt_key(Model(), other)) == same


def test_numbers_count_by_their_value():
    for group in ([0, 0.0, -0.0], [1, 1.0]):
        prompts = [replace(PLAIN, sampling=Sampling(temperature=value)) for value in group]
        assert len({prompt_key(Model(), prompt) for prompt in prompts}) == 1


@given(asked)
def test_every_field_of_a_prompt_counts(prompt):
    key = prompt_key(Model(), prompt)
    sampling = prompt.sampling
    changed = [
        replace(prompt, messages=(*prompt.messages, Message("user", ()))),
        replace(prompt, tools=(*prompt.tools, {})),
        replace(prompt, repeat=prompt.repeat + 1),
        replace(prompt, sampling=replace(sampling, temperature=0.7)),
        replace(prompt, sampling=replace(sampling, top_p=0.9)),
        replace(prompt, sampling=replace(sampling, max_tokens=77)),
        replace(prompt, sampling=replace(sampling, seed=77)),
    ]
    keys = {prompt_key(Model(), other) for other in changed}
    assert len(keys) == 7
    assert key not in keys


options = st.dictionaries(st.text("abc", max_size=3), texts, max_size=4)


@given(options, st.randoms())
def test_the_order_of_options_does_not_matter(some, rng):
    shuffled = list(some.items())
    rng.shuffle(shuffled)
    model, other = Model(options=some), Model(options=dict(shuffled))
    assert prompt_key(model, PLAIN) == prompt_key(other, PLAIN)


@given(options, options)
def test_options_and_name_count(some, other):
    one, two = Model(options=some), Model(options=other)
    assert (prompt_key(one, PLAIN) == prompt_key(two, PLAIN)) == (some == other)
    assert prompt_key(one, PLAIN) != prompt_key(Model("fake/other", some), PLAIN)


def test_a_tools_key_order_does_not_matter():
    one, other = ({"name": "crop", "strict": "yes"},), ({"strict": "yes", "name": "crop"},)
    keys = {prompt_key(Model(), replace(PLAIN, tools=tools)) for tools in (one, other)}
    assert len(keys) == 1


def with_image(**facts) -> Prompt:
    return Prompt(messages=(Message("user", (Image(where="x", **facts),)),))


def test_what_an_image_is_made_into_counts_only_where_it_is_made_into_anything():
    png, more = Model(), Model(takes=frozenset({"image/png", "image/bmp"}))
    plain = with_image(sha256="aa", type="image/png")
    assert prompt_key(png, plain) == prompt_key(more, plain)
    bitmap = with_image(sha256="aa", type="image/bmp")
    assert prompt_key(png, bitmap) != prompt_key(more, bitmap)


def test_an_image_not_looked_at_is_keyed_by_its_place():
    places = [Prompt(messages=(Message("user", (Image(where=w),)),)) for w in ("a", "b")]
    assert len({prompt_key(Model(), prompt) for prompt in places}) == 2


def test_the_item_counts_only_for_a_model_that_sees_it():
    mended = replace(ITEM, answer="B")
    assert prompt_key(Model(), PLAIN, ITEM) == prompt_key(Model(), PLAIN, mended)
    assert prompt_key(Seer(), PLAIN, ITEM) != prompt_key(Seer(), PLAIN, mended)


def test_a_key_stays_what_it_was():
    """A key that changes makes every stored reply unfindable: this one is of version 1."""
    key = prompt_key(Model(options={"b": "2", "a": "1"}), replace(PLAIN, repeat=3))
    text = (
        '["fake/model",{"a":"1","b":"2"},'
        '[["user",[{"sha256":"aa","takes":["image/png"]},"What is it?"]]],'
        "[],0.0,null,2048,null,3,null]"
    )
    assert key == sha256(text.encode()).digest()
