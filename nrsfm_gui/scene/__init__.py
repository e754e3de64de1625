"""From a reconstruction to what views draw: shapes, scenes, colors, meshes, at display rate."""
