"""REDCap data dictionaries whose exports have labels, events, or values that do not agree with them."""

from dictionary_corpus.case import SEX, N, asked, project_case, some, stored

ADDED = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance", "redcap_survey_identifier")
SEX_NOTES = {"label": "Sex", "levels": [["1", "Male"], ["2", "Female"]]}
COUNTRIES = [[f"C{number}", f"Country {number}"] for number in range(200)]
WHY = [["1", "because of this " * 30], ["2", "because of that " * 30]]
PROJECTS = {
    **stored("projects"),
    "repeating events": project_case(
        [SEX],
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
            "sex": SEX_NOTES,
            "redcap_data_access_group": {"label": "Site", "kind": "nominal", "role": "site"},
            **{column: {"role": "ignore"} for column in (*ADDED, "base_timestamp", "base_complete")},
        },
        drafted={"record_id": {"role": "ignore"}, "redcap_data_access_group": {"likelihood": "categorical"}},
    ),
    "long choices": project_case(
        [
            asked(name, kind, choices=" | ".join(", ".join(choice) for choice in choices))
            for name, kind, choices in (("country", "dropdown", COUNTRIES), ("why", "radio", WHY))
        ],
        {"country": some("C1", "C7", "C9"), "why": some(1, 2)},
        {
            "country": {"label": "Country", "levels": COUNTRIES},
            "why": {"label": "Why", "levels": [[code, text.strip()] for code, text in WHY]},
        },
        drafted={"country": {"likelihood": "categorical", "levels": ("Country 1", "Country 7", "Country 9")}},
    ),
}
