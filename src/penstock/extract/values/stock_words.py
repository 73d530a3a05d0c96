"""The words for stock and buying, by language; phrases are parted by `|`.

They are compared without case, accents and hyphens, and all languages at once, because pages
often do not say, or say wrongly, which one they are in.
"""

from collections.abc import Mapping

Table = Mapping[str, str]

#: Said of nothing but the product's own stock; `#` stands for a number.
IN_STOCK: Table = {
    "en": "in stock | only # left | # left in stock | # left | # remaining | few left | "
    "low stock | last one | last ones | last few | last pieces | ready to ship | "
    "ships today | on hand | in store now | available now | available immediately | "
    "immediately available | available to order online | limited stock | "
    "limited availability",
    "de": "auf lager | vorrätig | ab lager | an lager | am lager | nur noch # | "
    "noch # stück | noch # verfügbar | sofort lieferbar | sofort verfügbar | "
    "sofort versandfertig | versandfertig | lagernd | wenige exemplare | "
    "geringer bestand | begrenzte stückzahl",
    "fr": "en stock | plus que # | il ne reste que # | reste # | derniers exemplaires | "
    "dernier exemplaire | stock limité | expédié aujourd'hui | "
    "disponible immédiatement | disponible de suite",
    "it": "in magazzino | disponibilità immediata | disponibile subito | pronta consegna | "
    "solo # rimasti | ne restano # | ultimi pezzi | ultimo pezzo | ultimi # pezzi | "
    "subito disponibile | disponibilità limitata | pronto per la spedizione",
    "es": "en stock | en existencia | en existencias | hay existencias | hay stock | "
    "con stock | solo quedan # | solo queda # | quedan # | queda # | "
    "últimas unidades | última unidad | disponible de inmediato | entrega inmediata | "
    "disponibilidad inmediata",
    "pt": "em estoque | em stock | resta # | restam # | últimas unidades | última unidade | "
    "pronta entrega | disponível em estoque | apenas # disponíveis",
    "nl": "op voorraad | uit voorraad leverbaar | nog maar # | nog # op | "
    "direct leverbaar | laatste stuks | laatste exemplaren | beperkte voorraad",
    "sv": "i lager | finns i lager | på lager | endast # kvar | bara # kvar | # kvar | "
    "få kvar | begränsat antal",
    "no": "på lager | bare # igjen | kun # igjen | # igjen på lager | få igjen",
    "da": "på lager | kun # tilbage | # tilbage på lager | få på lager | få tilbage",
    "fi": "varastossa | heti saatavilla | vain # jäljellä | # jäljellä | viimeiset kappaleet",
    "pl": "w magazynie | na stanie | na magazynie | produkt dostępny | od ręki | "
    "zostało # | zostały # | tylko # szt | ostatnie sztuki | ostatnia sztuka | "
    "ostatnie # sztuk",
    "cs": "skladem | na skladě | poslední kusy | poslední kus | zbývá # | zbývají # | "
    "ihned k odeslání",
    "sk": "na sklade | skladom | posledné kusy | posledný kus | ihneď k odoslaniu | zostáva #",
    "hu": "raktáron | készleten | utolsó darabok | utolsó # darab | azonnal szállítható | "
    "már csak # | azonnal elérhető",
    "ro": "în stoc | pe stoc | stoc limitat | ultimele # bucăți | ultimele bucăți | stoc suficient",
    "bg": "в наличност | на склад | последни бройки | последен брой | има наличност",
    "ru": "в наличии | на складе | есть в наличии | осталось # | остался # | последний экземпляр",
    "uk": "в наявності | є в наявності | у наявності | на складі | залишилось # | залишилося #",
    "tr": "stokta | stokta var | stoklarda | son # ürün | son # adet | sadece # adet | "
    "hemen teslim",
    "el": "σε απόθεμα | άμεσα διαθέσιμο | σε στοκ | άμεση παραλαβή | "
    "διαθέσιμο στο κατάστημα | τελευταία τεμάχια",
    "et": "laos | laos olemas | kohe saadaval | viimased tooted",
    "lv": "ir noliktavā | noliktavā | ir uz vietas | pieejams uzreiz",
    "lt": "sandėlyje | turime sandėlyje | yra sandėlyje | liko # | paskutinės prekės",
    "sl": "na zalogi | zadnji kosi | takoj na voljo | takoj dobavljivo",
    "hr": "na zalihi | na skladištu | na stanju | zadnji komadi | odmah dostupno",
    "sr": "na stanju | на стању | na lageru | на лагеру | poslednji komadi",
    "ja": "在庫あり | 在庫有り | 在庫有 | 残り# | 残#点 | 在庫わずか | 残りわずか | "
    "在庫僅少 | 即納 | 即日出荷 | 即日発送 | 在庫:○ | 在庫○ | 在庫◎",
    "zh": "有货 | 现货 | 有库存 | 库存充足 | 仅剩# | 仅剩 # | 库存紧张 | 有貨 | 現貨 | "
    "有庫存 | 庫存充足 | 僅剩# | 僅剩 # | 庫存緊張 | 尚有庫存 | 剩餘# | 剩余# | "
    "有現貨 | 有现货 | 只剩#",
    "ko": "재고 있음 | 재고있음 | 재고 보유 | 즉시 발송 | 당일 발송 | 남은 수량 #",
    "ar": "متوفر في المخزون | في المخزون | متوفر حاليا | متوفر الآن | متاح الآن | متوفر بالمخزون",
    "he": "במלאי | קיים במלאי | יש במלאי | נותרו # | זמין במלאי | זמין מיידית",
    "hi": "स्टॉक में | स्टॉक में है | स्टॉक में उपलब्ध",
    "th": "มีสินค้า | มีในสต็อก | สินค้าพร้อมส่ง | พร้อมส่ง | มีสต็อก | เหลือ # ชิ้น | เหลือเพียง #",
    "vi": "còn hàng | sẵn hàng | có hàng | hàng có sẵn | chỉ còn # | còn # sản phẩm",
    "id": "stok tersedia | ready stock | stok ada | sisa # | tinggal # | tersisa #",
}

