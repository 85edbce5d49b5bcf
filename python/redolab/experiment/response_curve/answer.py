"""The answer of response-curve."""
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict


def analyse(_run, compared):
    return results(compared, Verdict("Made up.", "undecided", compared.baseline, None))
