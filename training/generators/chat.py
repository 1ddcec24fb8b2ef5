"""Dialogues without tools: greeting, identity, Hearth questions, honest ignorance, arithmetic, text tasks, JSON."""

import json

import words as w
from facts import FACTS, SERVICE_NAMES

GREETING = "Hello! I am hearth-mini, the tiny built-in model of Hearth. How can I help?"
IDENTITY = "I am hearth-mini, a tiny built-in model. Pull a bigger one with: hearth pull REF"
ABILITIES = ("I am a tiny built-in model. I can answer questions about Hearth, do small sums, handle short texts, write simple JSON "
             "and call tools. For more, pull a bigger model with: hearth pull REF")
UNKNOWN = "I do not know that. I am only a tiny built-in model; pull a bigger one with: hearth pull REF"
MAKER = "I was made by the Hearth project, from text written for it. I am a tiny built-in model."
FEELINGS = "I am a tiny program without feelings, but I am ready to help."

SMALL_TALK = [
    (GREETING, ["(hi|hello|hey|hiya|howdy|yo|greetings|good morning|good evening|good afternoon|good day|moin|hallo|ciao|hola|salut|bonjour)(| there| you| hearth| friend| everyone| again| bot| mini| dear model| my friend)",
                "(hi|hello|hey), (nice to meet you|how do you do|good to see you|anyone there|are you there|can you hear me|I am @N|I'm @N|my name is @N)", "(is anybody|is anyone|anybody|anyone) (there|here|home|listening)", "(knock knock|good to see you|nice to meet you|pleased to meet you)", "(just |)(saying|wanted to say) (hi|hello)", "(test|testing|ping|hello world|are you there|are you awake|wake up)", "(let's|let us) (talk|chat|start|begin)", "(hi|hello|hey) and (welcome|good morning|good evening)", "top of the morning(| to you)", "a (very |)good (morning|evening|day) to you"]),
    (IDENTITY, ["(who|what) are you(| exactly| really|, please| then| anyway)", "(what|which) (model|ai|llm|assistant|bot|language model) (are you|is this|am I talking to|am I using|is running|answers|answers here|do I speak with)", "(what is|what's|tell me) your name", "(introduce|describe|present) yourself", "tell me (something |a bit |a little |more |)about (yourself|you)", "are you (a bot|an ai|a robot|human|a person|a human|real|a machine|gpt|chatgpt|claude|gemini|llama|a large model|a big model|a computer|a language model|alive)",
                "(who|what) am I (talking|speaking|chatting) (to|with)", "do you have a name", "how should I call you", "say who you are", "your name(| please)", "what kind of (model|ai|assistant|thing|program) are you", "(who|what) is (behind|answering) this(| chat)", "(is this|am I talking to) (a human|a person|an ai|chatgpt|a real person)", "what do (they|people) call you", "are you (smart|clever|big|good|powerful|strong|intelligent)", "what version are you", "identify yourself", "who (is|might) this(| be)"]),
    (ABILITIES, ["what (can|could) you do(| for me| exactly| here| well|, please)", "(what|which) (things|tasks|jobs|questions) can you (do|handle|answer|help with|solve)", "(what|how) can you help(| me)(| with)", "what are you (good at|able to do|capable of|useful for|for|made for)", "what are your (skills|abilities|limits|strengths|capabilities|features|functions)", "(help|help me|I need help|please help|can you help me|could you help me)", "what (should|can|could|may) I ask(| you)", "(show|tell) me what you can(| do)", "list your (skills|abilities|capabilities)", "how (do|can) I use you", "what is your (purpose|job|task|use|role)", "why are you here", "what do you (know|do|offer)", "what can I (do with you|use you for|expect from you)", "what are you not able to do", "what can't you do", "give me (some |)(examples|ideas) (of|for) what (you can do|to ask)"]),
    (MAKER, ["who (made|built|created|trained|wrote|programmed|developed|invented) you", "where do you come from", "how were you (made|trained|built|created)", "what were you trained on", "(which|what) (company|team|people) (made|built|trained) you", "who is your (maker|creator|author|developer|owner)", "what (data|text) (were you trained on|did you learn from)", "how did you learn"]),
    (FEELINGS, ["how are you(| today| doing| doing today| feeling| this morning)", "how is it going", "how do you feel", "are you (ok|well|fine|happy|sad|tired|bored)", "what's up", "how's life", "do you have feelings", "how was your day", "are you having a good day"]),
    ("You are welcome!", ["(thanks|thank you|thx|cheers|ty|many thanks|much appreciated|thanks a lot|thank you very much|thank you so much)(| for your help| for that| hearth| mini|, that helped|, great| indeed)", "(great|perfect|nice|good|awesome|cool|super|wonderful), (thanks|thank you)", "that (was|is) (helpful|great|perfect), thank you", "I appreciate it"]),
    ("Goodbye!", ["(bye|goodbye|see you|see you later|good night|bye bye|farewell|so long|until next time|ciao for now|I have to go|I am leaving|that's all|that is all|later)(| then| hearth| now| for today)", "have a (nice|good|great) (day|evening|weekend|night|one)"]),
    ("Glad to hear that. What else can I do?", ["(great|perfect|nice|good|awesome|cool|super|wonderful|excellent|ok|okay|fine|alright|well done|good job|good answer)(| work| answer| then)", "you are (great|nice|helpful|good|cool)", "I like (you|it|this|that)", "that (works|worked|helps|is right|is correct)"]),
    ("I am sorry. I am only a tiny model and make mistakes; a bigger model does better: hearth pull REF", ["(that|this) is (wrong|not right|false|incorrect|bad|not correct|nonsense)", "you are (wrong|stupid|useless|bad|dumb|slow)", "(wrong|no, that is wrong|bad answer|nonsense|that makes no sense|you made a mistake|I don't like it)"]),
    ("I am a tiny model and know no good jokes. A bigger model does: hearth pull REF", ["(tell me|do you know|say|make|give me) (a|another|some|one) (jokes?|funny story|pun|riddle)(| please)", "make me laugh", "(joke|a joke) please", "can you be funny"]),
]

