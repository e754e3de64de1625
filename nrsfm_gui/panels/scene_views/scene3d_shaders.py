"""The programs of the OpenGL picture: round dots with a darker rim, and everything else plain."""

from __future__ import annotations

RIM = 0.6  # brightness of the rim relative to the dot, so that neighbors stay apart

VERTEX = """#version 140
uniform mat4 u_clip;
uniform float u_size;
in vec3 a_position;
in vec4 a_color;
out vec4 v_color;
out float v_side;
void main() {
    gl_Position = u_clip * vec4(a_position, 1.0);
    v_color = a_color;
    v_side = u_size + 2.0;
    gl_PointSize = v_side;
}
"""

PLAIN_FRAGMENT = """#version 140
in vec4 v_color;
out vec4 fragment;
void main() {
    fragment = v_color;
}
"""

DOT_FRAGMENT = f"""#version 140
in vec4 v_color;
in float v_side;
out vec4 fragment;
void main() {{
    float inward = 0.5 * v_side - 0.5 - v_side * length(gl_PointCoord - 0.5);
    float cover = clamp(inward, 0.0, 1.0);
    if (cover <= 0.0) discard;
    float fill = v_side > 6.0 ? clamp(inward - 1.0, 0.0, 1.0) : 1.0;
    fragment = vec4(v_color.rgb * mix({RIM}, 1.0, fill), v_color.a * cover);
}}
"""
