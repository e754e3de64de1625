"""The sentence for an optional package that is not installed."""


def needs(what: str, package: str, extra: str) -> str:
    """Return the sentence for a package that something needs, with the command that installs it.

    >>> print(needs("A video", "PyAV", "video"))
    A video needs PyAV, which is not installed here; install it with: pip install 'nrsfm-gui[video]'
    """
    return (
        f"{what} needs {package}, which is not installed here; install it with: "
        f"pip install 'nrsfm-gui[{extra}]'"
    )