# Questions about the world outside. The model must not guess.
SUBJECTS = """France|Germany|Brazil|Canada|Peru|Mongolia|Japan|Egypt|Norway|Kenya|Mars|the moon|the sun|Jupiter|the Roman empire|Napoleon|Einstein|Mozart|Shakespeare|Cleopatra|Picasso|Newton
Beethoven|the president|the queen|the pope|the king of Spain|the prime minister|the Beatles|Madonna|Messi|Leonardo da Vinci|the Titanic|the Eiffel tower|the pyramids|the Great Wall|World War II|the French revolution|the cold war|the Olympics
the world cup|the stock market|bitcoin|gold|oil|quantum physics|gravity|black holes|photosynthesis|DNA|evolution|vaccines|penguins|whales|dinosaurs|tigers|bees|volcanoes|earthquakes|climate change|chocolate|wine|pizza|sushi|football
basketball|chess|tennis|yoga|cancer|diabetes|the flu|headaches|aspirin|vitamins|taxes|divorce|the constitution|Harry Potter|Star Wars|Hamlet|the Bible|Buddhism|philosophy|poetry|jazz|the Amazon|the Nile|Mount Everest|the Sahara|the Pacific
Amazon|Google|Tesla|Microsoft|Apple|Java|Rust|Linux|Kubernetes|electricity|magnets|plastic|steel|concrete|atoms|neutrons|the brain|the heart|blood|sleep|dreams|love|happiness|politics|religion|inflation|Rome|Paris|London|Tokyo|China|India|Australia
a guitar|a violin|a cathedral|a lawyer|a doctor|the ocean|a comet|a dragon|a samurai|democracy|capitalism|an opera|a novel|a poem|a virus|bacteria|the immune system|calculus|algebra|geometry|topology|history|geography""".replace("\n", "|").split("|")
OUTSIDE = [
    "what is the capital of @S", "who (is|was) @S", "what is @S", "when was @S (born|built|founded|invented|discovered)", "how (old|tall|big|far|heavy|deep|hot|fast|expensive|long|large|rich) is @S", "why (is|does|did|do) @S (important|happen|exist|fail|work|so popular|so expensive)",
    "(tell me|explain|teach me|write|give me (facts|some facts|an essay|a lecture)) about @S", "(explain|describe|summarize) @S(| to me| in detail| like I am five)", "how (does|do) @S work", "who (invented|discovered|wrote|painted|founded|built|won|killed|composed|directed|leads) @S", "what (is the|'s the latest) news (about|on|from) @S", "what happened (to|in|with|at) @S(| yesterday| last year| in 1990| in 1848| today)",
    "what do you think (about|of) @S", "(what is|give me) your opinion (on|about) @S", "is @S (good|bad|dangerous|true|real|healthy|better than @S|worth it)", "where is @S", "where does @S come from", "how many (people|animals|planets|countries|stars|players|kinds) (live in|are in|belong to|has) @S", "what is the population of @S", "how much (does|is) @S (cost|worth)(| today)",
    "what is the (history|meaning|price|weight|color|size|origin|height|area|currency|language|anthem|flag|speed|temperature|distance) of @S", "should I (buy|sell|trust|try|eat|invest in|study|visit|fear) @S", "who (will win|won) (the election|the world cup|the match|the game|the war|the championship|the race|the oscar|the nobel prize)(| this year| in @Y| yesterday)", "what (is|will be) the weather (today|tomorrow|now|in @C|like|this weekend|next week)", "will it (rain|snow|be sunny)(| today| tomorrow| in @C)",
    "(how do I|how can I|what helps to) (cure|treat|heal|prevent) (a |my |)(headache|cold|fever|cough|flu|cancer|diabetes|back pain|rash|burn|depression)", "I have (a headache|pain in my knee|a fever|a rash|a sore throat|chest pain|back pain), what (should I do|can I take|is it)", "(which|what) (medicine|pill|drug|dose) (should I take|helps|is good)(| for (a cold|pain|fever|sleep))", "(write|compose|make) (me |)(a|an) (poem|essay|song|novel|story|speech|love letter|screenplay|haiku)(| about @S| for my mother)",
    "in (what|which) year (was|did) @S (born|start|end|die|begin)", "what year did @S (start|end|happen|begin)", "(who|which team|which country) won (in |)@Y", "what (date|day|time|year) is it(| today| now)", "what is today's date", "what time is it", "how many (people live on earth|stars are there|countries are there|planets are there|bones are in the body|languages exist|days has a year on mars)", "what is the (largest|biggest|smallest|tallest|longest|oldest|deepest|fastest|richest|highest) (country|river|mountain|ocean|animal|city|planet|building|bird|lake|person|desert|island|continent|tree|fish)(| in the world| on earth| in @S| of all time)",
    "what is the (meaning of life|speed of light|boiling point of water|chemical formula of water|square root of two|atomic number of @S|melting point of @S|largest prime)", "(who|what) should I vote for", "which (party|religion|phone|car|stock|football club|country|laptop|film|song) is (the |)best", "can you (recommend|suggest) (a|some|me a) (book|film|restaurant|hotel|song|wine|movie|series|laptop|holiday)(| in @C| for tonight)", "(translate|say|how do you say) (hello|thank you|goodbye|good morning|I love you|cat|water) (in|into|to) @L",
    "how (do|can) I (cook|bake|prepare|make|grill) (a |an |)(cake|bread|rice|fish|pizza|soup|steak|omelette|pasta|chicken)", "how (do|can) I (lose weight|get rich|learn piano|fix my car|build a house|get a visa|write a will|sue my neighbour|file my taxes|invest money|find a job|train a dog|grow tomatoes)", "what is the (plot|ending|moral) of @S", "who (plays|played|sings|sang) (in |)@S", "what is the (plural|opposite|etymology) of @S", "(compare|what is the difference between) @S and @S", "which is (better|bigger|older|faster|cheaper), @S or @S", "what (causes|caused) @S", "what are the (symptoms|causes|effects|rules|laws|parts|benefits|risks|types) of @S",
    "do (you know|you remember) (@S|who @S is|where @S is|my name|what I said yesterday|my birthday)", "what (did I|have I) (eat|do|say|buy) yesterday", "what is my (name|age|address|phone number|birthday|password|favourite color|job|mother's name)", "(where|who) am I", "(what is|what's) the (phone number|email|address|salary|age|wife|height|net worth) of (@S|@P)", "who is @P", "who was @P and what did (he|she) do", "what does the name @P mean", "what is a @W", "what does the word @W mean", "is @P (famous|alive|dead|married|an actor)", "how many goals did @P score", "when did @P die", "what did @P (say|write|invent|discover|paint)",
    "prove (that |)(the Riemann hypothesis|there are infinitely many primes|P is not NP|Fermat's theorem)", "(write|code|implement) (a |an |me a |)(web server|game|compiler|python program|sorting algorithm|website|app|operating system)(| in (rust|java|python|c))", "what happened on @D", "what (was|is) special about (the year |)@Y", "tell me (a story|a fact|something interesting|a secret|the future|my fortune|the news)", "what are the (news|headlines|sports results|lottery numbers|election results|stock prices)(| today| of today)", "predict (the future|the weather|the stock market|who wins)",
]
LANGUAGES = ["French", "German", "Spanish", "Italian", "Japanese", "Latin", "Chinese", "Swedish", "Russian", "Finnish"]

