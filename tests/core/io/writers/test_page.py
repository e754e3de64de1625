"""The page of a moving shape, opened in Chromium: pictures, frames, colors, mouse, keys, names as text."""

import base64
import io
import json
import os
import select
import shutil
import signal
import subprocess
import time
from dataclasses import replace

import numpy as np
import pytest
from patience import PATIENCE
from shape_files import mirrored, page_data, unpacked, with_moved_truth

from core import ExportOptions, GroundTruth, InputError, export, shape_page
from core.io.writers.options import aligned_shapes
from core.io.writers.scene import compare

EXECUTABLE = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SIZE = (900, 640)
FRAME, PLAYING = "document.documentElement.dataset.frame", "play.getAttribute('aria-label')"


class Browser:
    """Chromium without a window, driven through two pipes: messages are JSON that ends with a zero byte."""

    def __init__(self, folder):
        receiving, self._write = os.pipe()
        self._read, sending = os.pipe()
        command = [
            *(EXECUTABLE, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
            *("--no-first-run", "--disable-extensions", f"--user-data-dir={folder}", "about:blank"),
        ]

        def connect():  # the browser reads from 3 and writes to 4
            moved = os.dup2(receiving, 103), os.dup2(sending, 104)
            os.dup2(moved[0], 3)
            os.dup2(moved[1], 4)

        quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        own = {"preexec_fn": connect, "close_fds": False, "start_new_session": True}
        self._process = subprocess.Popen(command, **quiet, **own)
        os.close(receiving)
        os.close(sending)
        self._rest, self._number, self.events, self._session = b"", 0, [], None
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")

    def do(self, method, **parameters):
        """Send a command and return its result; events on the way are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while b"\0" not in self._rest:
                assert select.select([self._read], [], [], PATIENCE)[0], f"no answer to {method}"
                self._rest += os.read(self._read, 1 << 16)
            text, _, self._rest = self._rest.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)
        raise AssertionError(f"no answer to {method}")

    def run(self, script):
        """Return the value of a script in the page."""
        found = self.do("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, address, *, size=SIZE, theme="light", still=False):
        """Open a page, and wait until it is drawn."""
        self.events.clear()
        window = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self.do("Emulation.setDeviceMetricsOverride", **window)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        features.append({"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"})
        self.do("Emulation.setEmulatedMedia", features=features)
        self.do("Page.navigate", url="about:blank")
        self.do("Page.navigate", url=address)
        self.wait("document.documentElement?.dataset.ready === 'yes'")
        self.draw()

    def draw(self):
        """Wait until what was changed is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def wait(self, condition):
        """Wait until a script is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.02)

    def screenshot(self):
        """Return the window as (H, W, 3)."""
        image = pytest.importorskip("PIL.Image")
        text = self.do("Page.captureScreenshot", format="png")["data"]
        return np.asarray(image.open(io.BytesIO(base64.b64decode(text))).convert("RGB"), dtype=int)

    def box(self):
        """Return x, y, width and height of the view."""
        return self.run("(({x,y,width,height}) => [x,y,width,height])(view.getBoundingClientRect())")

    def picture(self):
        """Return the view as (H, W, 3)."""
        x, y, width, height = map(round, self.box())
        whole = self.screenshot()
        return whole[y + 3 : y + height - 3, x + 3 : x + width - 3]  # without the frame of the focus

    def press(self, key, **more):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.do("Input.dispatchKeyEvent", type=kind, key=key, **text, **more)
        self.draw()

    def mouse(self, kind, x, y, **more):
        self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def problems(self):
        """Return what the page complained of, and what it wanted to load."""
        complaints = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        found = [event for event in self.events if event["method"] in complaints]
        asked = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in asked]
        return found, [url for url in urls if not url.startswith(("about:", "data:"))]

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if EXECUTABLE is None:
        pytest.skip("there is no Chromium on this machine")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def large(small_result):
    """A result of 100 frames and 500 points that move at random, with a truth: hard to compress."""
    generator = np.random.default_rng(0)
    frames, points = 100, 500
    B = np.column_stack((np.ones(frames), 0.3 * generator.standard_normal((frames, 3)).cumsum(axis=0)))
    C = 0.1 * generator.standard_normal((3 * points, 4))
    S = (B @ C.T).reshape(frames, 3, points)
    R, t = np.tile(np.eye(3), (frames, 1, 1)), np.tile([0.0, 0.0, 20.0], (frames, 1))
    Y = S + t[:, :, None]
    noisy = 250 * (S + 0.01 * generator.standard_normal(S.shape))
    tracks = Y[:, :2] / Y[:, 2:] + 1e-3 * generator.standard_normal((frames, 2, points))
    seen = {"tracks": tracks, "visible": generator.random((frames, points)) > 0.2, "rotations": R}
    shapes = {"translations": t, "B": B, "C": C, "weights": np.ones(4), "faces": None, "edges": None}
    return replace(small_result, **seen, **shapes, truth=GroundTruth.of_all_frames(noisy))


def lively(picture):
    """Return the share of pixels that have a color, not a gray."""
    return (np.ptp(picture, axis=2) > 40).mean()


@pytest.fixture
def opened(browser, small_result, tmp_path):
    """Open a page of the small result at a frame."""

    def open_page(result=small_result, *, frame=2, options=None, **more):
        (path,) = export(result, tmp_path / "shape.html", **(options or {}))
        browser.open(f"file://{path}" + (f"#frame={frame}" if frame else ""), **more)
        return browser

    return open_page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_shape_is_drawn_in_color_and_nothing_is_loaded_or_complained_of(opened, theme, size):
    browser = opened(size=size, theme=theme)
    picture = browser.picture()
    assert lively(picture) > 0.01
    assert (picture[-5, -5].mean() > 128) == (theme == "light")
    complaints, loaded = browser.problems()
    assert not complaints and len(loaded) == 1 and loaded[0].startswith("file://")
    width = browser.run("document.documentElement.scrollWidth")
    assert width <= size[0]  # nothing is cut off


def test_every_frame_has_its_own_picture(opened):
    browser = opened(frame=1)
    assert browser.run(FRAME) == "1"
    before = browser.picture()
    browser.press("ArrowRight")
    assert browser.run(FRAME) == "2"
    after = browser.picture()
    assert (np.abs(after - before).max(axis=2) > 40).mean() > 1e-3
    browser.press("ArrowLeft")
    assert np.array_equal(browser.picture(), before)
    browser.press("End")
    assert browser.run("count.innerText").replace("\n", "") == "5 / 5"
    browser.press("Home")
    assert browser.run("slider.value") == "1"


def test_it_plays_at_the_frame_rate_and_stops(opened):
    browser = opened(frame=None, options={"fps": 50})
    browser.wait(f"{FRAME} !== '1'")
    assert browser.run(PLAYING) == "Pause"
    browser.press(" ")
    stopped = browser.run(FRAME)
    time.sleep(0.1)
    browser.draw()
    assert browser.run(FRAME) == stopped
    browser.run("play.click()")
    browser.wait(f"{FRAME} !== '{stopped}'")


def test_it_stands_still_for_who_wants_less_motion_or_chooses_a_frame(opened):
    assert opened(frame=None, still=True).run(PLAYING) == "Play"
    browser = opened(frame=None)
    browser.run("slider.value = 4; slider.dispatchEvent(new Event('input'))")
    assert browser.run(FRAME) == "4"
    assert browser.run(PLAYING) == "Play"


def test_the_mouse_turns_moves_and_zooms(opened):
    browser = opened()
    left, top, width, height = browser.box()
    x, y = left + width / 2, top + height / 2
    before = pictures = browser.picture()
    for shift in (0, 8):
        browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1, modifiers=shift)
        browser.mouse("mouseMoved", x + 80, y + 30, button="left", buttons=1, modifiers=shift)
        browser.mouse("mouseReleased", x + 80, y + 30, button="left", clickCount=1, modifiers=shift)
        browser.mouse("mouseMoved", 5, 5)
        browser.draw()
        assert (np.abs(browser.picture() - pictures).max(axis=2) > 40).any()
        pictures = browser.picture()
    small = lively(pictures)
    browser.mouse("mouseWheel", x + 80, y + 30, deltaX=0, deltaY=-400)
    browser.mouse("mouseMoved", 5, 5)
    browser.draw()
    assert lively(browser.picture()) > 1.2 * small
    browser.press("f")
    assert np.array_equal(browser.picture(), before)


def test_two_fingers_zoom(opened):
    browser = opened()
    left, top, width, height = browser.box()
    x, y = left + width / 2, top + height / 2
    small = lively(browser.picture())

    def touch(kind, apart):
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        browser.do("Input.dispatchTouchEvent", type=kind, touchPoints=points if apart else [])

    touch("touchStart", 60)
    for apart in (70, 80, 90, 100, 110):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    browser.draw()
    assert lively(browser.picture()) > 1.2 * small


def test_points_are_lit_spheres_and_the_truth_is_gray_rings(opened, browser, small_result):
    bare = replace(small_result, faces=None, edges=None, visible=np.ones((5, 7), dtype=bool))
    opened(bare, frame=4)
    browser.press("1")  # one color
    blue = np.ptp(browser.picture(), axis=2) > 40
    shades = np.unique(browser.picture()[blue].sum(axis=1))
    assert np.ptp(shades) > 200  # from the rim to the highlight
    both = browser.picture()
    browser.press("t")
    assert (np.abs(browser.picture() - both).max(axis=2) > 40).sum() > 50
    browser.press("p")
    empty = browser.picture()
    browser.press("t")
    rings = browser.picture()
    drawn = np.abs(rings - empty).max(axis=2) > 60
    assert drawn.sum() > 50
    assert np.ptp(rings[drawn], axis=1).max() < 30


def test_points_are_where_the_shape_is(opened, browser, small_result):
    """From the camera of the frame: right and up in the page are those of the tracks."""
    bare = replace(small_result, faces=None, edges=None, truth=None, visible=np.ones((5, 7), dtype=bool))
    opened(bare, frame=4)
    browser.press("c")
    told = browser.run(
        """(() => {
          const told = [];
          for (let x = 10; x < view.clientWidth; x += 8) for (let y = 10; y < view.clientHeight; y += 8) {
            const { left, top } = view.getBoundingClientRect();
            view.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y }));
            if (!tip.hidden) told.push([x, y, tip.textContent]);
          }
          return told;
        })()"""
    )
    found = {}
    for x, y, text in told:
        number = int(text.split(" · ")[0].removeprefix("point "))
        found.setdefault(number - 1, []).append((x, y))
    places = np.array([np.mean(found[point], axis=0) for point in sorted(found)])
    expected = small_result.camera_points[3][:2, sorted(found)].T
    assert len(found) >= 5
    for axis in (0, 1):
        assert np.corrcoef(places[:, axis], expected[:, axis])[0, 1] > 0.98


def test_colors_have_a_scale_with_a_unit_and_keys_choose_them(opened, small_result):
    result = with_moved_truth(small_result)
    browser = opened(result, frame=2)
    errors = compare(result, ExportOptions()).errors
    assert browser.run("quantity.textContent") == "3-D error (mm)"
    shown = float(browser.run("mean.textContent").removesuffix(" mm"))
    assert shown == pytest.approx(np.nanmean(errors), rel=5e-3)
    text = browser.run("alignment.textContent")
    assert text == f"frame 2: {np.nanmean(errors[1]):.3g} mm · per-frame similarity"
    top = float(browser.run("ticks.lastElementChild.textContent").removeprefix("≥ "))
    assert top == pytest.approx(np.nanquantile(errors, 0.99), rel=5e-3)
    browser.press("3")
    assert browser.run("quantity.textContent") == "reprojection error (px)"
    browser.press("1")
    assert browser.run("legend.hidden && measure.hidden")
    browser.press("2")
    browser.press("Home")  # a frame without a truth
    assert browser.run("alignment.textContent").startswith("frame 1: unknown")


def test_a_page_of_few_true_frames_opens_with_the_depth_that_all_frames_have(opened, small_result):
    truth = small_result.truth
    single = replace(truth, frames=truth.frames[1:], points=truth.points[1:])
    browser = opened(replace(small_result, truth=single), frame=2)
    assert browser.run("quantity.textContent") == "relative depth"
    colors = "Color\n3-D error\nreprojection error\nrelative depth\nnone"
    assert browser.run("tools.innerText").startswith(colors)
    assert browser.run("what.textContent") == "mean 3-D error"  # a depth is no measure of quality
    depth = small_result.camera_points[:, 2]
    depth = depth - depth.mean(axis=1, keepdims=True)
    ticks = browser.run("[ticks.firstElementChild.textContent, ticks.lastElementChild.textContent]")
    ends = np.quantile(depth, (0.01, 0.99), method="nearest")
    shown = [float(tick.lstrip("≤≥ ").replace("−", "-")) for tick in ticks]
    assert shown == pytest.approx(ends.tolist(), rel=1e-2)


def test_a_mirror_image_is_shown_without_its_camera(opened, small_result):
    browser = opened(mirrored(small_result), options={"align": "sequence", "mirror": True})
    labels = browser.run("tools.innerText").split("\n")
    assert "as the camera" not in labels and "relative depth" not in labels
    browser.press("c")
    assert lively(browser.picture()) > 0.005 and not browser.problems()[0]


def test_layers_are_hidden_by_their_keys_and_buttons(opened):
    browser = opened(frame=2)
    everything = browser.picture()
    for key, name in (("p", "points"), ("s", "surface"), ("e", "edges"), ("t", "ground truth")):
        pressed = f"[...tools.querySelectorAll('button')].find(b => b.textContent === '{name}')"
        before = browser.run(f"{pressed}.getAttribute('aria-pressed')")
        browser.press(key)
        assert browser.run(f"{pressed}.getAttribute('aria-pressed')") != before
        assert (browser.picture() != everything).any(), name
        browser.run(f"{pressed}.click()")
        browser.draw()
        assert np.array_equal(browser.picture(), everything), name


def test_one_frame_has_a_page_without_a_film_and_help_lists_the_keys(opened):
    browser = opened(frame=None, options={"frame": 3})
    assert browser.run("facts.textContent").startswith("frame 4 · 7 points")
    assert lively(browser.picture()) > 0.005
    browser = opened()
    browser.press("?")
    assert browser.run("help.open") and "play or pause" in browser.run("help.innerText")
    browser.press("ArrowRight")
    assert browser.run(FRAME) == "2"  # keys are those of the dialog


def test_names_are_text_whatever_is_in_them(opened, small_result, browser):
    evil = '</script><img src=x onerror="document.title=1">{{data}}<!--"\'&\u2028'
    meta = small_result.meta | {"name": evil, "truth_name": evil, "point_names": [evil] * 7, "units": evil}
    opened(replace(small_result, meta=meta))
    assert browser.run("document.getElementById('name').textContent") == evil
    assert browser.run("document.title").startswith("</script>")
    assert browser.run("document.images.length") == 0
    complaints, loaded = browser.problems()
    assert not complaints and len(loaded) == 1


def test_the_page_of_a_hundred_frames_and_five_hundred_points_is_small_and_exact(large, browser, tmp_path):
    (path,) = export(large, tmp_path / "large.html")
    assert path.stat().st_size < 1_000_000
    browser.open(f"file://{path}#frame=57")
    assert lively(browser.picture()) > 0.01 and not browser.problems()[0]


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(small_result, browser, tmp_path):
    shown = small_result._repr_html_()
    assert shown.startswith("<iframe ") and 'sandbox="allow-scripts"' in shown
    host = tmp_path / "notebook.html"
    host.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{shown}', encoding="utf-8")
    browser.events.clear()
    browser.do("Page.navigate", url=f"file://{host}")
    browser.wait("document.readyState === 'complete' && frames.length === 1")
    end = time.monotonic() + PATIENCE
    while lively(browser.screenshot()) < 0.01:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert not browser.problems()[0]


def test_a_notebook_does_not_get_more_than_it_can_draw(small_result, monkeypatch):
    monkeypatch.setattr("core.reconstruction.result.MOST_SHOWN", 34)
    meta = small_result.meta | {"name": "<b>"}
    shown = replace(small_result, meta=meta)._repr_html_()
    assert "<iframe" not in shown and "&lt;b&gt;" in shown and "export" in shown


def test_positions_in_the_page_are_exact_to_sixteen_bits(small_result, tmp_path):
    (path,) = export(small_result, tmp_path / "a.html", coordinates="object")
    data = page_data(path)
    steps = unpacked(data["shape"], 5).reshape(5, 7, 3)
    assert steps.max() <= 65534
    got = steps * data["step"] + data["corner"]
    shapes = aligned_shapes(small_result, ExportOptions(coordinates="object"))
    expected = shapes.transpose(0, 2, 1) * [1.0, -1.0, -1.0]
    assert np.abs(got - expected).max() <= 0.51 * data["step"]
    assert data["step"] < 2e-5 * np.ptp(expected)
    over = unpacked(data["truth"], 5).reshape(5, 7, 3)
    known = np.isfinite(compare(small_result, ExportOptions(coordinates="object")).points).all(axis=1)
    assert np.array_equal((over < 65535).all(axis=2), known)
    assert np.array_equal(unpacked(data["visible"], 5), small_result.visible)


def test_what_a_page_cannot_show_is_refused(small_result, tmp_path):
    with pytest.raises(InputError, match="a page shows all frames"):
        export(small_result, tmp_path / "a.html", frames="numbered")
    B = small_result.B.copy()
    B[2] = np.nan
    with pytest.raises(InputError, match="not finite"):
        shape_page(replace(small_result, B=B))
    assert not list(tmp_path.iterdir())


def test_the_shape_casts_a_soft_shadow_on_a_floor_that_can_be_left_out(opened, browser, small_result):
    bare = replace(small_result, truth=None, visible=np.ones((5, 7), dtype=bool))
    opened(bare, frame=4)
    with_floor = browser.picture()
    browser.press("g")
    without = browser.picture()
    darker = (without - with_floor).max(axis=2)
    assert (darker > 4).mean() > 0.01  # a shadow
    rows = np.flatnonzero((darker > 4).any(axis=1))
    assert rows.mean() > 0.55 * len(without)  # below the shape
    assert np.abs(np.diff(darker[darker.sum(axis=1).argmax()])).max() < 40  # soft
    browser.press("g")
    assert np.array_equal(browser.picture(), with_floor)


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (900, 420)])
def test_no_frame_is_cut(opened, browser, small_result, size):
    opened(replace(small_result, truth=None), frame=1, size=size)
    browser.press("g")
    for _ in range(small_result.frame_count):
        color = np.ptp(browser.picture(), axis=2) > 60
        color[:220, -160:] = False  # the scale of the colors
        assert color.any()
        edges = (color[0], color[-1], color[:, 0], color[:, -1])
        assert not any(edge.any() for edge in edges)
        browser.press("ArrowRight")
