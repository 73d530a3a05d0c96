"""The words for stock and buying in Slavic languages."""

from penstock.extract.values.stock_words.words import StockWords

LANGUAGES = {
    "pl": StockWords(
        in_stock=(
            "w magazynie | na stanie | na magazynie | produkt dostępny | od ręki | zostało # | "
            "zostały # | tylko # szt | ostatnie sztuki | ostatnia sztuka | ostatnie # sztuk"
        ),
        out_of_stock=(
            "wyprzedane | wyprzedany | wyprzedana | brak w magazynie | brak towaru | "
            "brak na stanie | produkt wycofany | brak produktu | produkt niedostępny"
        ),
        backorder="na zamówienie | przedsprzedaż | zamów w przedsprzedaży | pre order",
        available="dostępny | dostępna | dostępne | dostępnych",
        unavailable="niedostępny | niedostępna | niedostępne",
        gone="sprzedane | brak",
        negations="nie | brak",
        pending="wkrótce | kiedy | gdy | powiadom | sprawdź | niedługo | oczekiwany",
        idle="pokaż | prawie",
        asides="obraz | zdjęcie | opinie | dostawa | rozmiar | sklepie",
        fillers="ten | produkt | towar | jest | obecnie | chwilowo | już | dostępność",
        units="szt | sztuk | sztuki | sztuka",
        counted="stan magazynowy | dostępność | liczba sztuk",
        buy=(
            "do koszyka | dodaj do koszyka | kup teraz | wrzuć do koszyka | zamów teraz | "
            "dodaj do torby"
        ),
        buy_alone="kup | kupuję | zamów",
        not_buying="przejdź | zobacz | ulubionych | schowka | ponownie | jak kupić | usuń",
        buy_fillers="teraz | za | zł",
        contact="napisz do sprzedającego | zadzwoń do sprzedającego",
    ),
    "cs": StockWords(
        in_stock=(
            "skladem | na skladě | poslední kusy | poslední kus | zbývá # | zbývají # | "
            "ihned k odeslání"
        ),
        out_of_stock="vyprodáno | není skladem | vyprodaný | prodej ukončen | momentálně vyprodáno",
        backorder="na objednávku | předobjednat | předobjednávka | předprodej",
        available="dostupné | dostupný | dostupná | k dispozici",
        unavailable="nedostupné | nedostupný | nedostupná",
        negations="není | nejsou | ne",
        pending="brzy | hlídat | upozornit | jakmile | očekáváme | až bude",
        idle="zobrazit | téměř",
        asides="obrázek | doprava | velikost",
        fillers="zboží | je | momentálně | již | dostupnost | produkt",
        units="ks | kusů | kusy | kus",
        buy=(
            "do košíku | přidat do košíku | vložit do košíku | koupit nyní | koupit ihned | "
            "vložit do nákupního košíku | dát do košíku"
        ),
        buy_alone="koupit | objednat",
        not_buying="přejít | zobrazit | oblíbených | znovu | jak",
        buy_fillers="nyní | za | ihned | kč",
        contact="kontaktovat prodejce",
    ),
    "sk": StockWords(
        in_stock=(
            "na sklade | skladom | posledné kusy | posledný kus | ihneď k odoslaniu | zostáva #"
        ),
        out_of_stock="vypredané | nie je skladom | vypredaný | predaj ukončený",
        backorder="na objednávku | predobjednať | predobjednávka | predpredaj",
        available="dostupné | dostupný | dostupná | k dispozícii",
        unavailable="nedostupné | nedostupný | nedostupná",
        negations="nie",
        pending="čoskoro | strážiť | keď | očakávame",
        fillers="tovar | momentálne | už | dostupnosť",
        units="ks | kusov | kusy",
        buy="do košíka | pridať do košíka | vložiť do košíka | kúpiť teraz | kúpiť ihneď",
        buy_alone="kúpiť | objednať",
        not_buying="prejsť | zobraziť | obľúbených | znova | ako",
    ),
    "bg": StockWords(
        in_stock="в наличност | на склад | последни бройки | последен брой | има наличност",
        out_of_stock=(
            "изчерпан | изчерпано | изчерпана | няма наличност | неналичен | не е в наличност"
        ),
        backorder="по поръчка | предварителна поръчка | с предварителна поръчка",
        available="наличен | налична | налично",
        unavailable="неналично | недостъпно",
        negations="не | няма",
        pending="скоро | когато | уведоми | очаква",
        fillers="продукт | продуктът | е | в момента | наличност",
        units="бр | броя",
        buy=(
            "добави в количката | добави в кошницата | купи сега | добавяне в количката | "
            "добавяне към количката | добави към количката | поръчай сега"
        ),
        buy_alone="купи | поръчай | в количката",
        not_buying="към количката виж | любими | как",
    ),
    "ru": StockWords(
        in_stock=(
            "в наличии | на складе | есть в наличии | осталось # | остался # | последний экземпляр"
        ),
        out_of_stock=(
            "нет в наличии | распродано | продано | снят с производства | закончился | "
            "закончилось | нет на складе | раскуплено | товар закончился | отсутствует"
        ),
        backorder="под заказ | предзаказ | на заказ | оформить предзаказ | предварительный заказ",
        available="доступен | доступна | доступно | есть",
        unavailable="недоступен | недоступна | недоступно",
        negations="не | нет",
        pending="скоро | когда | сообщить | уведомить | ожидается | проверить | узнать | появится",
        idle="показать | почти | скоро",
        asides="изображение | фото | доставка | самовывоз | размер",
        fillers="товар | сейчас | временно | больше | наличие | статус",
        units="шт | штук | штуки",
        counted="остаток | наличие",
        buy=(
            "в корзину | добавить в корзину | положить в корзину | купить сейчас | "
            "купить в 1 клик | купить в один клик | заказать сейчас"
        ),
        buy_alone="купить | заказать",
        not_buying="перейти | избранное | снова | как | посмотреть | сравнить",
        buy_fillers="сейчас | за | товар | руб",
        contact="написать продавцу | связаться с продавцом",
    ),
    "uk": StockWords(
        in_stock=(
            "в наявності | є в наявності | у наявності | на складі | залишилось # | залишилося #"
        ),
        out_of_stock=(
            "немає в наявності | розпродано | закінчився | закінчилось | відсутній | "
            "нема в наявності"
        ),
        backorder="під замовлення | передзамовлення | на замовлення | попереднє замовлення",
        available="доступний | доступна | доступно | наявний",
        unavailable="недоступний | недоступна | недоступно",
        negations="не | немає | нема | ні",
        pending="незабаром | коли | повідомити | очікується | перевірити",
        fillers="товар | зараз | тимчасово | більше | наявність",
        buy=(
            "до кошика | в кошик | у кошик | додати в кошик | додати до кошика | купити зараз | "
            "купити в 1 клік"
        ),
        buy_alone="купити | замовити",
        not_buying="перейти | обране | знову | як | переглянути",
        buy_fillers="зараз | за",
        contact="написати продавцю | зв'язатися з продавцем",
    ),
    "sl": StockWords(
        in_stock="na zalogi | zadnji kosi | takoj na voljo | takoj dobavljivo",
        out_of_stock="razprodano | ni na zalogi | ni na voljo | zaloga je pošla",
        backorder="po naročilu | prednaročilo | dobavljivo po naročilu",
        available="na voljo | dobavljivo",
        unavailable="nedobavljivo",
        negations="ni | ne | brez",
        pending="kmalu | obvesti | preveri",
        fillers="izdelek | trenutno | več",
        units="kos | kosov",
        buy="dodaj v košarico | v košarico | kupi zdaj | v voziček | naroči zdaj",
        buy_alone="kupi | naroči",
        not_buying="pojdi | seznam želja | poglej | kako",
        buy_fillers="zdaj | za",
    ),
    "hr": StockWords(
        in_stock="na zalihi | na skladištu | na stanju | zadnji komadi | odmah dostupno",
        out_of_stock=(
            "rasprodano | nema na zalihi | nije na zalihi | nije dostupno | nema na stanju"
        ),
        backorder="po narudžbi | prednarudžba | dostupno po narudžbi",
        available="dostupno | raspoloživo | dostupan",
        unavailable="nedostupno | nedostupan",
        negations="nije | nema",
        pending="uskoro | kada | obavijesti | provjeri",
        fillers="proizvod | je | trenutno | dostupnost | više",
        units="kom | komada",
        buy="dodaj u košaricu | u košaricu | kupi odmah | stavi u košaricu | kupi sada",
        buy_alone="kupi | naruči",
        not_buying="idi | pogledaj | lista želja | kako | vidi",
        buy_fillers="odmah | sada",
    ),
    "sr": StockWords(
        in_stock="na stanju | на стању | na lageru | на лагеру | poslednji komadi",
        out_of_stock="rasprodato | распродато | nema na stanju | нема на стању | nije na stanju",
        backorder="po porudžbini | по поруџбини | prednarudžbina | pretprodaja",
        available="dostupno | доступно | dostupan",
        unavailable="недоступно",
        negations="није | нема",
        pending="obavesti | ускоро | proveri",
        buy="dodaj u korpu | u korpu | додај у корпу | у корпу | kupi odmah | stavi u korpu",
        buy_alone="kupi | купи | poruči",
        not_buying="погледај | листа жеља | како",
    ),
}
