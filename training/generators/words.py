"""Slot values: lists written for this project, and makers of random names, ids, numbers, dates and texts."""

import random

import word_lists as lists

FIRST = """Anna Marta Peter Lukas Jonas Emma Olga Ivan Sven Ingrid Carlos Lucia Pablo Sofia Mateo Elena Marco Giulia Luca Chiara
Pierre Claire Hugo Louise Jean Camille Ahmed Fatima Omar Layla Yusuf Amina Wei Mei Jun Li Hiro Yuki Kenji Sakura Raj Priya Arjun Anita
Kofi Ama Kwame Zuri Tunde Ngozi John Mary James Susan Robert Linda David Karen Tom Sarah Kate Paul Laura Mike Jane Nick Amy Ben Lisa
Max Nina Felix Clara Oskar Greta Anton Vera Boris Irina Marek Zofia Pavel Hana Milan Petra Andrei Ioana Nikos Eleni Aylin Emre Noor Sami
Tariq Soraya Dmitri Galina Bogdan Oana Stefan Mirela Goran Jelena Matej Spela Katya Roman Leon Ida Ella Hedda Viggo Signe Axel Alva
Otto Frida Heidi Uwe Anke Timo Ute Rainer Silke Jurgen Bettina Kirsten Malte Enrico Paola Dario Silvia Fabio Renata Gustavo Paulo
Joana Marisol Esteban Pilar Raul Ximena Alba Iker Thierry Odile Remi Sylvie Gilles Amelie Bastien Elodie Hamid Leila Nadia Karim
Salma Rashid Zainab Ibrahim Aisha Farid Dina Bilal Chidi Adaeze Femi Abena Sipho Thandi Lerato Themba Akira Naoko Haruto Emi Minho
Jisoo Xin Ling Bao Linh Minh Thuy Arun Kavya Rohan Deepa Vikram Meera Sanjay Isha Grace Henry Alice Edward Ruth Walter Ivy Oscar
Hazel George Violet Arthur Daisy Ralph Joyce Martin Gwen Alan Beth Simon Tess Owen Bronwyn Declan Niamh Fergus Morag
Eero Aino Lars Freya Erik Astrid Bram Sanne Diego Carmen Rosa Miguel Tiago Ines Rui Beatriz Sean Aoife Rhys Megan Isla Callum""".split()
LAST = """Klein Meyer Weber Fischer Schulz Wagner Novak Horak Svoboda Kowalski Nowak Rossi Ferrari Bianchi Romano Garcia Lopez Torres Ruiz
Moreau Petit Laurent Girard Dubois Smith Jones Taylor Brown Evans Walker Wright Hill Green Baker Carter Turner Parker Reed Cook Bell
Hansen Olsen Larsen Berg Lund Dahl Virtanen Korhonen Nieminen Jansen Visser Bakker Silva Costa Pereira Santos Khan Patel Singh Gupta
Albrecht Brandt Dietrich Engel Falk Gruber Huber Kraus Lorenz Moser Neumann Pohl Richter Seidel Vogel Winkler Ziegler Kubik Dvorak
Wojcik Zielinski Esposito Colombo Greco Marino Conti Navarro Ortega Molina Castro Vidal Fontaine Marchand Renard Lefevre Gauthier
Hughes Morgan Bennett Foster Graham Holt Ingram Knight Lambert Mason Norris Osborne Palmer Quinn Rhodes Shaw Thornton Underwood
Vaughn Whitaker Yates Nilsson Lindqvist Hagen Solberg Aalto Makinen Vermeer Maas Almeida Barbosa Ramos Malik Sharma Reddy Iyer Mori
Ito Watanabe Choi Lim Huang Zhou Pham Mansour Aziz Yilmaz Celik Sokolov Volkov Adeyemi Boateng Mwangi Ndlovu
Tanaka Suzuki Sato Kim Park Chen Wang Zhang Nguyen Tran Haddad Nasser Demir Kaya Popov Ivanov Petrov Okafor Mensah Diallo""".split()
CITY = """Berlin Hamburg Munich Vienna Graz Zurich Geneva Paris Lyon Nice Lille Madrid Seville Bilbao Lisbon Porto Rome Milan Turin Naples
Athens Patras Sofia Varna Bucharest Cluj Budapest Prague Brno Warsaw Krakow Gdansk Vilnius Riga Tallinn Helsinki Turku Stockholm Malmo Oslo
Bergen Copenhagen Aarhus Dublin Cork London Leeds Bristol Glasgow Cardiff Amsterdam Utrecht Brussels Ghent Tokyo Osaka Kyoto Seoul Busan
Salzburg Innsbruck Bremen Dresden Leipzig Bonn Mainz Ulm Basel Bern Lugano Dijon Nantes Rennes Metz Brest Cadiz Granada Malaga
Toledo Faro Braga Bologna Verona Pisa Genoa Palermo Corfu Volos Plovdiv Iasi Szeged Pecs Ostrava Lodz Poznan Kaunas Tartu Tampere
Oulu Uppsala Lund Stavanger Tromso Odense Galway Limerick Oxford York Bath Derby Dundee Swansea Leiden Delft Bruges Namur Nagoya
Sapporo Nara Daegu Hanoi Manila Jakarta Bandung Pune Jaipur Kochi Dhaka Colombo Karachi Lahore Kabul Tashkent Almaty Tbilisi Yerevan
Baku Ankara Izmir Beirut Amman Muscat Doha Dubai Rabat Oran Dakar Bamako Kampala Kigali Lusaka Harare Maputo Durban Windhoek Phoenix
Tucson Memphis Omaha Portland Tulsa Boise Reno Calgary Ottawa Halifax Regina Hobart Darwin Cairns Nelson Suva Cusco Salta Cordoba
Rosario Recife Manaus Caracas Panama Havana Oaxaca Puebla
Beijing Shanghai Delhi Mumbai Chennai Cairo Tunis Lagos Accra Nairobi Boston Denver Austin Seattle Chicago Dallas Miami Toronto Montreal
Sydney Perth Auckland Lima Bogota Quito Santiago""".split()
THING = """apple banana pear lemon bread milk butter cheese rice sugar flour coffee tea honey salt pepper onion carrot potato tomato
chair table lamp sofa desk shelf carpet mirror clock bottle cup plate spoon knife pan kettle towel pillow blanket candle umbrella
jacket shirt hat shoes gloves scarf belt ring watch bag wallet phone laptop keyboard mouse monitor printer camera tablet charger cable
bike car truck bus train boat plane scooter hammer saw drill nail screw rope ladder bucket brush paint glue pencil paper notebook book
cherry plum peach grape melon mango fig olive lime orange walnut almond basil thyme garlic ginger cinnamon vanilla pumpkin spinach
lettuce cabbage broccoli celery radish leek beans lentils peas corn oats pasta noodles soup stew pizza burger sandwich waffle pancake
muffin biscuit cake pie jam yoghurt cream bacon ham sausage salmon tuna shrimp juice water wine beer lemonade cocoa syrup mustard
basket barrel crate box jar tin tray bowl fork mug teapot toaster oven stove fridge freezer kettle sink tap bath shower soap sponge
broom mop vacuum iron curtain blind rug cushion mattress wardrobe drawer cupboard stool bench ladder fence hedge lawn shed greenhouse
spade rake hoe wheelbarrow hose sprinkler seed tulip rose lily daisy fern cactus oak birch maple willow pine ivy moss mushroom
horse cow sheep goat pig hen duck goose rabbit hamster parrot turtle goldfish kitten puppy donkey fox wolf bear deer owl eagle hawk
sparrow swan whale dolphin shark crab beetle spider butterfly bee ant tractor plough harvester trailer wagon sledge canoe kayak raft
ferry yacht helicopter balloon rocket satellite telescope microscope thermometer barometer compass scale ruler battery antenna radio
speaker headphones microphone amplifier trumpet flute oboe cello harp banjo trombone clarinet accordion tambourine ukulele whistle
helmet skates skis snowboard surfboard racquet dumbbell treadmill trampoline net goal javelin dart kite puzzle dice marble doll robot
sweater coat trousers jeans skirt dress socks boots sandals cap tie apron raincoat pyjamas necklace bracelet earring purse backpack
suitcase envelope stamp folder binder eraser crayon marker chalk calculator projector scanner router modem server magnet spring gear
lever pulley pipe valve bolt washer hinge bracket chisel pliers wrench spanner file axe saw clamp varnish plaster brick tile cement
gravel sand timber plank cork leather wool cotton silk linen velvet bronze copper granite amber coral pearl crystal lantern torch
statue vase painting sculpture portrait mural poster banner flag medal trophy coin badge ticket passport
stapler guitar piano violin drum ball racket tent""".split()
THING = list(dict.fromkeys(THING))
COLOUR = "red blue green yellow black white orange purple brown grey pink silver".split()
LANGUAGE = "German French Spanish Italian Dutch Polish Czech Greek Turkish Arabic Hindi Japanese Korean Chinese Swedish Finnish Danish Portuguese".split()
DAY = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTH = "January February March April May June July August September October November December".split()
ROOM = "kitchen bedroom bathroom garage hallway office garden attic cellar balcony".split()
TOPIC = """gardening football chess cooking sailing photography jazz painting hiking cycling swimming knitting astronomy poetry history
baking fishing travel fashion robots solar energy birds trees oceans bridges castles music films games gold silver copper wheat""".split()
TEXTS = """call me back after lunch|the meeting is moved to friday|buy more paper for the printer|the parcel has arrived|please water the plants
|we are running late|dinner is ready|the door is still open|thank you for your help|see you tomorrow|the report is finished|bring an umbrella
|the car needs fuel|pay the rent|feed the cat|the train leaves at noon|clean the filter|check the oil|the key is under the mat
|happy birthday to you|good luck with the exam|the shop closes early today|do not forget the tickets|the server is back online
|turn off the lights|renew the passport|send the photos|book the hotel|return the library books|charge the battery|call the dentist
|the lift is out of order|lunch is in the fridge|the window needs a new frame|practice your scales|walk the dog before eight|the milk is sour
|meet me at the station|the tyre is flat|invite the neighbours|two eggs and a cup of flour|the boiler makes a strange noise|the cable is too short
|wash hands first|mind the step|the goats are loose|the gate was left open|row seven needs weeding|the sample is contaminated|repeat the measurement
|the second act starts late|the drummer is ill|please keep quiet|no parking on sundays|the exhibition opens at ten|handle with care
|this side up|the pool is closed|wear sturdy shoes|tell mum I am fine|great food but slow service|broken on arrival|works like a charm
|could be better|cannot log in|page loads slowly|button does nothing|the screen stays black|fever since yesterday|allergic to nuts
|two tablets after meals|knee hurts when running|the wifi keeps dropping|room smells of smoke|need a quote by friday|left my bag on the bus
|the street lamp flickers|a tree fell on the path|bring your own cup|the cat ate the fish|deploy went well|rollback finished
|disk almost full|thanks for all your work|sorry for the delay|
pick up the kids|sign the contract|order new toner|take out the trash|back up the files""".replace("\n", "").split("|")

