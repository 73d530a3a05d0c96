"""The words for stock and buying in Germanic languages."""

from penstock.extract.values.stock_words.words import StockWords

LANGUAGES = {
    "en": StockWords(
        in_stock=(
            "in stock | only # left | # left in stock | # left | # remaining | few left | "
            "low stock | last one | last ones | last few | last pieces | ready to ship | "
            "ships today | on hand | in store now | available now | available immediately | "
            "immediately available | available to order online | limited stock | "
            "limited availability"
        ),
        out_of_stock=(
            "out of stock | sold out | discontinued | no longer available | no longer sold | oos | "
            "no stock | nil stock | stock out | not sold online | out of print | end of life | "
            "none left | none in stock | this listing has ended"
        ),
        backorder=(
            "back order | backorder | backordered | back ordered | on backorder | pre order | "
            "preorder | pre orders | preorders | made to order | built to order | special order | "
            "order on request | available to backorder | pre sale | presale | printed to order"
        ),
        available="available | purchasable | stocked",
        unavailable="unavailable | not offered",
        gone="sold | ended",
        negations=(
            "not | no | isn't | aren't | don't | doesn't | won't | never | without | cannot | "
            "can't | none | zero | unable | neither"
        ),
        pending=(
            "soon | when | once | if | notify | notification | notifications | alert | alerts | "
            "email me | e mail me | remind | check | back in stock | restock | restocking | "
            "expected | due | will be | coming | shortly | selected | select stores | "
            "some stores | whether | until | as soon as | sign up | let me know | in stock only | "
            "in stock items | in stock products | want it | find | arriving | from our supplier | "
            "subject to"
        ),
        idle=(
            "show | hide | include | exclude | filter | almost | nearly | selling fast | never | "
            "before it"
        ),
        asides=(
            "image | images | photo | photos | picture | video | review | reviews | description | "
            "pickup | pick up | collection | collect | delivery | shipping | gift | wrap | "
            "wrapping | list | coupon | size | colour | color | colours | colors | country | "
            "region | store | stores | location | financing | preview | information | data | "
            "returns | warranty | support"
        ),
        fillers=(
            "this | the | item | product | article | is | are | it | currently | now | still | "
            "online | yes | availability | status | stock | sorry | longer | yet | more | "
            "at the moment | temporarily | presently | today | only | just | to | buy | purchase | "
            "quantity | qty | any | we | have | be"
        ),
        units="units | unit | pcs | pc | pieces | piece | copies | boxes",
        counted="stock | availability | stock level | quantity available | available quantity",
        backable="can be backordered | can be back ordered | also available on backorder",
        buy=(
            "add to cart | add to basket | add to bag | add to trolley | add to shopping cart | "
            "add to shopping bag | add to shopping basket | add to your basket | "
            "add to your cart | add to your bag | add to my bag | add to my cart | "
            "add to my basket | add to order | add item to cart | add item to basket | "
            "add # to cart | add # to basket | add # to bag | add to tote | buy now | buy it now | "
            "order now | buy online | buy with 1 click | put in cart | put in basket | "
            "into the cart | place in cart | place in basket"
        ),
        buy_alone="buy | purchase | order | buy this item",
        not_buying=(
            "again | how | why | where | wishlist | wish list | wishlists | favorites | "
            "favourites | go to | view | see cart | added | later | registry | compare | remove | "
            "empty | notify | guide | sample | continue | in your cart | gift card | all | both | "
            "sell"
        ),
        buy_fillers=(
            "now | this | item | product | it | for | from | online | today | only | here | "
            "ticket | tickets | usd | eur | gbp | chf"
        ),
        contact=(
            "reply | contact seller | contact the seller | message seller | chat with seller | "
            "contact owner | make an offer | make offer"
        ),
    ),
    "de": StockWords(
        in_stock=(
            "auf lager | vorrätig | ab lager | an lager | am lager | nur noch # | noch # stück | "
            "noch # verfügbar | sofort lieferbar | sofort verfügbar | sofort versandfertig | "
            "versandfertig | lagernd | wenige exemplare | geringer bestand | begrenzte stückzahl"
        ),
        out_of_stock=(
            "ausverkauft | vergriffen | kein bestand | nicht mehr lieferbar | "
            "nicht mehr erhältlich | keine lagerware verfügbar | auslaufartikel ohne bestand | "
            "restlos verkauft"
        ),
        backorder=(
            "auf bestellung | vorbestellen | vorbestellung | vorbestellbar | vorbesteller | "
            "auf anfrage bestellbar | wird für sie bestellt | wird bestellt | nachbestellt | "
            "sonderanfertigung | beim lieferanten bestellbar"
        ),
        available="verfügbar | lieferbar | erhältlich | vorhanden | bestellbar",
        gone="verkauft",
        negations="nicht | kein | keine | keinen | nie | ohne | nein",
        pending=(
            "bald | demnächst | wieder | sobald | wenn | falls | benachrichtigen | "
            "benachrichtigung | erinnern | prüfen | voraussichtlich | erwartet | ob | ab dem | "
            "in kürze | informieren"
        ),
        idle="anzeigen | ausblenden | fast | beinahe | bald ausverkauft | nur verfügbare",
        asides=(
            "bild | abbildung | foto | video | bewertungen | beschreibung | abholung | lieferung | "
            "versand | größe | farbe | filiale | vorschau | informationen"
        ),
        fillers=(
            "dieser | dieses | der | das | artikel | produkt | ist | sind | derzeit | zurzeit | "
            "zur zeit | momentan | aktuell | leider | mehr | noch | nur | verfügbarkeit | "
            "lieferstatus | lagerbestand | bestand | ja | im moment | sofort | z zt"
        ),
        units="stück | stk | st | exemplare",
        counted="lagerbestand | bestand | lager | verfügbarkeit",
        backable="kann nachbestellt werden",
        buy=(
            "in den warenkorb | in den einkaufswagen | in den korb | zum warenkorb hinzufügen | "
            "dem warenkorb hinzufügen | in die einkaufstasche | in warenkorb | jetzt kaufen | "
            "sofort kaufen | jetzt bestellen | in den einkaufskorb | warenkorb hinzufügen"
        ),
        buy_alone="kaufen | bestellen | warenkorb hinzufügen",
        not_buying=(
            "gehen | anzeigen | ansehen | wunschliste | wunschzettel | merkzettel | erneut | "
            "nochmals | vergleichen | zur kasse | entfernen | rechnung"
        ),
        buy_fillers="jetzt | artikel | für | nur | online | produkt | hier",
        contact="anbieter kontaktieren | verkäufer kontaktieren | nachricht schreiben",
    ),
    "nl": StockWords(
        in_stock=(
            "op voorraad | uit voorraad leverbaar | nog maar # | nog # op | direct leverbaar | "
            "laatste stuks | laatste exemplaren | beperkte voorraad"
        ),
        out_of_stock=(
            "uitverkocht | niet meer leverbaar | geen voorraad | niet meer verkrijgbaar | "
            "uit assortiment"
        ),
        backorder=(
            "op bestelling | pre orderen | reserveer nu | op aanvraag leverbaar | nabestelling | "
            "backorder"
        ),
        available="beschikbaar | leverbaar | verkrijgbaar | voorradig",
        gone="verkocht",
        negations="niet | geen | nee | nooit",
        pending="binnenkort | zodra | wanneer | melding | controleer | bekijk | weer | verwacht",
        idle="toon | verberg | bijna",
        asides="afbeelding | beoordelingen | afhalen | bezorging | maat | kleur | winkel",
        fillers=(
            "dit | product | artikel | is | momenteel | tijdelijk | helaas | meer | "
            "beschikbaarheid | direct | nog"
        ),
        units="stuks | stuk",
        counted="voorraad",
        backable="kan nabesteld worden",
        buy=(
            "in mijn winkelwagen | toevoegen aan winkelwagen | toevoegen aan winkelmandje | "
            "toevoegen aan winkelmand | nu kopen | in de winkelwagen | bestel nu | "
            "aan winkelwagen toevoegen | nu bestellen | voeg toe aan winkelwagen"
        ),
        buy_alone=(
            "koop | kopen | in winkelwagen | in winkelmandje | in winkelmand | bestel | bestellen"
        ),
        not_buying=(
            "ga naar | bekijk | naar winkelwagen | verlanglijst | verlanglijstje | opnieuw | hoe | "
            "verwijder"
        ),
        buy_fillers="nu | voor",
        contact="bericht verkoper | stuur bericht",
    ),
    "sv": StockWords(
        in_stock=(
            "i lager | finns i lager | på lager | endast # kvar | bara # kvar | # kvar | få kvar | "
            "begränsat antal"
        ),
        out_of_stock=(
            "slut i lager | slutsåld | slutsålt | utsåld | tillfälligt slut | slut i webblager | "
            "utgått"
        ),
        backorder="beställningsvara | förbeställ | förhandsboka | förbeställning | boka nu",
        available="tillgänglig | tillgängligt | finns",
        gone="slut | såld",
        negations="inte | ej | nej",
        pending="snart | när | bevaka | meddela | kontrollera | åter | väntas",
        idle="visa | nästan | snart",
        asides="bilden | recensioner | leverans | storlek | butik",
        fillers="denna | produkten | är | för närvarande | tyvärr | just nu | längre | online",
        units="st | stycken",
        counted="lager | lagersaldo",
        buy=(
            "lägg i varukorgen | lägg i varukorg | lägg till i varukorgen | lägg till i varukorg | "
            "köp nu | lägg i kundvagn | lägg i kundvagnen | lägg till i kundvagn | lägg i korgen"
        ),
        buy_alone="köp | handla | beställ",
        not_buying="gå till | visa | önskelista | favoriter | igen | hur | ta bort",
        buy_fillers="nu | för | kr",
    ),
    "no": StockWords(
        in_stock="på lager | bare # igjen | kun # igjen | # igjen på lager | få igjen",
        out_of_stock="utsolgt | ikke på lager | utgått | tomt på lager",
        backorder="bestillingsvare | forhåndsbestill | forhåndsbestilling | forhåndskjøp",
        available="tilgjengelig",
        gone="solgt",
        negations="ikke | nei | ingen",
        pending="snart | når | varsle | sjekk | ventes | tilbake på lager",
        asides="bilde | levering | størrelse | butikk",
        fillers="produktet | er | for øyeblikket | dessverre | lenger | på nett",
        units="stk",
        counted="lagerstatus",
        buy=(
            "legg i handlekurven | legg i handlekurv | legg til i handlekurv | kjøp nå | "
            "legg i kurv | legg til i handlekurven | legg i handlevogn"
        ),
        buy_alone="kjøp | bestill",
        not_buying="gå til | vis | ønskeliste | hvordan | fjern",
    ),
    "da": StockWords(
        in_stock="på lager | kun # tilbage | # tilbage på lager | få på lager | få tilbage",
        out_of_stock="udsolgt | udgået | ikke på lager | desværre udsolgt",
        backorder="bestillingsvare | forudbestil | forudbestilling | forhåndsbestil | skaffevare",
        available="tilgængelig",
        gone="solgt",
        negations="ikke | nej | ingen",
        pending="snart | når | besked | tjek | forventes | igen",
        idle="vis | næsten",
        asides="billede | størrelse",
        fillers="varen | er | i øjeblikket | desværre | længere | midlertidigt",
        buy=(
            "læg i kurv | læg i kurven | tilføj til kurv | køb nu | læg i indkøbskurv | "
            "læg i indkøbskurven | tilføj til indkøbskurv | føj til kurv | put i kurv"
        ),
        buy_alone="køb | bestil",
        not_buying="gå til | ønskeliste | hvordan | fjern | se kurv",
        buy_fillers="nu | for",
    ),
}