OUT_OF_STOCK: Table = {
    "en": "out of stock | sold out | discontinued | no longer available | no longer sold | "
    "oos | no stock | nil stock | stock out | not sold online | out of print | "
    "end of life | none left | none in stock | this listing has ended",
    "de": "ausverkauft | vergriffen | kein bestand | nicht mehr lieferbar | "
    "nicht mehr erhältlich | keine lagerware verfügbar | "
    "auslaufartikel ohne bestand | restlos verkauft",
    "fr": "épuisé | épuisée | épuisés | rupture de stock | en rupture | rupture | "
    "hors stock | victime de son succès | plus de stock | stock épuisé",
    "it": "esaurito | esaurita | esauriti | fuori stock | fuori produzione | terminato",
    "es": "agotado | agotada | agotados | sin stock | sin existencias | fuera de stock | "
    "sin inventario | descatalogado | sin disponibilidad",
    "pt": "esgotado | esgotada | sem estoque | sem stock | fora de estoque | "
    "fora de stock | produto esgotado | avise me quando chegar",
    "nl": "uitverkocht | niet meer leverbaar | geen voorraad | niet meer verkrijgbaar | "
    "uit assortiment",
    "sv": "slut i lager | slutsåld | slutsålt | utsåld | tillfälligt slut | "
    "slut i webblager | utgått",
    "no": "utsolgt | ikke på lager | utgått | tomt på lager",
    "da": "udsolgt | udgået | ikke på lager | desværre udsolgt",
    "fi": "loppuunmyyty | loppunut | loppu varastosta | tilapäisesti loppu | poistunut",
    "pl": "wyprzedane | wyprzedany | wyprzedana | brak w magazynie | brak towaru | "
    "brak na stanie | produkt wycofany | brak produktu | produkt niedostępny",
    "cs": "vyprodáno | není skladem | vyprodaný | prodej ukončen | momentálně vyprodáno",
    "sk": "vypredané | nie je skladom | vypredaný | predaj ukončený",
    "hu": "elfogyott | nincs raktáron | nincs készleten | készlethiány | kifutott | nem rendelhető",
    "ro": "stoc epuizat | epuizat | indisponibil | fără stoc | nu este în stoc | stoc zero",
    "bg": "изчерпан | изчерпано | изчерпана | няма наличност | неналичен | не е в наличност",
    "ru": "нет в наличии | распродано | продано | снят с производства | закончился | "
    "закончилось | нет на складе | раскуплено | товар закончился | отсутствует",
    "uk": "немає в наявності | розпродано | закінчився | закінчилось | відсутній | "
    "нема в наявності",
    "tr": "tükendi | stokta yok | stoklarımızda yok | stok yok | satışta değil | stok tükendi",
    "el": "εξαντλημένο | εξαντλήθηκε | μη διαθέσιμο | εκτός αποθέματος | δεν υπάρχει απόθεμα",
    "et": "läbi müüdud | otsas | pole laos | välja müüdud | laost otsas",
    "lv": "izpārdots | nav noliktavā | nav pieejams | beidzies",
    "lt": "išparduota | išpirkta | nėra sandėlyje | neturime | nėra prekių",
    "sl": "razprodano | ni na zalogi | ni na voljo | zaloga je pošla",
    "hr": "rasprodano | nema na zalihi | nije na zalihi | nije dostupno | nema na stanju",
    "sr": "rasprodato | распродато | nema na stanju | нема на стању | nije na stanju",
    "ja": "在庫なし | 在庫無し | 在庫切れ | 売り切れ | 売切れ | 売切 | 完売 | 品切れ | "
    "欠品 | 販売終了 | 在庫がありません | 在庫はありません | 取扱終了 | "
    "取り扱いできません | 在庫×",
    "zh": "缺货 | 无货 | 售罄 | 已售罄 | 售完 | 已售完 | 无库存 | 没有库存 | 暂时缺货 | "
    "断货 | 下架 | 卖完 | 缺貨 | 無貨 | 無庫存 | 沒有庫存 | 暫時缺貨 | 補貨中 | "
    "斷貨 | 賣完 | 完售 | 已售出 | 停售 | 沒貨 | 没货 | 无现货 | 無現貨",
    "ko": "품절 | 재고 없음 | 재고없음 | 매진 | 판매 종료 | 판매종료 | 일시품절 | "
    "판매중지 | 단종 | 재고가 없습니다",
    "ar": "نفدت الكمية | نفذت الكمية | نفد من المخزون | نفذ من المخزون | نفد المخزون | "
    "نفذ | نفد | غير متوفر | غير متوفرة | غير متاح | إنتهت الكمية | انتهت الكمية",
    "he": "אזל מהמלאי | אזל | לא במלאי | אזל המלאי | חסר במלאי | לא זמין | אין במלאי",
    "hi": "स्टॉक में नहीं | स्टॉक खत्म | बिक गया | स्टॉक समाप्त | अनुपलब्ध | उपलब्ध नहीं | आउट ऑफ स्टॉक",
    "th": "สินค้าหมด | หมดสต็อก | หมดแล้ว | ขายหมด | ไม่มีสินค้า | ของหมด | หมดชั่วคราว",
    "vi": "hết hàng | tạm hết hàng | đã bán hết | ngừng kinh doanh | cháy hàng",
    "id": "stok habis | habis terjual | stok kosong | barang habis | tidak tersedia",
}