CITY_LONG = """New York|San Diego|Cape Town|Buenos Aires|Hong Kong|Rio de Janeiro|Santa Cruz|Le Havre|La Paz|Mexico City|Bad Ischl|Stoke on Trent
|Los Alamos|Salt Lake City|Novi Sad|Tel Aviv|Abu Dhabi|Kuala Lumpur|St. Gallen|Addis Ababa|Palma de Mallorca|Den Haag""".replace("\n", "").split("|")
ADJECTIVE = """small large old new quiet loud bright dark warm cold wet dry heavy light round square soft hard sharp blunt early late fast slow
happy sad lucky brave clever gentle wild lazy busy empty full open hidden secret lost broken golden wooden rusty shiny dusty frozen
spicy sweet sour bitter salty fresh smoked roasted grilled electric magnetic digital portable foldable spare northern southern upper
lower outer inner plain fancy striped checked modern ancient royal silent steep narrow wide deep shallow distant final""".split()
PLACE = """harbour station airport market church school museum library stadium theatre castle bridge tower park square forest lake river
island valley hill mountain beach farm mill bakery cafe hotel clinic pharmacy bank museum warehouse factory workshop studio laboratory
cinema arena pier lighthouse quarry meadow orchard vineyard tunnel crossing roundabout terminal depot embassy courthouse""".split()
TITLE = """The Long Way Home|Night Train|A Winter in the North|Seven Small Stones|Under the Bridge|Blue Lanterns|The Clockmaker's Son|Paper Boats
|Songs for Rainy Days|The Last Orchard|Two Left Shoes|Letters from the Coast|The Silent Engine|Dust and Honey|Moon over the Mill|Half Past Nowhere
|The Art of Waiting|Green Thunder|Stairs to the Sea|A Handful of Salt|The Baker's Dozen|Running with Foxes|Glass Mountains|An Honest Thief
|Letter to Spring|Rust|Echoes|Harvest Moon|Cold Coffee|Before the Rain|Little Owl|Broken Compass|Summer in Minor|The Red Door|Old Friends""".replace("\n", "").split("|")
FOREIGN = """Fernweh Gemutlichkeit Zeitgeist Kartoffel Schmetterling Feierabend bonjour fromage papillon pamplemousse boulangerie siesta manana
naranja mariposa buenas tardes arrivederci gelato farfalla chiaroscuro saudade obrigado sardinha hygge smorgasbord lagom fika sauna
sisu kiitos talo dzien dobry pierogi zmrzlina kolac dobre rano ahoj spasibo babushka kalimera efharisto gracias merhaba kopru salam
habibi namaste chai arigato sakura kintsugi umami komorebi ikigai annyeong kimchi nihao dumpling hola mundo merci beaucoup guten Morgen
gesundheit Fahrrad Wolke Regenschirm oiseau etoile luciole perro gato zapato ventana ciudad strada finestra vento""".split()
PRODUCT = """Nova Pulse Aero Orbit Zenith Vertex Lumen Terra Aqua Volt Echo Apex Delta Sigma Omega Titan Falcon Comet Pixel Turbo Ranger Breeze
Atlas Cobalt Ember Glacier Horizon Juniper Kestrel Lynx Maple Nimbus Onyx Prism Quartz Raven Summit Tundra Vega Willow""".split()