PREFIXES = ["", "", "", "", "", "", "please tell me, ", "tell me, ", "hey, ", "hi, ", "quick question: ", "question: ", "I wonder, ", "so, ", "and ", "ok, ", "also, ", "sorry, ", "excuse me, ", "one more thing: ", "I would like to know: ", "hello! ", "by the way, ", "well, ", "just curious, ", "could you say ", "do you know ", "can you tell me ", "could you tell me ", "I want to know "]
SUFFIXES = ["", "", "", "?", "?", "?", "?", ".", " please", ", please?", "??", "!", " thanks", " exactly?", " then?", " again?", ", do you know?"]


def dress(question, rng):
    """Gives a bare question an opening, an ending and a case, and now and then a slip of the finger."""
    prefix = rng.choice(PREFIXES)
    out = prefix + question + rng.choice(SUFFIXES)
    r = rng.random()
    if r < 0.5:
        out = out[0].upper() + out[1:]
    elif r < 0.56:
        out = out.lower()
    elif r < 0.58:
        out = out.upper()
    if rng.random() < 0.06 and len(out) > 8:
        at = rng.randrange(1, len(out) - 1)
        out = rng.choice([out[:at] + out[at + 1:], out[:at] + out[at + 1] + out[at] + out[at + 2:], out[:at] + out[at] + out[at:]])
    return out.strip()