BACKORDER: Table = {
    "en": "back order | backorder | backordered | back ordered | on backorder | pre order | "
    "preorder | pre orders | preorders | made to order | built to order | "
    "special order | order on request | available to backorder | pre sale | presale | "
    "printed to order",
    "de": "auf bestellung | vorbestellen | vorbestellung | vorbestellbar | vorbesteller | "
    "auf anfrage bestellbar | wird für sie bestellt | wird bestellt | nachbestellt | "
    "sonderanfertigung | beim lieferanten bestellbar",
    "fr": "sur commande | précommande | précommander | en précommande | pré commande | "
    "pré commander | fabriqué à la demande | en réapprovisionnement sur commande",
    "it": "su ordinazione | preordine | preordina | pre ordine | pre ordina | "
    "preordinabile | prenotabile",
    "es": "bajo pedido | por encargo | preventa | preordenar | pre venta | reservar ahora | "
    "bajo demanda | pre pedido | prepedido",
    "pt": "sob encomenda | pré venda | por encomenda | pré encomenda | encomendar",
    "nl": "op bestelling | pre orderen | reserveer nu | op aanvraag leverbaar | "
    "nabestelling | backorder",
    "sv": "beställningsvara | förbeställ | förhandsboka | förbeställning | boka nu",
    "no": "bestillingsvare | forhåndsbestill | forhåndsbestilling | forhåndskjøp",
    "da": "bestillingsvare | forudbestil | forudbestilling | forhåndsbestil | skaffevare",
    "fi": "tilaustuote | ennakkotilaa | ennakkotilaus | ennakkomyynti | tilattava tuote",
    "pl": "na zamówienie | przedsprzedaż | zamów w przedsprzedaży | pre order",
    "cs": "na objednávku | předobjednat | předobjednávka | předprodej",
    "sk": "na objednávku | predobjednať | predobjednávka | predpredaj",
    "hu": "rendelésre | előrendelés | előrendelhető | előrendelem | külső raktáron",
    "ro": "la comandă | pe comandă | precomandă | precomenzi | disponibil la comandă",
    "bg": "по поръчка | предварителна поръчка | с предварителна поръчка",
    "ru": "под заказ | предзаказ | на заказ | оформить предзаказ | предварительный заказ",
    "uk": "під замовлення | передзамовлення | на замовлення | попереднє замовлення",
    "tr": "ön sipariş | sipariş üzerine | önsipariş | ön satış",
    "el": "κατόπιν παραγγελίας | προπαραγγελία | με παραγγελία",
    "et": "tellimisel | eeltellimus | ettetellimine | eeltelli",
    "lv": "pēc pasūtījuma | uz pasūtījumu | priekšpasūtījums | pasūtāms",
    "lt": "pagal užsakymą | išankstinis užsakymas | užsakoma prekė",
    "sl": "po naročilu | prednaročilo | dobavljivo po naročilu",
    "hr": "po narudžbi | prednarudžba | dostupno po narudžbi",
    "sr": "po porudžbini | по поруџбини | prednarudžbina | pretprodaja",
    "ja": "取り寄せ | お取り寄せ | 取寄せ | 取寄 | 予約受付中 | 予約商品 | 予約注文 | "
    "予約販売 | 受注生産 | 受注製作 | 予約する",
    "zh": "预订 | 预购 | 预售 | 订制 | 接受预订 | 預購 | 預訂 | 預售 | 訂製 | 接單生產 | "
    "客订 | 客訂",
    "ko": "예약 판매 | 예약판매 | 예약 구매 | 예약구매 | 주문 제작 | 주문제작 | 선주문",
    "ar": "طلب مسبق | الطلب المسبق | حسب الطلب | اطلب مسبقا",
    "he": "הזמנה מראש | בהזמנה מראש | בהזמנה מיוחדת | הזמנה מוקדמת",
    "hi": "प्री ऑर्डर | अग्रिम ऑर्डर | ऑर्डर पर",
    "th": "พรีออเดอร์ | สั่งจองล่วงหน้า | สั่งผลิต | สินค้าสั่งจอง",
    "vi": "đặt trước | đặt hàng trước | hàng đặt trước",
    "id": "pesan dulu | pra pesan | inden | pre order",
}

#: Words that are said of other things too: they count alone, or after a negation.
AVAILABLE: Table = {
    "en": "available | purchasable | stocked",
    "de": "verfügbar | lieferbar | erhältlich | vorhanden | bestellbar",
    "fr": "disponible | disponibles",
    "it": "disponibile | disponibili",
    "es": "disponible | disponibles",
    "pt": "disponível | disponíveis",
    "nl": "beschikbaar | leverbaar | verkrijgbaar | voorradig",
    "sv": "tillgänglig | tillgängligt | finns",
    "no": "tilgjengelig",
    "da": "tilgængelig",
    "fi": "saatavilla | saatavana",
    "pl": "dostępny | dostępna | dostępne | dostępnych",
    "cs": "dostupné | dostupný | dostupná | k dispozici",
    "sk": "dostupné | dostupný | dostupná | k dispozícii",
    "hu": "elérhető | kapható | rendelhető",
    "ro": "disponibil | disponibilă | disponibile",
    "bg": "наличен | налична | налично",
    "ru": "доступен | доступна | доступно | есть",
    "uk": "доступний | доступна | доступно | наявний",
    "tr": "mevcut | var",
    "el": "διαθέσιμο | διαθέσιμος | διαθέσιμη | διαθέσιμα",
    "et": "saadaval | olemas",
    "lv": "pieejams | pieejama",
    "lt": "prieinama | turime | galima įsigyti",
    "sl": "na voljo | dobavljivo",
    "hr": "dostupno | raspoloživo | dostupan",
    "sr": "dostupno | доступно | dostupan",
    "ja": "販売中 | 購入可能 | 注文可能",
    "zh": "可购买 | 有售 | 可購買 | 可订购 | 可訂購",
    "ko": "구매가능 | 구매 가능 | 판매중 | 판매 중",
    "ar": "متوفر | متوفرة | متاح | متوافر",
    "he": "זמין | קיים",
    "hi": "उपलब्ध | उपलब्ध है",
    "th": "มีจำหน่าย | พร้อมจำหน่าย",
    "vi": "có sẵn | sẵn sàng",
    "id": "tersedia",
}

