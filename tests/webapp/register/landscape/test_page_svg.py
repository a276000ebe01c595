"""Charts as SVG: one tab stop, names of links, and no styles."""

from dataclasses import replace

from tests.webapp.register.landscape.cases import drives_of, frontiers_of, question_of, read_cases
from webapp.register.landscape.page_svg import ChartWords, chart_svg, gap_html, link_to
from webapp.register.landscape.picture import Cell, Picture
from webapp.register.landscape.speed_chart import speed_chart
from webapp.register.svg.marks import symbols_svg
from webapp.register.svg.scales import LogScale


def svg_of(case, sentence="{}: <b>&"):
    drives = drives_of(case)
    picture = speed_chart(question_of(case), drives, frontiers_of(drives))
    return chart_svg(
        picture, ChartWords("x", "A < B", "C"), lambda key: link_to(f"/drive/{key}/", sentence.format(key))
    )


def test_the_marks_are_one_tab_stop_which_is_the_fastest_drive():
    case = read_cases()[0]
    svg = svg_of(case)
    fastest = max(case["drives"], key=lambda drive: drive["tps"])
    assert svg.count('tabindex="0"') == 1
    assert svg.count('tabindex="-1"') == len(case["drives"]) - 1
    assert f'href="/drive/{fastest["key"]}/" tabindex="0"' in svg


def test_the_first_cell_is_the_tab_stop_of_a_chart_without_marks():
    cells = Picture(cells=(Cell(0, 0, 1, 1, 1, 1), Cell(2.5, 0, 1, 1, 1, 1)))
    words, link = ChartWords("x", "A", "B"), link_to("?", "C")
    svg = chart_svg(cells, words, lambda _: link, lambda _: link)
    assert [part[0] for part in svg.split('tabindex="')[1:]] == ["0", "-"]
    drives = drives_of(read_cases()[0])
    marks = speed_chart(question_of(read_cases()[0]), drives).marks
    assert chart_svg(replace(cells, marks=marks), words, lambda _: link, lambda _: link).count('tabindex="0"') == 1


def test_the_limits_of_the_reader_go_along_with_every_mark():
    case, link = read_cases()[0], link_to("/drive/a/", "A")
    picture = speed_chart(question_of(case), drives_of(case))
    svg = chart_svg(picture, ChartWords("x", "A", "B"), lambda _: link, carried="?limit_1ms=3&limit_8ms=1")
    assert svg.count('href="/drive/a/?limit_1ms=3&amp;limit_8ms=1"') == len(case["drives"])


def test_every_mark_has_a_sentence_as_its_name_and_no_text_is_markup():
    svg = svg_of(read_cases()[0])
    assert 'aria-label="0: &lt;b&gt;&amp;"' in svg
    assert "<b>" not in svg
    assert '<title id="x-title">A &lt; B</title>' in svg


def test_cells_cover_the_grid_and_are_below_the_frontiers_the_limit_and_the_load():
    case, link = read_cases()[0], link_to("?", "A")
    drives = drives_of(case)
    picture = speed_chart(question_of(case), drives, frontiers_of(drives), (Cell(0, 0, 1, 1, 1, 1),))
    svg = chart_svg(picture, ChartWords("x", "A", "B"), lambda _: link, lambda _: link)
    order = [
        'class="zone"',
        'class="grid"',
        'class="cell q1"',
        'class="limit"',
        'class="load"',
        'class="front solid"',
        'class="m ',
    ]
    places = [svg.index(part) for part in order]
    assert places == sorted(places)


def test_a_chart_has_classes_and_no_styles():
    svg = svg_of(read_cases()[0]) + symbols_svg() + gap_html(LogScale(10, 1000), 10, 1000)
    assert "style=" not in svg
    assert "fill=" not in svg


def test_the_gap_of_a_drive_goes_from_the_sustained_to_the_tested_speed():
    html = gap_html(LogScale(10, 1000), 10, 1000)
    assert ('x1="0.0" x2="120.0"' in html, 'class="gapmark below"' in html) == (True, True)
    assert 'class="gapmark above"' in gap_html(LogScale(10, 1000), 100, 100)
