"""Write clinic.csv and new_patients.csv, the simulated tables of the tutorial: ``python docs/clinic.py``.

Nobody in them exists. Three groups of patients with heart failure, as an export of a clinic would show them: a title
above the table, percent signs, values below a limit of detection, several spellings, two codes for a missing value.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
GROUPS = ("weak pump", "stiff heart", "inflamed")
NUMBERS = {  # mean in each group, and standard deviation
    "age": ((56, 76, 67), 7),
    "ejection_fraction": ((28, 57, 44), 5),
    "systolic": ((108, 152, 128), 10),
    "haemoglobin": ((14.1, 13.6, 10.6), 0.9),
}
LOGS = {"nt_probnp": ((8.0, 6.4, 7.2), 0.5), "crp": ((0.9, 0.8, 3.1), 0.7)}
YES = {"diabetes": (0.15, 0.3, 0.75), "atrial_fibrillation": (0.2, 0.7, 0.3)}
HAZARDS = np.array((0.0006, 0.0004, 0.0016))  # deaths per day


def drawn(group: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return a patient of each group in `group`, int (N,)."""
    n = len(group)
    frame = pd.DataFrame({"patient_id": [f"P{i:03d}" for i in range(1, n + 1)]})
    frame["visit_date"] = (pd.Timestamp("2023-01-09") + pd.to_timedelta(rng.integers(0, 500, n), "D")).strftime(
        "%d.%m.%Y"
    )
    frame["centre"] = rng.choice(["North", "South"], n)
    frame["sex"] = np.where(rng.random(n) < np.array((0.3, 0.65, 0.5))[group], "female", "male")
    for name, (means, sd) in NUMBERS.items():
        frame[name] = rng.normal(np.array(means)[group], sd).round(1 if name == "haemoglobin" else 0)
    for name, (means, sd) in LOGS.items():
        frame[name] = np.exp(rng.normal(np.array(means)[group], sd)).round(1 if name == "crp" else 0)
    for name, shares in YES.items():
        frame[name] = np.where(rng.random(n) < np.array(shares)[group], "yes", "no")
    frame["nyha"] = 1 + rng.binomial(3, np.array((0.6, 0.45, 0.7))[group])
    frame["admissions"] = rng.poisson(np.array((1.5, 0.8, 3.5))[group])
    death, end = rng.exponential(1 / HAZARDS[group]), rng.uniform(200, 1100, n)
    frame["died"] = np.where(death < end, "yes", "no")
    frame["days"] = np.minimum(death, end).round() + 1
    return frame


def as_exported(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with the marks of an export."""
    shown = frame.astype({"age": int, "systolic": int, "nt_probnp": int, "days": int}).astype(str)
    shown["ejection_fraction"] = frame["ejection_fraction"].astype(int).astype(str) + "%"
    shown["crp"] = np.where(frame["crp"] < 1.5, "<1.5", shown["crp"])
    shown["sex"] = np.where(rng.random(len(frame)) < 0.1, shown["sex"].str[0], shown["sex"])
    for name, code in {"haemoglobin": "n.d.", "nt_probnp": "-9", "nyha": "", "diabetes": "unknown"}.items():
        shown.loc[rng.random(len(frame)) < 0.08, name] = code
    return shown


def main() -> None:
    """Write both tables."""
    rng = np.random.default_rng(7)
    group = rng.permutation(np.repeat(np.arange(3), (70, 60, 50)))
    table = as_exported(drawn(group, rng), rng).to_csv(index=False, sep=";", lineterminator="\n")
    title = "Heart failure clinic, export of 2 November 2024 (simulated)\n"
    (HERE / "clinic.csv").write_text(title + table, encoding="utf-8")
    new = as_exported(drawn(np.array([0, 1, 2, 2]), rng), rng).drop(columns=["died", "days"])
    new["patient_id"] = [f"N{i}" for i in range(1, 5)]
    new.to_csv(HERE / "new_patients.csv", index=False, sep=";", lineterminator="\n")


if __name__ == "__main__":
    main()
