"""Stock: what short texts say, in many languages, and what they do not say."""

# ruff: noqa: RUF001 - words of many scripts are what is tested

import pytest

from penstock.extract.values.stock import MAX_LENGTH, is_buy_label, read_stock
from penstock.extract.values.stock_words.languages import FAMILIES
from penstock.kernel.records import Availability

LANGUAGES = {
    # language: (in stock, out of stock, to order, buy)
    "en": ("In stock", "Sold out", "Available on backorder", "Add to cart"),
    "de": ("Auf Lager", "Ausverkauft", "Auf Bestellung", "In den Warenkorb"),
    "fr": ("En stock", "Rupture de stock", "Sur commande", "Ajouter au panier"),
    "it": ("Disponibilità immediata", "Esaurito", "Su ordinazione", "Aggiungi al carrello"),
    "es": ("En existencias", "Agotado", "Bajo pedido", "Añadir a la cesta"),
    "pt": ("Em estoque", "Esgotado", "Sob encomenda", "Adicionar ao carrinho"),
    "nl": ("Op voorraad", "Uitverkocht", "Op bestelling", "In winkelwagen"),
    "sv": ("Finns i lager", "Slutsåld", "Beställningsvara", "Lägg i varukorgen"),
    "no": ("På lager", "Utsolgt", "Forhåndsbestill", "Legg i handlekurv"),
    "da": ("På lager", "Udsolgt", "Bestillingsvare", "Læg i kurv"),
    "fi": ("Varastossa", "Loppuunmyyty", "Tilaustuote", "Lisää ostoskoriin"),
    "pl": ("Produkt dostępny", "Wyprzedane", "Na zamówienie", "Do koszyka"),
    "cs": ("Skladem", "Vyprodáno", "Na objednávku", "Přidat do košíku"),
    "sk": ("Na sklade", "Vypredané", "Predobjednávka", "Vložiť do košíka"),
    "hu": ("Raktáron", "Elfogyott", "Rendelésre", "Kosárba"),
    "ro": ("În stoc", "Stoc epuizat", "La comandă", "Adaugă în coș"),
    "bg": ("В наличност", "Изчерпано", "По поръчка", "Добави в количката"),
    "ru": ("В наличии", "Нет в наличии", "Под заказ", "В корзину"),
    "uk": ("Є в наявності", "Немає в наявності", "Під замовлення", "До кошика"),
    "tr": ("Stokta var", "Tükendi", "Ön sipariş", "Sepete ekle"),
    "el": ("Άμεσα διαθέσιμο", "Εξαντλημένο", "Κατόπιν παραγγελίας", "Προσθήκη στο καλάθι"),
    "et": ("Laos olemas", "Läbi müüdud", "Tellimisel", "Lisa ostukorvi"),
    "lv": ("Ir noliktavā", "Izpārdots", "Pēc pasūtījuma", "Pielikt grozam"),
    "lt": ("Turime sandėlyje", "Išparduota", "Pagal užsakymą", "Į krepšelį"),
    "sl": ("Na zalogi", "Razprodano", "Po naročilu", "Dodaj v košarico"),
    "hr": ("Na zalihi", "Rasprodano", "Po narudžbi", "Dodaj u košaricu"),
    "sr": ("Na stanju", "Распродато", "Po porudžbini", "Додај у корпу"),
    "ja": ("在庫あり", "売り切れ", "お取り寄せ", "カートに入れる"),
    "zh": ("现货", "已售罄", "预售", "加入购物车"),
    "zh-Hant": ("有現貨", "補貨中", "預購", "加入購物車"),
    "ko": ("재고 있음", "일시품절", "예약판매", "장바구니 담기"),
    "ar": ("متوفر في المخزون", "نفدت الكمية", "الطلب المسبق", "أضف إلى السلة"),
    "he": ("במלאי", "אזל מהמלאי", "הזמנה מראש", "הוסף לסל"),
    "hi": ("स्टॉक में है", "स्टॉक में नहीं", "प्री ऑर्डर", "कार्ट में जोड़ें"),
    "th": ("มีสินค้า", "สินค้าหมด", "พรีออเดอร์", "หยิบใส่ตะกร้า"),
    "vi": ("Còn hàng", "Hết hàng", "Đặt hàng trước", "Thêm vào giỏ hàng"),
    "id": ("Stok tersedia", "Stok habis", "Pra-pesan", "Tambah ke keranjang"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_of_its_stock(language: str) -> None:
    there, gone, to_order, buy = LANGUAGES[language]

    assert read_stock(there) is Availability.IN_STOCK
    assert read_stock(there.upper()) is Availability.IN_STOCK
    assert read_stock(gone) is Availability.OUT_OF_STOCK
    assert read_stock(to_order) is Availability.BACKORDER
    assert is_buy_label(buy)


def test_every_language_with_words_is_in_the_table() -> None:
    assert {code for family in FAMILIES for code in family} <= LANGUAGES.keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_the_buy_label_offers_to_buy(language: str) -> None:
    there, gone, to_order, _ = LANGUAGES[language]

    assert not any(map(is_buy_label, (there, gone, to_order)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_contradiction_is_no_evidence(language: str) -> None:
    there, gone, _, _ = LANGUAGES[language]

    assert read_stock(f"{there}. {gone}.") is Availability.UNKNOWN
    assert read_stock(f"{gone} | {there}") is Availability.UNKNOWN


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("https://schema.org/InStock", Availability.IN_STOCK),
        ("http://schema.org/LimitedAvailability", Availability.IN_STOCK),
        ("https://www.schema.org/OnlineOnly", Availability.IN_STOCK),
        ("schema:InStoreOnly", Availability.IN_STOCK),
        ("InStock", Availability.IN_STOCK),
        ("instock", Availability.IN_STOCK),
        ("in_stock", Availability.IN_STOCK),
        ("IN-STOCK", Availability.IN_STOCK),
        ("http://schema.org/OutOfStock/", Availability.OUT_OF_STOCK),
        ("https://schema.org/SoldOut", Availability.OUT_OF_STOCK),
        ("https://schema.org/Discontinued", Availability.OUT_OF_STOCK),
        ("oos", Availability.OUT_OF_STOCK),
        ("out of stock", Availability.OUT_OF_STOCK),
        ("https://schema.org/PreOrder", Availability.BACKORDER),
        ("https://schema.org/PreSale", Availability.BACKORDER),
        ("https://schema.org/BackOrder", Availability.BACKORDER),
        ("https://schema.org/MadeToOrder", Availability.BACKORDER),
        ("preorder", Availability.BACKORDER),
        ("available for order", Availability.BACKORDER),
        ("https://schema.org/Reserved", Availability.UNKNOWN),
        ("https://schema.org/", Availability.UNKNOWN),
        ("https://shop.test/in-stock", Availability.UNKNOWN),
        ("https://shop.test/schema.org/InStock", Availability.UNKNOWN),
        ("pending", Availability.UNKNOWN),
        ("true", Availability.UNKNOWN),
    ],
)
def test_values_of_structured_data_have_a_meaning(value: str, meaning: Availability) -> None:
    assert read_stock(value) is meaning


@pytest.mark.parametrize(
    "text",
    [
        "3 in stock",
        "Only 3 left",
        "Only 1 left in stock - order soon!",
        "10 in stock",
        "100+ in stock",
        "1,000 units in stock",
        "In stock (12)",
        "Stock: 5",
        "5 available",
        "✓ Available",
        "Availability: In Stock",
        "In stock. Order before 15:00, delivered tomorrow.",
        "In stock. No returns.",
        "2 in stock (can be backordered)",
        "noch 2 Stück auf Lager",
        "Nur noch 1 verfügbar",
        "Sofort lieferbar",
        "Plus que 3 en stock",
        "Disponibilità: solo 1",
        "Disponibile",
        "Disponível",
        "Dostępne 4 szt.",
        "残り3点",
        "在庫:3",
        "仅剩5件",
        "осталось 2 шт.",
        "EN STOCK",
        "ＩＮ ＳＴＯＣＫ",
        "in\n\t  stock",
    ],
)
def test_what_is_there_is_in_stock(text: str) -> None:
    assert read_stock(text) is Availability.IN_STOCK


@pytest.mark.parametrize(
    "text",
    [
        "0 in stock",
        "Only 0 left",
        "In stock: 0",
        "Stock: 0",
        "0 available",
        "Dostępne szt. 0 szt.",
        "0 Stück auf Lager",
        "Not in stock",
        "This item is not currently in stock",
        "In stock: no",
        "Currently unavailable.",
        "Not available",
        "No longer available",
        "Temporarily out of stock",
        "Nicht auf Lager",
        "Derzeit nicht verfügbar",
        "Leider nicht mehr lieferbar",
        "Indisponible",
        "N'est plus disponible",
        "Non disponibile",
        "No disponible",
        "Este producto no está disponible",
        "Indisponível",
        "Niet op voorraad",
        "Ej i lager",
        "Ei saatavilla",
        "Niedostępny",
        "Není skladem",
        "Nincs raktáron",
        "Не в наличии",
        "Mevcut değil",
        "Μη διαθέσιμο",
        "在庫なし",
        "无货",
        "Sold",
        "Sold out! Notify me when available",
        "Out of stock notify me when back in stock",
        "Currently unavailable. We don't know when or if this item will be back in stock.",
    ],
)
def test_what_is_gone_is_out_of_stock(text: str) -> None:
    assert read_stock(text) is Availability.OUT_OF_STOCK


@pytest.mark.parametrize(
    "text",
    [
        "Available for pre-order",
        "Pre-order now",
        "Out of stock. Available on back order.",
        "Made to order",
        "Auf Bestellung verfügbar",
        "Disponible sur commande",
        "取り寄せ商品",
    ],
)
def test_what_must_be_ordered_is_a_back_order(text: str) -> None:
    assert read_stock(text) is Availability.BACKORDER


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Add to wishlist",
        "In stock soon",
        "Back in stock soon",
        "Notify me when in stock",
        "Email me when available",
        "Check stock",
        "Check availability",
        "Is it in stock?",
        "In stock at selected stores?",
        "In stock at selected stores",
        "Show out of stock",
        "In stock only",
        "Almost sold out",
        "Never out of stock",
        "Available in 3 colours",
        "Available from 12 June",
        "Also available as an e-book",
        "Dostępne szt.",
        "Sold by a friend",
        "Image not available",
        "Collection not available",
        "Gift wrapping unavailable",
        "Bild nicht verfügbar",
        "Immagine non disponibile",
        "No backorders",
        "Not available for pre-order",
        "In stock / out of stock",
        "Bald wieder auf Lager",
        "Sobald verfügbar",
        "Bientôt en stock",
        "Avísame cuando esté disponible",
        "Скоро в наличии",
        "入荷予定",
        "到货通知",
        "stockings",
        "Stock photo",
        "0",
        "3",
        "instockings",
    ],
)
def test_what_is_not_said_stays_unknown(text: str) -> None:
    assert read_stock(text) is Availability.UNKNOWN


