"""The package as a whole: stubs, documentation, and the notebook."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import orchestrion
from conftest import ROOT

FOLDER = ROOT / "python"


def test_stubs_fit_module(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy.stubtest", "orchestrion", "--concise", "--ignore-disjoint-bases"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_sources_are_typed() -> None:
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", FOLDER / "orchestrion"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_public_names_have_documentation() -> None:
    assert sorted(orchestrion.__all__) == list(orchestrion.__all__)
    for name in orchestrion.__all__:
        value = getattr(orchestrion, name)
        if name == "__version__":
            continue
        assert value.__doc__, name
        members = vars(value) if isinstance(value, type) else {}
        public = {key: member for key, member in members.items() if not key.startswith("_")}
        assert all(member.__doc__ for member in public.values()), name


def test_examples_of_readme_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 4
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)


@pytest.mark.filterwarnings("default")
def test_notebook_reproduces_study() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(FOLDER / "notebooks" / "redebate.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit the notebook without outputs"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": FOLDER / "notebooks"}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)
