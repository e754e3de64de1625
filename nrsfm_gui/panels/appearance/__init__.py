"""The appearance of the scene: colors, layers, sizes, mesh."""
