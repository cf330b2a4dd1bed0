"""REDCap data dictionaries whose choices are written in odd forms, mean missing values, or are boxes to tick."""

from dictionary_corpus.case import BOX, SEX, SEX_DRAFT, SEX_NOTES, asked, lists, noted, one_project, some

CHOICES = {
    "choices in odd forms": one_project(
        SEX,
        asked("stage", "radio", choices="1, I, early|2, II, with pain, at night |3 ,III"),
        asked("phenotype", "dropdown", choices="td, Tremor | pigd, Gait, posture | ind, Neither"),
        asked("job", "dropdown", choices="1, Works | or studies | 2, Retired | 3, Neither | 3, None"),
        asked("dose", "radio", choices="0.5, Half | 1, One | 2, Two"),
        asked("line", "radio", choices="1, Left\\n2, Right\\n3, Both"),
        asked("other", "radio", choices="1, Other | 2, Other | 3, Same"),
        asked("only", "radio", choices="1, Ticked"),
        asked("none", "dropdown"),
        export={
            "sex": some(1, 2),
            "stage": some(1, 2, 3),
            "phenotype": some("td", "pigd", "ind"),
            "job": some(1, 2, 3),
            "dose": some("0.5", "1.0", "2"),
            "line": some(1, 2, 3),
            "other": some(1, 2, 3),
            "only": some(1, ""),
            "none": some("x", "y"),
        },
        notes={
            "sex": SEX_NOTES,
            "stage": noted("Stage", levels=lists(("1", "I, early"), ("2", "II, with pain, at night"), ("3", "III"))),
            "phenotype": noted(
                "Phenotype", levels=lists(("td", "Tremor"), ("pigd", "Gait, posture"), ("ind", "Neither"))
            ),
            "job": noted("Job", levels=lists(("1", "Works | or studies"), ("2", "Retired"), ("3", "Neither"))),
            "dose": noted("Dose", levels=lists(("0.5", "Half"), ("1", "One"), ("2", "Two"))),
            "line": noted("Line", levels=lists(("1", "Left"), ("2", "Right"), ("3", "Both"))),
            "other": noted("Other", levels=lists(("1", "Other"), ("2", "Other"), ("3", "Same"))),
            "only": noted("Only", levels=lists(("1", "Ticked"))),
            "none": noted("None"),
        },
        reasons={"none": "dropdown; drafted by its values"},
        drafted={
            "sex": SEX_DRAFT,
            "phenotype": {"likelihood": "categorical", "levels": ("Tremor", "Gait, posture", "Neither")},
            "dose": {
                "levels": ("Half", "One", "Two"),
                "synonyms": {"0.5": "Half", "1": "One", "2": "Two", "1.0": "One"},
            },
            "other": {"levels": ("Other (1)", "Other (2)", "Same")},
            "only": {"role": "ignore"},
        },
    ),
    "codes for unknown in four languages": one_project(
        asked("en", "radio", choices="1, Yes | 0, No | -9, Unknown | -8, Refused to answer | -7, N/A"),
        asked("de", "radio", choices="1, Ja | 0, Nein | 9, weiß nicht | 8, keine Angabe"),
        asked("fr", "radio", choices="1, Oui | 0, Non | 9, Ne sait pas | 8, Non réalisé"),
        asked("es", "radio", choices="1, Sí | 0, No | 9, No sabe / No contesta | 8, No realizado"),
        asked("odd", "radio", choices="0, Clear | 1, Cloudy | 2, Red | -1, Other colour"),
        asked("known", "radio", choices="1, Known | 2, Unknown"),
        export={
            "en": some(1, 0, -9, -8),
            "de": some(1, 0, 9),
            "fr": some(1, 0, 8),
            "es": some(1, 0, 9, 8),
            "odd": some(0, 1, 2, -1),
            "known": some(1, 2),
        },
        notes={
            "en": noted("En", levels=lists(("1", "Yes"), ("0", "No")), missing_codes=["-9", "-8", "-7"]),
            "de": noted("De", levels=lists(("1", "Ja"), ("0", "Nein")), missing_codes=["9", "8"]),
            "fr": noted("Fr", levels=lists(("1", "Oui"), ("0", "Non")), missing_codes=["9", "8"]),
            "es": noted("Es", levels=lists(("1", "Sí"), ("0", "No")), missing_codes=["9", "8"]),
            "odd": noted("Odd", levels=lists(("0", "Clear"), ("1", "Cloudy"), ("2", "Red"), ("-1", "Other colour"))),
            "known": noted("Known", levels=lists(("1", "Known"), ("2", "Unknown"))),
        },
        reasons={"en": "'-9' (Unknown)"},
        drafted={
            "en": {"levels": ("No", "Yes"), "missing_codes": ("-9", "-8", "-7")},
            "de": {"levels": ("Nein", "Ja"), "missing_codes": ("9", "8")},
            "fr": {"levels": ("Non", "Oui")},
            "es": {"levels": ("No", "Sí")},
            "known": {"levels": ("Known", "Unknown")},
        },
    ),
    "checkboxes": one_project(
        asked("signs", "checkbox", label="Signs", choices="1, Tremor | 2, Gait, posture | -9, Unknown | A_b, Else"),
        asked("drugs", "checkbox", choices="0, None | L-D, Levodopa", identifier=""),
        export={
            "signs___1": some(0, 1),
            "signs___2": some(1, 0),
            "signs____9": some(0, 1),
            "signs___a_b": some(0, 1),
            "drugs___0": some(0, 1),
            "drugs___l_d": some(1, 0),
        },
        notes={
            "signs___1": noted("Signs: Tremor", kind="yes/no", levels=BOX, block="signs"),
            "signs___2": noted("Signs: Gait, posture", kind="yes/no", levels=BOX, block="signs"),
            "signs____9": noted("Signs: Unknown", kind="yes/no", levels=BOX, role="ignore"),
            "signs___a_b": noted("Signs: Else", kind="yes/no", levels=BOX, block="signs"),
            "drugs___0": noted("Drugs: None", kind="yes/no", levels=BOX, block="drugs"),
            "drugs___l_d": noted("Drugs: Levodopa", kind="yes/no", levels=BOX, block="drugs"),
        },
        reasons={"signs____9": "the other boxes are not known"},
        drafted={
            "signs___1": {"likelihood": "bernoulli", "levels": ("Unchecked", "Checked"), "block": "signs"},
            "signs____9": {"role": "ignore", "block": None},
        },
    ),
}
