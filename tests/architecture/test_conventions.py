"""The rules of the house that a machine can check."""

import ast
import re
import shlex
import tomllib

import pytest
from markdown_it import MarkdownIt
from programs import run_python
from sources import CORE, ROOT, WINDOW, imports_of, name_of, nodes_of

import core
from core.cli import COMMANDS, parser
from nrsfm_gui.model.arguments import parse

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "assets" / "help").glob("*.md"))]
GRAPHICS = ("PyQt6", "pyqtgraph", "OpenGL", "nrsfm_gui")


def python(code, folder):
    return run_python("-W", "error", "-c", code, cwd=folder)


def test_importing_core_loads_no_window_and_no_slow_module(tmp_path):
    done = python("import core, core.cli, sys; core.reconstruct; print('\\n'.join(sys.modules))", tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "core.reconstruction.reconstruct" in loaded
    for name in (*GRAPHICS, "scipy.io", "h5py", "matplotlib", "pandas"):
        assert not any(module == name or module.startswith(name + ".") for module in loaded), name


def test_importing_core_loads_numpy_and_solvers_only_when_asked_for(tmp_path):
    done = python("import core, sys; print('\\n'.join(sys.modules))", tmp_path)
    loaded = set(done.stdout.split())
    assert "core" in loaded and not {"numpy", "scipy", "core.solvers"} & loaded
    assert "AttributeError" in python("import core; core.no_such_name", tmp_path).stderr


def test_core_imports_itself_relatively():
    for path in CORE:
        assert not [line for module, _, line in imports_of(path) if module.split(".")[0] == "core"], path


def test_every_thread_of_the_window_is_a_job_or_that_of_a_run():
    made = re.compile(r"\bQ(Thread|ThreadPool|Runnable)\b|\bthreading\.Thread\(|ThreadPoolExecutor")
    found = {name_of(path) for path in WINDOW if made.search(path.read_text(encoding="utf-8"))}
    assert found == {"nrsfm_gui.engine.jobs", "nrsfm_gui.engine.solver_thread"}


@pytest.mark.slow
def test_the_examples_of_the_readme_and_of_the_package_run(tmp_path):
    """They differ in their last lines alone, and are run as one."""
    (example,) = code_of(README, "python")
    readme = [line.partition("  #")[0] for line in example.splitlines() if line]
    package = [line[4:] for line in core.__doc__.splitlines() if line.startswith("    ")]
    assert len(readme) == len(package) == 5 and readme[:4] == package[:4]
    done = python(f"{example}\n{package[4]}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"balloon.ply", "result.npz"}
    printed = r"Result\('balloon circle': .* log10 loss -?\d\.\d\d, \w+\) \{'procrustes_mm': "
    assert re.match(printed, done.stdout)
    assert (tmp_path / "balloon.ply").stat().st_size > 0


def code_of(page, *languages):
    """Return the blocks of code of a page that are of one of these languages."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    blocks = (token for token in tokens if token.type in ("fence", "code_block"))
    return [block.content for block in blocks if block.info in languages]


def test_the_commands_of_all_pages_are_understood():
    code = "\n".join(block for page in PAGES for block in code_of(page, "", "bash"))
    commands = re.findall(r"^(nrsfm(?:-gui)?\b.*?)(?:  +#.*)?$", code, flags=re.MULTILINE)
    assert {command.split()[1] for command in commands if command.startswith("nrsfm ")} == set(COMMANDS)
    for command in commands:
        program, *words = shlex.split(re.sub(r"\[(.*?)\]", r"\1", command))
        (parser().parse_args if program == "nrsfm" else parse)(words)


def test_the_pages_link_to_files_that_are_there():
    for page in PAGES:
        for name in re.findall(r"\]\(((?!\w+:)[^)#\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / name).exists() or name.startswith("generated/"), f"{page.name}: {name}"


def test_no_class_name_is_used_twice():
    places = {}
    for path in [*CORE, *WINDOW]:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert len(places) > 300
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_tests_have_no_packages():
    assert not list((ROOT / "tests").rglob("__init__.py"))  # a tests/core package would shadow core


def test_pinned_versions_name_no_host():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins and all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line) for line in pins)


def test_the_citation_is_of_this_version_and_license():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^(title|version|license): (.+)$", citation, flags=re.MULTILINE))
    assert stated == {"title": project["name"], "version": core.VERSION, "license": project["license"]}
    listed, keywords = re.findall(r"^  - ([a-z3].*)$", citation, flags=re.MULTILINE), project["keywords"]
    assert listed[: len(keywords)] == keywords
