"""The words for stock and buying in Romance languages."""

from penstock.extract.values.stock_words.words import StockWords

LANGUAGES = {
    "fr": StockWords(
        in_stock=(
            "en stock | plus que # | il ne reste que # | reste # | derniers exemplaires | "
            "dernier exemplaire | stock limité | expédié aujourd'hui | disponible immédiatement | "
            "disponible de suite"
        ),
        out_of_stock=(
            "épuisé | épuisée | épuisés | rupture de stock | en rupture | rupture | hors stock | "
            "victime de son succès | plus de stock | stock épuisé"
        ),
        backorder=(
            "sur commande | précommande | précommander | en précommande | pré commande | "
            "pré commander | fabriqué à la demande | en réapprovisionnement sur commande"
        ),
        available="disponible | disponibles",
        unavailable="indisponible | indisponibles",
        gone="vendu",
        negations="non | pas | plus | n'est | ne | jamais | aucun | sans",
        pending=(
            "bientôt | quand | lorsque | dès que | dès le | prévenez | prévenir | alerte | "
            "m'avertir | avertir | prochainement | vérifier | de retour | à partir | être informé"
        ),
        idle="afficher | masquer | presque | bientôt",
        asides=(
            "image | photo | avis | vidéo | retrait | livraison | taille | couleur | magasin | "
            "cadeau"
        ),
        fillers=(
            "ce | cet | cette | produit | est | sont | actuellement | momentanément | "
            "temporairement | disponibilité | état | oui | en ligne | plus | le moment | pour"
        ),
        units="exemplaires | exemplaire | unités | pièces | articles",
        counted="stock | quantité en stock | quantité disponible",
        backable="peut être commandé",
        buy=(
            "ajouter au panier | ajouter à mon panier | ajouter à votre panier | "
            "mettre au panier | mettre dans le panier | ajouter dans le panier | "
            "acheter maintenant | commander maintenant | achat immédiat | ajouter au caddie | "
            "acheter cet article"
        ),
        buy_alone="acheter | commander | j'achète",
        not_buying=(
            "voir | favoris | envies | liste | à nouveau | supprimer | comparer | comment | vider"
        ),
        buy_fillers="maintenant | pour | cet | article | en ligne | produit",
        contact="contacter le vendeur | contacter l'annonceur",
    ),
    "it": StockWords(
        in_stock=(
            "in magazzino | disponibilità immediata | disponibile subito | pronta consegna | "
            "solo # rimasti | ne restano # | ultimi pezzi | ultimo pezzo | ultimi # pezzi | "
            "subito disponibile | disponibilità limitata | pronto per la spedizione"
        ),
        out_of_stock="esaurito | esaurita | esauriti | fuori stock | fuori produzione | terminato",
        backorder=(
            "su ordinazione | preordine | preordina | pre ordine | pre ordina | preordinabile | "
            "prenotabile"
        ),
        available="disponibile | disponibili",
        unavailable="indisponibile",
        gone="venduto",
        negations="non | senza | nessuno",
        pending=(
            "presto | quando | avvisami | avvisa | prossimamente | verifica | controlla | "
            "a breve | in arrivo | a partire"
        ),
        idle="mostra | nascondi | quasi",
        asides="immagine | recensioni | ritiro | consegna | taglia | colore | negozio | regalo",
        fillers=(
            "questo | prodotto | è | attualmente | al momento | momentaneamente | disponibilità | "
            "sì | solo | più | articolo | online"
        ),
        units="pezzi | pezzo | pz | unità",
        counted="disponibilità | giacenza",
        backable="ordinabile",
        buy=(
            "aggiungi al carrello | aggiungere al carrello | metti nel carrello | acquista ora | "
            "compra ora | compralo subito | acquista subito | ordina ora"
        ),
        buy_alone="acquista | compra | ordina | acquistare",
        not_buying=(
            "vai | visualizza | preferiti | desideri | vedi | di nuovo | rimuovi | come | confronta"
        ),
        buy_fillers="ora | subito | a | per | online | adesso",
        contact="contatta il venditore | contatta venditore",
    ),
    "es": StockWords(
        in_stock=(
            "en stock | en existencia | en existencias | hay existencias | hay stock | con stock | "
            "solo quedan # | solo queda # | quedan # | queda # | últimas unidades | "
            "última unidad | disponible de inmediato | entrega inmediata | disponibilidad inmediata"
        ),
        out_of_stock=(
            "agotado | agotada | agotados | sin stock | sin existencias | fuera de stock | "
            "sin inventario | descatalogado | sin disponibilidad"
        ),
        backorder=(
            "bajo pedido | por encargo | preventa | preordenar | pre venta | reservar ahora | "
            "bajo demanda | pre pedido | prepedido"
        ),
        available="disponible | disponibles",
        unavailable="indisponible",
        gone="vendido",
        negations="no | sin | ningún | nunca",
        pending=(
            "pronto | cuando | avísame | avisar | avísenme | próximamente | consultar | "
            "comprobar | ver disponibilidad | a partir"
        ),
        idle="mostrar | ocultar | casi",
        asides="imagen | opiniones | retiro | recogida | envío | talla | tienda | regalo",
        fillers=(
            "este | producto | está | esta | actualmente | por el momento | temporalmente | "
            "momento | disponibilidad | sí | solo | artículo | en línea | se encuentra | ya"
        ),
        units="unidades | unidad | uds | ud | piezas",
        counted="existencias | disponibilidad",
        backable="puede reservarse",
        buy=(
            "añadir al carrito | añadir a la cesta | añadir al carro | agregar al carrito | "
            "agregar al carro | agregar a la bolsa | añadir a la bolsa | comprar ahora | "
            "comprar ya | agregar a la cesta | meter en la cesta | cómpralo ya"
        ),
        buy_alone="comprar | compra | lo quiero",
        not_buying=(
            "ir al | ver | favoritos | deseos | de nuevo | otra vez | cómo | eliminar | comparar"
        ),
        buy_fillers="ahora | por | ya | en línea | online | entrada | entradas | boleto | boletos",
        contact="contactar al vendedor | contactar con el vendedor",
    ),
    "pt": StockWords(
        in_stock=(
            "em estoque | em stock | resta # | restam # | últimas unidades | última unidade | "
            "pronta entrega | disponível em estoque | apenas # disponíveis"
        ),
        out_of_stock=(
            "esgotado | esgotada | sem estoque | sem stock | fora de estoque | fora de stock | "
            "produto esgotado | avise me quando chegar"
        ),
        backorder="sob encomenda | pré venda | por encomenda | pré encomenda | encomendar",
        available="disponível | disponíveis",
        unavailable="indisponível | indisponíveis",
        negations="não | sem | nenhum",
        pending="em breve | breve | quando | avise | avisar | consultar | verificar | a partir",
        idle="exibir | quase",
        asides="imagem | avaliações | retirada | entrega | tamanho | cor | loja | presente",
        fillers=(
            "este | produto | está | no momento | atualmente | temporariamente | disponibilidade | "
            "sim | apenas | item"
        ),
        units="unidades | unidade | peças | un",
        counted="estoque | disponibilidade",
        buy=(
            "adicionar ao carrinho | adicionar ao cesto | adicionar à sacola | "
            "colocar no carrinho | comprar agora | por no carrinho | adicionar à cesta | "
            "compre agora | adicionar à bolsa | comprar já"
        ),
        buy_alone="comprar | compre",
        not_buying="ir para | favoritos | desejos | novamente | como | remover",
        buy_fillers="agora | por | já",
        contact="contactar vendedor | contatar vendedor | fale com o vendedor",
    ),
    "ro": StockWords(
        in_stock=(
            "în stoc | pe stoc | stoc limitat | ultimele # bucăți | ultimele bucăți | "
            "stoc suficient"
        ),
        out_of_stock=(
            "stoc epuizat | epuizat | indisponibil | fără stoc | nu este în stoc | stoc zero"
        ),
        backorder="la comandă | pe comandă | precomandă | precomenzi | disponibil la comandă",
        available="disponibil | disponibilă | disponibile",
        unavailable="indisponibil | indisponibilă",
        negations="nu este | nu e | nu sunt | nu mai",
        pending="în curând | curând | când | anunță | notifică | verifică",
        fillers="produsul | este | momentan | disponibilitate | mai",
        units="buc | bucăți",
        counted="stoc",
        buy=(
            "adaugă în coș | adauga in cos | adaugă în coșul de cumpărături | cumpără acum | "
            "comandă acum | pune în coș"
        ),
        buy_alone="cumpără | comandă",
        not_buying="mergi | vezi | favorite | cum",
    ),
}
