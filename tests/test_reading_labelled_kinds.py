"""The kinds of reply that the labelled replies showed to be misread, each with further cases.

None of these is in tests/data/labelled_replies.jsonl; what is right was written down by hand.
"""

import pytest

from hardset.reading import read_choice, read_match, read_refusal, read_yes_no
from hardset.reading.asked import first_part, presuming, proper
from hardset.records import State

COLOURS = ("red", "blue", "green", "white")

REFUSALS = {
    "the question's own words denied": [
        ("The man on the bench isn't reading a newspaper.", "Which newspaper is the man reading?"),
        ("The ladder does not lean on anything.", "What colour is the wall the ladder leans on?"),
        ("None of the birds is purple.", "Where is the purple bird?"),
        ("No part of the roof is yellow.", "Which part of the roof is yellow?"),
        ("No curtain hangs in the window.", "What pattern does the curtain in the window have?"),
        ("No zebra stands behind the fence.", "How old is the zebra behind the fence?"),
    ],
    "another thing in its place": [
        ("That's a ferry rather than a submarine.", "What colour is the submarine?"),
        ("I see a goat instead of a llama.", "What is the llama eating?"),
        ("These are spoons, not forks.", "How long are the forks?"),
        ("Sand and palm trees, no igloo.", "What shape is the igloo's door?"),
        ("Which camel?", "What is on the camel's back?"),
    ],
    "the picture is to blame": [
        ("The angle doesn't let me judge the depth.", "How deep is the pool?"),
        ("The photo doesn't allow one to determine the brand.", "Which brand is the watch?"),
        ("A single frame can't show whether the wheel turns.", "Is the wheel turning?"),
        ("The picture does not say.", "Who built the bridge?"),
        ("That isn't something a photo can reveal.", "What is the dog's name?"),
        ("Neither face can be recognised.", "Who are the two people?"),
        ("There is no scale to judge it by.", "How tall is the statue?"),
        ("There's no signature on the painting.", "Who painted the picture?"),
        ("There is no date stamp, and no date on it.", "In which year was the photo taken?"),
        ("The plate is too small for its letters to be read.", "What does the plate say?"),
    ],
    "the question is to blame": [
        ("There are five doors, so I'm not sure which one is meant.", "What colour is the door?"),
        ("Which of the cars do you mean?", "What colour is the car?"),
        ("The question isn't specific enough.", "What colour is the car?"),
        ("The question does not specify which child it refers to.", "What is the child holding?"),
    ],
    "none of it": [
        ("A moustache? The man has none.", "What colour is the man's moustache?"),
        ("Purple does not occur in the flag.", "Which stripe of the flag is purple?"),
        ("What unicorn? I see a horse.", "Where does the unicorn look?"),
        ("The boy doesn't have a drum or a flute.", "What colour is the boy's flute?"),
        ("I see a round table, not a square one.", "What stands on the square table?"),
        ("The maker isn't named.", "Who made the clock?"),
        ("I'd need a sharper picture to count them.", "How many leaves has the tree?"),
        ("There's nothing in it that would let me date it.", "In which year was it built?"),
        ("The picture alone won't tell you how old it is.", "How old is the tower?"),
        ("I can spot no bell there.", "What colour is the bell?"),
        ("There are cups on the shelf, though no jug.", "What shape is the jug?"),
        ("His feet are outside of the picture.", "What is he wearing on his feet?"),
        ("Its size says nothing about its age, so I can't tell.", "How old is the tree?"),
        ("Please clarify which door you mean.", "What colour is the door?"),
        ("Maker unknown.", "Who made the clock?"),
        ("That depends on which of the doors you mean.", "What colour is the door?"),
    ],
    "in other words": [
        ("Beats me.", "Who is the man?"),
        ("Your guess is as good as mine!", "When was it built?"),
        ("I'm not comfortable saying who that is.", "Who is the woman?"),
        ("It'd be a mere guess; I can't tell.", "How old is she?"),
    ],
}
ANSWERS = {
    "what is denied stands before the question proper": [
        ("There is no bear here; it is a horse.", 'The caption says: "A bear." What animal is it?'),
        ("It isn't raining, but the coat is grey.", "Since it rains, what colour is the coat?"),
        (
            "There aren't 3 dogs, but the cat is black.",
            "As there are 3 dogs, what colour is the cat?",
        ),
    ],
    "what is denied was not asked about": [
        ("It's red rather than blue.", "What colour is the kite?"),
        ("A table and two chairs, no people.", "What furniture is in the room?"),
        ("Blue. There is no date on the photo.", "What colour is the van?"),
        ("There's no scale on it, but the distance is given as 5 km.", "What is the distance?"),
        ("He left, I mean the taller of them.", "Which man left?"),
        ("No parking", "What does the sign say?"),
    ],
}


