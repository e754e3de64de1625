"""The help page on the method, as rich text for a QTextBrowser. No Qt.

The text is in `assets/help/method.html`; its pictures are made by `tests/benchmarks/help_pictures.py`.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from core.foundation import asset_folder

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

PAPER = (
    "José Pedro Iglesias, Carl Olsson and Marcus Valtonen Örnhag: Accurate Optimization of Weighted Nuclear "
    "Norm for Non-Rigid Structure from Motion. European Conference on Computer Vision (ECCV), 2020."
)
BENCHMARK = (
    "Sebastian Hoppe Nesgaard Jensen, Mads Emil Brix Doest, Henrik Aanæs and Alessio Del Bue: A Benchmark "
    "and Evaluation of Non-Rigid Structure from Motion. International Journal of Computer Vision, 2020."
)
BIBTEX = r"""@inproceedings{iglesias2020accurate,
  title     = {Accurate Optimization of Weighted Nuclear Norm for Non-Rigid Structure from Motion},
  author    = {Iglesias, Jos{\'e} Pedro and Olsson, Carl and Valtonen {\"O}rnhag, Marcus},
  booktitle = {European Conference on Computer Vision (ECCV)},
  year      = {2020}
}

@article{jensen2020benchmark,
  title   = {A Benchmark and Evaluation of Non-Rigid Structure from Motion},
  author  = {Jensen, Sebastian Hoppe Nesgaard and Doest, Mads Emil Brix and Aan{\ae}s, Henrik and
             Del Bue, Alessio},
  journal = {International Journal of Computer Vision (IJCV)},
  year    = {2020}
}
"""


def method_page(theme: Theme) -> str:
    """Return the page in the colors of a theme."""
    folder = asset_folder("help")
    if folder is None:
        return "<p>The help page was not installed: the folder assets/help is missing.</p>"
    page = Template((folder / "method.html").read_text(encoding="utf-8"))
    colors = {name: value for name, value in vars(theme).items() if isinstance(value, str)}
    return page.substitute(colors, paper=PAPER, benchmark=BENCHMARK, bibtex=BIBTEX)
