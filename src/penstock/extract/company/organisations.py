"""Organisations: which of those that a page's data name is the one whose site it is.

Pages also name their customers, the publishers of articles, the brands of products and the
employers of authors; none of them may lend its name or its telephone to the site's owner.
"""

from collections.abc import Iterator
from itertools import islice

from penstock.core.errors import UrlError
from penstock.core.urls import parse, registrable_domain
from penstock.extract.page.document import Document
from penstock.extract.page.names import agree, bare
from penstock.extract.page.things import Thing, things_of

MAX_CANDIDATES = 100

_GENERAL = frozenset(["Organization", "Corporation"])
_SCHEMA_ORG = """
    Organization Corporation Airline Consortium Cooperative EducationalOrganization
    CollegeOrUniversity ElementarySchool HighSchool MiddleSchool Preschool School
    GovernmentOrganization LibrarySystem MedicalOrganization DiagnosticLab Hospital MedicalClinic
    Pharmacy Physician VeterinaryCare NGO NewsMediaOrganization OnlineBusiness OnlineStore
    PerformingGroup DanceGroup MusicGroup TheaterGroup PoliticalParty FundingAgency
    ResearchOrganization SearchRescueOrganization SportsOrganization SportsTeam WorkersUnion
    LocalBusiness AnimalShelter ArchiveOrganization AutomotiveBusiness AutoBodyShop AutoDealer
    AutoPartsStore AutoRental AutoRepair AutoWash GasStation MotorcycleDealer MotorcycleRepair
    ChildCare Dentist DryCleaningOrLaundry EmergencyService FireStation PoliceStation
    EmploymentAgency EntertainmentBusiness AdultEntertainment AmusementPark ArtGallery Casino
    ComedyClub MovieTheater NightClub FinancialService AccountingService AutomatedTeller
    BankOrCreditUnion InsuranceAgency FoodEstablishment Bakery BarOrPub Brewery CafeOrCoffeeShop
    Distillery FastFoodRestaurant IceCreamShop Restaurant Winery GovernmentOffice PostOffice
    HealthAndBeautyBusiness BeautySalon DaySpa HairSalon HealthClub NailSalon TattooParlor
    HomeAndConstructionBusiness Electrician GeneralContractor HVACBusiness HousePainter Locksmith
    MovingCompany Plumber RoofingContractor InternetCafe LegalService Attorney Notary Library
    LodgingBusiness BedAndBreakfast Campground Hostel Hotel Motel Resort SkiResort VacationRental
    MedicalBusiness CommunityHealth Dermatology DietNutrition Emergency Geriatric Gynecologic
    Midwifery Nursing Obstetric Oncologic Optician Optometric Otolaryngologic Pediatric
    Physiotherapy PlasticSurgery Podiatric PrimaryCare Psychiatric PublicHealth
    ProfessionalService RadioStation RealEstateAgent RecyclingCenter SelfStorage ShoppingCenter
    SportsActivityLocation BowlingAlley ExerciseGym GolfCourse PublicSwimmingPool SportsClub
    StadiumOrArena TennisComplex Store BikeStore BookStore ClothingStore ComputerStore
    ConvenienceStore DepartmentStore ElectronicsStore Florist FurnitureStore GardenStore
    GroceryStore HardwareStore HobbyShop HomeGoodsStore JewelryStore LiquorStore
    MensClothingStore MobilePhoneStore MovieRentalStore MusicStore OfficeEquipmentStore
    OutletStore PawnShop PetStore ShoeStore SportingGoodsStore TireShop ToyStore WholesaleStore
    TelevisionStation TouristInformationCenter TravelAgency
"""
_ORGANISATIONS = frozenset(_SCHEMA_ORG.split())
_SITES = frozenset(["WebSite", "WebPage", "AboutPage", "ContactPage"])
#: Properties that lead from something to an organisation other than the site's own.
_TO_OTHERS = """
    author publisher creator contributor editor brand manufacturer seller hiringOrganization
    itemReviewed review reviews worksFor alumniOf affiliation memberOf member sponsor funder
    customer client parentOrganization subOrganization department employee founder mentions
    subjectOf makesOffer performer organizer recipient sourceOrganization owns itemListElement
"""
_FOREIGN = frozenset(_TO_OTHERS.split())
_DETAILS = (
    *("logo", "contactPoint", "address", "telephone", "email", "sameAs", "foundingDate"),
    *("numberOfEmployees", "description", "vatID"),
)
_OWN_URL, _FOREIGN_URL, _SAME_NAME, _MOST_DETAILS = 4, -6, 2, 4


def own_organisations(document: Document) -> list[Thing]:
    """The organisation whose site the page is on, as often as it is described; best first."""
    candidates = list(islice(_candidates(document), MAX_CANDIDATES))
    believed = [(_belief(thing, document), thing) for thing in candidates]
    ranked = sorted((pair for pair in believed if pair[0] >= 0), key=lambda pair: -pair[0])
    own = [thing for _, thing in ranked]
    names = [name for thing in own if (name := bare(thing.text("name")))]
    return [thing for thing in own if bare(thing.text("name")) in ("", *names[:1])]


def _candidates(document: Document) -> Iterator[Thing]:
    for thing in things_of(document, _FOREIGN):
        if _ORGANISATIONS.intersection(thing.types):
            yield thing
        elif _SITES.intersection(thing.types):
            owners = thing.things("publisher", "copyrightHolder", "creator")
            yield from (one for one in owners if _ORGANISATIONS.intersection(one.types))


def _belief(thing: Thing, document: Document) -> int:
    """How much speaks for an organisation being the site's own; below zero it is another."""
    belief = min(_MOST_DETAILS, sum(bool(thing.value(name)) for name in _DETAILS))
    belief += bool(_GENERAL.intersection(thing.types))
    url = document.absolute(thing.text("url")) if thing.text("url") else None
    if url:
        belief += _OWN_URL if is_own_address(document, url) else _FOREIGN_URL
    elif not thing.text("name"):
        belief = _FOREIGN_URL
    site = document.meta_value("og:site_name")
    return belief + (_SAME_NAME if agree(site, thing.text("name")) else 0)


def is_own_address(document: Document, url: str) -> bool:
    """Whether a URL is of the page's site, under whatever ending."""
    try:
        return is_own_domain(document, parse(url).host)
    except UrlError:
        return False


def is_own_domain(document: Document, host: str) -> bool:
    """Whether a host has the page's domain, under whatever ending."""
    label = domain_label(document)
    return bool(label) and registrable_domain(host.lower()).partition(".")[0] == label


def domain_label(document: Document) -> str:
    """What the page's domain is called: `acme` of `www.acme.co.uk`; empty if it has no name."""
    try:
        host = document.location.host
    except UrlError:
        return ""
    return registrable_domain(host).partition(".")[0] if not host[-1:].isdigit() else ""
