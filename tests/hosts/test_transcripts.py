"""What real hosts said, said again: the adapters still send the same, and find the same."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.models.contract import Contract
from agent.models.server import HostName, ServerModel
from tests.hosts.transcript import Between, Player, nonces

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.json"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_real_hosts_answers_are_read_as_they_were(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    player = Player(path)
    with (
        closing(Between(player)) as between,
        closing(ServerModel(HostName(kind=kept["host"], url=between.url), nonces=nonces())) as model,
    ):
        found = [finding.as_json() for finding in Contract(model, nonces()).check()]
    assert found == kept["found"]
    assert player.is_over
    assert all(finding["fine"] is not False for finding in found)


def test_there_is_one() -> None:
    assert [path.stem for path in TRANSCRIPTS] == ["llama-server"]
