"""Dialogues with tools: choosing, copying arguments, answering from results, answering in words.

A tool is composed from a verb group, an object and parameters; its name, description and parameter names are drawn
from synonyms, so that the model has to read the definitions instead of remembering them.
"""

import json

import words as w

FOOTER = ('Answer with exactly one JSON object and nothing else: {"svc_tool_envelope":1,"call":{"name":"<tool>","arguments":{...}}} '
          'to call a tool, or {"svc_tool_envelope":1,"text":"<answer>"} to answer in words.')
HEADER = "# Tools\nYou may call one tool. Tools, one JSON object per line:\n"


def compact(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def envelope_text(answer: str) -> str:
    return compact({"svc_tool_envelope": 1, "text": answer})


def envelope_call(name: str, arguments: dict) -> str:
    return compact({"svc_tool_envelope": 1, "call": {"name": name, "arguments": arguments}})


# verb group: (name verbs, description verbs, what a user says), result kind
VERBS = [
    (["get", "fetch", "read", "show", "load"], ["Get", "Fetch", "Return", "Read", "Show"], ["get", "show me", "fetch", "give me", "read", "what is", "I need", "let me see", "can you get"], "read"),
    (["find", "search", "lookup", "query"], ["Find", "Search for", "Look up"], ["find", "search for", "look up", "look for", "search", "is there"], "read"),
    (["create", "add", "make", "new", "insert"], ["Create", "Add", "Make a new", "Create a new"], ["create", "add", "make", "set up", "I want a new", "please add", "new"], "write"),
    (["delete", "remove", "erase", "drop"], ["Delete", "Remove", "Erase"], ["delete", "remove", "erase", "get rid of", "throw away", "I no longer need"], "write"),
    (["update", "change", "edit", "modify"], ["Update", "Change", "Edit"], ["update", "change", "edit", "modify", "adjust"], "write"),
    (["send", "mail", "post", "submit"], ["Send", "Submit", "Post"], ["send", "post", "submit", "mail"], "write"),
    (["start", "run", "launch", "begin"], ["Start", "Run", "Launch"], ["start", "run", "launch", "begin", "kick off"], "write"),
    (["stop", "cancel", "end", "abort"], ["Stop", "Cancel", "End"], ["stop", "cancel", "end", "abort", "call off"], "write"),
    (["list", "enumerate"], ["List", "List all", "Show all"], ["list", "show all", "which are there:", "give me all", "list all"], "list"),
    (["count"], ["Count", "Count the"], ["count", "how many are there:", "give me the number of", "count the"], "read"),
    (["book", "reserve"], ["Book", "Reserve"], ["book", "reserve", "I would like to book", "I want to reserve"], "write"),
    (["order", "buy", "purchase"], ["Order", "Buy"], ["order", "buy", "I want to buy", "get me", "purchase"], "write"),
    (["open", "unlock"], ["Open", "Unlock"], ["open", "unlock", "please open"], "write"),
    (["close", "lock", "shut"], ["Close", "Lock"], ["close", "lock", "shut", "please close"], "write"),
    (["set", "configure"], ["Set", "Configure"], ["set", "put", "configure", "please set"], "write"),
    (["check", "test", "verify"], ["Check", "Check the state of", "Verify"], ["check", "verify", "what is the state of", "test", "is everything fine with"], "read"),
    (["rate", "review"], ["Rate", "Review"], ["rate", "review", "I want to rate"], "write"),
    (["track", "follow"], ["Track", "Follow"], ["track", "follow", "where is", "any news on"], "read"),
    (["print"], ["Print"], ["print", "print out", "please print"], "write"),
    (["assign", "give"], ["Assign", "Hand over"], ["assign", "hand over", "give"], "write"),
    (["archive", "store"], ["Archive", "Store away"], ["archive", "put away", "store away"], "write"),
    (["share", "invite"], ["Share", "Share with others the"], ["share", "let others see"], "write"),
    (["download", "export"], ["Download", "Export"], ["download", "export", "save"], "write"),
    (["measure", "estimate"], ["Measure", "Estimate"], ["measure", "estimate", "how large is"], "read"),
    (["play"], ["Play"], ["play", "put on", "I want to hear"], "write"),
    (["repair", "fix"], ["Repair", "Fix"], ["repair", "fix", "mend"], "write"),
]

# object: tool noun, spoken forms, kinds of parameters that suit it
OBJECTS = {}
for line in """invoice:invoice,bill:person number code date
ticket:ticket:person code text level
order:order:code person thing count
parcel:parcel,package:code city
customer:customer,client:person email city
employee:employee,worker:person email room
meeting:meeting,appointment:person day time title
event:event:title day time city
task:task,todo:text day level person
note:note:text title
reminder:reminder:text time day
message:message:person text
email:email,mail:email text title
room:room:room day count
table:table:count time person
hotel:hotel,hotel room:city date count
flight:flight:city date code
train:train:city day time
taxi:taxi,cab:address time
song:song,track:title person
playlist:playlist:title
movie:movie,film:title day
recipe:recipe:thing count
product:product,article:thing number code
price:price:thing code
stock:stock,inventory:thing code
account:account:code person
payment:payment,transfer:person number code
user:user:person email
password:password:person length
file:file:path
folder:folder,directory:path
document:document:path title
report:report:date title
photo:photo,picture:path title
backup:backup:path day
server:server,machine:host
database:database:word host
log:log:host level count
job:job:code word
build:build:word code
branch:branch:word
issue:issue,bug:title level code
lamp:lamp,light:room level
heating:heating,heater:room number
alarm:alarm:time day
timer:timer:minutes
door:door:room
window:window:room
camera:camera:room
sensor:sensor:code room
thermostat:thermostat:room number
garden:garden,sprinkler:minutes
plant:plant:word day
pet:pet,animal:person
patient:patient:person code
prescription:prescription:person thing
course:course,class:title day
student:student,pupil:person email
grade:grade,mark:person number
book:book:title person
library:library:city
member:member:person email
vote:vote:title
survey:survey:title
contract:contract:person date
car:car,vehicle:code city date
bike:bike:city
route:route,way:city city2
map:map:city
weather:weather,forecast:city day
temperature:temperature:city unit
currency:exchange rate:currency number
translation:translation:text language
definition:definition,meaning:word
summary:summary:path count
news:news,headlines:topic count
score:score,result:team
game:game,match:team day
shipment:shipment,delivery:code city
warehouse:warehouse:city thing
machine:machine:code
robot:robot:word
channel:channel:word
contact:contact:person email
calendar:calendar:day
holiday:holiday,vacation:date person
expense:expense:number text date
budget:budget:number word
loan:loan:number person
subscription:subscription:email
coupon:coupon,voucher:code
review:review:thing count text
comment:comment:text code
page:page,website:url
link:link:url
domain:domain:host
certificate:certificate:host
key:key:code person
token:token:person
queue:queue:word count
printer:printer:room
label:label,tag:word
tag:tag:word
model:model:word
metric:metric:word host
graph:chart,graph:title
clock:clock:city
distance:distance:city city2
battery:battery:code
tank:tank:code number
pump:pump:code
gate:gate:code
lesson:lesson:title person
team:team:word person
project:project:title person
milestone:milestone:title date
article:article,blog post:title topic""".splitlines():
    noun, spoken, kinds = line.split(":")
    OBJECTS[noun] = (spoken.split(","), kinds.split())

# parameter kind: (names, schema type, descriptions, value maker, how it is mentioned; {v} is the value)
KINDS = {
    "person": (["name", "person", "customer", "user", "who", "recipient", "owner", "contact", "to"], "string", ["Name of the person", "Full name", "Who it is for", "The person's name"], w.person, ["for {v}", "for {v}", "of {v}", "from {v}", "the name is {v}", "{v} is the person"]),
    "email": (["email", "address", "mail", "email_address", "to"], "string", ["Email address", "The address"], w.email, ["for {v}", "with the email {v}", "to {v}", "address {v}", "email: {v}"]),
    "city": (["city", "location", "place", "town", "where", "destination"], "string", ["City name", "Name of the city", "The place", "Where"], w.city, ["in {v}", "in {v}", "for {v}", "at {v}", "to {v}", "near {v}", "the city is {v}"]),
    "city2": (["origin", "from", "start", "from_city", "departure"], "string", ["Start city", "Where the trip begins", "City of departure"], w.city, ["from {v}", "starting in {v}", "leaving from {v}"]),
    "number": (["amount", "value", "price", "sum", "total", "target"], "number", ["The amount", "Value as a number", "Amount in euros"], w.number, ["of {v}", "with the amount {v}", "at {v}", "to {v}", "amount {v}", "for {v} euros"]),
    "count": (["count", "limit", "quantity", "number", "guests", "max", "n"], "integer", ["How many", "Maximum number of results", "Number of items"], w.integer, ["({v} of them)", "limit {v}", "for {v} people", "at most {v}", "quantity {v}", "count {v}", "{v} pieces"]),
    "code": (["id", "code", "number", "reference", "key", "ref", "serial"], "string", ["Identifier", "The id", "Reference number", "Unique code"], w.code, ["{v}", "{v}", "number {v}", "with id {v}", "id {v}", "with the code {v}", "no. {v}"]),
    "date": (["date", "day", "due", "from_date", "on", "start_date"], "string", ["Date as YYYY-MM-DD", "The date", "Due date"], w.date, ["on {v}", "for {v}", "dated {v}", "date {v}", "by {v}"]),
    "day": (["day", "date", "when", "weekday"], "string", ["The day", "Day of the week or date", "When"], w.day, ["on {v}", "for {v}", "{v}", "day: {v}"]),
    "time": (["time", "at", "hour", "start", "start_time"], "string", ["Time as HH:MM", "Time of day", "Start time"], w.time, ["at {v}", "at {v}", "for {v}", "time {v}"]),
    "minutes": (["minutes", "duration", "length", "duration_minutes"], "integer", ["Duration in minutes", "Minutes", "How long"], w.integer, ["for {v} minutes", "of {v} minutes", "{v} minutes"]),
    "length": (["length", "size", "chars"], "integer", ["Number of characters", "Length"], w.integer, ["with {v} characters", "of length {v}", "{v} characters long"]),
    "text": (["text", "content", "body", "message", "description", "note"], "string", ["The text", "Content", "What it says", "Message text"], w.text, ['"{v}"', ": {v}", "saying {v}", "with the text '{v}'", "that says \"{v}\"", "with the text {v}"]),
    "title": (["title", "name", "subject", "topic"], "string", ["The title", "Title", "Name of it"], w.title, ['"{v}"', "called {v}", "titled {v}", "named \"{v}\"", "with the title {v}", "{v}"]),
    "thing": (["item", "product", "name", "article", "what"], "string", ["The item", "Product name", "Name of the item"], w.thing, ["for {v}", "of {v}", "with {v}", "item {v}", "{v}"]),
    "word": (["name", "word", "label", "key", "id"], "string", ["The name", "Name", "A single word"], w.word, ["{v}", "named {v}", "called {v}", "\"{v}\"", "with the name {v}"]),
    "path": (["path", "file", "filename", "source"], "string", ["Path of the file", "File path", "Where the file is"], w.path, ["{v}", "at {v}", "from {v}", "in {v}"]),
    "url": (["url", "link", "address", "page"], "string", ["The URL", "Web address", "Address of the page"], w.url, ["{v}", "at {v}", "from {v}"]),
    "host": (["host", "hostname", "server", "target", "node"], "string", ["Host name", "Name of the machine"], lambda r: f"{w.word(r)}{r.choice(['', '-' + str(r.randint(1, 20)), '.local', '.' + w.invented(r) + '.net'])}", ["{v}", "on {v}", "for {v}", "of {v}"]),
    "topic": (["topic", "subject", "category", "about", "query"], "string", ["The topic", "What it is about", "Search words"], lambda r: r.choice(w.TOPIC) if r.random() < 0.5 else w.invented(r), ["about {v}", "on {v}", "about {v}"]),
    "team": (["team", "club", "side"], "string", ["Name of the team"], lambda r: w.city(r) + r.choice(["", " United", " FC", " Tigers", " Eagles"]), ["of {v}", "for {v}"]),
    "address": (["address", "pickup", "street", "location"], "string", ["Street and number", "Pickup address"], lambda r: f"{w.last_name(r)} {r.choice(['Street', 'Road', 'Lane'])} {r.randint(1, 200)}", ["at {v}", "to {v}", "from {v}"]),
    "room": (["room", "location", "place", "area"], "string", ["Which room", "Name of the room"], lambda r: r.choice(w.ROOM) if r.random() < 0.7 else w.invented(r) + " room", ["in the {v}", "of the {v}", "for the {v}"]),
    "language": (["language", "target", "to", "target_language", "lang"], "string", ["Target language", "Language name"], lambda r: r.choice(w.LANGUAGE), ["into {v}", "to {v}", "in {v}"]),
    "level": (["priority", "level", "severity", "mode"], "enum", ["How urgent", "Level"], lambda r: r.choice([["low", "medium", "high"], ["low", "normal", "high", "urgent"], ["debug", "info", "warn", "error"], ["off", "dim", "bright"], ["minor", "major", "critical"]]), ["with {k} {v}", "{k} {v}", "{v} {k}", "({v})"]),
    "unit": (["unit", "units", "scale"], "enum", ["Unit of measurement"], lambda r: r.choice([["celsius", "fahrenheit"], ["metric", "imperial"], ["km", "miles"], ["C", "F"]]), ["in {v}", "in {v}"]),
    "currency": (["currency", "code", "to"], "enum", ["Currency code"], lambda r: r.choice([["EUR", "USD", "GBP"], ["USD", "CHF", "JPY", "EUR"]]), ["in {v}", "for {v}", "to {v}"]),
    "flag": (["urgent", "notify", "force", "verbose", "recursive", "private", "express", "gift_wrap", "silent", "archived", "draft"], "boolean", ["Whether to do so", "Switch"], None, []),
    "choice": (["color", "size", "format", "type", "kind", "style"], "enum", ["One of the given values"], lambda r: r.choice([["red", "green", "blue"], ["small", "medium", "large"], ["pdf", "csv", "json"], ["daily", "weekly", "monthly"], ["round", "square"], [w.invented(r) for _ in range(r.randint(2, 4))]]), ["{k} {v}", "in {v}", "as {v}", "with {k} {v}"]),
}
FLAG_PHRASES = {
    "urgent": ("it is urgent", "it is not urgent"), "notify": ("and notify everyone", "without notifying anyone"), "force": ("use force", "without force"),
    "verbose": ("verbose please", "not verbose"), "recursive": ("recursive", "not recursive"), "private": ("make it private", "not private"),
    "express": ("express please", "no express"), "gift_wrap": ("with gift wrap", "no gift wrap"), "silent": ("silent", "not silent"),
    "archived": ("archived", "not archived"), "draft": ("as a draft", "not a draft"),
}


class Parameter:
    def __init__(self, kind, rng, taken):
        names, self.type, descriptions, self.maker, self.mentions = KINDS[kind]
        self.kind = kind
        free = [n for n in names if n not in taken] or [w.invented(rng)]
        self.name = rng.choice(free)
        if kind == "flag":
            self.name = rng.choice([n for n in FLAG_PHRASES if n not in taken])
        self.options = self.maker(rng) if self.type == "enum" else None
        self.description = rng.choice(descriptions) if rng.random() < 0.6 else None
        self.required = rng.random() < 0.75

    def schema(self):
        out = {"type": "string" if self.type == "enum" else self.type}
        if self.options:
            out["enum"] = self.options
        if self.description:
            out["description"] = self.description
        return out

    def sample(self, rng):
        if self.type == "boolean":
            return rng.random() < 0.6
        return rng.choice(self.options) if self.options else self.maker(rng)

    def mention(self, value, rng):
        if self.type == "boolean":
            return FLAG_PHRASES[self.name][0 if value else 1]
        spoken = self.name.replace("_", " ")
        if rng.random() < 0.12:
            return f"{spoken} {value}" if rng.random() < 0.5 else f"{spoken}: {value}"
        return rng.choice(self.mentions).format(v=value, k=spoken)


class Tool:
    def __init__(self, rng, verb=None, noun=None):
        self.verb = verb or rng.choice(VERBS)
        if noun is None:
            noun = rng.choice(list(OBJECTS)) if rng.random() < 0.8 else None
        if noun:
            self.noun, (self.spoken, kinds) = noun, OBJECTS[noun]
            self.spoken = list(self.spoken)
        else:
            self.noun = w.invented(rng)
            self.spoken, kinds = [self.noun], rng.sample(list(KINDS)[:-2], rng.randint(1, 3))
        kinds = list(dict.fromkeys(kinds))
        rng.shuffle(kinds)
        kinds = kinds[: rng.choice([1, 1, 2, 2, 3])]
        if rng.random() < 0.15:
            kinds.append(rng.choice(["flag", "choice"]))
        if rng.random() < 0.05:
            kinds = []
        self.parameters = []
        for kind in kinds:
            self.parameters.append(Parameter(kind, rng, {p.name for p in self.parameters}))
        name_verb, noun = rng.choice(self.verb[0]), rng.choice([self.noun, self.spoken[0].replace(" ", "_")])
        plural = "s" if self.verb[3] == "list" else ""
        camel = name_verb + "".join(x.capitalize() for x in noun.split("_")) + plural
        self.name = rng.choice([f"{name_verb}_{noun}{plural}"] * 5 + [camel, f"{noun}_{name_verb}", f"{noun}.{name_verb}", f"{name_verb}-{noun}{plural}", f"{noun}{plural}"])
        article = "" if self.verb[3] == "list" else rng.choice(["a ", "a ", "the ", ""])
        self.description = f"{rng.choice(self.verb[1])} {article}{rng.choice(self.spoken)}{plural}"
        tail = rng.random()
        if tail < 0.3 and self.parameters:
            self.description += rng.choice([" by ", " for a given ", " with "]) + self.parameters[0].name.replace("_", " ")
        elif tail < 0.4:
            self.description += rng.choice([" in the system", " and return it", " for the user", " of the house", " in the list"])
        self.description += rng.choice(["", "", "."])

    def definition(self, rng):
        properties = {p.name: p.schema() for p in self.parameters}
        parameters = {"type": "object", "properties": properties}
        required = [p.name for p in self.parameters if p.required]
        if required or rng.random() < 0.3:
            parameters["required"] = required
        if rng.random() < 0.15:
            parameters["additionalProperties"] = False
        return {"name": self.name, "description": self.description, "parameters": parameters}

    def ask(self, rng):
        """A user message and the arguments it gives."""
        given = [p for p in self.parameters if p.required or rng.random() < 0.5]
        values = {p.name: p.sample(rng) for p in given}
        verb, spoken = rng.choice(self.verb[2]), rng.choice(self.spoken)
        if self.verb[3] == "list" or verb.startswith(("how many", "count", "give me the number", "which are")):
            spoken += "s"
        order = list(given)
        rng.shuffle(order)
        mentions = [p.mention(values[p.name], rng) for p in order]
        article = rng.choice(["the ", "a ", "the ", "my ", ""]) if not spoken.endswith("s") else rng.choice(["the ", "", "all "])
        if verb.startswith(("I want a new", "new", "give me all", "show all", "list all")):
            article = ""
        body = f"{verb} {article}{spoken}"
        joiner = rng.choice([" ", " ", " ", ", ", " and "])
        body += "".join((" " if i == 0 or m.startswith(":") else joiner) + m for i, m in enumerate(mentions)).replace(" : ", ": ")
        prefix = rng.choice(["", "", "", "", "please ", "could you ", "can you ", "hey, ", "I need you to ", "now ", "ok, ", "hi! ", "next: ", "would you "])
        if verb.split()[0] in ("I", "what", "how", "is", "which", "where", "any", "can", "please", "let"):
            prefix = rng.choice(["", "", "", "hey, ", "hi! ", "now ", "ok, "])
        suffix = rng.choice(["", "", "", ".", ".", "!", " please", ", please.", " thanks", "?" if verb.startswith(("what", "how", "is", "which", "where", "any")) else ""])
        message = prefix + body + suffix
        if rng.random() < 0.6:
            message = message[0].upper() + message[1:]
        return message, {p.name: values[p.name] for p in self.parameters if p.name in values}


FAMILIES = []  # hand-written tools whose users do not repeat the words of the definition


def family(names, descriptions, parameters, asks):
    FAMILIES.append((names, descriptions, parameters, asks))


family(["get_weather", "weather", "current_weather", "forecast"], ["Get the current weather for a city", "Weather report for a place", "Current conditions in a city"], [("city", "string", w.city)],
       ["do I need an umbrella in {city}", "is it raining in {city}", "how warm is it in {city}", "what's it like outside in {city}", "weather in {city}", "what is the weather in {city} (today|now|)", "is it cold in {city}", "how is the weather in {city}", "will it snow in {city}", "(tell me the |)temperature in {city}"])
family(["calculate", "calculator", "evaluate", "compute"], ["Evaluate an arithmetic expression", "Compute the result of a formula", "Simple calculator"], [("expression", "string", lambda r: f"{w.integer(r)}{r.choice([' + ', '*', ' - ', '/', '+', ' * '])}{w.integer(r)}")],
       ["what is {expression}", "(how much is|calculate|compute|work out) {expression}", "{expression} = ?", "what does {expression} give", "solve {expression}"])
family(["get_time", "time_in", "current_time", "clock"], ["Get the current time in a city", "Local time of a place"], [("city", "string", w.city)],
       ["what time is it in {city}", "how late is it in {city}", "(what's the|current|local|tell me the) time in {city}", "is it night in {city}"])
family(["translate", "translate_text", "translator"], ["Translate a text into another language", "Translates text"], [("text", "string", w.text), ("language", "string", lambda r: r.choice(w.LANGUAGE))],
       ["how do you say \"{text}\" in {language}", "translate \"{text}\" (into|to) {language}", "what is '{text}' in {language}", "put \"{text}\" into {language}", "say '{text}' in {language}"])
family(["send_email", "email", "mail_send"], ["Send an email to somebody", "Sends a mail"], [("to", "string", w.email), ("body", "string", w.text)],
       ["(write|mail|email|send a mail|send an email) to {to}: {body}", "tell {to} by mail that {body}", "let {to} know: {body}", "email {to} saying \"{body}\""])
family(["send_message", "text_person", "sms", "notify_person"], ["Send a short message to a person", "Text someone"], [("recipient", "string", w.first_name), ("message", "string", w.text)],
       ["tell {recipient} {message}", "text {recipient}: {message}", "let {recipient} know that {message}", "message {recipient} \"{message}\"", "write {recipient} that {message}"])
family(["set_timer", "start_timer", "countdown"], ["Start a countdown timer", "Sets a timer in minutes"], [("minutes", "integer", w.integer)],
       ["(wake me|remind me|ring|beep) in {minutes} minutes", "set a timer for {minutes} minutes", "{minutes} minute timer", "count down {minutes} minutes", "timer: {minutes} min"])
family(["web_search", "search", "search_web", "search_internet"], ["Search the web", "Find pages on the internet", "Look something up online"], [("query", "string", lambda r: f"{r.choice(w.TOPIC)} {r.choice(w.THING)}" if r.random() < 0.5 else w.text(r))],
       ["search (the web|online|the internet|) for {query}", "look up {query} (online|on the web|)", "google {query}", "find (pages|something) (about|on) {query}", "what can you find about {query}"])
family(["turn_on_light", "switch_on", "light_on"], ["Turn on the light in a room", "Switch a lamp on"], [("room", "string", lambda r: r.choice(w.ROOM))],
       ["it is dark in the {room}", "lights on in the {room}", "(turn|switch) on the (light|lamp) in the {room}", "I can't see in the {room}", "make some light in the {room}"])
family(["turn_off_light", "switch_off", "light_off"], ["Turn off the light in a room", "Switch a lamp off"], [("room", "string", lambda r: r.choice(w.ROOM))],
       ["lights (off|out) in the {room}", "(turn|switch) off the (light|lamp) in the {room}", "make the {room} dark", "it is too bright in the {room}"])
family(["add_to_cart", "cart_add", "shopping_list_add"], ["Put an item into the shopping cart", "Add an item to the shopping list"], [("item", "string", w.thing), ("quantity", "integer", w.integer)],
       ["I need {quantity} {item}", "(buy|get|order|put) {quantity} {item} (in the cart|on the list|)", "{quantity} x {item} please", "add {quantity} of {item}"])
family(["convert_currency", "exchange", "currency_convert"], ["Convert an amount of money between currencies"], [("amount", "number", w.number), ("from", "string", lambda r: r.choice("EUR USD GBP CHF JPY SEK PLN CZK INR BRL".split())), ("to", "string", lambda r: r.choice("EUR USD GBP CHF JPY SEK PLN CZK INR BRL".split()))],
       ["how much is {amount} {from} in {to}", "convert {amount} {from} (to|into) {to}", "change {amount} {from} into {to}", "{amount} {from} in {to}", "what are {amount} {from} worth in {to}"])
family(["convert_units", "unit_convert"], ["Convert a value from one unit to another"], [("value", "number", w.number), ("from_unit", "string", lambda r: r.choice("km miles kg pounds meters feet litres gallons inches cm grams ounces".split())), ("to_unit", "string", lambda r: r.choice("km miles kg pounds meters feet litres gallons inches cm grams ounces".split()))],
       ["how many {to_unit} are {value} {from_unit}", "convert {value} {from_unit} (to|into) {to_unit}", "{value} {from_unit} in {to_unit}"])
family(["read_file", "open_file", "cat"], ["Read the contents of a file", "Return what a file contains"], [("path", "string", w.path)],
       ["what is in {path}", "(show|read|print|display|open) (me |){path}", "what does {path} (say|contain)", "let me see {path}"])
family(["write_file", "save_file"], ["Write text to a file", "Save content in a file"], [("path", "string", w.path), ("content", "string", w.text)],
       ["write \"{content}\" (to|into) {path}", "save \"{content}\" (as|in) {path}", "put '{content}' into {path}"])
family(["list_files", "ls", "list_directory"], ["List the files in a directory"], [("path", "string", lambda r: "/" + "/".join(w.word(r) for _ in range(r.randint(1, 3))))],
       ["what files are in {path}", "which files does {path} have", "(list|ls|show) {path}", "what is inside {path}"])
family(["play_music", "play_song"], ["Play a song or an artist"], [("query", "string", w.title)],
       ["I want to hear {query}", "play {query}", "put on {query}", "some {query} please"])
family(["get_stock_price", "stock_quote", "share_price"], ["Get the current share price of a company"], [("symbol", "string", lambda r: w.letters(r, r.randint(2, 4)).upper())],
       ["what does {symbol} trade at", "how is {symbol} doing", "(price|share price|quote|stock price) of {symbol}", "what is {symbol} worth"])
family(["navigate", "get_directions", "route"], ["Find the way between two places", "Directions from one place to another"], [("origin", "string", w.city), ("destination", "string", w.city)],
       ["how do I get from {origin} to {destination}", "way from {origin} to {destination}", "I am in {origin} and want to go to {destination}", "(directions|route) from {origin} to {destination}", "drive me from {origin} to {destination}"])
family(["create_event", "add_event", "calendar_add"], ["Put an event into the calendar", "Create a calendar entry"], [("title", "string", w.title), ("date", "string", w.date), ("time", "string", w.time)],
       ["(schedule|plan|put) {title} on {date} at {time}", "{title} is on {date} at {time}, note it", "calendar: {title}, {date}, {time}", "I have {title} on {date} at {time}"])
family(["get_user", "find_user", "user_info"], ["Look up a user by id", "Get the profile of a user"], [("id", "integer", w.integer)],
       ["who is user {id}", "(show|get|fetch) user {id}", "details of user {id}", "user number {id}"])
family(["run_query", "sql", "query_database"], ["Run an SQL query on the database"], [("sql", "string", lambda r: f"SELECT {r.choice(['*', 'name', 'count(*)', 'id'])} FROM {w.word(r)}s" + r.choice(["", f" LIMIT {w.integer(r)}", f" WHERE id = {w.integer(r)}"]))],
       ["run {sql}", "execute {sql}", "(query|ask) the database: {sql}"])
family(["roll_dice", "dice"], ["Roll dice"], [("sides", "integer", w.integer)],
       ["roll a {sides} sided die", "throw a d{sides}", "roll a dice with {sides} sides"])
family(["define_word", "dictionary"], ["Look up the meaning of a word", "Dictionary entry of a word"], [("word", "string", w.word)],
       ["what does {word} mean", "define {word}", "meaning of {word}", "look up the word {word}", "what is a {word}"])
family(["ping_host", "ping", "check_host"], ["Check whether a host can be reached"], [("host", "string", lambda r: f"{w.invented(r)}.{r.choice(['com', 'net', 'local'])}")],
       ["is {host} up", "can you reach {host}", "is {host} (online|alive|reachable)", "ping {host}"])


class FamilyTool(Tool):
    def __init__(self, rng, index=None):
        names, descriptions, parameters, self.asks = FAMILIES[index] if index is not None else rng.choice(FAMILIES)
        self.name, self.description = rng.choice(names), rng.choice(descriptions)
        self.raw = parameters
        self.verb = (None, None, None, "read")
        self.spoken = [names[0].replace("_", " ")]
        self.described = rng.random() < 0.4

    def definition(self, rng):
        properties = {n: {"type": t, **({"description": f"The {n.replace('_', ' ')}"} if self.described else {})} for n, t, _ in self.raw}
        return {"name": self.name, "description": self.description,
                "parameters": {"type": "object", "properties": properties, "required": [n for n, _, _ in self.raw]}}

    def ask(self, rng):
        values = {n: maker(rng) for n, _, maker in self.raw}
        message = w.expand(rng.choice(self.asks), rng)
        for name, value in values.items():
            message = message.replace("{" + name + "}", str(value))
        message = rng.choice(["", "", "", "please ", "hey, ", "can you help: ", "quick: "]) + message + rng.choice(["", "", "?", ".", " please"])
        return (message[0].upper() + message[1:] if rng.random() < 0.6 else message), values


def toolbox(rng, size):
    """Tools with distractors that share the verb or the object with the first one."""
    tools = [FamilyTool(rng) if rng.random() < 0.3 else Tool(rng)]
    while len(tools) < size:
        r = rng.random()
        first = tools[0]
        if r < 0.25 and type(first) is Tool and first.noun in OBJECTS:
            new = Tool(rng, noun=first.noun)
            if new.verb is first.verb:
                continue
        elif r < 0.4 and type(first) is Tool:
            new = Tool(rng, verb=first.verb)
            if new.noun == first.noun:
                continue
        else:
            new = FamilyTool(rng) if rng.random() < 0.3 else Tool(rng)
        clash = any(t.name == new.name or (type(t) is type(new) and set(t.spoken) & set(new.spoken) and t.verb is new.verb) for t in tools)
        if not clash:
            tools.append(new)
    rng.shuffle(tools)
    return tools


SYSTEMS = ["", "", "", "You are a helpful assistant.", "You are a helpful assistant that uses tools.", "Be brief.", "Use the tools when they help.",
           "You are an assistant in a small company.", "Today is 2026-11-20.", "Answer shortly.", "You help at home.", "You are an agent. Call tools to do what the user asks."]


def system_turn(tools, rng):
    own = rng.choice(SYSTEMS)
    lines = "\n".join(compact(t.definition(rng)) for t in tools)
    return (own + "\n\n" if own else "") + HEADER + lines + "\n" + FOOTER


# --- results -------------------------------------------------------------------------------------------------------

RESULT_FIELDS = [
    ("temperature", lambda r: f"{r.randint(-15, 40)}"), ("balance", w.number), ("price", w.number), ("total", w.number), ("status", lambda r: r.choice(["ok", "open", "closed", "pending", "shipped", "done", "running", "active", "paused", "delivered"])),
    ("name", w.person), ("city", w.city), ("owner", w.person), ("id", w.code), ("date", w.date), ("time", w.time), ("count", w.integer), ("email", w.email),
    ("size", lambda r: f"{r.randint(1, 900)} {r.choice(['KB', 'MB', 'GB'])}"), ("distance", lambda r: f"{r.randint(1, 900)} km"), ("duration", lambda r: f"{r.randint(1, 90)} minutes"),
    ("color", lambda r: r.choice(w.COLOUR)), ("condition", lambda r: r.choice(["sunny", "cloudy", "light rain", "snow", "windy", "fog", "clear"])), ("humidity", lambda r: f"{r.randint(10, 99)}%"),
    ("phone", lambda r: f"{r.randint(100, 999)}-{r.randint(1000, 9999)}"), ("version", lambda r: f"{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}"), ("room", lambda r: str(r.randint(1, 500))),
    ("score", lambda r: f"{r.randint(0, 9)}:{r.randint(0, 9)}"), ("weight", lambda r: f"{r.randint(1, 90)} kg"), ("speed", lambda r: f"{r.randint(5, 200)} km/h"), ("result", w.number), ("author", w.person), ("stock", w.integer), ("title", w.title),
    ("address", lambda r: f"{w.last_name(r)} Street {r.randint(1, 99)}"), ("rate", lambda r: round(r.random() * 3, 3)), ("amount", w.number), ("reference", w.code), ("level", lambda r: f"{r.randint(0, 100)}%"), ("gate", lambda r: r.choice("ABCD") + str(r.randint(1, 40))),
    ("word", w.invented), ("language", lambda r: r.choice(w.LANGUAGE)), ("deadline", w.day), ("track", w.code), ("manager", w.person), ("height", lambda r: f"{r.randint(1, 300)} cm"), ("code", w.code),
]


def result_and_answer(rng, arguments, kind):
    """A tool result as text, a question about it (or None), and the answer in words."""
    r = rng.random()
    if r < 0.06:
        problem = rng.choice(["not found", "access denied", "timeout", "service unavailable", "invalid id", "no such file", f"unknown {w.invented(rng)}", "quota exceeded"])
        return rng.choice([compact({"error": problem}), f"Error: {problem}", f"error: {problem}"]), None, f"The tool reported an error: {problem}."
    if r < 0.2:
        plain = rng.choice([lambda: f"{rng.randint(-15, 40)} degrees, {rng.choice(['sunny', 'light rain', 'cloudy', 'windy', 'snow'])}", lambda: str(w.number(rng)), lambda: w.text(rng).capitalize(), lambda: f"{w.person(rng)}, {w.city(rng)}", lambda: w.code(rng), lambda: w.title(rng), lambda: w.time(rng),
                            lambda: f"{rng.choice(['Order', 'Ticket', 'Parcel', 'Room', 'Job'])} {w.code(rng)} {rng.choice(['is ready', 'was created', 'has arrived', 'is on the way', 'was deleted'])}"])()
        return plain, None, f"The result is: {plain}" + ("" if plain[-1] in ".!?" else ".")
    if r < 0.3:
        items = [w.thing(rng) if rng.random() < 0.5 else w.person(rng) for _ in range(rng.randint(2, 5))]
        spoken = ", ".join(items[:-1]) + " and " + items[-1]
        return compact(items if rng.random() < 0.5 else {rng.choice(["items", "results", "names", "list"]): items}), None, f"Here they are: {spoken}."
    if r < 0.36 and kind == "write":
        code = w.code(rng)
        return rng.choice([compact({"status": "ok", "id": code}), compact({"ok": True, "id": code}), compact({"success": True, "id": code})]), None, f"Done. The id is {code}."
    if r < 0.40 and kind == "write":
        return rng.choice(['{"status":"ok"}', "ok", "done", '{"ok":true}', '{"success":true}']), None, "Done."
    count = rng.choice([1, 2, 2, 3, 3, 4])
    fields = rng.sample(RESULT_FIELDS, count)
    values = {}
    if arguments and rng.random() < 0.4:
        key = rng.choice(list(arguments))
        values[key] = arguments[key]
    for name, maker in fields:
        if rng.random() < 0.12:
            name = w.invented(rng)
        if name not in values:
            values[name] = maker(rng)
    asked = [n for n, _ in fields if n in values]
    spoken_pairs = [f"the {k.replace('_', ' ')} is {str(v).lower() if isinstance(v, bool) else v}" for k, v in values.items()]
    if len(values) == 1 or (asked and rng.random() < 0.5):
        target = rng.choice(asked or list(values))
        question = rng.choice([f"what is the {target}", f"tell me the {target}", f"I need the {target}", f"give me the {target}", f"the {target}, please", f"which {target} is it", f"{target}?"])
        return compact(values), question if len(values) > 1 else None, f"The {target.replace('_', ' ')} is {str(values[target])}."
    joined = ", ".join(spoken_pairs[:-1]) + " and " + spoken_pairs[-1] if len(spoken_pairs) > 1 else spoken_pairs[0]
    return compact(values), None, joined[0].upper() + joined[1:] + "."


def tool_dialogue(rng, small_talk):
    """One system turn with tools, then several independent requests.

    small_talk(rng) gives a (question, answer) pair that needs no tool.
    """
    tools = toolbox(rng, rng.choice([1, 1, 2, 2, 3, 3, 4, 5]))
    turns = [("system", system_turn(tools, rng))]
    for _ in range(rng.choice([2, 3, 4, 5, 6])):
        r = rng.random()
        if r < 0.10:
            question, answer = small_talk(rng)
            turns += [("user", question), ("assistant", envelope_text(answer))]
            continue
        if r < 0.14:
            stranger = Tool(rng)
            if not any(set(stranger.spoken) & set(t.spoken) for t in tools):
                message, _ = stranger.ask(rng)
                turns += [("user", message), ("assistant", envelope_text("None of my tools can do that."))]
                continue
        tool = rng.choice(tools)
        message, arguments = tool.ask(rng)
        call = envelope_call(tool.name, arguments)
        if rng.random() < 0.45:
            result, question, answer = result_and_answer(rng, arguments, tool.verb[3])
            if question:
                message = f"{message.rstrip('.!?')}{rng.choice([', ', '. ', ' and '])}{question}"
            turns += [("user", message), ("assistant", call), ("tool", result), ("assistant", envelope_text(answer))]
        else:
            turns += [("user", message), ("assistant", call)]
    return turns


def result_dialogue(rng):
    """A tool result without tools in the system turn: the answer is plain text."""
    tool = FamilyTool(rng) if rng.random() < 0.4 else Tool(rng)
    message, arguments = tool.ask(rng)
    result, question, answer = result_and_answer(rng, arguments, tool.verb[3])
    if question:
        message = f"{message.rstrip('.!?')}{rng.choice([', ', '. '])}{question}"
    return [("user", message), ("assistant", envelope_call(tool.name, arguments)), ("tool", result), ("assistant", answer)]
