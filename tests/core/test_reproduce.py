"""The paper's experiments through the command: tables, figure, resuming, refusals."""

from __future__ import annotations

import contextlib
import csv
import gc
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import joblib
import numpy as np
import pytest

from core.algorithms.closed_form import svd_start
from core.cli import main
from core.experiments import pictures, run
from core.experiments.document import Cell, Code, Heading, Paragraph, Row, Table, as_html, as_markdown
from core.experiments.figure1 import figure_jobs, figure_tracks, panels
from core.experiments.job import Finished
from core.experiments.matrix_job import METHODS as CURVES
from core.experiments.matrix_job import MatrixJob
from core.experiments.mocap import PUBLISHED, MocapRow
from core.experiments.mocap_job import mocap_blocks, mocap_jobs
from core.experiments.published import SLIPS, mean_log_loss, published
from core.experiments.report import shape_blocks
from core.experiments.sections import loss_blocks
from core.experiments.sequence_job import SequenceJob
from core.experiments.sources import Item, Source, challenge_source
from core.experiments.store import Store
from core.experiments.tables import METHODS, Entries, Entry
from core.files import read_sequence
from core.result import load_result
from core.sequence import CameraModel
from core.solver import solve
from core.synthetic import PATHS, simulate, write_challenge

PERSPECTIVE, ORTHOGONAL = CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("objects")
    write_challenge(root, "balloon", paths=("circle", "line"), frames=9, points=16, seed=3)
    return root


@pytest.fixture(scope="module")
def report(folder, tmp_path_factory):
    """The report of Table 1, made through the command."""
    output = tmp_path_factory.mktemp("made") / "report"
    assert main(["reproduce", "table1", "--data", str(folder), "-o", str(output), "--jobs", "1"]) == 0
    return output


