import pytest

from runner.images.__main__ import main


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("nothing", "no image 'nothing'"),
        ("particles@9", "particles cannot be built of version '9'"),
        ("particles+huge", "particles cannot be built with model 'huge'"),
        ("particles@1.192.2+huge", "particles cannot be built with model 'huge'"),
        ("particles@9+huge", "particles cannot be built of version '9'"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(
    capsys: pytest.CaptureFixture[str], wanted: str, says: str
) -> None:
    assert main([wanted]) == 2
    done = capsys.readouterr()
    assert says in done.err
    assert done.out == ""