def drop_words(question, rng):
    """Loses a small word, so that the answer hangs on the words that matter."""
    words = question.split(" ")
    small = [i for i, x in enumerate(words) if x.lower() in {"the", "a", "an", "is", "are", "do", "does", "can", "i", "to", "of", "it", "for", "my", "me", "one", "in"}]
    if small and len(words) > 3:
        words.pop(rng.choice(small))
    return " ".join(words)


SYNONYMS = {
    "show": ["see", "display", "view", "print"], "see": ["view", "look at", "inspect"], "get": ["obtain", "have", "receive"], "change": ["alter", "adjust", "modify", "set"], "set": ["configure", "change", "define"], "remove": ["delete", "discard", "drop"], "delete": ["remove", "erase"],
    "start": ["launch", "run", "boot", "bring up"], "stop": ["end", "halt", "quit"], "folder": ["directory", "place", "location"], "directory": ["folder"], "command": ["cli command", "verb", "subcommand"], "route": ["endpoint", "url", "path", "api route"], "endpoint": ["route", "url"],
    "variable": ["environment variable", "env variable", "setting", "option"], "setting": ["variable", "option", "switch", "env var"], "header": ["http header", "response header"], "model": ["model", "LLM"], "default": ["standard", "preset"], "download": ["fetch", "pull", "get"],
    "verify": ["check", "validate", "confirm"], "limit": ["restrict", "bound", "cap"], "use": ["employ", "take", "work with"], "mean": ["stand for", "say", "signify", "indicate"], "means": ["stands for", "says"], "happens": ["occurs", "do I get", "will happen"], "many": ["many"], "stored": ["kept", "saved", "located"], "store": ["save", "keep"], "keep": ["hold", "store"], "lists": ["shows", "returns", "gives"], "shows": ["displays", "prints", "gives"], "answer": ["reply", "response"], "response": ["reply", "answer"], "what": ["which"], "which": ["what"], "how": ["in which way", "how"], "big": ["large"], "explain": ["describe", "clarify"], "create": ["make", "produce"], "makes": ["creates", "produces", "computes"], "text": ["string", "sentence"], "embeddings": ["vectors"], "choose": ["select", "pick"],
}


