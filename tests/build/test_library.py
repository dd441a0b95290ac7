"""The library's pages: what they tell is so, and what they show runs, from an installed wheel in an environment of its
own.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sinew as sw

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "docs" / "library"
EXAMPLES = sorted(path.stem for path in (LIBRARY / "examples").glob("*.py"))


def made() -> object:
    spec = importlib.util.spec_from_file_location("make_pages", LIBRARY / "make_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The Python of an environment with the wheel, which sees this one's packages and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("library")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    (packages / "seen.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, ROOT)
    python = folder / "venv" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", *folder.glob("sinew-*.whl"))
    return python


@pytest.fixture
def example(installed, tmp_path):
    """Runs one: what it prints, and where it has left its files."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def result(script: Path) -> str:
        return run(installed, script, cwd=tmp_path, env=environment)

    return result


def test_the_pages_are_made_of_docstrings_and_measurements_as_they_are():
    pages = made()
    for name, text in (("api.md", pages.api()), (pages.MATERIALS, pages.materials())):
        assert (LIBRARY / name).read_text(encoding="utf-8") == pages.page(name, text), (
            "run .venv/bin/python docs/library/make_pages.py"
        )


def test_everything_that_is_offered_is_documented():
    pages = made()
    for name in sw.__all__:
        offered = getattr(sw, name)
        assert len(inspect.getdoc(offered).split()) > 3, name
        assert not [line for line in pages._members(name, offered) if line.endswith("` ")], name


@pytest.mark.parametrize("name", ["README.md", "api.md", "scripting.md"])
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#:]+)\)", (LIBRARY / name).read_text(encoding="utf-8"))
    assert not [link for link in links if not (LIBRARY / link).exists()]


def test_the_page_names_every_example():
    text = (LIBRARY / "README.md").read_text(encoding="utf-8")
    assert len(EXAMPLES) == 7 and all(f"(examples/{name}.py)" in text for name in EXAMPLES)


@pytest.mark.parametrize("page", [ROOT / "README.md", LIBRARY / "README.md"], ids=["README", "library"])
def test_hello_in_ten_lines_and_one_import(page, example, tmp_path):
    (script,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    lines = [line for line in script.splitlines() if line.strip()]
    assert len(lines) <= 10 and [line for line in lines if "import" in line] == ["import sinew as sw"]
    (tmp_path / "docs" / "scenes").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "docs" / "scenes"):
        shutil.copy(ROOT / "docs" / "scenes" / "bar.obj", folder)
    (tmp_path / "hello.py").write_text(script)
    said = example(tmp_path / "hello.py").splitlines()
    heights = [float(line.split()[-2]) for line in said]
    assert len(said) == 24 and said[-1].startswith("100%") and heights[0] == 0.4 and min(heights) < 0.39
    assert (tmp_path / "bar.png").stat().st_size > 10_000


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e[+-]\d+)?", text)]


def test_two_materials(example):
    swing, strain = numbers(example(LIBRARY / "examples" / "two_materials.py"))
    assert swing > 0.06 and strain < 1e-5


def test_a_jointed_arm_is_held_and_limited(example):
    shoulder, elbow = numbers(example(LIBRARY / "examples" / "jointed_arm.py"))
    assert shoulder == pytest.approx(-0.5, abs=5e-3) and elbow == pytest.approx(1.2, abs=5e-3)


def test_own_tets_and_energy(example, tmp_path):
    """Against a bar in plain tension: its ends are held, so it is a little stiffer."""
    force, stress = numbers(example(LIBRARY / "examples" / "own_tets_and_energy.py"))
    mu, lam = 1e5 / 2.8, 1e5 * 0.4 / (1.4 * 0.2)

    def psi(a, b):
        J = a * b * b
        first, second = J ** (-2 / 3) * (a**2 + 2 * b**2), J ** (-4 / 3) * (2 * (a * b) ** 2 + b**4)
        return mu / 4 * (first + second - 6) + (lam / 2 + mu / 3) * (J - 1) ** 2

    def least(a):
        return min((psi(a, b / 1e5), b / 1e5) for b in range(70_000, 100_000))

    pull = (least(1.505)[0] - least(1.495)[0]) / 0.01
    assert 1.0 < force / (pull * 0.1**2) < 1.08
    assert 1.0 < stress / (pull / least(1.5)[1] ** 2) < 1.1
    assert len(list(tmp_path.glob("block_*.vtu"))) == 9 and (tmp_path / "block.pc2").is_file()


def test_sweep_in_a_pool(example):
    """The stiffer, the nearer to Hooke: the product of stiffness and sag rises to a limit."""
    rows = [numbers(line) for line in example(LIBRARY / "examples" / "sweep_in_a_pool.py").splitlines()]
    products = [modulus * sag for modulus, sag, _told in rows]
    assert [row[0] for row in rows] == [5e4, 1e5, 2e5, 4e5]
    assert products == sorted(products) and products[3] / products[2] < 1.02 < products[1] / products[0]


def test_modes_and_spectrum(example):
    said = dict(
        line.split(":") for line in example(LIBRARY / "examples" / "modes_and_spectrum.py").splitlines() if ":" in line
    )
    modes, scipys, (peak,) = numbers(said["modes"]), numbers(said["scipy"]), numbers(said["peak of the spectrum"])
    assert modes == scipys and len(modes) == 4 and abs(peak / modes[0] - 1.0) < 0.05


def test_stop_and_resume(example):
    said = example(LIBRARY / "examples" / "stop_and_resume.py").splitlines()
    assert said[0] == "left after frame 5, 50%" and said[1] == "the same bits: True"
    assert said[2].startswith("StoreError: ") and "frame range changed" in said[2]


def test_tip_plot(example, tmp_path):
    example(LIBRARY / "examples" / "tip_plot.py")
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("tip.png", "bar.png"))
