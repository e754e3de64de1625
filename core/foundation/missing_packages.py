"""The sentence for an optional package that is not installed."""


def needs(what: str, package: str, extra: str) -> str:
    """Return the sentence for a package that something needs, with the command that installs it.

    Parameters
    ----------
    what
        what needs it, at the start of a sentence: "A video".
    package
        the name of the package: "PyAV".
    extra
        the extra of this project that has it: "video".

    Returns
    -------
    str
        the sentence, without a period at its end.

    Examples
    --------
    >>> print(needs("A video", "PyAV", "video"))
    A video needs PyAV, which is not installed here; install it with: pip install 'nrsfm-gui[video]'
    """
    return (
        f"{what} needs {package}, which is not installed here; install it with: "
        f"pip install 'nrsfm-gui[{extra}]'"
    )
