import functools
import hashlib
import threading
from http.server import HTTPServer, SimpleHTTPRequestHandler

import pytest

from piste.datasets import load
from piste.datasets.cache import File, Source, locate
from piste.errors import InputError

CONTENT = {"first.gz": b"one", "second.gz": b"two"}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("PISTE_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache"


@pytest.fixture
def mirror(tmp_path):
    """A server on this machine, and the folder that it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    handler = functools.partial(Quiet, directory=str(folder))
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", folder
        server.shutdown()
        thread.join()


def source(*mirrors) -> Source:
    files = {
        name: File(len(content), hashlib.sha256(content).hexdigest())
        for name, content in CONTENT.items()
    }
    return Source("tiny", files, mirrors)


NO_SERVER = "http://127.0.0.1:9/"


def failure(cache, reasons, name="first.gz"):
    return (
        f"dataset = tiny: {name} is not in the cache {cache}/piste/tiny and cannot be "
        f"downloaded ({reasons}); give its folder by the field folder or by PISTE_DATA"
    )


def message(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def kept(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_are_downloaded_once(cache, mirror):
    url, served = mirror
    folder = locate(source(url))
    assert folder == cache / "piste" / "tiny"
    assert kept(folder) == CONTENT
    for path in served.iterdir():
        path.unlink()
    assert locate(source(url)) == folder


def test_mirrors_are_tried_in_turn(cache, mirror):
    url, _ = mirror
    folder = locate(source(NO_SERVER, url + "nowhere/", url))
    assert kept(folder) == CONTENT


def test_no_network_and_no_cache_is_one_line_and_leaves_no_trace(cache, capfd):
    assert message(lambda: locate(source(NO_SERVER))) == failure(cache, "no network")
    assert not cache.exists()
    assert capfd.readouterr() == ("", "")


def test_a_half_served_data_set_is_not_kept(cache, mirror):
    url, served = mirror
    (served / "second.gz").unlink()
    expected = failure(cache, "HTTP status 404, no network", "second.gz")
    assert message(lambda: locate(source(url, NO_SERVER))) == expected
    assert not cache.exists()


def test_an_altered_download_is_not_kept(cache, mirror):
    url, served = mirror
    (served / "first.gz").write_bytes(b"other")
    expected = failure(cache, "a mirror serves an altered file")
    assert message(lambda: locate(source(url))) == expected
    assert not cache.exists()


def test_a_damaged_file_in_the_cache_is_replaced_or_left(cache, mirror):
    url, _ = mirror
    folder = locate(source(url))
    (folder / "first.gz").write_bytes(b"damaged")
    assert message(lambda: locate(source(NO_SERVER))) == failure(cache, "no network")
    assert kept(folder) == CONTENT | {"first.gz": b"damaged"}
    assert kept(locate(source(url))) == CONTENT


def test_a_cache_that_cannot_be_made_is_one_line(cache, mirror):
    cache.write_text("a file where a folder should be")
    url, _ = mirror
    expected = (
        f"cache {cache}/piste/tiny: Not a directory; "
        "give a folder by the field folder or by PISTE_DATA"
    )
    assert message(lambda: locate(source(url))) == expected


def test_mnist_without_network_says_how_to_give_a_folder(cache, monkeypatch):
    def unreachable(*args, **options):
        import requests

        raise requests.ConnectionError

    monkeypatch.setattr("pooch.retrieve", unreachable)
    assert message(lambda: load("mnist")) == (
        "dataset = mnist: train-images-idx3-ubyte.gz is not in the cache "
        f"{cache}/piste/mnist and cannot be downloaded (no network); "
        "give its folder by the field folder or by PISTE_DATA"
    )
