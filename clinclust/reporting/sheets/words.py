"""Numbers and lists in sentences, the names of tests, and the works that a report may cite."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["References", "counted", "listed", "tests_in_words", "was"]


def counted(number: int, noun: str, ending: str = "s") -> str:
    """Return a number of things: "1 subtype", "2 subtypes"."""
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def was(number: int) -> str:
    """Return "was" of one thing, else "were"."""
    return "was" if number == 1 else "were"


def listed(parts: Sequence[str], comma: str = ", ") -> str:
    """Return a list in words: "a, b and c"."""
    *most, last = parts
    return f"{comma.join(most)} and {last}" if most else last


# By key: citation in the text, and full reference.
_WORKS = {
    "anova": (
        "Fisher, 1925",
        "Fisher RA (1925). Statistical Methods for Research Workers. Edinburgh: Oliver and Boyd.",
    ),
    "adjusted": (
        "Benjamini and Hochberg, 1995",
        "Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate: a practical and powerful approach to "
        "multiple testing. Journal of the Royal Statistical Society, Series B 57(1): 289–300. "
        "doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    "chi-squared": (
        "Pearson, 1900",
        "Pearson K (1900). On the criterion that a given system of deviations from the probable in the case of a "
        "correlated system of variables is such that it can be reasonably supposed to have arisen from random "
        "sampling. Philosophical Magazine, Series 5, 50(302): 157–175. doi:10.1080/14786440009463897",
    ),
    "coarsening": (
        "Miller and Dunson, 2019",
        "Miller JW, Dunson DB (2019). Robust Bayesian inference via coarsening. Journal of the American Statistical "
        "Association 114(527): 1113–1125. doi:10.1080/01621459.2018.1469995",
    ),
    "exact": (
        "Fisher, 1935",
        "Fisher RA (1935). The logic of inductive inference. Journal of the Royal Statistical Society 98(1): 39–82. "
        "doi:10.2307/2342435",
    ),
    "exact tables": (
        "Freeman and Halton, 1951",
        "Freeman GH, Halton JH (1951). Note on an exact treatment of contingency, goodness of fit and other problems "
        "of significance. Biometrika 38(1–2): 141–149. doi:10.1093/biomet/38.1-2.141",
    ),
    "kruskal": (
        "Kruskal and Wallis, 1952",
        "Kruskal WH, Wallis WA (1952). Use of ranks in one-criterion variance analysis. Journal of the American "
        "Statistical Association 47(260): 583–621. doi:10.1080/01621459.1952.10483441",
    ),
    "mann-whitney": (
        "Mann and Whitney, 1947",
        "Mann HB, Whitney DR (1947). On a test of whether one of two random variables is stochastically larger than "
        "the other. The Annals of Mathematical Statistics 18(1): 50–60. doi:10.1214/aoms/1177730491",
    ),
    "map-dp": (
        "Raykov et al., 2016",
        "Raykov YP, Boukouvalas A, Baig F, Little MA (2016). What to do when K-means clustering fails: a simple yet "
        "principled alternative algorithm. PLOS ONE 11(9): e0162259. doi:10.1371/journal.pone.0162259",
    ),
    "pitman-yor": (
        "Pitman and Yor, 1997",
        "Pitman J, Yor M (1997). The two-parameter Poisson–Dirichlet distribution derived from a stable subordinator. "
        "The Annals of Probability 25(2): 855–900. doi:10.1214/aop/1024404422",
    ),
    "two-part": (
        "Cragg, 1971",
        "Cragg JG (1971). Some statistical models for limited dependent variables with application to the demand for "
        "durable goods. Econometrica 39(5): 829–844. doi:10.2307/1909582",
    ),
    "principal components": (
        "Hotelling, 1933",
        "Hotelling H (1933). Analysis of a complex of statistical variables into principal components. Journal of "
        "Educational Psychology 24(6): 417–441. doi:10.1037/h0071325",
    ),
    "sigclust": (
        "Liu et al., 2008",
        "Liu Y, Hayes DN, Nobel A, Marron JS (2008). Statistical significance of clustering for high-dimension, "
        "low-sample size data. Journal of the American Statistical Association 103(483): 1281–1293. "
        "doi:10.1198/016214508000000454",
    ),
    "sigclust along a tree": (
        "Kimes et al., 2017",
        "Kimes PK, Liu Y, Hayes DN, Marron JS (2017). Statistical significance for hierarchical clustering. Biometrics "
        "73(3): 811–821. doi:10.1111/biom.12647",
    ),
    "one mode": (
        "Silverman, 1981",
        "Silverman BW (1981). Using kernel density estimates to investigate multimodality. Journal of the Royal "
        "Statistical Society, Series B 43(1): 97–99. doi:10.1111/j.2517-6161.1981.tb01155.x",
    ),
    "student": (
        "Student, 1908",
        "Student (1908). The probable error of a mean. Biometrika 6(1): 1–25. doi:10.1093/biomet/6.1.1",
    ),
    "welch": (
        "Welch, 1947",
        "Welch BL (1947). The generalization of ‘Student’s’ problem when several different population variances are "
        "involved. Biometrika 34(1–2): 28–35. doi:10.1093/biomet/34.1-2.28",
    ),
    "welch anova": (
        "Welch, 1951",
        "Welch BL (1951). On the comparison of several mean values: an alternative approach. Biometrika 38(3–4): "
        "330–336. doi:10.1093/biomet/38.3-4.330",
    ),
}


class References:
    """Collects the works that are cited."""

    def __init__(self) -> None:
        self._cited: set[str] = set()

    def cite(self, key: str) -> str:
        """Record that a work is cited, and return the citation for the text: author and year."""
        self._cited.add(key)
        return _WORKS[key][0]

    def listed(self) -> list[str]:
        """Return the full references of the works cited, ordered by author and year."""
        return sorted(_WORKS[key][1] for key in self._cited)


# Tests of all subtypes at once, by their name in the comparisons: name in a sentence, and key of the reference.
_CONTRASTS = {
    "Student's t": ("Student’s t-test", "student"),
    "Welch's t": ("Welch’s t-test", "welch"),
    "ANOVA": ("one-way analysis of variance", "anova"),
    "Welch's ANOVA": ("Welch’s analysis of variance", "welch anova"),
    "Mann-Whitney": ("the Mann–Whitney test", "mann-whitney"),
    "Kruskal-Wallis": ("the Kruskal–Wallis test", "kruskal"),
    "chi-squared": ("the chi-squared test", "chi-squared"),
    "Fisher's exact": ("Fisher’s exact test", "exact"),
    "Fisher's exact (simulated)": (
        "Fisher’s exact test, its p from 9,999 random tables with the same margins",
        "exact tables",
    ),
}


def tests_in_words(names: Sequence[str], references: References) -> str:
    """Return the names of tests of the comparisons as a list in words, each with its reference if it has one."""
    called = []
    of_parts = "Fisher's combination of "  # the tests of both parts of a feature with point masses
    for name in names:
        if name.startswith(of_parts):
            both = tests_in_words(name.removeprefix(of_parts).split(", "), references)
            called.append(f"Fisher’s combination of {both}")
            continue
        title, key = _CONTRASTS.get(name, (name, None))
        called.append(f"{title} ({references.cite(key)})" if key else title)
    return listed(called)