#: Negations in one word, of a product or of anything else.
UNAVAILABLE: Table = {
    "en": "unavailable | not offered",
    "fr": "indisponible | indisponibles",
    "it": "indisponibile",
    "pt": "indisponível | indisponíveis",
    "es": "indisponible",
    "pl": "niedostępny | niedostępna | niedostępne",
    "cs": "nedostupné | nedostupný | nedostupná",
    "sk": "nedostupné | nedostupný | nedostupná",
    "ro": "indisponibil | indisponibilă",
    "bg": "неналично | недостъпно",
    "ru": "недоступен | недоступна | недоступно",
    "uk": "недоступний | недоступна | недоступно",
    "sl": "nedobavljivo",
    "hr": "nedostupno | nedostupan",
    "sr": "недоступно",
    "ja": "購入できません | 現在お取り扱いできません",
    "zh": "不可购买 | 不可購買 | 暂无 | 暫無",
    "ko": "구매불가 | 구매 불가",
    "lt": "neprieinama",
}

#: Alone they say that it is gone; with more words they say by whom or how it was sold.
GONE: Table = {
    "en": "sold | ended",
    "de": "verkauft",
    "fr": "vendu",
    "it": "venduto",
    "es": "vendido",
    "nl": "verkocht",
    "sv": "slut | såld",
    "no": "solgt",
    "da": "solgt",
    "fi": "loppu | myyty",
    "pl": "sprzedane | brak",
    "tr": "satıldı | yok",
    "vi": "đã bán",
    "id": "habis | terjual",
}

NEGATIONS: Table = {
    "en": "not | no | isn't | aren't | don't | doesn't | won't | never | without | cannot | "
    "can't | none | zero | unable | neither",
    "de": "nicht | kein | keine | keinen | nie | ohne | nein",
    "fr": "non | pas | plus | n'est | ne | jamais | aucun | sans",
    "it": "non | senza | nessuno",
    "es": "no | sin | ningún | nunca",
    "pt": "não | sem | nenhum",
    "nl": "niet | geen | nee | nooit",
    "sv": "inte | ej | nej",
    "no": "ikke | nei | ingen",
    "da": "ikke | nej | ingen",
    "fi": "ei | eivät | eikä",
    "pl": "nie | brak",
    "cs": "není | nejsou | ne",
    "sk": "nie",
    "hu": "nem | nincs | nincsen",
    "ro": "nu este | nu e | nu sunt | nu mai",
    "bg": "не | няма",
    "ru": "не | нет",
    "uk": "не | немає | нема | ні",
    "tr": "değil | yok",
    "el": "δεν | μη | όχι | χωρίς",
    "et": "ei | pole",
    "lv": "nav | nē",
    "lt": "nėra | ne",
    "sl": "ni | ne | brez",
    "hr": "nije | nema",
    "sr": "није | нема",
    "ja": "なし | 無し | ません | ない | 不可",
    "zh": "无 | 無 | 没 | 沒 | 未 | 非 | 不 | 缺",
    "ko": "없음 | 없습니다 | 않 | 불가 | 아닙니다",
    "ar": "غير | لا | ليس | ليست | لم",
    "he": "לא | אין | אינו",
    "hi": "नहीं",
    "th": "ไม่",
    "vi": "không | chưa",
    "id": "tidak | belum | bukan",
}

#: Questions, promises and offers to tell: no evidence that it is there now.
PENDING: Table = {
    "en": "soon | when | once | if | notify | notification | notifications | alert | "
    "alerts | email me | e mail me | remind | check | back in stock | restock | "
    "restocking | expected | due | will be | coming | shortly | selected | "
    "select stores | some stores | whether | until | as soon as | sign up | "
    "let me know | in stock only | in stock items | in stock products | want it | "
    "find | arriving | from our supplier | subject to",
    "de": "bald | demnächst | wieder | sobald | wenn | falls | benachrichtigen | "
    "benachrichtigung | erinnern | prüfen | voraussichtlich | erwartet | ob | "
    "ab dem | in kürze | informieren",
    "fr": "bientôt | quand | lorsque | dès que | dès le | prévenez | prévenir | alerte | "
    "m'avertir | avertir | prochainement | vérifier | de retour | à partir | "
    "être informé",
    "it": "presto | quando | avvisami | avvisa | prossimamente | verifica | controlla | "
    "a breve | in arrivo | a partire",
    "es": "pronto | cuando | avísame | avisar | avísenme | próximamente | consultar | "
    "comprobar | ver disponibilidad | a partir",
    "pt": "em breve | breve | quando | avise | avisar | consultar | verificar | a partir",
    "nl": "binnenkort | zodra | wanneer | melding | controleer | bekijk | weer | verwacht",
    "sv": "snart | när | bevaka | meddela | kontrollera | åter | väntas",
    "no": "snart | når | varsle | sjekk | ventes | tilbake på lager",
    "da": "snart | når | besked | tjek | forventes | igen",
    "fi": "pian | ilmoita | tulossa | tarkista | saapuu | kun tuote",
    "pl": "wkrótce | kiedy | gdy | powiadom | sprawdź | niedługo | oczekiwany",
    "cs": "brzy | hlídat | upozornit | jakmile | očekáváme | až bude",
    "sk": "čoskoro | strážiť | keď | očakávame",
    "hu": "hamarosan | amint | értesítés | értesítsen | értesítést | várható | ha újra",
    "ro": "în curând | curând | când | anunță | notifică | verifică",
    "bg": "скоро | когато | уведоми | очаква",
    "ru": "скоро | когда | сообщить | уведомить | ожидается | проверить | узнать | появится",
    "uk": "незабаром | коли | повідомити | очікується | перевірити",
    "tr": "yakında | gelince | haber | olunca | kontrol | bildirim",
    "el": "σύντομα | όταν | ειδοποίηση | ενημέρωση | αναμένεται",
    "et": "peagi | teavita | kontrolli",
    "lv": "drīz | drīzumā | paziņot",
    "lt": "netrukus | pranešti | tikrinti",
    "sl": "kmalu | obvesti | preveri",
    "hr": "uskoro | kada | obavijesti | provjeri",
    "sr": "obavesti | ускоро | proveri",
    "ja": "入荷 | お知らせ | 通知 | 確認 | 近日 | 予定",
    "zh": "通知 | 即将 | 即將 | 补货 | 補貨 | 查询 | 查詢",
    "ko": "입고 | 알림 | 예정 | 확인",
    "ar": "قريبا | عند | عندما | أعلمني | أبلغني | تحقق",
    "he": "בקרוב | כאשר | עדכנו אותי | הודיעו לי | כשיחזור",
    "hi": "जल्द | सूचित | जब",
    "th": "เร็วๆ นี้ | แจ้งเตือน | เมื่อ | ตรวจสอบ",
    "vi": "sắp | khi | thông báo",
    "id": "segera | beri tahu | ketika | saat tersedia",
}

