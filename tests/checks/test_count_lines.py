from pathlib import Path

from scripts.count_lines import count, python_lines, rust_lines, script_lines


def test_comments_docstrings_and_blank_lines_are_not_counted():
    assert (
        python_lines('"""Module."""\n\n# why\nX = """two\nlines"""\n\ndef f():\n    """Return."""\n    return X\n') == 4
    )


def test_comments_of_a_script_are_not_counted():
    assert script_lines("/* a\n b */\nconst a = '// no comment'; // why\n\n`x\ny`;\n") == 3


def test_items_for_tests_are_left_out():
    tested = '#[cfg(test)]\nmod tests {\n    fn c() { "}"; }\n}\n#[cfg(test)]\nuse x;\n'
    source = "fn a() {\n    b('}');\n}\n" + tested + "fn d() {}\n"
    assert rust_lines(source) == 4


def test_files_for_tests_are_left_out(tmp_path: Path):
    crate = tmp_path / "crates/log/src"
    (crate / "parts").mkdir(parents=True)
    (crate / "lib.rs").write_text("mod parts;\n#[cfg(test)]\nmod fake;\n")
    (crate / "fake.rs").write_text("fn fake() {}\n")
    (crate / "parts/mod.rs").write_text("#[cfg(test)]\nmod tests;\nfn part() {}\n")
    (crate / "parts/tests.rs").write_text("fn test() {}\n")
    assert count(tmp_path) == (0, 2)
