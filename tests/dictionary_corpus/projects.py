"""REDCap data dictionaries whose exports have labels, events, or values that do not agree with them."""

from dictionary_corpus.case import (
    BOX,
    ID_NOTES,
    RECORD,
    SEX,
    SEX_NOTES,
    YES_NO,
    Case,
    N,
    around,
    asked,
    lists,
    noted,
    one_project,
    project,
    some,
)

ADDED = (
    "redcap_event_name",
    "redcap_repeat_instrument",
    "redcap_repeat_instance",
    "redcap_survey_identifier",
    "base_timestamp",
    "base_complete",
)
PROJECTS = {
    "labels for values": one_project(
        SEX,
        asked("severity", "dropdown", choices="3, Severe | 1, Mild | 2, Moderate | -9, Not done"),
        asked("smoker", "yesno"),
        asked("signs", "checkbox", choices="1, Tremor | 2, Falls"),
        asked("score", "radio", choices="1, 0 | 2, 1 | 3, 2"),
        export={
            "sex": some("Male", "Female"),
            "severity": some("Mild", "Moderate", "Severe", "Not done"),
            "smoker": some("No", "Yes"),
            "signs___1": some("Unchecked", "Checked"),
            "signs___2": some("Checked", "Unchecked"),
            "score": some(0, 1, 2),
        },
        notes={
            "sex": SEX_NOTES,
            "severity": noted(
                "Severity", levels=lists(("3", "Severe"), ("1", "Mild"), ("2", "Moderate")), missing_codes=["-9"]
            ),
            "smoker": noted("Smoker", kind="yes/no", levels=YES_NO),
            "signs___1": noted("Signs: Tremor", kind="yes/no", levels=BOX, block="signs"),
            "signs___2": noted("Signs: Falls", kind="yes/no", levels=BOX, block="signs"),
            "score": noted("Score", levels=lists(("1", "0"), ("2", "1"), ("3", "2"))),
        },
        drafted={
            "sex": {"levels": ("Male", "Female")},
            "severity": {"levels": ("Mild", "Moderate", "Severe"), "missing_codes": ("-9", "Not done")},
        },
    ),
    "repeating events": Case(
        project(RECORD, SEX),
        {
            "record_id": [str(1 + number // 2) for number in range(N)],
            "redcap_event_name": ["baseline_arm_1", "month_6_arm_1"] * (N // 2),
            "redcap_repeat_instrument": ["", "medication"] * (N // 2),
            "redcap_repeat_instance": ["", "1"] * (N // 2),
            "redcap_data_access_group": some("north", "south", "west"),
            "redcap_survey_identifier": [""] * N,
            "base_timestamp": ["2024-01-01 10:00"] * N,
            "sex": some(1, 2),
            "base_complete": ["2"] * N,
        },
        {
            **ID_NOTES,
            "sex": SEX_NOTES,
            "redcap_data_access_group": {"label": "Site", "kind": "nominal", "role": "site"},
            **{column: {"role": "ignore"} for column in ADDED},
        },
        drafted={"record_id": {"role": "ignore"}, "redcap_data_access_group": {"likelihood": "categorical"}},
    ),
    "names that differ": one_project(
        SEX,
        asked("crp", validation="number"),
        asked("gone", validation="number"),
        asked("pictures", "descriptive"),
        asked("a_b", validation="number"),
        export={
            " Sex": some(1, 2),
            "CRP": around(9, 2),
            "gon": around(3, 1),
            "A b": around(3, 1),
            "a-b": around(3, 1),  # either could be a_b
        },
        notes={" Sex": SEX_NOTES, "CRP": noted("Crp", kind="number")},
        remarks=("' Sex' ('sex')", "'CRP' ('crp')", "'gon'", "'gone', 'a_b': its variables that are no columns"),
    ),
    "long choices": one_project(
        asked("country", "dropdown", choices=" | ".join(f"C{number}, Country {number}" for number in range(200))),
        asked("why", "radio", choices=f"1, {'because of this ' * 30}| 2, {'because of that ' * 30}"),
        export={"country": some("C1", "C7", "C9"), "why": some(1, 2)},
        notes={
            "country": noted("Country", levels=lists(*((f"C{number}", f"Country {number}") for number in range(200)))),
            "why": noted(
                "Why", levels=lists(("1", ("because of this " * 30).strip()), ("2", ("because of that " * 30).strip()))
            ),
        },
        drafted={"country": {"likelihood": "categorical", "levels": ("Country 1", "Country 7", "Country 9")}},
    ),
    "values that contradict": one_project(
        asked("kind", "radio", choices="1, Tremor | 2, Gait | 3, Mixed"),
        asked("stage", "radio", choices="1, Mild | 2, Moderate | 4, Severe"),
        asked("age", validation="integer", minimum="18", maximum="50"),
        asked("dose", validation="number"),
        asked("words", validation="number"),
        asked("limit", validation="number", label="Ferritin", note="ng/mL"),
        asked("smoker", "yesno"),
        export={
            "kind": some(1, 2, 3, 7),
            "stage": some(1, 2, 3, 4),
            "age": around(50, 9, 0),
            "dose": [*around(9, 2)[2:], "n/a", "see letter"],
            "words": some("five", "six", "7"),
            "limit": [*around(90, 9)[3:], "<15", "<15", ">2000"],
            "smoker": some("0", "1", "unknown", "yes"),
        },
        notes={
            "kind": noted("Kind", levels=lists(("1", "Tremor"), ("2", "Gait"), ("3", "Mixed"))),
            "stage": noted("Stage", levels=lists(("1", "Mild"), ("2", "Moderate"), ("4", "Severe"))),
            "age": noted("Age", kind="number", minimum=18.0, maximum=50.0),
            "dose": noted("Dose", kind="number"),
            "words": noted("Words", kind="number"),
            "limit": noted("Ferritin", kind="number", unit="ng/mL"),
            "smoker": noted("Smoker", kind="yes/no", levels=YES_NO),
        },
        drafted={
            "kind": {"likelihood": "categorical", "levels": ("Tremor", "Gait", "Mixed", "7")},
            "stage": {"levels": ("Mild", "Moderate", "3", "Severe")},
            "age": {"minimum": 18.0, "maximum": None},
            "dose": {"likelihood": "gaussian", "missing_codes": ("n/a", "see letter")},
            "words": {"likelihood": "categorical"},
            "limit": {"likelihood": "gaussian", "unit": "ng/mL"},
            "smoker": {"levels": ("No", "Yes"), "missing_codes": ("unknown",)},
        },
    ),
}