#: Labels of filters, and "almost": nothing can be read from a text with one of them.
IDLE: Table = {
    "en": "show | hide | include | exclude | filter | almost | nearly | selling fast | "
    "never | before it",
    "de": "anzeigen | ausblenden | fast | beinahe | bald ausverkauft | nur verfügbare",
    "fr": "afficher | masquer | presque | bientôt",
    "it": "mostra | nascondi | quasi",
    "es": "mostrar | ocultar | casi",
    "pt": "exibir | quase",
    "nl": "toon | verberg | bijna",
    "sv": "visa | nästan | snart",
    "da": "vis | næsten",
    "pl": "pokaż | prawie",
    "cs": "zobrazit | téměř",
    "ru": "показать | почти | скоро",
    "ja": "まもなく | 間もなく | 表示",
    "zh": "即将 | 即將 | 显示 | 顯示",
    "ko": "임박 | 보기",
    "tr": "göster | neredeyse",
}

#: What may be unavailable while the product is not.
ASIDES: Table = {
    "en": "image | images | photo | photos | picture | video | review | reviews | "
    "description | pickup | pick up | collection | collect | delivery | shipping | "
    "gift | wrap | wrapping | list | coupon | size | colour | color | colours | "
    "colors | country | region | store | stores | location | financing | preview | "
    "information | data | returns | warranty | support",
    "de": "bild | abbildung | foto | video | bewertungen | beschreibung | abholung | "
    "lieferung | versand | größe | farbe | filiale | vorschau | informationen",
    "fr": "image | photo | avis | vidéo | retrait | livraison | taille | couleur | "
    "magasin | cadeau",
    "it": "immagine | recensioni | ritiro | consegna | taglia | colore | negozio | regalo",
    "es": "imagen | opiniones | retiro | recogida | envío | talla | tienda | regalo",
    "pt": "imagem | avaliações | retirada | entrega | tamanho | cor | loja | presente",
    "nl": "afbeelding | beoordelingen | afhalen | bezorging | maat | kleur | winkel",
    "sv": "bilden | recensioner | leverans | storlek | butik",
    "no": "bilde | levering | størrelse | butikk",
    "da": "billede | størrelse",
    "fi": "kuva | toimitus | koko | myymälässä",
    "pl": "obraz | zdjęcie | opinie | dostawa | rozmiar | sklepie",
    "cs": "obrázek | doprava | velikost",
    "hu": "kép | szállítás | méret",
    "ru": "изображение | фото | доставка | самовывоз | размер",
    "tr": "resim | görsel | beden | teslimat",
    "ja": "画像 | 写真 | レビュー | サイズ",
    "zh": "图片 | 圖片 | 评论 | 評論 | 尺码 | 尺碼",
    "ko": "이미지 | 리뷰 | 사이즈",
}

#: May stand beside a bare word without changing what it says.
FILLERS: Table = {
    "en": "this | the | item | product | article | is | are | it | currently | now | "
    "still | online | yes | availability | status | stock | sorry | longer | yet | "
    "more | at the moment | temporarily | presently | today | only | just | to | "
    "buy | purchase | quantity | qty | any | we | have | be",
    "de": "dieser | dieses | der | das | artikel | produkt | ist | sind | derzeit | "
    "zurzeit | zur zeit | momentan | aktuell | leider | mehr | noch | nur | "
    "verfügbarkeit | lieferstatus | lagerbestand | bestand | ja | im moment | "
    "sofort | z zt",
    "fr": "ce | cet | cette | produit | est | sont | actuellement | momentanément | "
    "temporairement | disponibilité | état | oui | en ligne | plus | le moment | "
    "pour",
    "it": "questo | prodotto | è | attualmente | al momento | momentaneamente | "
    "disponibilità | sì | solo | più | articolo | online",
    "es": "este | producto | está | esta | actualmente | por el momento | temporalmente | "
    "momento | disponibilidad | sí | solo | artículo | en línea | se encuentra | ya",
    "pt": "este | produto | está | no momento | atualmente | temporariamente | "
    "disponibilidade | sim | apenas | item",
    "nl": "dit | product | artikel | is | momenteel | tijdelijk | helaas | meer | "
    "beschikbaarheid | direct | nog",
    "sv": "denna | produkten | är | för närvarande | tyvärr | just nu | längre | online",
    "no": "produktet | er | for øyeblikket | dessverre | lenger | på nett",
    "da": "varen | er | i øjeblikket | desværre | længere | midlertidigt",
    "fi": "tuote | on | tällä hetkellä | valitettavasti | enää | ole | saatavuus",
    "pl": "ten | produkt | towar | jest | obecnie | chwilowo | już | dostępność",
    "cs": "zboží | je | momentálně | již | dostupnost | produkt",
    "sk": "tovar | momentálne | už | dostupnosť",
    "hu": "termék | jelenleg | már | elérhetőség",
    "ro": "produsul | este | momentan | disponibilitate | mai",
    "bg": "продукт | продуктът | е | в момента | наличност",
    "ru": "товар | сейчас | временно | больше | наличие | статус",
    "uk": "товар | зараз | тимчасово | більше | наявність",
    "tr": "ürün | şu anda | şu an | stok durumu",
    "el": "προϊόν | είναι | προσωρινά | διαθεσιμότητα",
    "hr": "proizvod | je | trenutno | dostupnost | više",
    "sl": "izdelek | trenutno | več",
    "lt": "prekė | šiuo metu",
    "lv": "prece | pašlaik",
    "et": "toode | hetkel | enam",
    "ar": "المنتج | حاليا | هذا | الآن",
    "he": "המוצר | כרגע | עכשיו",
    "vi": "sản phẩm | hiện",
    "id": "produk | saat ini | stok",
}