def numbers(report):
    with (report / "numbers.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def cells(text, heading):
    """The rows of the first Markdown table below a heading."""
    part = text.split(heading, 1)[1].split("\n## ", 1)[0]
    table = "|" + part.split("\n|", 1)[1].split("\n\n", 1)[0]
    lines = [line[2:-2].split(" | ") for line in table.splitlines()]
    return [[cell.strip("* ").replace("−", "-") for cell in line] for line in lines]


def test_every_method_is_run_on_every_sequence(report):
    found = {(row["object"], row["path"], row["camera"], row["method"]) for row in numbers(report)}
    assert found == {
        ("balloon", path, camera.value, method)
        for path in ("circle", "line")
        for camera in METHODS
        for method in METHODS[camera]
    }


def test_the_search_ends_no_higher_than_the_first_order_methods_and_the_pipeline(report):
    losses = {(r["object"], r["path"], r["camera"], r["method"]): float(r["loss"]) for r in numbers(report)}
    for (name, path, camera, method), loss in losses.items():
        penalty = {"BMM": "NN", "R-BMM": "WNN"}.get(method, method.rpartition("-")[2])
        assert losses[name, path, camera, f"Search-{penalty}"] <= loss * (1 + 1e-9)


def test_table_1_is_the_logarithm_of_mean_losses(report):
    table = cells((report / "report.md").read_text(encoding="utf-8"), "## Table 1")
    assert table[0] == ["camera", "method", "balloon"]
    camera, checked = "", 0
    for row in table[2:]:
        camera = row[0] or camera
        for name, printed in zip(table[0][2:], row[2:], strict=True):
            losses = [
                float(r["loss"])
                for r in numbers(report)
                if (r["object"], r["camera"], r["method"]) == (name, camera, row[1])
            ]
            assert len(losses) == 2
            assert float(printed) == pytest.approx(math.log10(sum(losses) / 2), abs=6e-4)
            checked += 1
    assert checked == 12


def test_a_number_is_made_again_by_its_command(report, tmp_path):
    row = next(r for r in numbers(report) if r["method"] == "Search-WNN" and r["camera"] == "perspective")
    words = shlex.split(row["command"])[1:]
    words[words.index("-o") + 1] = str(tmp_path / "again.npz")
    assert main([*words, "--quiet"]) == 0
    assert load_result(tmp_path / "again.npz").loss == pytest.approx(float(row["loss"]), rel=1e-9)


def test_stand_ins_are_said_to_be_and_have_no_published_numbers(report):
    for name in ("report.md", "report.html"):
        text = (report / name).read_text(encoding="utf-8")
        assert "Stand-ins" in text and "not the NRSfM Challenge's" in text
        assert SLIPS[0][:20] in text  # what is wrong in the published tables is said anyway
    table = cells((report / "report.md").read_text(encoding="utf-8"), "## Table 1")
    assert "published" not in table[0]


def test_table_2_goes_on_from_table_1_and_pictures_every_sequence(folder, report, monkeypatch):
    def refuse(job, caller):
        raise AssertionError(f"{job.label} is computed again")

    monkeypatch.setattr(run, "_perform", refuse)
    assert main(["reproduce", "table2", "--data", str(folder), "-o", str(report), "--jobs", "1"]) == 0
    text = (report / "report.html").read_text(encoding="utf-8")
    shown = re.findall(r'<img src="(pictures/[^"]+)"', text)
    assert len(shown) == 4 and all((report / path).stat().st_size > 5000 for path in shown)
    table = cells((report / "report.md").read_text(encoding="utf-8"), "`procrustes_mm_reference`")
    row = next(r for r in table if r[1] == "Search-WNN" and r[0] == "")  # orthogonal is first
    errors = [
        float(r["procrustes_mm_reference"])
        for r in numbers(report)
        if (r["object"], r["camera"], r["method"]) == ("balloon", "orthogonal", "Search-WNN")
    ]
    assert float(row[2]) == pytest.approx(np.mean(errors), abs=6e-3)


def test_ends_of_data_that_was_moved_are_made_again_from_where_it_is(folder, report, tmp_path, monkeypatch):
    moved, again = shutil.copytree(folder, tmp_path / "moved"), shutil.copytree(report, tmp_path / "again")
    monkeypatch.setattr(run, "_perform", None)  # nothing is computed again
    assert main(["reproduce", "table1", "--data", str(moved), "-o", str(again), "--jobs", "1"]) == 0
    before, after = ([row["command"] for row in numbers(each)] for each in (report, again))
    assert sum(map(bool, after)) == 20  # of 24: there is no command for refining BMM
    assert after == [command.replace(str(folder), str(moved)) for command in before]
    settings = cells((again / "report.md").read_text(encoding="utf-8"), "## Settings")
    commands = {row[1]: row[2] for row in settings[2:]}
    assert commands["ADMM-WNN"] == "`nrsfm solve … --preset paper --method admm --max-iterations 3000`"
    assert commands["BMM"].endswith("--method bmm --tau 1.0 --penalty nn --max-iterations 2000`")
    assert [row[2] for row in settings].count("from Python alone") == 2


def test_pictures_of_shapes_are_titled_with_the_error_they_show(folder, report, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        pictures, "compare_shapes", lambda path, truth, estimates: drawn.append((path, truth, estimates)) or 1
    )
    items, store = challenge_source(folder).items, Store(report / "jobs")
    jobs = [SequenceJob(item.object_name, item.path_name, item.sequence, "WNN") for item in items]
    found = {job.key: store.load(job.key) for job in jobs}
    shape_blocks(jobs, found, tmp_path)
    assert len(drawn) == 4
    for _, truth, estimates in drawn:
        for title, estimate in estimates.items():
            distance = np.linalg.norm(estimate - truth, axis=0).mean()
            assert float(title.split()[-2]) == pytest.approx(distance, abs=6e-3), title
    orthogonal = [job for job in jobs if job.sequence.camera is ORTHOGONAL]
    errors = [row["errors"] for job in orthogonal for row in found[job.key].facts["rows"]]
    assert any(e["procrustes_mm_reference"] > e["procrustes_mm_reference_mirror"] + 1 for e in errors)


def has_workers(process):
    """Whether a process has begun workers."""
    for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if b"loky" in Path(f"/proc/{child}/cmdline").read_bytes():
                time.sleep(0.15)  # until Python has begun in them; they import for longer
                return True
    return False


@pytest.mark.parametrize("moment", ["workers begin", "a job is done"])
def test_a_stopped_run_keeps_what_is_done_and_goes_on(moment, folder, tmp_path):
    """Ctrl-C as a terminal sends it, to all processes of the group."""
    if moment == "workers begin" and not sys.platform.startswith("linux"):
        pytest.skip("the workers are found in /proc")
    jobs = tmp_path / "report" / "jobs"
    words = ["reproduce", "tableA1", "--data", str(folder), "-o", str(jobs.parent)]
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *words, "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if has_workers(process) if moment == "workers begin" else list(jobs.glob("[!.]*.npz")):
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    kept = {path: path.stat().st_mtime_ns for path in jobs.glob("[!.]*.npz")}
    if len(kept) == 2:
        assert process.returncode in (0, 130), errors
        pytest.skip("all jobs were done before they could be stopped")
    assert process.returncode == 130
    assert re.fullmatch(r"nrsfm reproduce: stopped; \d of 2 jobs are kept in .*, and the same .*\n", errors)
    assert len(kept) == 1 or moment == "workers begin"
    assert main([*words, "--jobs", "1"]) == 0
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert len(list(jobs.iterdir())) == 2 and (jobs.parent / "report.html").is_file()


def stop_after_one(standing):
    if standing.done:
        raise KeyboardInterrupt


@pytest.mark.parametrize("workers", ["sequential", "threading", "loky"])
def test_a_run_that_is_stopped_between_two_ends_says_nothing_else(workers, folder, tmp_path):
    """joblib would warn of results that nobody waited for."""
    items = challenge_source(folder).items
    jobs = [SequenceJob(i.object_name, i.path_name, i.sequence, "NN") for i in items]
    with joblib.parallel_config(workers, n_jobs=2), pytest.raises(KeyboardInterrupt):
        run.perform(jobs, Store(tmp_path), progress=stop_after_one)
    gc.collect()  # a generator that nobody closed would warn now
    assert len(list(tmp_path.iterdir())) == 1


def test_ctrl_c_while_workers_are_begun_comes_after_that(folder, tmp_path, monkeypatch):
    begun = []

    class Interrupted(joblib.Parallel):
        def __call__(self, calls):
            signal.raise_signal(signal.SIGINT)
            outcomes = super().__call__(calls)
            begun.append(outcomes)
            return outcomes

    monkeypatch.setattr(joblib, "Parallel", Interrupted)
    items = challenge_source(folder).items
    jobs = [SequenceJob(i.object_name, i.path_name, i.sequence, "NN") for i in items]
    with joblib.parallel_config("threading", n_jobs=2), pytest.raises(KeyboardInterrupt):
        run.perform(jobs, Store(tmp_path))
    assert len(begun) == 1
    begun.clear()
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_damaged_ends_are_computed_again(tmp_path):
    store = Store(tmp_path)
    store.save("a", Finished({"x": 1.5}, {"y": np.arange(3.0)}))
    again = store.load("a")
    assert again.facts == {"x": 1.5} and np.array_equal(again.arrays["y"], np.arange(3.0))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content[: len(content) // 2])
    assert store.load("a") is None and store.load("b") is None


def test_keys_follow_data_and_settings(folder):
    items = challenge_source(folder).items
    sequence = items[0].sequence
    jobs = [
        SequenceJob("balloon", "circle", sequence, "NN"),
        SequenceJob("balloon", "circle", sequence, "WNN"),
        SequenceJob("balloon", "circle", items[1].sequence, "NN"),
        *(
            MatrixJob("a", sequence, "rigid", p, e, "ADMM", s)
            for p in ("NN", "TNN")
            for e, s in ((0.1, 1), (0.2, 2))
        ),
    ]
    assert len({job.key for job in jobs}) == len(jobs)
    file = folder / "balloon" / "sequence" / "perspective" / "circle.txt"
    assert SequenceJob("other", "name", read_sequence(file), "NN").key in {job.key for job in jobs}


def test_workers_are_those_of_the_context(folder, tmp_path):
    items = challenge_source(folder).items[:2]
    jobs = [SequenceJob(i.object_name, i.path_name, i.sequence, "NN") for i in items]
    alone = run.perform(jobs, Store(tmp_path / "one"))
    with joblib.parallel_config("threading", n_jobs=2):
        together = run.perform(jobs, Store(tmp_path / "two"))
    for key, finished in alone.items():
        assert together[key].facts["rows"][0]["loss"] == finished.facts["rows"][0]["loss"]


def test_a_sequence_that_cannot_be_solved_is_named_and_the_others_go_on(tmp_path):
    root = write_challenge(tmp_path / "data", "paper", paths=("circle", "line"), frames=9, points=16)
    (root / "sequence" / "orthogonal" / "line.txt").unlink()  # then line has no companion
    output = tmp_path / "report"
    assert (
        main(["reproduce", "tableA1", "--data", str(tmp_path / "data"), "-o", str(output), "--jobs", "1"])
        == 0
    )
    text = (output / "report.md").read_text(encoding="utf-8")
    assert "## Not computed" in text and "no companion tracks" in text
    assert {row["path"] for row in numbers(output)} == {"circle"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--data", "absent"], "there is no such file or folder"),
        (["--data", "empty"], "holds no sequence"),
        (["--data", "broken"], "circle.txt"),
        (["--data", "good", "--jobs", "0"], "--jobs is 0"),
        (["--data", "good", "--seconds", "0"], "seconds is 0"),
        (["--data", "good", "--real", "absent"], "there is no such folder"),
        (["--data", "good", "--real", "empty"], "none of the files of Figure 1"),
        (["--data", "good", "-o", "file"], "cannot be made"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence, folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("a file")
    broken = write_challenge(tmp_path / "broken", "paper", paths=("circle",), frames=5, points=16)
    (broken / "sequence" / "perspective" / "circle.txt").write_text("1 2 three\n")
    places = {"good": folder} | {name: tmp_path / name for name in ("absent", "empty", "broken", "file")}
    words = [str(places.get(word, word)) for word in words]
    output = [] if "-o" in words else ["-o", str(tmp_path / "report")]
    assert main(["reproduce", "all", *words, *output]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("nrsfm reproduce: ") and sentence in said


@pytest.mark.parametrize("name", ["joblib", "matplotlib"])
def test_what_is_not_installed_is_named(name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, name, None)
    assert main(["reproduce", "table1"]) == 2
    said = capsys.readouterr().err
    assert name in said and "nrsfm-gui[experiments]" in said and said.count("\n") == 1


def test_published_averages_follow_from_the_published_sequences():
    tables = published()
    for method, objects in tables.tableA1.items():
        for name, values in objects.items():
            printed = tables.average("table1", PERSPECTIVE, method, name)
            # Balloon/Line of Ours-WNN is misprinted: see the slips.
            margin = 4e-3 if (method, name) == ("Ours-WNN", "balloon") else 1.6e-3
            assert mean_log_loss(list(values)) == pytest.approx(printed, abs=margin)
            errors = tables.tableA2[method][name]
            margin = 0.1 if (method, name) == ("ADMM-WNN", "articulated") else 0.0101
            assert np.mean(errors) == pytest.approx(
                tables.average("table2", PERSPECTIVE, method, name), abs=margin
            )


def test_the_slips_are_in_the_numbers():
    tables = published()
    ours, admm = (np.array(tables.tableA1[m]["balloon"]) for m in ("Ours-WNN", "ADMM-WNN"))
    assert [tables.paths[i] for i in np.flatnonzero(ours > admm)] == ["line"]
    as_table_1 = 6 * 10 ** tables.table1["perspective"]["Ours-WNN"][1] - sum(10 ** np.delete(ours, 2))
    assert math.log10(as_table_1) == pytest.approx(-3.13, abs=0.01)
    assert tables.table1["orthogonal"]["R-BMM"] == tables.table1["orthogonal"]["Ours-WNN"]
    assert np.mean(tables.tableA2["ADMM-WNN"]["articulated"]) == pytest.approx(18.24, abs=5e-3)


def test_the_challenges_own_sequences_have_the_published_numbers_beside_them(tmp_path):
    """Files as the Challenge has them: its names and numbers, and the truth of one frame."""
    root = write_challenge(tmp_path, "stretch", frames=22, points=16)
    for file in (root / "truth").iterdir():
        file.unlink()
    next(root.glob("gt_frame_*.txt")).rename(root / "gt_frame_20.txt")
    source = challenge_source(tmp_path)
    assert source.real and len(source.items) == 2 * len(PATHS)
    tables = published()
    entries = Entries(
        Entry("stretch", path, PERSPECTIVE, method, 10**value, {}, 1.0, True, None, "", "")
        for method in ("ADMM-WNN", "Ours-WNN")
        for path, value in zip(tables.paths, tables.tableA1[method]["stretch"], strict=True)
    )
    text = as_markdown(loss_blocks(entries, source))
    table = cells(text, "## Table 1")
    assert table[0] == ["camera", "method", "stretch", "published"]
    assert table[2:] == [
        ["perspective", "ADMM-WNN", "-2.650", "-2.651"],
        ["", "Ours-WNN", "-2.857", "-2.857"],
    ]


def test_simulated_objects_of_the_same_names_are_stand_ins():
    sequence = simulate("paper", frames=6, points=16)
    assert not Source("here", (Item("paper", "circle", sequence, False),)).real
    assert not challenge_source(None).real  # the bundled samples
    assert challenge_source(None).objects == published().objects


@pytest.fixture(scope="module")
def curves():
    """Figure 1's jobs on its simulated rigid sequence, with next to no time."""
    jobs = figure_jobs(figure_tracks(None)[:1], 0.02)
    return [job for job in jobs if job.eta == 0.05 and job.penalty == "TNN"]


def test_a_panel_says_whether_the_bilinear_method_ends_lowest(curves, tmp_path):
    found = run.perform(curves, Store(tmp_path))
    (panel,) = panels(curves, found)
    assert set(panel.curves) == set(CURVES)
    ends = {name: panel.lowest(name) for name in panel.curves}
    first = {name: end.arrays["curve"][1, 0] for name, end in panel.curves.items()}
    assert first["ADMM"] == pytest.approx(first["IRNN"]) == pytest.approx(first["AGD"])  # the same start
    assert all(ends[name] <= first[name] for name in ends)
    lowest = min(ends[name] for name in ("ADMM", "IRNN", "AGD"))
    assert ("does not end lowest" in panel.verdict) == (ends["bilinear"] > lowest * (1 + 1e-9))
    turned = {**found, curves[-1].key: Finished(found[curves[-1].key].facts | {"lowest": 2 * lowest})}
    assert curves[-1].method == "bilinear"
    assert "does not end lowest" in panels(curves, turned)[0].verdict


def test_all_methods_are_measured_by_one_objective(curves):
    """The bilinear loss is that of its matrix with all singular values counted, as first-order methods do."""
    problem = curves[-1].problem()
    algorithm = CURVES["bilinear"]
    end = solve(problem, algorithm, svd_start(problem))
    X = problem.structure(algorithm.factors(problem, end.state))
    sigma = np.linalg.svd(X.reshape(-1, X.shape[2]), compute_uv=False)
    weights = np.where(np.arange(len(sigma)) < 4, 0.0, 1.0)  # TNN of Section 5.2: mu = 1, four are free
    m, eta = problem.tracks, problem.eta
    affine = np.square(X[:, :2] - m).sum(axis=1)
    projective = np.square(X[:, :2] - X[:, 2:] * m).sum(axis=1)
    data = ((eta * affine + (1 - eta) * projective) * problem.visible).sum()
    assert end.progress.loss == pytest.approx(data + weights @ sigma, rel=1e-7)


def test_motion_capture_stands_beside_the_published_numbers(tmp_path):
    (tmp_path / "mocap").mkdir()
    (tmp_path / "mocap" / "pickup.mat").write_bytes(b"only its digest is asked for")
    (tmp_path / "mocap" / "other.mat").write_bytes(b"")
    (job,) = mocap_jobs(tmp_path)
    e3d = (0.15, 0.25, PUBLISHED["pickup"].e3d[0])
    row = MocapRow("pickup", "BMM", "estimated", 12, None, *e3d, 9, 1.5, "stalled")
    blocks = mocap_blocks([job], {job.key: Finished({"rows": [asdict(row)]})})
    table = cells(as_markdown(blocks), "## BMM and R-BMM")
    assert dict(zip(table[0], table[2], strict=True)) == {
        "sequence": "pickup",
        "method": "BMM",
        "rotations": "estimated",
        "ends": "stalled",
        "K": "12",
        "rotation error, °": "–",
        "camera": "0.1500",
        "published": "0.1731",
        "object": "0.2500",
        "iterations": "9",
        "CPU s": "1.5",
    }


def test_markdown_and_html_say_the_same(tmp_path):
    table = Table("a < b", ("name", "x | y"), (Row((Cell("`m`"), Cell("1.0", strong=True)), rule=True),))
    blocks = [Heading("A & B", 1), Paragraph("see **this** and `x < y`"), Code("a > b"), table]
    assert as_markdown(blocks) == (
        "# A & B\n\nsee **this** and `x < y`\n\n```\na > b\n```\n\n"
        "a < b\n\n| name | x \\| y |\n| :--- | ---: |\n| `m` | **1.0** |\n"
    )
    page = as_html(blocks, "T")
    for part in (
        "<h1>A &amp; B</h1>",
        "<b>this</b> and <code>x &lt; y</code>",
        "<code>a &gt; b</code>",
        "<caption>a &lt; b</caption>",
        '<td align="right"><b>1.0</b></td>',
    ):
        assert part in page


@dataclass(frozen=True)
class Ending:
    """A job that ends with an error, or finds something."""

    label: str
    error: Exception | None = None
    cost: float = 1.0

    @property
    def key(self) -> str:
        return self.label

    def run(self) -> Finished:
        if self.error is not None:
            raise self.error
        return Finished({"found": 1})


def test_a_job_that_comes_to_no_end_keeps_no_other_from_it(tmp_path):
    errors = [np.linalg.LinAlgError("SVD did not converge"), MemoryError()]
    jobs = [*(Ending(type(error).__name__, error) for error in errors), Ending("good")]
    store = Store(tmp_path)
    found = run.perform(jobs, store)
    assert found["LinAlgError"].problem == "SVD did not converge"
    assert found["MemoryError"].problem == "MemoryError"
    assert found["good"].facts == {"found": 1}
    assert store.load("good") is not None and store.load("LinAlgError") is None