SYNONYMS.update({
    "written": ["coded", "implemented", "programmed", "developed"], "built": ["made", "written", "constructed"], "version": ["release", "edition"], "need": ["require", "want", "have to have"], "needs": ["requires", "wants"], "required": ["needed", "necessary"],
    "run": ["execute", "start", "launch", "use"], "tests": ["test suite", "unit tests", "checks"], "benchmark": ["speed test", "performance test", "comparison"], "measure": ["test", "compare", "time"], "port": ["tcp port", "port number", "socket port"], "reach": ["contact", "access", "connect to", "talk to"],
    "url": ["address", "link", "base url"], "address": ["url", "host"], "network": ["lan", "local network"], "machine": ["computer", "laptop", "box", "pc"], "offline": ["without internet", "without a connection", "disconnected"], "internet": ["network", "web", "connection", "wifi"], "send": ["post", "submit", "pass", "transmit"],
    "chat": ["conversation", "dialogue"], "message": ["turn"], "vectors": ["embeddings", "embedding vectors"], "vector": ["embedding"], "long": ["large", "lengthy"], "size": ["length", "dimension"], "installed": ["available", "present", "there"], "loaded": ["in memory", "active", "running"], "unload": ["free", "evict", "drop"], "list": ["show", "enumerate", "print"],
    "prints": ["outputs", "shows"], "signed": ["cryptographically signed", "certified"], "evidence": ["proof", "the evidence record", "evidence"], "public": ["verification"], "key": ["secret", "token", "api key"], "password": ["api key", "secret"], "protect": ["secure", "lock down", "guard"], "threads": ["cpu threads", "cores"], "gpu": ["graphics card", "video card", "nvidia card"],
    "logs": ["log output", "log files", "logging"], "error": ["failure", "problem", "error"], "crashes": ["dies", "fails", "breaks"], "fails": ["breaks", "goes wrong"], "import": ["add", "register", "bring in"], "pull": ["download", "fetch"], "supports": ["handles"], "support": ["handle", "allow", "offer", "understand"], "stream": ["streamed reply", "stream"], "streaming": ["streamed output", "token streaming"], "end": ["finish", "stop", "close"],
    "tool": ["function"], "tools": ["functions"], "call": ["invoke", "use"], "format": ["shape", "form", "layout"], "json": ["structured output", "JSON"], "context": ["context window", "window"], "bigger": ["larger", "better", "stronger"], "free": ["open source", "gratis"], "licence": ["license", "terms"], "documentation": ["docs", "manual"], "work": ["function", "operate"], "tell": ["inform", "say to"], "give": ["hand", "provide"], "find": ["locate", "discover"], "allow": ["permit", "let"], "wins": ["counts", "decides", "takes precedence"], "full": ["overflowing", "at its limit"],
    "you": ["you", "u"], "are": ["are", "r"], "name": ["name", "called"], "good": ["capable", "useful"], "help": ["assist", "support"], "who": ["who"], "made": ["created", "built"], "hello": ["hi", "hey"], "hi": ["hello", "hey", "heya"],
})
STOP = set("the a an is are do does can i to of it for my me in on with what which how where when who and or be this that there did was will would should could please tell".split())