ONSET = "b c d f g h j k l m n p r s t v w z br cl dr fl gr kl pr sh st tr ch th bl".split()
VOWEL = "a e i o u a e i o ai ea ou ia".split()
CODA = ["", "", "", "n", "r", "l", "s", "m", "t", "k", "nd", "rt", "ck", "x"]


def invented(rng: random.Random, low=2, high=3) -> str:
    return "".join(rng.choice(ONSET) + rng.choice(VOWEL) + rng.choice(CODA) for _ in range(rng.randint(low, high)))[:12]


def letters(rng, count):
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(count))


def first_name(rng):
    return rng.choice(FIRST) if rng.random() < 0.6 else invented(rng, 1, 3).capitalize()


def last_name(rng):
    return rng.choice(LAST) if rng.random() < 0.5 else invented(rng).capitalize()


def person(rng):
    return first_name(rng) if rng.random() < 0.5 else f"{first_name(rng)} {last_name(rng)}"


def city(rng):
    r = rng.random()
    if r < 0.55:
        return rng.choice(CITY if r < 0.5 else CITY_LONG)
    if r < 0.7:
        return rng.choice(lists.PROPER)
    name = invented(rng).capitalize()
    return name if rng.random() < 0.85 else rng.choice(["New ", "Port ", "San ", "Saint ", "Lake "]) + name


