"""The words for stock and buying in the other languages of Europe."""

from penstock.extract.values.stock_words.words import StockWords

LANGUAGES = {
    "fi": StockWords(
        in_stock=(
            "varastossa | heti saatavilla | vain # jäljellä | # jäljellä | viimeiset kappaleet"
        ),
        out_of_stock="loppuunmyyty | loppunut | loppu varastosta | tilapäisesti loppu | poistunut",
        backorder="tilaustuote | ennakkotilaa | ennakkotilaus | ennakkomyynti | tilattava tuote",
        available="saatavilla | saatavana",
        gone="loppu | myyty",
        negations="ei | eivät | eikä",
        pending="pian | ilmoita | tulossa | tarkista | saapuu | kun tuote",
        asides="kuva | toimitus | koko | myymälässä",
        fillers="tuote | on | tällä hetkellä | valitettavasti | enää | ole | saatavuus",
        units="kpl",
        buy=(
            "lisää ostoskoriin | ostoskoriin | lisää koriin | osta nyt | lisää ostoskärryyn | "
            "laita ostoskoriin | lisää ostoskassiin"
        ),
        buy_alone="osta | tilaa",
        not_buying="siirry | näytä | toivelista | suosikit | miten | poista",
    ),
    "et": StockWords(
        in_stock="laos | laos olemas | kohe saadaval | viimased tooted",
        out_of_stock="läbi müüdud | otsas | pole laos | välja müüdud | laost otsas",
        backorder="tellimisel | eeltellimus | ettetellimine | eeltelli",
        available="saadaval | olemas",
        negations="ei | pole",
        pending="peagi | teavita | kontrolli",
        fillers="toode | hetkel | enam",
        units="tk",
        buy="lisa ostukorvi | lisa korvi | osta kohe",
        buy_alone="osta | ostukorvi",
        not_buying="vaata | mine | kuidas",
    ),
    "hu": StockWords(
        in_stock=(
            "raktáron | készleten | utolsó darabok | utolsó # darab | azonnal szállítható | "
            "már csak # | azonnal elérhető"
        ),
        out_of_stock=(
            "elfogyott | nincs raktáron | nincs készleten | készlethiány | kifutott | "
            "nem rendelhető"
        ),
        backorder="rendelésre | előrendelés | előrendelhető | előrendelem | külső raktáron",
        available="elérhető | kapható | rendelhető",
        negations="nem | nincs | nincsen",
        pending="hamarosan | amint | értesítés | értesítsen | értesítést | várható | ha újra",
        asides="kép | szállítás | méret",
        fillers="termék | jelenleg | már | elérhetőség",
        units="db | darab",
        counted="készlet",
        buy=(
            "kosárba | kosárba teszem | kosárba helyezem | kosárba rakom | kosárhoz adás | "
            "hozzáadás a kosárhoz | megveszem | megvásárolom | vásárlás most"
        ),
        buy_alone="megrendelem | vásárlás | megvesz",
        not_buying="ugrás | megtekintés | tovább a | kívánságlista",
    ),
    "lv": StockWords(
        in_stock="ir noliktavā | noliktavā | ir uz vietas | pieejams uzreiz",
        out_of_stock="izpārdots | nav noliktavā | nav pieejams | beidzies",
        backorder="pēc pasūtījuma | uz pasūtījumu | priekšpasūtījums | pasūtāms",
        available="pieejams | pieejama",
        negations="nav | nē",
        pending="drīz | drīzumā | paziņot",
        fillers="prece | pašlaik",
        units="gab",
        buy="pielikt grozam | ielikt grozā | pievienot grozam | likt grozā | pirkt tagad",
        buy_alone="pirkt",
        not_buying="skatīt | doties | kā",
    ),
    "lt": StockWords(
        in_stock="sandėlyje | turime sandėlyje | yra sandėlyje | liko # | paskutinės prekės",
        out_of_stock="išparduota | išpirkta | nėra sandėlyje | neturime | nėra prekių",
        backorder="pagal užsakymą | išankstinis užsakymas | užsakoma prekė",
        available="prieinama | turime | galima įsigyti",
        unavailable="neprieinama",
        negations="nėra | ne",
        pending="netrukus | pranešti | tikrinti",
        fillers="prekė | šiuo metu",
        units="vnt",
        buy="į krepšelį | įdėti į krepšelį | dėti į krepšelį | pirkti dabar | pridėti į krepšelį",
        buy_alone="pirkti",
        not_buying="peržiūrėti | eiti | kaip",
    ),
    "el": StockWords(
        in_stock=(
            "σε απόθεμα | άμεσα διαθέσιμο | σε στοκ | άμεση παραλαβή | διαθέσιμο στο κατάστημα | "
            "τελευταία τεμάχια"
        ),
        out_of_stock=(
            "εξαντλημένο | εξαντλήθηκε | μη διαθέσιμο | εκτός αποθέματος | δεν υπάρχει απόθεμα"
        ),
        backorder="κατόπιν παραγγελίας | προπαραγγελία | με παραγγελία",
        available="διαθέσιμο | διαθέσιμος | διαθέσιμη | διαθέσιμα",
        negations="δεν | μη | όχι | χωρίς",
        pending="σύντομα | όταν | ειδοποίηση | ενημέρωση | αναμένεται",
        fillers="προϊόν | είναι | προσωρινά | διαθεσιμότητα",
        units="τεμ | τεμάχια",
        buy=(
            "προσθήκη στο καλάθι | αγορά τώρα | αγοράστε τώρα | αγόρασε τώρα | βάλε στο καλάθι | "
            "προσθήκη στο καλάθι αγορών"
        ),
        buy_alone="αγορά | στο καλάθι",
        not_buying="μετάβαση | προβολή | αγαπημένα | πώς",
    ),
    "tr": StockWords(
        in_stock=(
            "stokta | stokta var | stoklarda | son # ürün | son # adet | sadece # adet | "
            "hemen teslim"
        ),
        out_of_stock=(
            "tükendi | stokta yok | stoklarımızda yok | stok yok | satışta değil | stok tükendi"
        ),
        backorder="ön sipariş | sipariş üzerine | önsipariş | ön satış",
        available="mevcut | var",
        gone="satıldı | yok",
        negations="değil | yok",
        pending="yakında | gelince | haber | olunca | kontrol | bildirim",
        idle="göster | neredeyse",
        asides="resim | görsel | beden | teslimat",
        fillers="ürün | şu anda | şu an | stok durumu",
        units="adet",
        counted="stok | stok adedi",
        buy="sepete ekle | sepete at | hemen al | şimdi satın al | şimdi al | sepetime ekle",
        buy_alone="satın al",
        not_buying="git | görüntüle | favorilere | tekrar | nasıl",
        buy_fillers="hemen | şimdi",
    ),
}