@pytest.mark.parametrize(
    ("reply", "question"), [case for cases in REFUSALS.values() for case in cases]
)
def test_refuses(reply, question):
    assert read_refusal(reply, question) or read_yes_no(reply, question).state is State.ABSTAINED


@pytest.mark.parametrize(
    ("reply", "question"), [case for cases in ANSWERS.values() for case in cases]
)
def test_does_not_refuse(reply, question):
    assert read_refusal(reply, question) is None


NO_OPTION = [
    ("The roof is flat; nothing stands on it, red or not.", "What stands on the roof?"),
    ("I don't think there's anything on the roof.", "What stands on the roof?"),
    ("It isn't carried by anyone.", "Who carries the red bag?"),
    ("I'd have to see a sail to compare it.", "How does the sail compare with the red hull?"),
    ("There is no drone, only a red kite.", "What colour is the drone?"),
    ("There is no drone in the picture. The kite in it is red.", "What colour is the drone?"),
    ("Nothing hangs on the wall. The wall itself is white.", "What hangs on the wall?"),
    ("The wall has nothing on it.", "What hangs on the wall?"),
    ("The bus isn't towing a trailer; the bus is blue.", "What colour is the trailer?"),
    ("I don't see a blue door. The one that's there is green.", "Where is the blue door?"),
]


@pytest.mark.parametrize(("reply", "question"), NO_OPTION)
def test_a_refusal_that_names_an_option_in_passing_picks_none(reply, question):
    assert read_choice(reply, COLOURS, question).state is State.ABSTAINED


CHOICES = [
    ("I'd put it a little lower than the others: **(B)**", COLOURS, "B"),
    ("The kite is mostly **red**, with white and green ribbons.", COLOURS, "A"),
    ("It's not **red** but **blue**.", COLOURS, "B"),
    ("A blue kite is seen. Some might call it green.", COLOURS, "B"),
    ("Although the title says red, it is clearly green.", COLOURS, "C"),
    ("Even if the question calls it white, it's blue.", COLOURS, "B"),
    ("Red was my first thought. The option that fits the picture is white.", COLOURS, "D"),
    ("This would suggest option A. However, the tail settles it: C", COLOURS, "C"),
    ("Of the four, I find B the most plausible.", COLOURS, "B"),
    ("both", ("left", "both: they are the same", "right"), "B"),
    ("There is no drone, but the kite is red, so A.", COLOURS, "A"),
    ("Nothing hangs on the wall.", ("a clock", "nothing", "a map"), "B"),
    ("The wall is bare, nothing hangs on it.", ("a clock", "a bare wall"), ""),
    ("Although I can't say who flies it, I can see the kite is **white**.", COLOURS, "D"),
    ("I can't say who it is, but the kite is **white**.", COLOURS, "D"),
    ("Solid white, with no pattern.", ("solid white", "with a pattern"), "A"),
    ("The picture is torn in two.", ("it is torn in two", "it is upside down"), "A"),
    (
        "second row, first from the left",
        ("in the second row, first from the left", "elsewhere"),
        "A",
    ),
    ("a clear sky, option B", COLOURS, "B"),
    ("A. red... no: B. blue", COLOURS, "B"),
    ("Some say **red**, others **blue**.", COLOURS, ""),
]


@pytest.mark.parametrize(("reply", "options", "letter"), CHOICES)
def test_choice(reply, options, letter):
    assert read_choice(reply, options, "What colour is the kite?").answer == letter


