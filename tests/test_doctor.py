"""What `doctor` finds out about the models that come along."""

from hardset.doctor import BAD, GOOD, probe
from hardset.models import make_model


def test_the_embedded_model_answers_and_sees():
    findings = probe(make_model("local/scout"))
    assert [mark for mark, _ in findings][:2] == [GOOD, GOOD], findings


def test_a_baseline_looks_at_nothing():
    assert BAD in [mark for mark, _ in probe(make_model("baseline/always-refuse"))]
