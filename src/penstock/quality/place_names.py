"""Names of places that decide how a text is read, as tables: regions, cities, countries."""

from collections.abc import Mapping

#: Regions that are written as codes, by country.
CODED_REGIONS: Mapping[str, Mapping[str, str]] = {
    "US": {
        "AL": "Alabama",
        "AK": "Alaska",
        "AZ": "Arizona",
        "AR": "Arkansas",
        "CA": "California",
        "CO": "Colorado",
        "CT": "Connecticut",
        "DE": "Delaware",
        "DC": "District of Columbia",
        "FL": "Florida",
        "GA": "Georgia",
        "HI": "Hawaii",
        "ID": "Idaho",
        "IL": "Illinois",
        "IN": "Indiana",
        "IA": "Iowa",
        "KS": "Kansas",
        "KY": "Kentucky",
        "LA": "Louisiana",
        "ME": "Maine",
        "MD": "Maryland",
        "MA": "Massachusetts",
        "MI": "Michigan",
        "MN": "Minnesota",
        "MS": "Mississippi",
        "MO": "Missouri",
        "MT": "Montana",
        "NE": "Nebraska",
        "NV": "Nevada",
        "NH": "New Hampshire",
        "NJ": "New Jersey",
        "NM": "New Mexico",
        "NY": "New York",
        "NC": "North Carolina",
        "ND": "North Dakota",
        "OH": "Ohio",
        "OK": "Oklahoma",
        "OR": "Oregon",
        "PA": "Pennsylvania",
        "RI": "Rhode Island",
        "SC": "South Carolina",
        "SD": "South Dakota",
        "TN": "Tennessee",
        "TX": "Texas",
        "UT": "Utah",
        "VT": "Vermont",
        "VA": "Virginia",
        "WA": "Washington",
        "WV": "West Virginia",
        "WI": "Wisconsin",
        "WY": "Wyoming",
    },
    "CA": {
        "AB": "Alberta",
        "BC": "British Columbia",
        "MB": "Manitoba",
        "NB": "New Brunswick",
        "NL": "Newfoundland and Labrador",
        "NS": "Nova Scotia",
        "NT": "Northwest Territories",
        "NU": "Nunavut",
        "ON": "Ontario",
        "PE": "Prince Edward Island",
        "QC": "Quebec",
        "SK": "Saskatchewan",
        "YT": "Yukon",
    },
    "AU": {
        "ACT": "Australian Capital Territory",
        "NSW": "New South Wales",
        "NT": "Northern Territory",
        "QLD": "Queensland",
        "SA": "South Australia",
        "TAS": "Tasmania",
        "VIC": "Victoria",
        "WA": "Western Australia",
    },
}

#: Regions by name, without those that are cities too (Berlin) or lie in two countries.
NAMED_REGIONS: Mapping[str, str] = {
    "DE": "Baden-Württemberg, Bayern, Bavaria, Brandenburg, Hessen, Hesse, "
    "Mecklenburg-Vorpommern, Niedersachsen, Lower Saxony, Nordrhein-Westfalen, North "
    "Rhine-Westphalia, Rheinland-Pfalz, Rhineland-Palatinate, Saarland, Sachsen, Saxony, "
    "Sachsen-Anhalt, Saxony-Anhalt, Schleswig-Holstein, Thüringen, Thuringia",
    "GB": "England, Scotland, Wales, Northern Ireland, Greater London, Greater Manchester, West "
    "Midlands, West Yorkshire, South Yorkshire, North Yorkshire, Merseyside, Tyne and Wear, "
    "Bedfordshire, Berkshire, Buckinghamshire, Cambridgeshire, Cheshire, Cornwall, Cumbria, "
    "Derbyshire, Devon, Dorset, East Sussex, West Sussex, Essex, Gloucestershire, "
    "Hampshire, Herefordshire, Hertfordshire, Kent, Lancashire, Leicestershire, "
    "Lincolnshire, Norfolk, Northamptonshire, Northumberland, Nottinghamshire, Oxfordshire, "
    "Shropshire, Somerset, Staffordshire, Suffolk, Surrey, Warwickshire, Wiltshire, "
    "Worcestershire",
    "FR": "Auvergne-Rhône-Alpes, Bourgogne-Franche-Comté, Bretagne, Brittany, Centre-Val de "
    "Loire, Corse, Grand Est, Hauts-de-France, Île-de-France, Normandie, Normandy, "
    "Nouvelle-Aquitaine, Occitanie, Pays de la Loire, Provence-Alpes-Côte d'Azur",
    "ES": "Andalucía, Andalusia, Aragón, Asturias, Cantabria, Castilla-La Mancha, Castilla y "
    "León, Cataluña, Catalunya, Catalonia, Comunidad de Madrid, Community of Madrid, "
    "Comunidad Valenciana, Comunitat Valenciana, Valencian Community, Extremadura, País "
    "Vasco, Basque Country, Euskadi, Islas Baleares",
    "IT": "Abruzzo, Basilicata, Calabria, Campania, Emilia-Romagna, Friuli-Venezia Giulia, Lazio, "
    "Liguria, Lombardia, Lombardy, Piemonte, Piedmont, Puglia, Apulia, Sardegna, Sardinia, "
    "Sicilia, Sicily, Toscana, Tuscany, Trentino-Alto Adige, Umbria, Valle d'Aosta, Veneto",
    "NL": "Drenthe, Flevoland, Friesland, Gelderland, North Brabant, Noord-Brabant, North "
    "Holland, Noord-Holland, Overijssel, South Holland, Zuid-Holland, Zeeland",
    "IN": "Andhra Pradesh, Arunachal Pradesh, Assam, Bihar, Chhattisgarh, Gujarat, Haryana, "
    "Himachal Pradesh, Jharkhand, Karnataka, Kerala, Madhya Pradesh, Maharashtra, Manipur, "
    "Meghalaya, Mizoram, Nagaland, Odisha, Rajasthan, Sikkim, Tamil Nadu, Telangana, "
    "Tripura, Uttar Pradesh, Uttarakhand, West Bengal",
    "CA": "Québec, Newfoundland & Labrador, Newfoundland",
}

