"""Images of a product are found in its order, each once, with what the page says they show."""

from penstock.extract.product.images import FoundImage, find_images
from tests.unit.extract.product.markup import document, product, shop

CDN = "https://cdn.example"


def found(
    shown: str, *urls: str, head: str = "", item: object = None, most: int = 20
) -> list[FoundImage]:
    page = shop(shown, *([item] if item else []), head=head)
    return find_images(document(page), urls, most)


def test_first_image_is_the_primary_one_and_others_follow_in_order() -> None:
    assert found("", f"{CDN}/b.jpg", f"{CDN}/a.jpg", f"{CDN}/b.jpg") == [
        FoundImage(f"{CDN}/b.jpg", None, "primary"),
        FoundImage(f"{CDN}/a.jpg", None, "gallery"),
    ]


def test_addresses_are_absolute_and_of_the_web() -> None:
    urls = ("data:image/png;base64,AAAA", "/a.jpg#top", "//cdn.example/b.jpg", "ftp://x.example/c")

    assert [image.url for image in found("", *urls)] == [
        "https://shop.example/a.jpg",
        f"{CDN}/b.jpg",
    ]


def test_alt_texts_come_from_the_elements_that_show_the_image() -> None:
    shown = (
        f'<img src="{CDN}/a.jpg" alt=" A  lamp ">'
        f'<img src="lazy.gif" data-src="{CDN}/b.jpg" alt="Its shade">'
        f'<img src="x.gif" srcset="{CDN}/c-1.jpg 1x, {CDN}/c.jpg 2x" alt="Its foot">'
        f'<a href="{CDN}/d.jpg"><img src="{CDN}/d-small.jpg" alt="Its plug"></a>'
        f'<picture><source srcset="{CDN}/e.webp"><img src="{CDN}/e.jpg" alt="On a desk"></picture>'
        f'<img src="{CDN}/f.jpg" alt="">'
    )
    names = ("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.webp", "f.jpg")

    images = found(shown, *(f"{CDN}/{name}" for name in names))

    assert [image.alt for image in images] == [
        "A lamp",
        "Its shade",
        "Its foot",
        "Its plug",
        "On a desk",
        None,
    ]


def test_relative_sources_are_resolved_as_the_page_says() -> None:
    head = f'<base href="{CDN}/lamps/">'

    images = found('<img src="a.jpg" alt="A lamp">', f"{CDN}/lamps/a.jpg", head=head)

    assert images == [FoundImage(f"{CDN}/lamps/a.jpg", "A lamp", "primary")]


def test_thumbnails_of_the_product_come_last() -> None:
    image = {"@type": "ImageObject", "url": f"{CDN}/a.jpg", "thumbnail": {"url": f"{CDN}/t1.jpg"}}
    related = {"@type": "Product", "name": "Stool", "thumbnailUrl": f"{CDN}/stool.jpg"}
    item = product(image=image, thumbnailUrl=[f"{CDN}/t2.jpg", f"{CDN}/a.jpg"], isRelatedTo=related)

    images = found("", f"{CDN}/a.jpg", item=item)

    assert images[0] == FoundImage(f"{CDN}/a.jpg", None, "primary")
    assert {(image.url, image.kind) for image in images[1:]} == {
        (f"{CDN}/t1.jpg", "thumbnail"),
        (f"{CDN}/t2.jpg", "thumbnail"),
    }


def test_thumbnails_in_microdata_are_found() -> None:
    shown = (
        '<div itemscope itemtype="https://schema.org/Product">'
        '<span itemprop="name">Desk Lamp</span>'
        f'<link itemprop="thumbnailUrl" href="{CDN}/t.jpg"></div>'
    )

    assert found(shown) == [FoundImage(f"{CDN}/t.jpg", None, "thumbnail")]


def test_there_are_no_more_than_wanted() -> None:
    urls = [f"{CDN}/{number}.jpg" for number in range(40)]

    assert [image.url for image in found("", *urls, most=5)] == urls[:5]
    assert len(found("", *urls)) == 20


def test_page_without_images_has_none() -> None:
    assert found("<img alt='nothing'>") == []
