# ruff: noqa: D401, E501, E741 - tables of types read best with one letter a type, and one case a line
"""Tables whose columns have types that a person set by hand, to compare with the drafted schema.

The tables are those that statsmodels and scikit-learn ship, and simulated clinical tables. A type is one of the letters
below, or several where a careful person would accept each of them. The types were written down from the description of
each table, before any of them was drafted.
"""

import warnings

import numpy as np
import pandas as pd

B, S, N, C, M, I, X = "BSNCMIX"
"""Yes/no; scale; levels without order; count; measurement; identifier; nothing to model (dates, free text, constants)."""

BY_HAND = {
    "anes96": {
        "popul": M + C, "TVnews": S, "selfLR": S, "ClinLR": S, "DoleLR": S, "PID": S, "age": M, "educ": S, "income": S,
        "vote": B, "logpopul": M,
    },
    "cancer": {"cancer": C, "population": M + C},
    "ccard": {"AVGEXP": M, "AGE": M, "INCOME": M, "INCOMESQ": M, "OWNRENT": B},
    "copper": {
        "WORLDCONSUMPTION": M, "COPPERPRICE": M, "INCOMEINDEX": M, "ALUMPRICE": M, "INVENTORYINDEX": M, "TIME": I + M,
    },
    "cpunish": {
        "EXECUTIONS": C, "INCOME": M, "PERPOVERTY": M, "PERBLACK": M, "VC100k96": M + C, "SOUTH": B, "DEGREE": M,
    },
    "fair": {
        "rate_marriage": S, "age": S + M, "yrs_married": S + M, "children": S, "religious": S, "educ": S + M,
        "occupation": N + S, "occupation_husb": N + S, "affairs": M,
    },
    "heart": {"survival": M + C, "censors": B, "age": M},
    "randhie": {
        "mdvis": C, "lncoins": S + M, "idp": B, "lpi": M, "fmde": M, "physlm": M, "disea": M, "hlthg": B, "hlthf": B,
        "hlthp": B,
    },
    "scotland": {
        "YES": M, "COUTAX": M, "UNEMPF": M, "MOR": M, "ACT": M, "GDP": M, "AGE": M, "COUTAX_FEMALEUNEMP": M,
    },
    "spector": {"GPA": M, "TUCE": M + S, "PSI": B, "GRADE": B},
    "stackloss": {"STACKLOSS": M, "AIRFLOW": M, "WATERTEMP": M, "ACIDCONC": M},
    "star98": {
        "NABOVE": C + M, "NBELOW": C + M, **dict.fromkeys((
            "LOWINC", "PERASIAN", "PERBLACK", "PERHISP", "PERMINTE", "AVYRSEXP", "AVSALK", "PERSPENK", "PTRATIO",
            "PCTAF", "PCTCHRT", "PCTYRRND", "PERMINTE_AVYRSEXP", "PERMINTE_AVSAL", "AVYRSEXP_AVSAL", "PERSPEN_PTRATIO",
            "PERSPEN_PCTAF", "PTRATIO_PCTAF", "PERMINTE_AVYRSEXP_AVSAL", "PERSPEN_PTRATIO_PCTAF"), M),
    },
    "statecrime": dict.fromkeys(("violent", "murder", "hs_grad", "poverty", "single", "white", "urban"), M),
    "modechoice": {
        "individual": X + I, "mode": N, "choice": B, "ttme": M, "invc": M, "invt": M, "gc": M, "hinc": M, "psize": C + S,
    },
    "grunfeld": {"invest": M, "value": M, "capital": M, "firm": N, "year": M},
    "strikes": {"duration": M + C, "iprod": S + M},
    "iris": {**dict.fromkeys((
        "sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"), M), "target": N + S},
    "wine": {**dict.fromkeys((
        "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
        "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines", "proline"),
        M), "target": N + S},
    "diabetes": {
        **dict.fromkeys(("age", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6", "target"), M), "sex": B,
    },
    "linnerud": {"Chins": C, "Situps": C, "Jumps": C, "Weight": M, "Waist": M, "Pulse": M},
}  # fmt: skip


_FAMILIES = {
    "bernoulli": "B", "binomial": "S", "ordinal": "S", "categorical": "N", "poisson": "C", "geometric": "C",
    "negative_binomial": "C", "gaussian": "M", "exponential": "M",
}  # fmt: skip


def drafted(feature):
    """Return the letter of what a feature was drafted as."""
    if feature.role == "id":
        return "I"
    return "X" if feature.likelihood is None else _FAMILIES[feature.likelihood]


def shipped():
    """Yield (name, table, types) of the tables that statsmodels and scikit-learn ship."""
    import sklearn.datasets
    import statsmodels.api as sm

    for name, types in BY_HAND.items():
        loader = getattr(sklearn.datasets, f"load_{name}", None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = loader(as_frame=True).frame if loader else getattr(sm.datasets, name).load_pandas().data
        yield name, frame[list(types)], types
    cancer = sklearn.datasets.load_breast_cancer(as_frame=True).frame
    yield "breast cancer", cancer, {**dict.fromkeys(cancer.columns[:-1], M), "target": B}


def _ordered(rng, severity, n_levels, slope=1.0, shift=0.0):
    """Return scores 0 .. n_levels - 1 cut from a latent variable."""
    cuts = np.sort(rng.normal(shift, 1.2, n_levels - 1))
    return np.searchsorted(cuts, slope * severity + rng.normal(size=severity.size))


def _missing(rng, values, share, code=""):
    cells = np.asarray(values, dtype=object).copy()
    cells[rng.random(cells.size) < share] = code
    return cells


def _words(scores, words):
    return np.array(words, dtype=object)[np.clip(scores, 0, len(words) - 1)]


def parkinson(rng, n=400):
    """A movement disorders clinic."""
    s = rng.normal(size=n)
    frame = {
        "patient_id": [f"PD-{row:04}" for row in range(n)],
        "visit_date": pd.date_range("2015-01-03", periods=n, freq="3D").strftime("%d.%m.%Y"),
        "sex": rng.choice(["F", "M"], n),
        "age": rng.normal(66, 9, n).round().astype(int),
        **{f"updrs3_{item}": _missing(rng, _ordered(rng, s, 5), 0.05) for item in range(1, 9)},
        "hoehn_yahr": rng.choice([1, 1.5, 2, 2.5, 3, 4, 5], n, p=[0.1, 0.1, 0.3, 0.2, 0.15, 0.1, 0.05]),
        "moca": np.clip(rng.normal(25, 3.5, n).round(), 4, 30).astype(int),
        "falls_last_year": rng.negative_binomial(0.8, 0.35, n),
        "years_since_onset": rng.exponential(6, n).round(1),
        "levodopa_mg": np.where(rng.random(n) < 0.02, 0, rng.gamma(4, 130, n)).round(-1).astype(int),
        "tremor": _words(_ordered(rng, s, 4), ["none", "mild", "moderate", "severe"]),
        "rbd": rng.choice(["yes", "no", "unknown"], n, p=[0.3, 0.6, 0.1]),
        "phenotype": rng.choice(["tremor dominant", "PIGD", "indeterminate"], n),
        "remarks": [f"seen by the clinic nurse, plan number {row} was discussed" for row in range(n)],
    }
    types = {
        "patient_id": I, "visit_date": X, "sex": B, "age": M, **{f"updrs3_{item}": S for item in range(1, 9)},
        "hoehn_yahr": S, "moca": S + M, "falls_last_year": C, "years_since_onset": M, "levodopa_mg": M, "tremor": S,
        "rbd": B, "phenotype": N, "remarks": X,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def breast(rng, n=700):
    """A tumour registry: nodes, receptors, stages, and times."""
    nodes = np.where(rng.random(n) < 0.45, 0, rng.negative_binomial(0.9, 0.18, n) + 1)
    frame = {
        "CaseNo": rng.permutation(np.arange(20_001, 20_001 + n)),
        "age_dx": rng.normal(58, 12, n).round(1),
        "menopausal": rng.choice([0, 1], n),
        "tumour_size_mm": np.exp(rng.normal(3.2, 0.6, n)).round().astype(int),
        "positive_nodes": nodes,
        "nodes_removed": nodes + rng.poisson(9, n),
        "grade": _ordered(rng, rng.normal(size=n), 3) + 1,
        "T": _words(rng.choice(4, n, p=[0.4, 0.4, 0.15, 0.05]), ["T1", "T2", "T3", "T4"]),
        "stage": _words(rng.choice(4, n, p=[0.3, 0.4, 0.2, 0.1]), ["I", "II", "III", "IV"]),
        "er_fmol": np.where(rng.random(n) < 0.12, 0, np.exp(rng.normal(4, 1.5, n))).round().astype(int),
        "ki67_percent": np.clip(np.exp(rng.normal(2.7, 0.7, n)), 1, 95).round().astype(int),
        "her2": rng.choice(["0", "1+", "2+", "3+"], n, p=[0.4, 0.3, 0.15, 0.15]),
        "histology": rng.choice(["ductal", "lobular", "mucinous", "other"], n, p=[0.7, 0.2, 0.04, 0.06]),
        "survival_months": rng.exponential(60, n).round(1),
        "died": rng.choice([0, 1], n, p=[0.7, 0.3]),
        "hospital": rng.choice([1, 2, 3, 4, 5, 6], n),
    }
    types = {
        "CaseNo": I, "age_dx": M, "menopausal": B, "tumour_size_mm": M + C, "positive_nodes": C, "nodes_removed": C + M,
        "grade": S, "T": S, "stage": S, "er_fmol": M + C, "ki67_percent": M + C, "her2": S, "histology": N,
        "survival_months": M, "died": B, "hospital": N,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def intensive_care(rng, n=900):
    """Vital signs and laboratory values, with codes for missing values."""
    frame = {
        "stay_id": rng.permutation(np.arange(300_000, 300_000 + 7 * n, 7)),
        "admitted": pd.date_range("2020-02-01 04:10", periods=n, freq="5h").strftime("%Y-%m-%d %H:%M"),
        "age": rng.normal(62, 15, n).clip(18, 97).round().astype(int),
        "heart_rate": _missing(rng, rng.normal(88, 18, n).round().astype(int), 0.04, "-9"),
        "sbp": _missing(rng, rng.normal(121, 22, n).round().astype(int), 0.04, "-9"),
        "temperature": rng.normal(37.2, 0.8, n).round(1),
        "spo2": (100 - rng.gamma(2, 2, n)).clip(60, 100).round().astype(int),
        "gcs": np.clip(15 - rng.negative_binomial(0.5, 0.2, n), 3, 15),
        "lactate": np.exp(rng.normal(0.6, 0.6, n)).round(1),
        "creatinine": np.exp(rng.normal(0.1, 0.5, n)).round(2),
        "bilirubin": _missing(rng, np.exp(rng.normal(-0.3, 0.8, n)).round(1), 0.2, "NA"),
        "platelets": rng.gamma(5, 45, n).round().astype(int),
        "white_cells": np.exp(rng.normal(2.4, 0.5, n)).round(1),
        "ph": rng.normal(7.36, 0.09, n).round(2),
        "ventilated": rng.choice(["Y", "N"], n),
        "vasopressors": rng.choice(["True", "False"], n),
        "unit_type": rng.choice(["MICU", "SICU", "CCU", "NICU"], n),
        "days_ventilated": np.where(rng.random(n) < 0.55, 0, rng.geometric(0.15, n)),
        "length_of_stay": rng.exponential(6, n).round(2),
        "apache": rng.normal(19, 7, n).clip(0, 71).round().astype(int),
        "sofa": rng.negative_binomial(4, 0.4, n).clip(0, 24),
    }
    types = {
        "stay_id": I, "admitted": X, "age": M, "heart_rate": M, "sbp": M, "temperature": M, "spo2": M + S, "gcs": S,
        "lactate": M, "creatinine": M, "bilirubin": M, "platelets": M, "white_cells": M, "ph": M, "ventilated": B,
        "vasopressors": B, "unit_type": N, "days_ventilated": C, "length_of_stay": M, "apache": M + C + S,
        "sofa": C + S + M,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def questionnaire(rng, n=500):
    """Items of an instrument, coded from 1, with sum scores."""
    s = rng.normal(size=n)
    items = {f"phq{item}": _ordered(rng, s, 4, shift=0.8) for item in range(1, 10)}
    wellbeing = {f"who_{item}": _ordered(rng, -s, 6) for item in range(1, 6)}
    likert = {f"Q{item}": _ordered(rng, s, 5) + 1 for item in range(1, 7)}
    words = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    often = ["never", "rarely", "sometimes", "often", "always"]
    frame = {
        "record": [f"{rng.integers(16**8):08x}" for _ in range(n)],
        **items,
        "phq_total": sum(items.values()),
        **wellbeing,
        **likert,
        "trust": _words(_ordered(rng, s, 5), words),
        "sleep_problems": _words(_ordered(rng, s, 5), often),
        "pain_vas": np.clip(rng.normal(40, 25, n), 0, 100).round().astype(int),
        "pain_nrs": np.clip(rng.normal(4, 2.5, n).round(), 0, 10).astype(int),
        "self_rated_health": _words(_ordered(rng, -s, 5), ["poor", "fair", "good", "very good", "excellent"]),
        "marital_status": rng.choice([1, 2, 3, 4], n, p=[0.5, 0.25, 0.15, 0.1]),
        "education": _words(_ordered(rng, s, 3), ["primary", "secondary", "tertiary"]),
        "smoker": rng.choice(["current", "former", "never"], n, p=[0.2, 0.3, 0.5]),
        "cigarettes_per_day": np.where(rng.random(n) < 0.75, 0, 5 * rng.binomial(6, 0.4, n)),
    }
    types = {
        "record": I, **dict.fromkeys(items, S), "phq_total": S + C + M, **dict.fromkeys(wellbeing, S),
        **dict.fromkeys(likert, S), "trust": S, "sleep_problems": S, "pain_vas": M, "pain_nrs": S,
        "self_rated_health": S, "marital_status": N, "education": S, "smoker": N + S, "cigarettes_per_day": C,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def german(rng, n=350):
    """A German export: decimal commas, German words."""
    s = rng.normal(size=n)

    def comma(values, digits):
        return [f"{value:.{digits}f}".replace(".", ",") for value in values]

    frame = {
        "Fallnr": np.arange(1, n + 1) + 4_000,
        "Geschlecht": rng.choice(["männlich", "weiblich"], n),
        "Geburtsdatum": pd.date_range("1940-05-01", periods=n, freq="31D").strftime("%d.%m.%Y"),
        "Größe": comma(rng.normal(170, 9, n), 1),
        "Gewicht": comma(rng.normal(80, 14, n), 1),
        "HbA1c": comma(np.exp(rng.normal(1.9, 0.2, n)), 1),
        "Raucher": rng.choice(["ja", "nein", "k.A."], n, p=[0.3, 0.6, 0.1]),
        "Schweregrad": _words(_ordered(rng, s, 4), ["keine", "leicht", "mittel", "schwer"]),
        "Häufigkeit": _words(_ordered(rng, s, 4), ["nie", "selten", "manchmal", "oft"]),
        "NYHA": _words(_ordered(rng, s, 4), ["I", "II", "III", "IV"]),
        "Arztbesuche": rng.negative_binomial(1.5, 0.3, n),
        "Anzahl Medikamente": rng.poisson(4, n),
        "CRP": [f"<{5}" if value < 5 else f"{value:.1f}".replace(".", ",") for value in rng.exponential(9, n)],
        "Schulabschluss": rng.choice(["Hauptschule", "Realschule", "Abitur", "ohne"], n),
        "Bemerkung": _missing(rng, [f"Kontrolle in {row} Wochen vereinbart" for row in range(n)], 0.5),
    }
    types = {
        "Fallnr": I, "Geschlecht": B, "Geburtsdatum": X, "Größe": M, "Gewicht": M, "HbA1c": M, "Raucher": B,
        "Schweregrad": S, "Häufigkeit": S, "NYHA": S, "Arztbesuche": C, "Anzahl Medikamente": C, "CRP": M,
        "Schulabschluss": N + S, "Bemerkung": X,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def french(rng, n=320):
    """A French and Spanish export."""
    s = rng.normal(size=n)
    frame = {
        "identifiant": [f"FR{row:05}" for row in rng.permutation(n)],
        "sexe": rng.choice(["homme", "femme"], n),
        "âge": rng.normal(54, 13, n).round().astype(int),
        "fumeur": rng.choice(["oui", "non"], n),
        "douleur": _words(_ordered(rng, s, 4), ["aucune", "légère", "modérée", "sévère"]),
        "fréquence": _words(_ordered(rng, s, 4), ["jamais", "rarement", "parfois", "souvent"]),
        "gravedad": _words(_ordered(rng, s, 4), ["ninguno", "leve", "moderado", "grave"]),
        "diabetes": rng.choice(["sí", "no"], n),
        "tranche_age": rng.choice(["18-29", "30-44", "45-59", "60-74", ">=75"], n),
        "imc": rng.normal(26, 4, n).round(1),
        "tabac_paquets_annees": np.where(rng.random(n) < 0.5, 0, rng.gamma(2, 8, n)).round(1),
        "groupe_sanguin": rng.choice(["A", "B", "AB", "O"], n, p=[0.4, 0.1, 0.05, 0.45]),
        "consultations": rng.poisson(2.5, n),
        "date_inclusion": pd.date_range("2019-01-01", periods=n).strftime("%d/%m/%Y"),
    }
    types = {
        "identifiant": I, "sexe": B, "âge": M, "fumeur": B, "douleur": S, "fréquence": S, "gravedad": S, "diabetes": B,
        "tranche_age": S, "imc": M, "tabac_paquets_annees": M, "groupe_sanguin": N, "consultations": C,
        "date_inclusion": X,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def survey(rng, n=3000):
    """A population survey with numeric codes, refusals and repeated blood pressures."""
    pressure = rng.normal(125, 17, n)
    frame = {
        "SEQN": rng.permutation(np.arange(41_475, 41_475 + n)),
        "RIAGENDR": rng.choice([1, 2], n),
        "RIDRETH1_ethnicity": rng.choice([1, 2, 3, 4, 5], n, p=[0.2, 0.1, 0.45, 0.2, 0.05]),
        "region_code": rng.choice([11, 12, 21, 22, 31], n),
        **{f"BPXSY{k}": _missing(rng, (pressure + rng.normal(0, 5, n)).round().astype(int), 0.1) for k in range(1, 5)},
        "children_at_home": rng.poisson(0.9, n).clip(0, 9),
        "household_size": 1 + rng.poisson(1.8, n).clip(0, 9),
        "doctor_visits": np.where(rng.random(n) < 0.2, 0, rng.negative_binomial(1.2, 0.25, n)),
        "income_bracket": rng.choice(np.arange(1, 13), n),
        "annual_income": np.exp(rng.normal(10.4, 0.7, n)).round().astype(int),
        "general_health": rng.choice([1, 2, 3, 4, 5, 7, 9], n, p=[0.1, 0.3, 0.35, 0.15, 0.08, 0.01, 0.01]),
        "ever_smoked": rng.choice([1, 2, 7, 9], n, p=[0.4, 0.58, 0.01, 0.01]),
        "alcohol_days_per_week": rng.choice(8, n, p=[0.4, 0.2, 0.12, 0.08, 0.05, 0.05, 0.05, 0.05]),
        "sleep_hours": np.clip(rng.normal(7, 1.3, n).round(), 2, 14).astype(int),
        "cholesterol": rng.normal(195, 40, n).round().astype(int),
        "triglycerides": np.exp(rng.normal(4.7, 0.5, n)).round().astype(int),
        "bmi": np.exp(rng.normal(3.33, 0.22, n)).round(1),
        "waist_cm": rng.normal(98, 15, n).round(1),
    }
    types = {
        "SEQN": I, "RIAGENDR": B, "RIDRETH1_ethnicity": N, "region_code": N, **{f"BPXSY{k}": M for k in range(1, 5)},
        "children_at_home": C, "household_size": C + S, "doctor_visits": C, "income_bracket": S, "annual_income": M,
        "general_health": S, "ever_smoked": B, "alcohol_days_per_week": S + C, "sleep_hours": M + S, "cholesterol": M,
        "triglycerides": M, "bmi": M, "waist_cm": M,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def obstetrics(rng, n=600):
    """Pregnancies."""
    frame = {
        "mrn": rng.choice(np.arange(10**6, 10**7), n, replace=False),
        "maternal_age": rng.normal(29.5, 5.5, n).round().astype(int),
        "parity": rng.poisson(0.9, n),
        "gravidity": 1 + rng.poisson(1.2, n),
        "gestational_weeks": np.clip(40 - rng.gamma(1.5, 1.2, n), 24, 42).round().astype(int),
        "birth_weight_g": rng.normal(3350, 520, n).round(-1).astype(int),
        "apgar_1": np.clip(10 - rng.negative_binomial(1.5, 0.5, n), 0, 10),
        "apgar_5": np.clip(10 - rng.negative_binomial(0.8, 0.55, n), 0, 10),
        "mode_of_delivery": rng.choice(["vaginal", "assisted", "caesarean"], n, p=[0.6, 0.1, 0.3]),
        "preeclampsia": rng.choice(["absent", "present"], n, p=[0.93, 0.07]),
        "blood_loss_ml": np.exp(rng.normal(5.8, 0.5, n)).round(-1).astype(int),
        "bmi_before": np.exp(rng.normal(3.18, 0.2, n)).round(1),
        "smoking": rng.choice([0, 1, 2], n, p=[0.75, 0.15, 0.1]),
        "blood_group": rng.choice(["A+", "A-", "B+", "B-", "O+", "O-", "AB+"], n),
    }
    types = {
        "mrn": I, "maternal_age": M, "parity": C, "gravidity": C + S, "gestational_weeks": M + S, "birth_weight_g": M,
        "apgar_1": S, "apgar_5": S, "mode_of_delivery": N, "preeclampsia": B, "blood_loss_ml": M, "bmi_before": M,
        "smoking": S + N, "blood_group": N,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def rheumatology(rng, n=280):
    """Joint counts, scores of activity, and proportions."""
    activity = rng.gamma(2, 1.0, n)
    frame = {
        "ID": [f"{site}-{row:03}" for row, site in enumerate(rng.choice(["A", "B", "C"], n))],
        "site": rng.choice(["Leeds", "Utrecht", "Lund"], n),
        "tender_joints_28": rng.poisson(3 * activity).clip(0, 28),
        "swollen_joints_28": rng.poisson(1.6 * activity).clip(0, 28),
        "patient_global": np.clip(rng.normal(35 + 8 * activity, 15, n), 0, 100).round().astype(int),
        "crp_mg_l": np.exp(rng.normal(1.5, 1, n)).round(1),
        "esr": np.exp(rng.normal(3, 0.6, n)).round().astype(int),
        "das28": (2.2 + 0.7 * activity + rng.normal(0, 0.4, n)).round(2),
        "haq": (np.clip(rng.normal(1, 0.7, n), 0, 3) * 8).round() / 8,
        "rheumatoid_factor": rng.choice(["negative", "positive"], n, p=[0.35, 0.65]),
        "ccp": rng.choice(["neg", "pos"], n),
        "erosions": rng.choice(["No", "no", "Yes", "yes", "YES"], n),
        "methotrexate_dose": rng.choice([0, 7.5, 10, 12.5, 15, 20, 25], n),
        "functional_class": rng.choice(["1", "2", "3", "4"], n, p=[0.3, 0.4, 0.2, 0.1]),
        "response": rng.choice(["good", "moderate", "none"], n),
        "morning_stiffness_min": np.where(rng.random(n) < 0.3, 0, 5 * rng.geometric(0.12, n)),
        "adherence": rng.beta(8, 2, n).round(3),
    }
    types = {
        "ID": I, "site": N, "tender_joints_28": C, "swollen_joints_28": C, "patient_global": M, "crp_mg_l": M,
        "esr": M + C, "das28": M, "haq": S + M, "rheumatoid_factor": B, "ccp": B, "erosions": B,
        "methotrexate_dose": S + M, "functional_class": S, "response": S, "morning_stiffness_min": M + C, "adherence": M,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def cardiology(rng, n=1200):
    """A catheter laboratory, with units in the cells."""
    s = rng.normal(size=n)
    frame = {
        "Study No": np.arange(1, n + 1),
        "Age (years)": rng.normal(65, 11, n).round().astype(int),
        "Gender": rng.choice(["Male", "Female", "male", "female", "M", "F"], n, p=[0.5, 0.3, 0.05, 0.05, 0.05, 0.05]),
        "NYHA class": _ordered(rng, s, 4) + 1,
        "CCS angina": _words(_ordered(rng, s, 5), ["0", "I", "II", "III", "IV"]),
        "LVEF": [f"{value}%" for value in rng.normal(52, 12, n).clip(10, 80).round().astype(int)],
        "LDL": [f"{value:.0f} mg/dL" for value in rng.normal(120, 35, n).clip(30)],
        "NT-proBNP": np.exp(rng.normal(6, 1.3, n)).round().astype(int),
        "Troponin": [f"<{3}" if value < 3 else f"{value:.0f}" for value in np.exp(rng.normal(2.2, 1.4, n))],
        "Diseased vessels": rng.choice([0, 1, 2, 3], n, p=[0.3, 0.3, 0.2, 0.2]),
        "Stents": rng.poisson(1.1, n),
        "Prior MI": rng.choice(["Yes", "No"], n, p=[0.25, 0.75]),
        "Rhythm": rng.choice(["sinus", "atrial fibrillation", "paced"], n, p=[0.8, 0.15, 0.05]),
        "Mitral regurgitation": _words(_ordered(rng, s, 4), ["none", "trace", "mild", "severe"]),
        "Admissions": rng.negative_binomial(0.6, 0.4, n),
        "Time to event (days)": rng.exponential(400, n).round().astype(int),
        "Zip": rng.choice(["02139", "10001", "60601", "94110", "73301", "30301"], n),
        "Phone": [f"555-{rng.integers(1000, 9999)}" for _ in range(n)],
    }
    types = {
        "Study No": I, "Age (years)": M, "Gender": B, "NYHA class": S, "CCS angina": S, "LVEF": M, "LDL": M,
        "NT-proBNP": M, "Troponin": M, "Diseased vessels": S + C, "Stents": C, "Prior MI": B, "Rhythm": N,
        "Mitral regurgitation": S, "Admissions": C, "Time to event (days)": M + C, "Zip": N, "Phone": X,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def nephrology(rng, n=450):
    """Stages, two decimal places, and codes of missing values of several kinds."""
    egfr = rng.normal(55, 25, n).clip(5, 130)
    stage = np.select([egfr >= 90, egfr >= 60, egfr >= 45, egfr >= 30, egfr >= 15], ["1", "2", "3a", "3b", "4"], "5")
    frame = {
        "pid": rng.permutation(n) + 100,
        "eGFR": egfr.round(1),
        "CKD_stage": stage,
        "albuminuria": rng.choice(["A1", "A2", "A3"], n, p=[0.5, 0.3, 0.2]),
        "potassium": rng.normal(4.5, 0.5, n).round(1),
        "haemoglobin": _missing(rng, rng.normal(12.4, 1.8, n).round(1), 0.06, "999"),
        "phosphate": _missing(rng, rng.normal(1.2, 0.25, n).round(2), 0.1, "not done"),
        "pth": np.exp(rng.normal(4.2, 0.8, n)).round(1),
        "antihypertensives": rng.poisson(2.1, n),
        "dialysis": rng.choice([0, 1], n, p=[0.9, 0.1]),
        "vintage_months": np.where(rng.random(n) < 0.9, "", rng.exponential(30, n).round(1).astype(str)),
        "cause": rng.choice(["diabetes", "hypertension", "glomerular", "polycystic", "unknown"], n),
        "oedema": rng.choice(["-", "+", "++", "+++"], n, p=[0.6, 0.2, 0.15, 0.05]),
        "urine_output": rng.choice(["low", "normal", "high"], n, p=[0.2, 0.7, 0.1]),
        "frailty": np.clip(rng.normal(4, 1.6, n).round(), 1, 9).astype(int),
    }
    types = {
        "pid": I, "eGFR": M, "CKD_stage": S, "albuminuria": S, "potassium": M, "haemoglobin": M, "phosphate": M,
        "pth": M, "antihypertensives": C, "dialysis": B, "vintage_months": M, "cause": N, "oedema": S,
        "urine_output": S, "frailty": S,
    }  # fmt: skip
    return pd.DataFrame(frame), types


def paediatrics(rng, n=220):
    """A small study with z scores, percentiles and few subjects."""
    frame = {
        "child": [f"c{row}" for row in range(n)],
        "age_months": rng.integers(2, 180, n),
        "height_z": rng.normal(-0.3, 1.1, n).round(2),
        "weight_percentile": rng.uniform(0.5, 99.5, n).round(1),
        "siblings": rng.poisson(1.3, n),
        "vaccines_missed": rng.poisson(0.5, n),
        "wheeze_severity": rng.choice([0, 1, 2, 3], n, p=[0.5, 0.25, 0.15, 0.1]),
        "infections_last_year": rng.negative_binomial(2, 0.35, n),
        "parent_education": rng.choice(["none", "primary", "secondary", "university"], n),
        "eczema": rng.choice(["0", "1"], n),
        "ige": np.exp(rng.normal(4, 1.5, n)).round(1),
        "school": rng.choice([f"School {letter}" for letter in "ABCDEFGH"], n),
        "season": rng.choice(["spring", "summer", "autumn", "winter"], n),
        "protocol": "v2",
    }
    types = {
        "child": I, "age_months": M, "height_z": M, "weight_percentile": M, "siblings": C, "vaccines_missed": C,
        "wheeze_severity": S, "infections_last_year": C, "parent_education": S, "eczema": B, "ige": M, "school": N,
        "season": N, "protocol": X,
    }  # fmt: skip
    return pd.DataFrame(frame), types


SIMULATED = (
    parkinson, breast, intensive_care, questionnaire, german, french, survey, obstetrics, rheumatology, cardiology,
    nephrology, paediatrics,
)  # fmt: skip


def simulated(seed=0):
    """Yield (name, table, types) of the simulated tables."""
    for make in SIMULATED:
        frame, types = make(np.random.default_rng([seed, SIMULATED.index(make)]))
        yield make.__name__, frame, types