#: Cities that tell which of two readings of a code or a name is meant.
TELLING_CITIES: Mapping[str, str] = {
    "AR": "Buenos Aires, Córdoba, Rosario, Mendoza, La Plata",
    "AU": "Perth, Fremantle, Bunbury, Mandurah, Joondalup, Adelaide, Mount Gambier, Darwin, Alice "
    "Springs, Melbourne, Geelong, Ballarat, Bendigo",
    "CA": "Toronto, Montreal, Vancouver, Calgary, Ottawa, Edmonton, Winnipeg, Mississauga, "
    "Saskatoon, Regina, St. John's, Charlottetown, Yellowknife, Whitehorse, Iqaluit, "
    "Brampton",
    "CO": "Bogotá, Medellín, Cali, Barranquilla, Cartagena",
    "DE": "Berlin, Hamburg, Munich, München, Köln, Cologne, Frankfurt, Frankfurt am Main, "
    "Stuttgart, Düsseldorf, Leipzig, Dortmund, Essen, Bremen, Dresden, Hannover, Nürnberg, "
    "Nuremberg, Bonn, Mannheim, Karlsruhe, Augsburg, Wiesbaden, Münster, Aachen, "
    "Heidelberg, Potsdam, Walldorf",
    "GE": "Tbilisi, Batumi, Kutaisi, Rustavi",
    "ID": "Jakarta, Surabaya, Bandung, Medan, Denpasar, Yogyakarta",
    "IL": "Tel Aviv, Tel Aviv-Yafo, Jerusalem, Haifa, Herzliya, Ramat Gan, Petah Tikva, Netanya",
    "IN": "Bangalore, Bengaluru, Mumbai, Delhi, New Delhi, Hyderabad, Chennai, Pune, Kolkata, "
    "Gurgaon, Gurugram, Noida, Ahmedabad, Jaipur, Kochi, Coimbatore, Chandigarh, Indore",
    "MA": "Casablanca, Rabat, Marrakech, Tangier, Fez",
    "NL": "Amsterdam, Rotterdam, Utrecht, Eindhoven, The Hague, Den Haag, Groningen, Tilburg, "
    "Delft, Breda, Nijmegen, Leiden, Haarlem",
    "PE": "Lima, Arequipa, Cusco, Trujillo",
    "SA": "Riyadh, Jeddah, Dammam, Mecca, Medina, Al Khobar",
    "SK": "Bratislava, Košice, Žilina, Nitra",
    "US": "Atlanta, Savannah, Augusta, Athens, Macon, Alpharetta, Marietta, Wilmington, Dover, "
    "Newark, Indianapolis, Fort Wayne, Evansville, South Bend, Carmel, Fishers, "
    "Bloomington, Seattle, Spokane, Tacoma, Bellevue, Redmond",
}

#: Written forms that the tables of territories do not have.
ALIASES: Mapping[str, str] = {
    "america": "US",
    "united states of america": "US",
    "usa": "US",
    "us": "US",
    "estados unidos de america": "US",
    "uk": "GB",
    "great britain": "GB",
    "britain": "GB",
    "uae": "AE",
    "emirates": "AE",
    "bolivia plurinational state of": "BO",
    "brunei darussalam": "BN",
    "burma": "MM",
    "cape verde": "CV",
    "czech republic": "CZ",
    "democratic republic of the congo": "CD",
    "drc": "CD",
    "east timor": "TL",
    "holland": "NL",
    "hong kong": "HK",
    "iran islamic republic of": "IR",
    "ivory coast": "CI",
    "korea republic of": "KR",
    "lao pdr": "LA",
    "macau": "MO",
    "macao": "MO",
    "macedonia": "MK",
    "moldova republic of": "MD",
    "myanmar": "MM",
    "palestine": "PS",
    "peoples republic of china": "CN",
    "republic of ireland": "IE",
    "republic of korea": "KR",
    "russian federation": "RU",
    "slovak republic": "SK",
    "swaziland": "SZ",
    "syrian arab republic": "SY",
    "taiwan province of china": "TW",
    "turkey": "TR",
    "vatican": "VA",
    "viet nam": "VN",
}

#: Countries that are one city.
CITY_STATES: Mapping[str, str] = {
    "GI": "Gibraltar",
    "HK": "Hong Kong",
    "MC": "Monaco",
    "MO": "Macao",
    "SG": "Singapore",
    "VA": "Vatican City",
}

#: Words that stand where a place could.
NO_PLACES = frozenset(
    [
        *("anywhere", "everywhere", "nationwide", "worldwide"),
        *("global", "globally", "international"),
        *("headquarters", "hq", "office", "home office", "work from home", "wfh", "virtual"),
        *("emea", "apac", "latam", "dach", "amer", "eu", "n a", "na", "none", "unknown", "tbd"),
        *("various", "various locations", "multiple", "multiple locations", "flexible", "other"),
        "congo",  # there are two
    ]
)