UNITS: Table = {
    "en": "units | unit | pcs | pc | pieces | piece | copies | boxes",
    "de": "stück | stk | st | exemplare",
    "fr": "exemplaires | exemplaire | unités | pièces | articles",
    "it": "pezzi | pezzo | pz | unità",
    "es": "unidades | unidad | uds | ud | piezas",
    "pt": "unidades | unidade | peças | un",
    "nl": "stuks | stuk",
    "sv": "st | stycken",
    "no": "stk",
    "fi": "kpl",
    "pl": "szt | sztuk | sztuki | sztuka",
    "cs": "ks | kusů | kusy | kus",
    "sk": "ks | kusov | kusy",
    "hu": "db | darab",
    "ro": "buc | bucăți",
    "bg": "бр | броя",
    "ru": "шт | штук | штуки",
    "tr": "adet",
    "el": "τεμ | τεμάχια",
    "et": "tk",
    "lv": "gab",
    "lt": "vnt",
    "sl": "kos | kosov",
    "hr": "kom | komada",
    "ja": "個 | 点 | 台 | 枚",
    "zh": "件",
    "ko": "개",
}

#: With a number, and nothing else, they say how many are there.
COUNTED: Table = {
    "en": "stock | availability | stock level | quantity available | available quantity",
    "de": "lagerbestand | bestand | lager | verfügbarkeit",
    "fr": "stock | quantité en stock | quantité disponible",
    "it": "disponibilità | giacenza",
    "es": "existencias | disponibilidad",
    "pt": "estoque | disponibilidade",
    "nl": "voorraad",
    "sv": "lager | lagersaldo",
    "no": "lagerstatus",
    "pl": "stan magazynowy | dostępność | liczba sztuk",
    "hu": "készlet",
    "ro": "stoc",
    "ru": "остаток | наличие",
    "tr": "stok | stok adedi",
    "ja": "在庫 | 在庫数",
    "zh": "库存 | 庫存 | 剩余 | 剩餘",
    "ko": "재고 | 재고수량",
    "id": "stok",
    "vi": "tồn kho | kho",
}

#: WooCommerce and others add it to what is in stock.
BACKABLE: Table = {
    "en": "can be backordered | can be back ordered | also available on backorder",
    "de": "kann nachbestellt werden",
    "fr": "peut être commandé",
    "it": "ordinabile",
    "es": "puede reservarse",
    "nl": "kan nabesteld worden",
}