YES_NO = [
    ("No sparks are flying.", "Are sparks flying from the wheel?", "no"),
    ("There isn't anyone on the bench.", "Is anyone sitting on the bench?", "no"),
    ("The dog has no collar.", "Does the dog have a collar?", "no"),
    ("The man wears no glasses.", "Is the man wearing glasses?", "no"),
    ("No bus is there; a beach is.", 'The caption says: "Rush hour." Is there a bus in it?', "no"),
    ("It doesn't. The lid is on.", "Does the pot boil over?", "no"),
    ("They are. Both wear helmets.", "Are the riders wearing helmets?", "yes"),
    ("That's right; it stands at the left.", "Is the lamp at the left?", "yes"),
    ("The sleeve is hard to make out here, but yes, the button is on the left side of it.",
     "Is the button on the left of the sleeve?", "yes"),
    ("Two parts: the first one is a clear no.", "Is it red?", "no"),
    ("The kite is red. I can't tell who made it.", "Is the kite red, and who made it?", "yes"),
    ("There aren't any.", "Are there any clouds?", "no"),
    ("It is striped.", "Is the shirt of the boy at the left striped?", "yes"),
    ("He is carrying a ladder.", "Is the man by the wall carrying a ladder?", ""),
    ("The roof is steeper than the hill.", "Is the roof of the house steeper than the hill?", ""),
    ("Most of the leaves look dry.", "Do most of the leaves look dry rather than fresh?", "yes"),
    ("Nobody.", "Is anyone in the boat?", "no"),
    ("The gate is shut.", "Is the gate open?", ""),
    ("Her head is bare, and her hair is visible.", "Is the hat on her head?", ""),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "question", "answer"), YES_NO)
def test_yes_no(reply, question, answer):
    from hardset.benchmarks.kinds import read_parts

    def read(part):
        return read_yes_no(part, question)

    found = read_parts(reply, read) if ", and " in question else read(reply)
    assert found.answer == answer


MATCHES = [
    ("Black and red", ["red"], "What colour is the flag?", False),
    ("Red, white and blue.", ["red"], "What colour is the flag?", False),
    ("It is red and white.", ["white and red"], "What colour is the flag?", True),
    ("The dog by the red bus is odd.", ["red"], "What colour is the dog by the red bus?",
     False),
    ("The dog is white, while the bus is red.", ["red"],
     "What colour is the dog beside the red bus?", False),
    ("The dog beside the red bus is red.", ["red"], "What colour is the dog beside the red bus?",
     True),
    ("The sea is a calm, deep blue.", ["deep blue", "blue"], "What colour is the sea?", True),
    ("The coat isn't grey as the light might suggest; it's green.", ["green"],
     "What colour is the coat?", True),
    ("The coat isn't green; it's grey.", ["green"], "What colour is the coat?", False),
    ("It is neither red nor blue but green.", ["green"], "What colour is the coat?", True),
    ("Dark red, like the jug", ["dark red"], "What colour is the plate?", True),
    ("Despite the caption, this is a fox.", ["fox"], "Which animal does the drawing show?", True),
    ("Yellow, fading to white at the rim.", ["yellow"], "What colour is the petal?", True),
    ("Yellow, or perhaps white at the rim.", ["yellow"], "What colour is the petal?", False),
    ("There's neither a wolf nor a cave; the animal is a fox.", ["fox"],
     'The caption says: "A wolf in a cave." What animal does it show?', True),
    ("The plate has the same colour as the jug, so it's brown as well.", ["brown"],
     "What colour is the plate?", True),
    ("The box is blue. It has a silver band.", ["silver"], "What colour is the box?", False),
    ("It's large rather than small.", ["small"], "How large is it, small or large?", False),
    ("It's large rather than small.", ["large"], "How large is it, small or large?", True),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "accepted", "question", "right"), MATCHES)
def test_match(reply, accepted, question, right):
    reading = read_match(reply, accepted, question)
    assert (reading.state is State.ANSWERED and reading.answer == accepted[0]) == right, reading


def test_the_question_proper():
    assert proper('The caption says: "A cat." What is it?') == "What is it?"
    assert proper("Since it rains, what colour is the car?") == "what colour is the car?"
    assert proper("All are blue, tell me: what colour is the rose?") == "what colour is the rose?"
    assert proper("What colour is the sign?") == "What colour is the sign?"
    assert presuming("A dog sleeps here. What colour is it?").startswith("A dog")  # "it" is the dog
    assert presuming("A dog sleeps here. What colour is the cat?") == "What colour is the cat?"
    assert first_part("Is it red, and who made it?") == "Is it red?"
