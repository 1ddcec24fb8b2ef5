"""Slot values: lists written for this project, and makers of random names, ids, numbers, dates and texts."""

import random

FIRST = """Anna Marta Peter Lukas Jonas Emma Olga Ivan Sven Ingrid Carlos Lucia Pablo Sofia Mateo Elena Marco Giulia Luca Chiara
Pierre Claire Hugo Louise Jean Camille Ahmed Fatima Omar Layla Yusuf Amina Wei Mei Jun Li Hiro Yuki Kenji Sakura Raj Priya Arjun Anita
Kofi Ama Kwame Zuri Tunde Ngozi John Mary James Susan Robert Linda David Karen Tom Sarah Kate Paul Laura Mike Jane Nick Amy Ben Lisa
Max Nina Felix Clara Oskar Greta Anton Vera Boris Irina Marek Zofia Pavel Hana Milan Petra Andrei Ioana Nikos Eleni Aylin Emre Noor Sami
Eero Aino Lars Freya Erik Astrid Bram Sanne Diego Carmen Rosa Miguel Tiago Ines Rui Beatriz Sean Aoife Rhys Megan Isla Callum""".split()
LAST = """Klein Meyer Weber Fischer Schulz Wagner Novak Horak Svoboda Kowalski Nowak Rossi Ferrari Bianchi Romano Garcia Lopez Torres Ruiz
Moreau Petit Laurent Girard Dubois Smith Jones Taylor Brown Evans Walker Wright Hill Green Baker Carter Turner Parker Reed Cook Bell
Hansen Olsen Larsen Berg Lund Dahl Virtanen Korhonen Nieminen Jansen Visser Bakker Silva Costa Pereira Santos Khan Patel Singh Gupta
Tanaka Suzuki Sato Kim Park Chen Wang Zhang Nguyen Tran Haddad Nasser Demir Kaya Popov Ivanov Petrov Okafor Mensah Diallo""".split()
CITY = """Berlin Hamburg Munich Vienna Graz Zurich Geneva Paris Lyon Nice Lille Madrid Seville Bilbao Lisbon Porto Rome Milan Turin Naples
Athens Patras Sofia Varna Bucharest Cluj Budapest Prague Brno Warsaw Krakow Gdansk Vilnius Riga Tallinn Helsinki Turku Stockholm Malmo Oslo
Bergen Copenhagen Aarhus Dublin Cork London Leeds Bristol Glasgow Cardiff Amsterdam Utrecht Brussels Ghent Tokyo Osaka Kyoto Seoul Busan
Beijing Shanghai Delhi Mumbai Chennai Cairo Tunis Lagos Accra Nairobi Boston Denver Austin Seattle Chicago Dallas Miami Toronto Montreal
Sydney Perth Auckland Lima Bogota Quito Santiago""".split()
THING = """apple banana pear lemon bread milk butter cheese rice sugar flour coffee tea honey salt pepper onion carrot potato tomato
chair table lamp sofa desk shelf carpet mirror clock bottle cup plate spoon knife pan kettle towel pillow blanket candle umbrella
jacket shirt hat shoes gloves scarf belt ring watch bag wallet phone laptop keyboard mouse monitor printer camera tablet charger cable
bike car truck bus train boat plane scooter hammer saw drill nail screw rope ladder bucket brush paint glue pencil paper notebook book
stapler guitar piano violin drum ball racket tent""".split()
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
|pick up the kids|sign the contract|order new toner|take out the trash|back up the files""".replace("\n", "").split("|")

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
    if rng.random() < 0.5:
        return rng.choice(CITY)
    name = invented(rng).capitalize()
    return name if rng.random() < 0.85 else rng.choice(["New ", "Port ", "San ", "Saint ", "Lake "]) + name


def word(rng):
    return rng.choice(THING) if rng.random() < 0.5 else invented(rng)


def thing(rng):
    r = rng.random()
    if r < 0.45:
        return rng.choice(THING)
    if r < 0.65:
        return f"{rng.choice(COLOUR)} {rng.choice(THING)}"
    return invented(rng)


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
    return rng.choice([text(rng).capitalize(), f"{rng.choice(TOPIC).capitalize()} {rng.choice(['club', 'week', 'notes', 'plan', 'list'])}", invented(rng).capitalize()])


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
