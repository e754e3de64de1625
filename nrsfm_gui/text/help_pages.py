"""The help texts: of every panel, by the title of its dock, and the page on the method. No Qt.

The page is `assets/help/method.html`; its pictures are made by `tests/benchmarks/help_pictures.py`.
"""

from __future__ import annotations

import re
from string import Template
from typing import TYPE_CHECKING

from core.foundation import help_page

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

CODE = re.compile(r"^```\w*\n(?P<code>.*?)^```\n", re.MULTILINE | re.DOTALL)
SCENE = "3-D view"
TIMELINE = "Timeline"
# Two to four sentences each: what is seen, and what can be done with it.
PANELS = {
    SCENE: "The reconstructed shape of the current frame, the ground truth where there is one, and the lines "
    "between the two. Drag to turn, Shift-drag to move, wheel to zoom, double click to fit, Ctrl-drag "
    "to select by a lasso. Shift+F shows all as at first, Ctrl+Z undoes what was changed. C locks the view "
    "to the camera of the frame: it then shows what the 2-D panel shows. U shows the uncertainty.",
    TIMELINE: "The error of every frame as a curve, and of every point in every frame as a strip of colors: "
    "a column of large errors is a frame that fits badly, a row of them is a point that does. Click to go "
    "there, drag to choose the frames that playing repeats. Worst goes to the worst frame and shows why; "
    "K marks the frame that the intrinsics can be estimated from.",
    "Sequences": "What the open file or folder holds, by object and camera path: P opens the perspective "
    "tracks, O the orthogonal ones. Below a sequence stand its runs, newest first, with their error; they "
    "stay when another sequence is opened. Click a run to see it, Ctrl-click to compare it with the one "
    "shown; its menu has the rest. Drop a file or folder anywhere in the window to open it. A file that is "
    "not clear is shown first, with what is understood of it; Ctrl+Shift+I shows so any file.",
    "Parameters": "What the solver minimizes, and how. The plot has a bar for each mode in which the shape "
    "deviates from its mean, and the weight that holds it back: drag a weight, and a heavier one shrinks its "
    "mode; weights never fall from left to right. A click on a bar suppresses the modes behind it. Isometry "
    "keeps the lengths between neighbors. With Live on, a dragged number is solved for at once from what is "
    "shown; a run that is done stays as it is, and another one follows. With the weighted nuclear "
    "norm as the objective the bars are of basis shapes, as in the paper; else it gives the start. Below the "
    "intrinsics stands what the focal length is, and whether it is a guess. The other parameters are folded, "
    "and those that differ from the preset are named. Each sequence has its own parameters; "
    "a preset of your own, the last entries of the list, keeps them for all.",
    "Numbers": "The selected point, then the frame: what its error is made of and what it most likely comes "
    "from. What may be wrong with the shown run, and what can be done. Below, its loss and its errors, each "
    "with its unit and its alignment.",
    "2-D": "The measured tracks of the current frame as rings, and the reprojected shape as dots; both are "
    "dots where there is little room. The line between the two is the reprojection error. Faint rings are "
    "hidden in this frame; those of a warm color have little weight under a robust loss. Crosses are hidden "
    "from the solver: X hides the selected points, as the menu of a point does. Ctrl-click adds a point to "
    "the selected ones, Ctrl-drag draws a lasso.",
    "Loss": "What a run minimizes, its lowest value so far, against seconds, and at the right "
    "the error of what was shown then: the 3-D error, or without a ground truth that at observations that "
    "are hidden from the solver. A run that refines depths begins with the loss of the WNN problem; then it "
    "searches and minimizes the energy of the depths, on levels that do not compare. The axis at the left is "
    "of the newest stage, or of the moment that is looked at; the others are shaded, each in a scale of its "
    "own. Thin and gray is what the run tries now; the table lists the starts and the "
    "candidates for the rotations, and how each ended. Everything shows the values of all iterations, with "
    "the phases. The menu has the logarithm of the loss or the loss itself. "
    "Click the curve, or drag the line, to see the shape at that moment; Newest or Esc leads back. "
    "A triangle is a change of parameters: click it to go back to before it.",
    "Guidance": "How well points that the solver did not see are predicted, over a parameter: where the "
    "curve is lowest, the parameter suits these tracks, and no ground truth is needed to see it. Where "
    "several values do equally well, Use it sets the strongest penalty; of all else, the best. Where depths "
    "are refined, what the refined shape predicts counts, and its numbers can be varied, too. "
    "Compare the shapes, too: hidden tracks give little information on depth.",
    "Points": "All points with their errors, and the selected ones over the frames. Click a heading to sort, "
    "double-click a row to go to the worst frame of its point; what is selected here is selected "
    "in every view.",
    "Outliers": "How many observations have which residual, and a list of those that are beyond the line, "
    "with the points that drift. Drag the line, click a row to go there. Hide all hides them from the "
    "solver, and Solve again solves without them: that may show further ones. Ctrl+Z undoes it; X hides the "
    "selected points in one frame.",
    "Log": "What was opened, changed, run and refused, with the time. Copy it when you report a defect.",
}
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


def with_copy_links(page: str, scheme: str) -> tuple[str, tuple[str, ...]]:
    """Return a page in Markdown with a link "scheme:N" after its Nth block of code, and the blocks."""
    blocks: list[str] = []

    def linked(found: re.Match[str]) -> str:
        blocks.append(found["code"])
        return f"{found[0]}\n[Copy these lines]({scheme}:{len(blocks) - 1})\n"

    return CODE.sub(linked, page), tuple(blocks)


def panel_help(title: str) -> str:
    """Return the help text of a panel, as rich text that ends in a link to the help page."""
    text = PANELS.get(title, "")
    return f"<b>{title}</b><p>{text}</p><p><a href='help'>The method on one page (F3)</a></p>" if text else ""


def method_page(theme: Theme) -> str:
    """Return the page in the colors of a theme. Raises InputError where it is not installed."""
    colors = {name: value for name, value in vars(theme).items() if isinstance(value, str)}
    return Template(help_page("method.html")).substitute(
        colors, paper=PAPER, benchmark=BENCHMARK, bibtex=BIBTEX
    )