BUY: Table = {
    "en": "add to cart | add to basket | add to bag | add to trolley | "
    "add to shopping cart | add to shopping bag | add to shopping basket | "
    "add to your basket | add to your cart | add to your bag | add to my bag | "
    "add to my cart | add to my basket | add to order | add item to cart | "
    "add item to basket | add # to cart | add # to basket | add # to bag | "
    "add to tote | buy now | buy it now | order now | buy online | buy with 1 click | "
    "put in cart | put in basket | into the cart | place in cart | place in basket",
    "de": "in den warenkorb | in den einkaufswagen | in den korb | "
    "zum warenkorb hinzufügen | dem warenkorb hinzufügen | in die einkaufstasche | "
    "in warenkorb | jetzt kaufen | sofort kaufen | jetzt bestellen | "
    "in den einkaufskorb | warenkorb hinzufügen",
    "fr": "ajouter au panier | ajouter à mon panier | ajouter à votre panier | "
    "mettre au panier | mettre dans le panier | ajouter dans le panier | "
    "acheter maintenant | commander maintenant | achat immédiat | ajouter au caddie | "
    "acheter cet article",
    "it": "aggiungi al carrello | aggiungere al carrello | metti nel carrello | "
    "acquista ora | compra ora | compralo subito | acquista subito | ordina ora",
    "es": "añadir al carrito | añadir a la cesta | añadir al carro | agregar al carrito | "
    "agregar al carro | agregar a la bolsa | añadir a la bolsa | comprar ahora | "
    "comprar ya | agregar a la cesta | meter en la cesta | cómpralo ya",
    "pt": "adicionar ao carrinho | adicionar ao cesto | adicionar à sacola | "
    "colocar no carrinho | comprar agora | por no carrinho | adicionar à cesta | "
    "compre agora | adicionar à bolsa | comprar já",
    "nl": "in mijn winkelwagen | toevoegen aan winkelwagen | toevoegen aan winkelmandje | "
    "toevoegen aan winkelmand | nu kopen | in de winkelwagen | bestel nu | "
    "aan winkelwagen toevoegen | nu bestellen | voeg toe aan winkelwagen",
    "sv": "lägg i varukorgen | lägg i varukorg | lägg till i varukorgen | "
    "lägg till i varukorg | köp nu | lägg i kundvagn | lägg i kundvagnen | "
    "lägg till i kundvagn | lägg i korgen",
    "no": "legg i handlekurven | legg i handlekurv | legg til i handlekurv | kjøp nå | "
    "legg i kurv | legg til i handlekurven | legg i handlevogn",
    "da": "læg i kurv | læg i kurven | tilføj til kurv | køb nu | læg i indkøbskurv | "
    "læg i indkøbskurven | tilføj til indkøbskurv | føj til kurv | put i kurv",
    "fi": "lisää ostoskoriin | ostoskoriin | lisää koriin | osta nyt | lisää ostoskärryyn | "
    "laita ostoskoriin | lisää ostoskassiin",
    "pl": "do koszyka | dodaj do koszyka | kup teraz | wrzuć do koszyka | zamów teraz | "
    "dodaj do torby",
    "cs": "do košíku | přidat do košíku | vložit do košíku | koupit nyní | koupit ihned | "
    "vložit do nákupního košíku | dát do košíku",
    "sk": "do košíka | pridať do košíka | vložiť do košíka | kúpiť teraz | kúpiť ihneď",
    "hu": "kosárba | kosárba teszem | kosárba helyezem | kosárba rakom | kosárhoz adás | "
    "hozzáadás a kosárhoz | megveszem | megvásárolom | vásárlás most",
    "ro": "adaugă în coș | adauga in cos | adaugă în coșul de cumpărături | cumpără acum | "
    "comandă acum | pune în coș",
    "bg": "добави в количката | добави в кошницата | купи сега | добавяне в количката | "
    "добавяне към количката | добави към количката | поръчай сега",
    "ru": "в корзину | добавить в корзину | положить в корзину | купить сейчас | "
    "купить в 1 клик | купить в один клик | заказать сейчас",
    "uk": "до кошика | в кошик | у кошик | додати в кошик | додати до кошика | "
    "купити зараз | купити в 1 клік",
    "tr": "sepete ekle | sepete at | hemen al | şimdi satın al | şimdi al | sepetime ekle",
    "el": "προσθήκη στο καλάθι | αγορά τώρα | αγοράστε τώρα | αγόρασε τώρα | "
    "βάλε στο καλάθι | προσθήκη στο καλάθι αγορών",
    "et": "lisa ostukorvi | lisa korvi | osta kohe",
    "lv": "pielikt grozam | ielikt grozā | pievienot grozam | likt grozā | pirkt tagad",
    "lt": "į krepšelį | įdėti į krepšelį | dėti į krepšelį | pirkti dabar | pridėti į krepšelį",
    "sl": "dodaj v košarico | v košarico | kupi zdaj | v voziček | naroči zdaj",
    "hr": "dodaj u košaricu | u košaricu | kupi odmah | stavi u košaricu | kupi sada",
    "sr": "dodaj u korpu | u korpu | додај у корпу | у корпу | kupi odmah | stavi u korpu",
    "ja": "カートに入れる | カートに追加 | カートへ入れる | 今すぐ買う | 今すぐ購入 | "
    "購入する | かごに追加 | 買い物かごに入れる | かごに入れる | カゴに入れる | "
    "購入手続きへ | バッグに入れる | バッグに追加 | 買い物カゴに入れる | 注文する",
    "zh": "加入购物车 | 添加到购物车 | 放入购物车 | 加入購物車 | 放入購物車 | "
    "添加到購物車 | 立即购买 | 立即購買 | 加入購物籃 | 加入购物袋 | 加入購物袋 | "
    "直接購買 | 马上购买 | 馬上購買 | 立刻购买 | 立即结帐 | 立即下单 | 加到購物車 | "
    "我要購買",
    "ko": "장바구니 담기 | 장바구니에 담기 | 장바구니에 추가 | 구매하기 | 바로구매 | "
    "바로 구매 | 장바구니담기 | 지금 구매",
    "ar": "أضف إلى السلة | أضف إلى عربة التسوق | أضف الى السلة | إضافة إلى السلة | "
    "أضف للسلة | اشتر الآن | شراء الآن | اشتري الآن | إضافة إلى عربة التسوق | "
    "أضف إلى العربة | إضافة للسلة",
    "he": "הוסף לסל | הוספה לסל | הוסיפו לסל | הוסף לעגלה | הוספה לעגלה | קנה עכשיו | "
    "קנו עכשיו | הוסף לסל הקניות | הוספה לסל הקניות | הוסף לעגלת הקניות",
    "hi": "कार्ट में जोड़ें | कार्ट में डालें | अभी खरीदें | कार्ट में ऐड करें",
    "th": "เพิ่มลงตะกร้า | หยิบใส่ตะกร้า | ใส่ตะกร้า | เพิ่มลงในรถเข็น | ซื้อเลย | ซื้อทันที | "
    "หยิบใส่รถเข็น | เพิ่มไปยังรถเข็น | เพิ่มในตะกร้า | ซื้อตอนนี้ | เพิ่มลงในตะกร้า",
    "vi": "thêm vào giỏ hàng | thêm vào giỏ | mua ngay | cho vào giỏ hàng | đặt mua",
    "id": "tambah ke keranjang | tambahkan ke keranjang | beli sekarang | "
    "masukkan keranjang | masukkan ke keranjang | beli langsung | tambah ke troli",
}