def word(rng):
    r = rng.random()
    if r < 0.35:
        return rng.choice(THING)
    return rng.choice(rng.choice([lists.NOUNS, lists.KINDS, lists.ADJECTIVES])) if r < 0.7 else invented(rng)


def thing(rng):
    r = rng.random()
    if r < 0.25:
        return rng.choice(THING)
    if r < 0.45:
        return rng.choice(rng.choice([lists.NOUNS, lists.KINDS]))
    if r < 0.65:
        return f"{rng.choice(COLOUR if r < 0.55 else ADJECTIVE)} {rng.choice(THING)}"
    if r < 0.7:
        return f"{rng.choice(THING)} {rng.choice(THING)}"
    return invented(rng)


def product(rng):
    name = rng.choice(PRODUCT) if rng.random() < 0.6 else invented(rng).capitalize()
    return rng.choice([name, f"{name} {rng.randint(1, 900)}", f"{name} {rng.choice('XSMLT')}{rng.randint(1, 99)}", f"{name} {rng.choice(PRODUCT)}", f"{name} {rng.choice(THING)}"])


def phrase(rng):
    """Two to four words that say nothing together: only copying gets them right."""
    pools = (THING, ADJECTIVE, PLACE, FOREIGN, TOPIC)
    return " ".join(invented(rng, 1, 2) if rng.random() < 0.25 else rng.choice(rng.choice(pools)) for _ in range(rng.choice([2, 2, 3, 4])))


def place(rng):
    r = rng.random()
    if r < 0.4:
        return rng.choice(PLACE)
    if r < 0.6:
        return f"{rng.choice(ADJECTIVE)} {rng.choice(PLACE)}"
    return f"{last_name(rng)} {rng.choice(PLACE).capitalize()}" if r < 0.85 else invented(rng)


def phone(rng):
    return rng.choice([f"+{rng.randint(1, 99)} {rng.randint(100, 999)} {rng.randint(10000, 9999999)}", f"{rng.randint(100, 999)}-{rng.randint(1000, 9999)}", f"0{rng.randint(100, 999)} {rng.randint(100000, 999999)}"])


