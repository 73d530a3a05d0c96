"""The words that the catalogue's shops have for their goods: few enough to be found again."""

BRANDS = (
    *("Aldermoor", "Brightwell", "Corvane", "Dunholm", "Eastmere", "Fjällgren"),
    *("Grünwald", "Hallett & Sons", "Ironbeck", "Jura Noir", "Kestrel", "Lumière"),
)
#: What is sold, by category.
NOUNS = {
    "Kitchen": ("Kettle", "Saucepan", "Bread Knife", "Coffee Grinder", "Mixing Bowl"),
    "Lighting": ("Desk Lamp", "Lantern", "Wall Light", "Floor Lamp", "Reading Light"),
    "Outdoor": ("Tent", "Sleeping Bag", "Camping Stove", "Hammock", "Rucksack"),
    "Audio": ("Headphones", "Loudspeaker", "Radio", "Turntable", "Microphone"),
    "Garden": ("Watering Can", "Pruning Saw", "Bird Feeder", "Wheelbarrow", "Garden Bench"),
    "Office": ("Notebook", "Fountain Pen", "Filing Cabinet", "Letter Tray", "Desk Chair"),
    "Cycling": ("Bicycle Pump", "Saddle", "Pannier", "Helmet", "Bell"),
    "Toys & Games": ("Train Set", "Jigsaw Puzzle", "Chess Board", "Kite", "Spinning Top"),
}
CATEGORIES = tuple(NOUNS)
ADJECTIVES = (
    *("Foldable", "Compact", "Portable", "Wireless", "Classic", "Robust", "Quiet", "Waterproof"),
    *("Adjustable", "Handmade", "Lightweight", "Stackable", "Insulated", "Reversible", "Elegant"),
)
MATERIALS = (
    *("Bamboo", "Copper", "Walnut", "Steel", "Ceramic", "Canvas", "Leather", "Aluminium"),
    *("Linen", "Glass", "Brass", "Wool", "Oak", "Cork", "Titanium"),
)
#: Of at most fourteen words each.
SENTENCES = (
    "It has been tested by people who use it every day.",
    "The matt finish hides fingerprints and wipes clean with a damp cloth.",
    "Every part can be replaced without special tools.",
    "Spare parts are kept for at least fifteen years.",
    "Small enough for a shelf and large enough for a family.",
    "The hinge closes softly and never squeaks.",
    "Packed in recycled cardboard without any plastic.",
    "A printed manual with clear drawings comes in the box.",
    "Its rounded edges are safe for children and kind to furniture.",
    "The handle stays cool even when the rest gets hot.",
    "Designed for travellers who count every gram.",
    "Rain, dust and sand do it no harm.",
    "Two batteries are included and last for a whole season.",
    "Assembly takes ten minutes and a single screwdriver.",
    "The surface is oiled by hand in three thin layers.",
    "An award from a design museum praised its simple shape.",
    "It hangs from a hook, stands upright or lies flat.",
    "The warranty covers everything except deliberate damage.",
    "Neighbours will not hear it, not even late at night.",
    "Made in small batches by a workshop of twelve people.",
    "The colours do not fade when it stands in the sun.",
    "Older models can be upgraded with the same parts.",
    "Runners, cyclists and climbers have carried it across mountains.",
    "The cable is braided, two metres long and easy to replace.",
)