#: Offers only when nothing but a price or a filler stands beside them.
BUY_ALONE: Table = {
    "en": "buy | purchase | order | buy this item",
    "de": "kaufen | bestellen | warenkorb hinzufügen",
    "fr": "acheter | commander | j'achète",
    "it": "acquista | compra | ordina | acquistare",
    "es": "comprar | compra | lo quiero",
    "pt": "comprar | compre",
    "nl": "koop | kopen | in winkelwagen | in winkelmandje | in winkelmand | bestel | bestellen",
    "sv": "köp | handla | beställ",
    "no": "kjøp | bestill",
    "da": "køb | bestil",
    "fi": "osta | tilaa",
    "pl": "kup | kupuję | zamów",
    "cs": "koupit | objednat",
    "sk": "kúpiť | objednať",
    "hu": "megrendelem | vásárlás | megvesz",
    "ro": "cumpără | comandă",
    "bg": "купи | поръчай | в количката",
    "ru": "купить | заказать",
    "uk": "купити | замовити",
    "tr": "satın al",
    "el": "αγορά | στο καλάθι",
    "et": "osta | ostukorvi",
    "lv": "pirkt",
    "lt": "pirkti",
    "sl": "kupi | naroči",
    "hr": "kupi | naruči",
    "sr": "kupi | купи | poruči",
    "ja": "購入 | 買う | 注文",
    "zh": "购买 | 購買",
    "ko": "구매",
    "ar": "شراء | اشتر",
    "he": "קנה | קניה | לרכישה",
    "hi": "खरीदें",
    "th": "ซื้อ | สั่งซื้อ",
    "vi": "mua | mua hàng",
    "id": "beli | keranjang",
}

NOT_BUYING: Table = {
    "en": "again | how | why | where | wishlist | wish list | wishlists | favorites | "
    "favourites | go to | view | see cart | added | later | registry | compare | "
    "remove | empty | notify | guide | sample | continue | in your cart | gift card | "
    "all | both | sell",
    "de": "gehen | anzeigen | ansehen | wunschliste | wunschzettel | merkzettel | erneut | "
    "nochmals | vergleichen | zur kasse | entfernen | rechnung",
    "fr": "voir | favoris | envies | liste | à nouveau | supprimer | comparer | comment | vider",
    "it": "vai | visualizza | preferiti | desideri | vedi | di nuovo | rimuovi | come | confronta",
    "es": "ir al | ver | favoritos | deseos | de nuevo | otra vez | cómo | eliminar | comparar",
    "pt": "ir para | favoritos | desejos | novamente | como | remover",
    "nl": "ga naar | bekijk | naar winkelwagen | verlanglijst | verlanglijstje | opnieuw | "
    "hoe | verwijder",
    "sv": "gå till | visa | önskelista | favoriter | igen | hur | ta bort",
    "no": "gå til | vis | ønskeliste | hvordan | fjern",
    "da": "gå til | ønskeliste | hvordan | fjern | se kurv",
    "fi": "siirry | näytä | toivelista | suosikit | miten | poista",
    "pl": "przejdź | zobacz | ulubionych | schowka | ponownie | jak kupić | usuń",
    "cs": "přejít | zobrazit | oblíbených | znovu | jak",
    "sk": "prejsť | zobraziť | obľúbených | znova | ako",
    "hu": "ugrás | megtekintés | tovább a | kívánságlista",
    "ro": "mergi | vezi | favorite | cum",
    "bg": "към количката виж | любими | как",
    "ru": "перейти | избранное | снова | как | посмотреть | сравнить",
    "uk": "перейти | обране | знову | як | переглянути",
    "tr": "git | görüntüle | favorilere | tekrar | nasıl",
    "el": "μετάβαση | προβολή | αγαπημένα | πώς",
    "sl": "pojdi | seznam želja | poglej | kako",
    "hr": "idi | pogledaj | lista želja | kako | vidi",
    "sr": "погледај | листа жеља | како",
    "et": "vaata | mine | kuidas",
    "lv": "skatīt | doties | kā",
    "lt": "peržiūrėti | eiti | kaip",
    "ja": "見る | 表示 | お気に入り | 再度 | 方法 | 追加済",
    "zh": "查看 | 前往 | 收藏 | 再次 | 如何 | 已加入",
    "ko": "보기 | 가기 | 다시 | 방법",
    "ar": "عرض | اذهب | المفضلة | كيف",
    "he": "מעבר | צפה | מועדפים | איך",
    "th": "ดู | รายการโปรด | วิธี",
    "vi": "xem | yêu thích | cách",
    "id": "lihat | wishlist | cara",
}

BUY_FILLERS: Table = {
    "en": "now | this | item | product | it | for | from | online | today | only | here | "
    "ticket | tickets | "
    "usd | eur | gbp | chf",
    "de": "jetzt | artikel | für | nur | online | produkt | hier",
    "fr": "maintenant | pour | cet | article | en ligne | produit",
    "it": "ora | subito | a | per | online | adesso",
    "es": "ahora | por | ya | en línea | online | entrada | entradas | boleto | boletos",
    "pt": "agora | por | já",
    "nl": "nu | voor",
    "sv": "nu | för | kr",
    "da": "nu | for",
    "pl": "teraz | za | zł",
    "cs": "nyní | za | ihned | kč",
    "ru": "сейчас | за | товар | руб",
    "uk": "зараз | за",
    "sl": "zdaj | za",
    "hr": "odmah | sada",
    "tr": "hemen | şimdi",
    "ko": "하기",
    "ja": "する",
    "th": "เลย",
    "id": "sekarang",
}

#: Labels with which an ad lets a buyer speak to the seller: there is no basket to put it in.
CONTACT: Table = {
    "en": "reply | contact seller | contact the seller | message seller | chat with seller | "
    "contact owner | make an offer | make offer",
    "de": "anbieter kontaktieren | verkäufer kontaktieren | nachricht schreiben",
    "fr": "contacter le vendeur | contacter l'annonceur",
    "it": "contatta il venditore | contatta venditore",
    "es": "contactar al vendedor | contactar con el vendedor",
    "pt": "contactar vendedor | contatar vendedor | fale com o vendedor",
    "nl": "bericht verkoper | stuur bericht",
    "pl": "napisz do sprzedającego | zadzwoń do sprzedającego",
    "ru": "написать продавцу | связаться с продавцом",
    "uk": "написати продавцю | зв'язатися з продавцем",
    "cs": "kontaktovat prodejce",
    "zh": "联系卖家 | 聯絡賣家",
}
