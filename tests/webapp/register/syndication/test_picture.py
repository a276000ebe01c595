"""The picture of a product: a PNG of the size that other sites expect, without text over its edge."""

import io

import pytest
from PIL import Image

from webapp.register.syndication import badge_images as picture
from webapp.register.syndication.badge_images import EDGE, HEIGHT, ROOM, WIDTH
from webapp.register.syndication.product_status import ProductStatus

pytestmark = pytest.mark.django_db
NAMES = ["EX7", "W" * 10_000, "word " * 2000, "Ж漢字", " ", "a" * 199 + " b"]


def pixels_over_the_edge(image):
    """Count pixels with ink in the margins; the bar above and the lines stay within."""
    left, right = image.crop((0, 20, EDGE - 8, HEIGHT)), image.crop((WIDTH - EDGE + 8, 20, WIDTH, HEIGHT))
    return sum(part.getcolors(1)[0][1] != (255, 255, 255) if part.getcolors(1) else 1 for part in (left, right))


def test_the_picture_is_a_png_of_the_expected_size(client, make_published_run):
    answer = client.get(f"/drive/{make_published_run().product.slug}/picture.png")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(answer.content)).size == (WIDTH, HEIGHT)
    assert len(answer.content) < 60_000


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{len(name)} characters")
def test_every_name_fits_into_the_picture(make_product, name):
    product = make_product()
    product.model = name
    drawn = picture.picture_of(product, ProductStatus("words " * 300, "t" * 5000, warns=True))
    assert pixels_over_the_edge(Image.open(io.BytesIO(drawn)).convert("RGB")) == 0


def test_only_a_text_that_does_not_fit_is_truncated_with_dots():
    used = picture.font(24)
    assert picture.cut("short", used) == "short"
    long = picture.cut("m" * 3000, used)
    assert long.endswith("...")
    assert used.getlength(long) <= ROOM < used.getlength(long.replace("...", "mm..."))