def ip(rng):
    return ".".join(str(rng.randint(1, 254)) for _ in range(4))


def version(rng):
    return rng.choice(["", "", "v"]) + f"{rng.randint(0, 20)}.{rng.randint(0, 40)}" + rng.choice(["", f".{rng.randint(0, 30)}"])


def small(rng):
    return rng.choice([rng.randint(1, 12), rng.randint(1, 40), rng.randint(1, 100), rng.randint(5, 500)])


def any_string(rng):
    """A value of any shape, for slots that only their cue word identifies."""
    return rng.choice(ANY)(rng)


def code(rng):
    r = rng.random()
    if r < 0.35:
        return f"{letters(rng, rng.randint(1, 3)).upper()}-{rng.randint(1, 99999)}"
    if r < 0.55:
        return str(rng.randint(100, 999999))
    if r < 0.75:
        return "".join(rng.choice("abcdefghjkmnpqrstuvwxyz0123456789") for _ in range(rng.randint(4, 8)))
    if r < 0.9:
        return f"{letters(rng, 2).upper()}{rng.randint(10, 9999)}"
    return f"{rng.choice(THING)}-{rng.randint(1, 99)}"


def integer(rng):
    return rng.choice([rng.randint(1, 12), rng.randint(1, 99), rng.randint(10, 999), rng.randint(100, 99999)])


def number(rng):
    return integer(rng) if rng.random() < 0.6 else round(rng.random() * rng.choice([10, 100, 1000]) + 0.1, rng.choice([1, 2]))


def date(rng):
    return f"{rng.randint(2020, 2031)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def day(rng):
    return rng.choice(DAY + ["today", "tomorrow"]) if rng.random() < 0.7 else f"{rng.choice(MONTH)} {rng.randint(1, 28)}"


def time(rng):
    return f"{rng.randint(0, 23):02d}:{rng.choice([0, 5, 10, 15, 20, 30, 40, 45, 50]):02d}"


def email(rng):
    return f"{first_name(rng).lower()}{rng.choice(['', '.' + last_name(rng).lower(), str(rng.randint(1, 99))])}@{invented(rng)}.{rng.choice(['com', 'org', 'net', 'de', 'io'])}"


def path(rng):
    parts = [word(rng) for _ in range(rng.randint(1, 3))]
    return rng.choice(["/", "./", "", "/home/", "/data/"]) + "/".join(parts) + rng.choice([".txt", ".csv", ".json", ".md", ".log", ".pdf", ".py"])


def url(rng):
    return f"https://{invented(rng)}.{rng.choice(['com', 'org', 'net', 'io'])}" + rng.choice(["", "/" + word(rng), f"/{word(rng)}/{integer(rng)}"])


def text(rng):
    r = rng.random()
    if r < 0.45:
        return rng.choice(TEXTS)
    if r < 0.7:
        return f"{rng.choice(['bring', 'buy', 'sell', 'find', 'fix', 'clean', 'paint', 'move', 'call about', 'ask for', 'check'])} the {thing(rng)}"
    return " ".join(invented(rng, 1, 2) if rng.random() < 0.5 else rng.choice(THING) for _ in range(rng.randint(2, 5)))


def title(rng):
    if rng.random() < 0.3:
        return rng.choice(TITLE)
    return rng.choice([text(rng).capitalize(), f"{rng.choice(TOPIC).capitalize()} {rng.choice(['club', 'week', 'notes', 'plan', 'list'])}", invented(rng).capitalize()])


ANY = [invented, invented, word, word, thing, thing, person, city, code, text, title, title, product, phrase, phrase, place,
       lambda rng: rng.choice(FOREIGN), lambda rng: rng.choice(ADJECTIVE), lambda rng: " ".join(invented(rng, 1, 2) for _ in range(2))]


def expand(pattern: str, rng: random.Random) -> str:
    """Replaces each `(a|b|)` by one of its alternatives; groups may be nested."""
    return " ".join(choose(pattern, rng).split())


def choose(pattern: str, rng: random.Random) -> str:
    out, index = [], 0
    while index < len(pattern):
        if pattern[index] != "(":
            out.append(pattern[index])
            index += 1
            continue
        depth, options, current, index = 1, [], [], index + 1
        while depth:
            char = pattern[index]
            depth += (char == "(") - (char == ")")
            if depth == 1 and char == "|":
                options.append("".join(current))
                current = []
            elif depth:
                current.append(char)
            index += 1
        options.append("".join(current))
        out.append(choose(rng.choice(options), rng))
    return "".join(out)
