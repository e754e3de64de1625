"""From a reconstruction to what the views draw: shapes, scenes, colors, meshes."""
