"""`mqlab what-if` and `mqlab outcomes`, and what `mqlab run` says of races and of changed figures."""

import json


def test_what_if(mqlab):
    done = mqlab("what-if", "fuse:2.20", "--message", "P-1", "--consumer", "C2")
    assert done.stdout == "C2 did not receive message P-1.\n  without C1: would receive it\n"
    told = json.loads(mqlab("what-if", "fuse:2.20", "--message", "P-1", "--consumer", "C2", "--json").stdout)
    assert (told["received"], told["changes"], told["all_tried"]) == (False, ["without C1"], True)


def test_outcomes(mqlab):
    done = mqlab("outcomes", "fuse:2.20", "--seeds", "5")
    assert "C1 6, C2 3, C3 3" in done.stdout
    (row,) = map(json.loads, mqlab("outcomes", "artemis:21.1", "--seeds", "5", "--json").stdout.splitlines())
    assert (row["runs"], row["share"], row["received"], row["lost"]) == (5, 1.0, {"C": 10}, 2)


def test_bad_input(mqlab):
    for arguments, told in (
        (["what-if", "fuse:2.20", "--message", "P-1", "--consumer", "C9"], "unknown consumer 'C9'"),
        (
            ["what-if", "fuse:2.20", "--message", "P-99", "--consumer", "C1"],
            "P-99 was never sent; the last message of P is P-12",
        ),
        (["outcomes", "fuse:2.20", "--jitter", "0ms"], "use e.g. jitter='1ms'"),
        (["outcomes", "fuse:2.20", "--seeds", "0"], "--seeds"),
    ):
        done = mqlab(*arguments)
        assert done.returncode == 2
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_what_the_real_broker_did_is_of_the_figure_as_printed(mqlab):
    assert "The real broker" in mqlab("run", "fuse:2.20").stdout
    changed = mqlab("run", "fuse:2.20", "--set", "A/linkToBrokerB.conduit_subscriptions=false").stdout
    assert "The real broker" not in changed


def test_explain_has_its_causes_as_data(mqlab):
    told = json.loads(mqlab("explain", "fuse:2.20", "--message", "P-1", "--why-not", "C2", "--json").stdout)
    assert told["causes"][0]["rule"] == "turn"
    assert told["causes"][0]["change"] == "without C1"