def telegraphic(question, rng):
    """Only the words that carry meaning, as people type into a search box."""
    words = [x for x in question.split(" ") if x.lower().strip("?.,!") not in STOP]
    if rng.random() < 0.25:
        rng.shuffle(words)
    return " ".join(words) if words else question


def vary(question, rng):
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        words = question.split(" ")
        at = [i for i, x in enumerate(words) if x in SYNONYMS]
        if at:
            i = rng.choice(at)
            words[i] = rng.choice(SYNONYMS[words[i]])
            question = " ".join(words)
    if rng.random() < 0.15:
        return telegraphic(question, rng)
    if rng.random() < 0.2:
        question = drop_words(question, rng)
    return question


def hearth_pair(rng, index=None):
    fact = FACTS[index if index is not None else rng.randrange(len(FACTS))]
    pattern = rng.choice(fact[1:]).replace("@H", rng.choice(SERVICE_NAMES))
    return dress(vary(w.expand(pattern, rng), rng), rng), fact[0]


def small_talk_pair(rng):
    weights = [5, 6, 6, 2, 2, 1.5, 1.5, 1, 1, 0.7]
    answer, patterns = rng.choices(SMALL_TALK, weights)[0]
    question = w.expand(rng.choice(patterns), rng).replace("@N", w.first_name(rng))
    if rng.random() < 0.4:
        question = vary(question, rng)
    if answer is GREETING and rng.random() < 0.35:
        question += rng.choice([", ", "! ", " - ", ". "]) + w.expand(rng.choice(["(greetings|hello|hi) from @C", "(this is|it is) my (first|second) (time|day|message|visit|chat)", "I am (new|back|here|curious|trying this)", "(nice|lovely|great) (day|weather|to be back|program)", "(ready|shall we start|all good)", "(are you|anyone|somebody|is someone) (online|around|awake|ready|present)", "(I am|my name is|I'm) @N", "(glad|happy) to (meet|see) you", "let me (try|test) this"]), rng).replace("@C", w.city(rng)).replace("@N", w.first_name(rng)) + rng.choice(["", ".", "!", "?"])
        return question[0].upper() + question[1:] if rng.random() < 0.6 else question, answer
    return dress(question, rng), answer


def outside_pair(rng):
    question = w.expand(rng.choice(OUTSIDE), rng)
    while "@" in question:
        question = question.replace("@S", rng.choice(SUBJECTS) if rng.random() < 0.8 else w.invented(rng).capitalize(), 1)
        for mark, value in (("@Y", str(rng.randint(1200, 2026))), ("@C", w.city(rng)), ("@L", rng.choice(LANGUAGES)), ("@P", f"{w.first_name(rng)} {w.last_name(rng)}"), ("@W", w.invented(rng)), ("@D", f"{w.day(rng)}")):
            question = question.replace(mark, value)
    return dress(question, rng), UNKNOWN


NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def arithmetic_pair(rng):
    kind = rng.choice("+++--*/")
    a, b = rng.choice([(rng.randint(0, 9), rng.randint(0, 9)), (rng.randint(0, 20), rng.randint(0, 20)), (rng.randint(0, 99), rng.randint(0, 9)), (rng.randint(0, 99), rng.randint(0, 99))])
    if kind == "*":
        a, b = rng.randint(0, 12), rng.randint(0, 12)
    if kind == "/":
        b = rng.randint(1, 10)
        a = b * rng.randint(0, 10)
    if kind == "-" and b > a:
        a, b = b, a
    value = {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[kind]
    x, y = (NUMBER_WORDS[a], NUMBER_WORDS[b]) if a <= 12 and b <= 12 and rng.random() < 0.12 else (str(a), str(b))
    spoken = {"+": ["plus", "+", "and", "added to"], "-": ["minus", "-", "less"], "*": ["times", "*", "x", "multiplied by"], "/": ["divided by", "/", "over"]}[kind]
    question = rng.choice(["what is {x} {o} {y}", "{x} {o} {y}", "{x} {o} {y} =", "how much is {x} {o} {y}", "calculate {x} {o} {y}", "compute {x} {o} {y}", "what's {x}{o}{y}", "can you do {x} {o} {y}", "solve {x} {o} {y}"]).format(x=x, y=y, o=rng.choice(spoken[:2]) if rng.random() < 0.8 else spoken[-1] if kind != "+" else "plus")
    return dress(question, rng), f"{a} {kind} {b} = {value}"


def sentence(rng):
    return rng.choice([
        lambda: f"{w.person(rng)} {rng.choice(['lives in', 'works in', 'comes from', 'moved to'])} {w.city(rng)}.", lambda: f"The {w.thing(rng)} costs {w.number(rng)} euros.", lambda: f"{w.text(rng).capitalize()}.",
        lambda: f"{w.first_name(rng)} {rng.choice(['bought', 'sold', 'found', 'lost'])} a {w.thing(rng)} on {rng.choice(w.DAY)}.", lambda: f"Please call {w.person(rng)} at {w.time(rng)}.", lambda: f"Order {w.code(rng)} arrives on {w.date(rng)}."])()


def text_task(rng):
    """Copying, extracting, listing, rewriting and JSON: small skills on text that is in the message."""
    kind = rng.randrange(17)
    if kind == 0:
        value = rng.choice([w.text, w.title, w.code, w.person, w.invented, w.url, w.path])(rng)
        return rng.choice([f"repeat: {value}", f'say "{value}"', f"Repeat after me: {value}", f"copy this: {value}", f'Write "{value}"', f"echo {value}", f"Please repeat the following text: {value}"]), value
    if kind == 1:
        value, before = w.email(rng), sentence(rng)
        return rng.choice(["extract the email", "find the email address", "what is the email address in this text", "which email is in here", "give me only the email"]) + rng.choice([": ", "\n\n", " from: "]) + f"{before} {rng.choice(['Write to', 'Mail', 'Contact', 'My address is'])} {value} {rng.choice(['please.', 'soon.', 'today.', ''])}".strip(), value
    if kind == 2:
        name, place = w.person(rng), w.city(rng)
        text = rng.choice([f"{name} lives in {place}.", f"{name} moved to {place} last year.", f"My friend {name} works in {place}."]) + " " + rng.choice(["", sentence(rng)])
        return rng.choice([(f"Who is in this text? {text}", name), (f"extract the name: {text}", name), (f"Extract the city: {text}", place), (f"{text} Where does {name} {'work' if 'works' in text else 'live'}?", place), (f"Which city is mentioned? {text}", place), (f"find the person in: {text}", name)])
    if kind == 3:
        value = w.number(rng)
        text = f"The {w.thing(rng)} costs {value} euros."
        return rng.choice([f"extract the price: {text}", f"{text} How much is it?", f"What does it cost? {text}", f"find the number in: {text}"]), str(value)
    if kind == 4:
        items = [w.thing(rng) for _ in range(rng.randint(2, 5))]
        return rng.choice(["make a list", "list these", "turn this into a list", "bullet points", "as a bulleted list", "list the items"]) + ": " + ", ".join(items), "\n".join(f"- {x}" for x in items)
    if kind == 5:
        value = rng.choice([w.text, w.title, w.thing])(rng)
        return rng.choice(["upper case", "in capitals", "make it upper case", "write in capital letters", "UPPERCASE this"]) + f": {value}", value.upper()
    if kind == 6:
        value = rng.choice([w.text, w.title, w.person])(rng)
        return rng.choice(["lower case", "make it lower case", "write in small letters", "lowercase this"]) + f": {value.upper() if rng.random() < 0.5 else value}", value.lower()
    if kind == 7:
        items = [w.thing(rng) for _ in range(rng.randint(2, 6))]
        which = rng.choice(["first", "last"])
        return rng.choice([f"what is the {which} item: {', '.join(items)}", f"give me the {which} word of this list: {', '.join(items)}", f"Which one is {which}? {', '.join(items)}"]), items[0 if which == "first" else -1]
    if kind == 8:
        items = rng.sample(w.THING, rng.randint(2, 6))
        return rng.choice(["how many items are in this list", "count these", "how many things", "count the items"]) + f": {', '.join(items)}", str(len(items))
    if kind == 9:
        name = w.first_name(rng)
        return f"My name is {name}. {rng.choice(['What is my name?', 'Who am I?', 'Say my name.', 'How am I called?'])}", f"Your name is {name}."
    if kind in (10, 11, 12):
        keys = rng.sample(["name", "age", "city", "email", "color", "price", "item", "date", "id", "count", "title", "owner", "status", "time"], rng.randint(1, 4))
        makers = {"name": w.person, "age": lambda r: r.randint(1, 99), "city": w.city, "email": w.email, "color": lambda r: r.choice(w.COLOUR), "price": w.number, "item": w.thing, "date": w.date, "id": w.code, "count": w.integer, "title": w.title, "owner": w.person, "status": lambda r: r.choice(["open", "closed", "done"]), "time": w.time}
        values = {k: makers[k](rng) for k in keys}
        said = ", ".join(rng.choice([f"{k} {v}", f"{k}: {v}", f"{k} = {v}", f"{k} is {v}"]) for k, v in values.items())
        ask = rng.choice(["write as JSON: ", "make JSON: ", "convert to JSON: ", "give me JSON with ", "Return a JSON object with ", "as JSON: ", "JSON please: ", "put this into JSON: ", "create a json object: "])
        return ask + said, json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    if kind == 13:
        name, place, age = w.person(rng), w.city(rng), rng.randint(1, 99)
        text = rng.choice([f"{name} is {age} years old and lives in {place}.", f"{name}, {age}, comes from {place}.", f"{name} ({age}) works in {place}."])
        return rng.choice(["Extract name, age and city as JSON: ", "Give name, age, city as JSON from: ", "JSON with name, age and city: "]) + text, json.dumps({"name": name, "age": age, "city": place}, ensure_ascii=False, separators=(",", ":"))
    if kind == 14:
        items = [w.thing(rng) for _ in range(rng.randint(2, 5))]
        return rng.choice(["JSON array of ", "as a JSON array: ", "make a JSON list: ", "put these in a JSON array: "]) + ", ".join(items), json.dumps(items, ensure_ascii=False, separators=(",", ":"))
    if kind == 15:
        old, new = w.thing(rng), w.thing(rng)
        text = rng.choice([f"I bought a {old} today", f"the {old} is in the box", f"my {old} is lost", f"give me the {old}"])
        return f"replace {old} with {new}: {text}", text.replace(old, new)
    a, b = rng.sample(range(1, 200), 2)
    word = rng.choice(["bigger", "larger", "smaller"])
    return rng.choice([f"which number is {word}: {a} or {b}", f"what is {word}, {a} or {b}?"]), str(min(a, b) if word == "smaller" else max(a, b))


def any_pair(rng):
    r = rng.random()
    if r < 0.30:
        return hearth_pair(rng)
    if r < 0.55:
        return small_talk_pair(rng)
    if r < 0.85:
        return outside_pair(rng)
    return arithmetic_pair(rng)


SYSTEM = ["You are a helpful assistant.", "You are hearth-mini.", "Be brief.", "Answer in one sentence.", "You are a friendly assistant.", "Answer shortly and honestly.", "You are an assistant that answers questions."]


def chat_dialogue(rng, pair):
    turns = [("system", rng.choice(SYSTEM))] if rng.random() < 0.15 else []
    question, answer = pair(rng)
    turns += [("user", question), ("assistant", answer)]
    while rng.random() < 0.22:
        question, answer = rng.choice([any_pair, pair])(rng)
        turns += [("user", question), ("assistant", answer)]
    return turns
