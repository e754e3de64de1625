import numpy as np
import pytest

from core import solve
from core.experiments.figure1 import CURVE_METHODS, figure_jobs, figure_panels, figure_sequences
from core.experiments.job_store import JobStore
from core.experiments.jobs import JobResult, load_job_results, run_jobs


@pytest.fixture(scope="module")
def curves():
    """Figure 1's jobs on its simulated rigid sequence, with next to no time."""
    jobs = figure_jobs(figure_sequences(None)[:1], 0.02)
    return [job for job in jobs if job.eta == 0.05 and job.penalty == "TNN"]


@pytest.mark.slow
def test_a_panel_reports_whether_the_bilinear_method_ends_lowest(curves, tmp_path):
    with JobStore(tmp_path) as store:
        run_jobs(curves, store)
        assert all(store.has_result(job.key) for job in curves)  # also where its time has ended
        found = load_job_results(store, curves)
    (panel,) = figure_panels(curves, found)
    assert set(panel.curves) == set(CURVE_METHODS)
    ends = {name: panel.lowest(name) for name in panel.curves}
    first = {name: end.arrays["curve"][1, 0] for name, end in panel.curves.items()}
    assert first["ADMM"] == pytest.approx(first["IRNN"]) == pytest.approx(first["AGD"])  # the same start
    assert all(ends[name] <= first[name] for name in ends)
    lowest = min(ends[name] for name in ("ADMM", "IRNN", "AGD"))
    assert ("does not end lowest" in panel.verdict) == (ends["bilinear"] > lowest * (1 + 1e-9))
    turned = {**found, curves[-1].key: JobResult(found[curves[-1].key].facts | {"lowest": 2 * lowest})}
    assert curves[-1].method == "bilinear"
    assert "does not end lowest" in figure_panels(curves, turned)[0].verdict


@pytest.mark.slow
def test_all_methods_are_measured_by_one_objective(curves):
    """The bilinear loss is that of its matrix with all singular values counted, as first-order methods do."""
    problem = curves[-1].problem()
    algorithm = CURVE_METHODS["bilinear"]
    end = solve(problem, algorithm, problem.closed_form())
    X = problem.structure(algorithm.factors(problem, end.state))
    sigma = np.linalg.svd(X.reshape(-1, X.shape[2]), compute_uv=False)
    weights = np.where(np.arange(len(sigma)) < 4, 0.0, 1.0)  # TNN of Section 5.2: mu = 1, four are free
    m, eta = problem.tracks, problem.eta
    affine = np.square(X[:, :2] - m).sum(axis=1)
    projective = np.square(X[:, :2] - X[:, 2:] * m).sum(axis=1)
    data = ((eta * affine + (1 - eta) * projective) * problem.visible).sum()
    assert end.progress.loss == pytest.approx(data + weights @ sigma, rel=1e-7)
