"""The 3-D view, painted by software, or by both renderers where pixels are what is tested."""

import pytest

from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.panels.view3d.opengl_context import ContextLost, OffscreenContext
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.panels.view3d.software_renderer import SoftwareRenderer
from nrsfm_gui.scene.scene import build_scene

SIZE = (640, 480)


@pytest.fixture
def opengl(qapp):
    """Return a context, where one can be made."""
    try:
        return OffscreenContext()
    except ContextLost:
        pytest.skip("no OpenGL context can be made here")


@pytest.fixture
def make_renderer(request):
    """Make a renderer by its name."""

    def make(name):
        if name == "software":
            return SoftwareRenderer()
        context = request.getfixturevalue("opengl")
        from nrsfm_gui.panels.view3d.gl_renderer import OpenGLRenderer

        return OpenGLRenderer(context)

    return make


@pytest.fixture
def make_view(request, show):
    """Show a view that is drawn by software or by OpenGL."""

    def make(name="software", size=SIZE):
        if name == "opengl":
            request.getfixturevalue("opengl")
        view = SceneView(software=name == "software")
        assert view.renderer.uses_opengl == (name == "opengl")
        return show(view, *size)

    return make


@pytest.fixture
def view(make_view):
    return make_view()


@pytest.fixture(params=["software", "opengl"])
def drawn(request, make_view):
    """Return a view by each of the renderers."""
    return make_view(request.param)


@pytest.fixture
def opengl_view(make_view):
    return make_view("opengl")


@pytest.fixture
def scene_of(known, shapes):
    """Build a scene of the known sequence: a frame with some layers, and what else it has."""

    def build(frame=2, layers=None, **options):
        if layers is not None:
            options["appearance"] = Appearance(frozenset(layers))
        return build_scene(known.sequence, shapes, frame=frame, **options)

    return build