def test_paragraph_is_no_stock_line() -> None:
    line = "In stock" + " and well" * 40

    assert len(line) > MAX_LENGTH
    assert read_stock(line) is Availability.UNKNOWN
    assert read_stock(line[:MAX_LENGTH]) is Availability.IN_STOCK


@pytest.mark.parametrize(
    "label",
    [
        "Add to basket",
        "ADD TO CART",
        "Add to cart - $19.99",
        "Add 2 to cart",
        "Buy",
        "Buy now",
        "Buy for €12.50",
        "In den Einkaufswagen",
        "Añadir al carrito",
        "Añadir al carro",
        "Colocar no carrinho",
        "Купить",
        "Купить в 1 клик",
        "購入する",
        "立即购买",
        "Köp",
        "+ Keranjang",
    ],
)
def test_offer_to_buy_is_recognised(label: str) -> None:
    assert is_buy_label(label)


@pytest.mark.parametrize(
    "label",
    [
        "",
        "Buy again",
        "How to buy",
        "Buy now, pay later",
        "Buy a gift card",
        "Add to wishlist",
        "Added to cart",
        "Go to cart",
        "View cart",
        "Add to cart (sold out)",
        "Add to cart unavailable",
        "Pre-order now",
        "Zum Warenkorb gehen",
        "3 artikelen in winkelwagen",
        "Przejdź do koszyka",
        "Перейти в корзину",
        "Voir le panier",
        "Shop now",
        "Search",
        "Buyer protection",
        "Ready to buy now?",
        "Add to cart " + "and read on " * 10,
    ],
)
def test_other_labels_offer_nothing(label: str) -> None:
    assert not is_buy_label(label)
