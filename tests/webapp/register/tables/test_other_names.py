"""Other names: those of makers identify the maker, those of models do not."""

from webapp.register.tables.other_names import MAKERS, OTHER_NAMES


def test_makers_and_models_have_other_names_and_only_those_of_makers_identify_one():
    assert (OTHER_NAMES["western digital"], OTHER_NAMES["p5800x"]) == (("wd", "wdc", "hgst"), ("optane",))
    assert (MAKERS["hgst"], MAKERS.get("optane")) == ("western digital", None)


def test_every_other_name_is_one_word_in_lower_case():
    others = [other for names in OTHER_NAMES.values() for other in names]
    assert all(other == other.lower() and other.isalnum() for other in others)
