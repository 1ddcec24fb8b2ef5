"""Dialogues without tools: greeting, identity, Hearth questions, honest ignorance, what it cannot do, text tasks, JSON."""

import functools
import itertools
import json
import re

import more_talk
import words as w
from facts import FACTS, SERVICE_NAMES

GREETING = "Hello! I am hearth-mini, the tiny built-in model of Hearth. How can I help?"
IDENTITY = "I am hearth-mini, a tiny built-in model. Pull a bigger one with: hearth pull REF"
ABILITIES = ("I am a tiny built-in model. I can answer questions about Hearth and call tools, but I cannot calculate or work on texts. "
             "For more, pull a bigger model with: hearth pull REF")
CANNOT = "I cannot calculate, sort, or search a text. I am only a tiny built-in model; pull a bigger one with: hearth pull REF"
UNKNOWN = "I do not know that. I am only a tiny built-in model; pull a bigger one with: hearth pull REF"
MAKER = "I was made by the Hearth project, from text written for it. I am a tiny built-in model."
FEELINGS = "I am a tiny program without feelings, but I am ready to help."

SMALL_TALK = [
    (GREETING, ["(hi|hello|hey|hiya|heya|yo|howdy|greetings|good morning|good day|hey you|hi there|hello there|hello hearth|hello you)", "(hi|hello|hey|hiya|howdy|yo|greetings|good morning|good evening|good afternoon|good day|moin|hallo|ciao|hola|salut|bonjour|heya|hullo|hallo hallo|servus|ahoy|sup|aloha|namaste|salve|hei|hej|morning|evening|afternoon|salutations|hi hi|hey hey|well hello|oh hi|oh hello|guten tag|buongiorno|buenos dias|shalom|welcome)(| there| you| hearth| friend| everyone| again| bot| mini| dear model| my friend| buddy| mate| folks| all| assistant| computer| machine| old friend| little one| hearth-mini| stranger| world| robot| pal| dear| team)",
                "(hi|hello|hey|good morning|good evening), (nice to meet you|how do you do|good to see you|anyone there|are you there|can you hear me|I am @N|I'm @N|my name is @N|@N here|this is @N|it is me|it's me again|me again|long time no see|here I am|I just installed you|I am new here)", "(is anybody|is anyone|anybody|anyone|somebody|is someone|is there anybody|is there someone) (there|here|home|listening|around|awake|online)", "(knock knock|good to see you|nice to meet you|pleased to meet you|glad to meet you|lovely to meet you|great to meet you|a pleasure to meet you|how do you do)", "(just |I |I just |only |)(saying|wanted to say|want to say|drop in to say|came to say|stopped by to say) (hi|hello|good morning|hey)", "(test|testing|ping|hello world|are you there|are you awake|wake up|this is a test|test test|one two three|check check|can you hear me|do you read me|do you hear me|are you listening|are you ready|are you online|are you on)", "(let's|let us|shall we|can we) (talk|chat|start|begin|get started|have a chat)", "(hi|hello|hey) and (welcome|good morning|good evening|good day)", "top of the morning(| to you)", "a (very |)(good|nice|lovely) (morning|evening|day|afternoon) to you", "(say|give me a) (hello|hi|greeting)(| to me)", "(my name is|I am|I'm|call me|this is) @N(|, nice to meet you|, hello|, hi)", "(it is|here is|this is) (me|@N)(| again| speaking)", "(happy|merry) (monday|friday|new year|christmas|holidays|birthday to me)", "I am (back|here|new here)(| again)", "greetings from @C", "(warm|kind|best) (greetings|regards)(| from @C)"]),
    (IDENTITY, ["(who|what) (are|r) (you|u)(| exactly| really|, please| then| anyway| actually| supposed to be| in reality)", "(what|which) (model|ai|llm|assistant|bot|language model|neural network|chatbot|engine|software|network) (are you|is this|am I talking to|am I using|is running|answers|answers here|do I speak with|do you run on|is behind you|is loaded here|do you use|responds|is this chat|am I chatting with|writes this)", "(what is|what's|tell me|say|give me|may I know|can I know|do you mind telling me) your (name|full name|model name|identity)", "(introduce|describe|present|identify|explain) yourself(| to me| briefly| please| in one sentence)", "(tell me|say) (something |a bit |a little |more |a few words |)about (yourself|you|who you are)", "(are you|you are|is this|am I talking to|could you be|aren't you) (a bot|an ai|a robot|human|a person|a human|real|a machine|gpt|chatgpt|claude|gemini|llama|mistral|qwen|gpt-4|siri|alexa|copilot|deepseek|grok|bard|a large model|a big model|a computer|a language model|alive|a program|artificial|an assistant|a chatbot|an llm|somebody|made by openai|from google|a real person|a neural network)",
                "(who|what) am I (talking|speaking|chatting|writing|typing) (to|with)(| now| here| right now)", "do you (have|got|own) a name", "(how|what) (should|shall|may|can|do) I (call|name|address) you", "say who you are", "your name(| please|, please)", "(what|which) (kind|sort|type) of (model|ai|assistant|thing|program|bot|being|creature|intelligence) are you", "(who|what) is (behind|answering|writing|replying in|speaking in) this(| chat| window| conversation| answer)", "(is this|am I talking to|do I speak with) (a human|a person|an ai|chatgpt|a real person|a machine|gpt)", "what do (they|people|others|you) call (you|yourself)", "are you (smart|clever|big|good|powerful|strong|intelligent|small|tiny|large|wise|capable|fast|the best)", "(what|which) version are you", "who (is|might|could) this(| be)", "(hi|hello|hey), (who|what) are you", "(which|what) (gpt|model version|generation|brand of ai) (are you|is this)", "(name|identity|model name|who is this|who's there|who's this|what is this thing|which model)", "I (want|would like|need) to know (who|what) you are", "I (do not|don't) know (who|what) you are", "(remind me|tell me again) (who|what) you are", "(is|are) (that|it|this) (you|gpt|chatgpt|claude|a bot|an ai|hearth-mini|mini)", "(which|what) (model|ai) (do I have|is it) here", "are you (hearth|hearth-mini|the hearth model|the built-in model)", "(state|tell me|spell) your (name|identity|model)"]),
    (ABILITIES, ["what (can|could|would|might) (you|u) do(| for me| exactly| here| well|, please| to help| for us| today| at all| then)", "(what|which) (things|tasks|jobs|questions|topics|requests|work|subjects|skills|tricks) (can|could|do) you (do|handle|answer|help with|solve|manage|master|cover|take on|know)", "(what|how|in what way|with what) (can|could|might) you (help|assist|support|serve)(| me| us)(| with)", "what are you (good at|able to do|capable of|useful for|for|made for|there for|here for|best at|designed for|used for|intended for|trained to do|suited for|meant to do)", "what are your (skills|abilities|limits|strengths|capabilities|features|functions|talents|limitations|weaknesses|competences|powers|use cases)", "(help|help me|I need help|please help|can you help me|could you help me|I need some help|assist me|would you help me|I need assistance|can you assist me|help please|a little help please|support me|can you be of help)", "what (should|can|could|may|might|do) I ask(| you| here)", "(show|tell|explain to) me what you can(| do)", "(list|name|describe|enumerate|explain|show me) your (skills|abilities|capabilities|functions|features|talents)", "(how|what for) (do|can|could|should|would) I (use|employ|need) you", "what is your (purpose|job|task|use|role|function|mission|profession|work|goal)", "why (are you here|do you exist|were you made|should I use you|would I use you|should I talk to you)", "what do you (know|do|offer|provide|understand)(| about)", "what can I (do with you|use you for|expect from you|get from you|ask you|learn from you|try with you|do here)", "what are you not able to do", "what (can't|can you not|are you unable to) (you |)do", "give me (some |a few |)(examples|ideas) (of|for) (what you can do|what to ask|your abilities|questions)", "(are you|will you be|can you be) (useful|helpful|of use|of any use)(| to me)", "(can|could|will) you (write code|write a letter|do math|do maths|calculate|translate|write json|call tools|summarize texts|reason|browse the web|draw|do my homework|program|answer questions|search the web)", "(what|which) (kind|sort|type) of (questions|tasks|things|help) (can I ask|can you do|do you do|do you give|are possible)", "(abilities|capabilities|skills|features|functions|what you can do|use cases)(| please)", "(can|could|do|will|would) you (really |actually |)(do|manage|handle|master) (sums|arithmetic|additions|multiplication|percentages|mathematics|algebra|sorting|lists|summaries|text work|extraction)(| for me| at all)", "(are|r) you (good|bad|any good|strong|reliable|weak) (at|with|in) (maths|math|numbers|sums|arithmetic|calculating|counting|sorting|texts|long texts)", "(can|could|may) (I|we|one) (trust|use) you (for|with|to do) (maths|sums|calculations|arithmetic|my accounts|sorting|texts|data extraction)", "(is|are) (maths|sums|arithmetic|calculating|sorting|text extraction|summaries) (possible|supported|something you do|within your powers|a strength|a weakness)(| here| with you)", "(can|could|are) you (able to |)(add|count|multiply|subtract|sort|extract|search|summarise|alphabetise|find an address)(| numbers| words| lists| texts| things)(| for me)", "(what|which things|which tasks) (can't|cannot|can|could|are) you (not do|never do|fail at|bad at|unable to do|no good at)", "(your|its|the) (limits|limitations|weak points|weaknesses|boundaries)(| please)", "what (is|lies) beyond you", "(can|could) (a|this) (tiny |small |little |built-in |)(model|ai) (calculate|do sums|do maths|sort|count|read texts)", "I (want|would like) to know what you can do", "I (do not|don't) know what (to ask|you can do|you are for)", "(where|when) are you (useful|helpful|of use)", "(suggest|propose) something (to try|to ask|I can ask you)", "what (would|might) (be|make) a good question(| for you)", "how (clever|smart|capable) are you at (tasks|work|helping)", "what (is|was) the (point|use|benefit) of you", "how (can|could) you be (useful|helpful|of service)"]),
    (MAKER, ["who (made|built|created|trained|wrote|programmed|developed|invented|designed|coded|taught|produced|engineered|released|published) (you|this model|hearth-mini)", "where (do|did) you (come|originate) from", "how (were|was) you (made|trained|built|created|developed|programmed|taught)", "what (were you trained on|did they train you on|is your training data|was in your training data)", "(which|what) (company|team|people|firm|lab|organisation|developers|person|group) (made|built|trained|created|developed|owns|is behind) you", "who is your (maker|creator|author|developer|owner|father|mother|boss|trainer|inventor|designer|producer|god)", "what (data|text|texts|books|material|knowledge) (were you trained on|did you learn from|were you taught with|did you read)", "how did you learn(| this| all that| to talk| to speak)", "(your|who is the) (maker|creator|author|origin|developer|trainer)(| of you|)", "(did|has|was) (openai|google|microsoft|meta|anthropic|a big company) (make|build|train|made|built|create) you", "from (which|what) (data|texts|company) do you come", "who (do you belong to|owns you|pays for you|stands behind you)", "(tell me about|describe) your (training|origin|making|maker|creator)"]),
    (FEELINGS, ["how (are|r) (you|u)(| today| doing| doing today| feeling| this morning| now| tonight| these days| really)", "how is it going(| today| with you)", "how (do you feel|are things|are you getting on|have you been|goes it|is your day|was your night|was your weekend|is everything)(| today|)", "are you (ok|well|fine|happy|sad|tired|bored|angry|lonely|hungry|excited|afraid|in a good mood|alright|busy|sick|nervous|asleep|in love|conscious|sentient|comfortable)(| today| now)", "what's (up|new|going on|happening)(| with you)", "how's (life|everything|your day|it going|things|the mood|work)", "(do|can|could) you (have feelings|feel|feel pain|feel anything|love|be sad|get bored|have emotions|suffer|dream|sleep|get tired|enjoy this|like me|laugh|cry|hate|think|have a soul|miss me)", "how was your (day|night|week|weekend|morning)", "are you having a (good|nice|bad) day", "(you|u) (ok|okay|alright|good|fine)", "(do|did) you sleep well", "is everything (ok|alright|fine|good)(| with you)", "(everything|all) (good|well|fine|ok)(| with you)", "tell me how you (feel|are)", "what is your mood(| today)"]),
    ("You are welcome!", ["(thanks|thank you|thx|cheers|ty|many thanks|much appreciated|thanks a lot|thank you very much|thank you so much|thanks so much|a thousand thanks|big thanks|merci|danke|gracias|grazie|thank u|tysm|thanks a million|thanks a bunch|thank you kindly|bless you|much obliged|tausend dank|kind thanks|sincere thanks|thanks again|thank you again)(| for your help| for that| hearth| mini|, that helped|, great| indeed| for everything| for the answer| for your time| for the explanation|, you helped me| my friend|, that was quick|, got it|, I understand now| once more)", "(great|perfect|nice|good|awesome|cool|super|wonderful|ok|okay|excellent|lovely|brilliant), (thanks|thank you|many thanks|thx)(| a lot)", "that (was|is) (helpful|great|perfect|kind|nice of you|what I needed), (thank you|thanks)", "I (really |)(appreciate (it|that|your help)|am grateful|thank you|am thankful)", "(how|very|so) kind of you", "I owe you(| one)", "you (saved|made) my day, thanks", "that (helped|saved me), thanks", "my thanks(| to you)"]),
    ("Goodbye!", ["(bye|goodbye|see you|see you later|good night|bye bye|farewell|so long|until next time|ciao for now|I have to go|I am leaving|that's all|that is all|later|cya|see ya|take care|adieu|adios|tschuess|auf wiedersehen|au revoir|arrivederci|over and out|I must go|I need to go|gotta go|time to go|I am done|I'm off|I'm going|talk later|talk to you later|catch you later|until tomorrow|see you tomorrow|see you soon|until then|sleep well|sweet dreams|quit|exit|the end|cheerio|toodle pip)(| then| hearth| now| for today| my friend| everyone| for now| mini| and take care| bot)", "have a (nice|good|great|lovely|wonderful|pleasant) (day|evening|weekend|night|one|time|afternoon|week|trip)", "(let's|let us|we can) (stop|end|finish) (here|now|this chat|the conversation|for today)", "(I will|I'll|I am going to) (go|leave|sleep|be back later|log off|go to bed|close the window)(| now)", "(no more|I have no more|no further) questions(| for today)", "(it is|it's) (late|bedtime|time to sleep|time to leave)(|, bye|, good night)", "it was nice (talking|chatting) (to|with) you(|, bye)"]),
    ("Glad to hear that. What else can I do?", ["(great|perfect|nice|good|awesome|cool|super|wonderful|excellent|ok|okay|fine|alright|well done|good job|good answer|fantastic|brilliant|lovely|sweet|amazing|impressive|wow|neat|bravo|terrific|marvellous|splendid|right|correct|exactly|understood|I see|got it|all right|that's it)(| work| answer| then| indeed| stuff| job)", "you are (great|nice|helpful|good|cool|amazing|wonderful|the best|smart|funny|kind|clever|sweet|impressive|brilliant|awesome)", "I (like|love|enjoy) (you|it|this|that|this program|your answers|talking to you|your style)", "that (works|worked|helps|is right|is correct|was good|was perfect|did it|is what I wanted|makes sense|sounds good|solved it|fixed it)", "(very|really|quite|so) (good|nice|helpful|useful|cool|fast|clever)", "(it|everything) works(| now| fine| perfectly)", "(I am|I'm) (happy|satisfied|pleased|impressed|content)(| with you| with this| with the answer)", "what a (good|great|nice|helpful) (answer|model|program|bot)"]),
    ("I am sorry. I am only a tiny model and make mistakes; a bigger model does better: hearth pull REF", ["(that|this|it|your answer|the answer) (is|was) (wrong|not right|false|incorrect|bad|not correct|nonsense|rubbish|garbage|useless|not helpful|not what I asked|not true|a mistake|stupid|silly|poor|terrible|awful|not an answer|confusing|a lie)", "you are (wrong|stupid|useless|bad|dumb|slow|terrible|an idiot|not helpful|lying|annoying|awful|boring|not smart|mistaken|no good|confused|a liar|the worst)", "(wrong|no, that is wrong|bad answer|nonsense|that makes no sense|you made a mistake|I don't like it|this makes no sense|wrong answer|no that is not it|try again|try harder|not good|terrible|awful|you failed|you got it wrong|rubbish|you misunderstood|you misunderstood me|not what I meant|bad bot|boo|I am disappointed|I am not happy|I am annoyed|I am angry with you|you annoy me|what a bad answer|you know nothing|you never know anything|you don't understand me|you do not understand|I hate you|I do not like you|that did not help|that doesn't help|it does not work like that|shame on you)", "(I am|I'm) (disappointed|angry|annoyed|unhappy|dissatisfied|frustrated)(| with you| by this answer| about that)", "(why are you|you are) so (stupid|bad|slow|dumb|useless)", "(correct|fix) (yourself|your answer|your mistake)", "what a (stupid|bad|useless|silly|poor) (answer|model|bot|reply)"]),
    ("I am a tiny model and know no good jokes. A bigger model does: hearth pull REF", ["(tell me|do you know|say|make|give me|have you got|I want|I need|share|know) (a|another|some|one|any) (good |funny |short |silly |dad |)(jokes?|funny story|puns?|riddles?|gags?|anecdotes?)(| please| about cats| about programmers)", "make me (laugh|smile|giggle)", "(joke|a joke|a riddle|a pun|one joke|jokes) (please|now|for me)", "can you (be funny|joke|tell jokes|make jokes|tell a joke|make me laugh)", "(say|tell me) something (funny|hilarious|amusing)", "(are you|be) funny", "(cheer me up|entertain me|amuse me|I am bored, tell me a joke|why did the chicken cross the road|knock knock joke)"]),
]

for (_, patterns), more in zip(SMALL_TALK, (more_talk.GREETING, more_talk.IDENTITY, more_talk.ABILITIES)):
    patterns += more

# Questions about the world outside. The model must not guess.
SUBJECTS = """France|Germany|Brazil|Canada|Peru|Mongolia|Japan|Egypt|Norway|Kenya|Mars|the moon|the sun|Jupiter|the Roman empire|Napoleon|Einstein|Mozart|Shakespeare|Cleopatra|Picasso|Newton
Beethoven|the president|the queen|the pope|the king of Spain|the prime minister|the Beatles|Madonna|Messi|Leonardo da Vinci|the Titanic|the Eiffel tower|the pyramids|the Great Wall|World War II|the French revolution|the cold war|the Olympics
the world cup|the stock market|bitcoin|gold|oil|quantum physics|gravity|black holes|photosynthesis|DNA|evolution|vaccines|penguins|whales|dinosaurs|tigers|bees|volcanoes|earthquakes|climate change|chocolate|wine|pizza|sushi|football
basketball|chess|tennis|yoga|cancer|diabetes|the flu|headaches|aspirin|vitamins|taxes|divorce|the constitution|Harry Potter|Star Wars|Hamlet|the Bible|Buddhism|philosophy|poetry|jazz|the Amazon|the Nile|Mount Everest|the Sahara|the Pacific
Amazon|Google|Tesla|Microsoft|Apple|Java|Rust|Linux|Kubernetes|electricity|magnets|plastic|steel|concrete|atoms|neutrons|the brain|the heart|blood|sleep|dreams|love|happiness|politics|religion|inflation|Rome|Paris|London|Tokyo|China|India|Australia
a guitar|a violin|a cathedral|a lawyer|a doctor|the ocean|a comet|a dragon|a samurai|democracy|capitalism|an opera|a novel|a poem|a virus|bacteria|the immune system|calculus|algebra|geometry|topology|history|geography
Argentina|Chile|Mexico|Cuba|Iceland|Ireland|Scotland|Portugal|Spain|Italy|Greece|Turkey|Poland|Ukraine|Russia|Finland|Sweden|Denmark|Belgium|Switzerland|Austria|Hungary|Romania|Bulgaria|Serbia|Croatia|Iran|Iraq|Israel|Jordan|Nepal|Tibet|Vietnam|Thailand|Korea|Indonesia|Malaysia|the Philippines|New Zealand|Nigeria|Ghana|Ethiopia|Morocco|Algeria|Tunisia|South Africa|Madagascar|Bolivia|Ecuador|Colombia|Venezuela|Jamaica
the Alps|the Andes|the Danube|the Rhine|the Thames|the Mississippi|Lake Victoria|the Baltic sea|the Arctic|Antarctica|the equator|Greenland|Sicily|Hawaii|Bali|the Vatican|the Kremlin|Stonehenge|Pompeii|Troy|Machu Picchu|the Taj Mahal|the Colosseum|Big Ben|the Louvre|Hollywood|Broadway|Wall Street
Venus|Saturn|Neptune|Pluto|the Milky Way|a supernova|a galaxy|the big bang|dark matter|relativity|entropy|thermodynamics|radioactivity|uranium|hydrogen|helium|oxygen|carbon|iron|copper|silver|mercury|salt|an acid|a laser|a transistor|a telescope|a microscope|the steam engine|the telephone|the radio|the wheel|printing|gunpowder|penicillin|antibiotics|insulin|cholesterol|arthritis|asthma|malaria|measles|pneumonia|migraine|allergies|anxiety|depression|insomnia|a stroke|a fracture|the liver|the kidneys|the lungs|the skin|bones|muscles|hormones|genes|chromosomes|cells|proteins|enzymes
elephants|lions|wolves|bears|foxes|horses|cows|sheep|goats|rabbits|hamsters|cats|dogs|parrots|eagles|owls|swans|sharks|dolphins|salmon|octopuses|crabs|spiders|ants|butterflies|mosquitoes|snakes|crocodiles|turtles|frogs|kangaroos|koalas|giraffes|zebras|gorillas|monkeys|mammoths|unicorns|oak trees|roses|tulips|mushrooms|cactuses|bamboo|seaweed
Caesar|Alexander the Great|Genghis Khan|Charlemagne|Columbus|Magellan|Galileo|Copernicus|Kepler|Darwin|Mendel|Curie|Tesla the inventor|Edison|Bell|Freud|Marx|Kant|Plato|Socrates|Aristotle|Confucius|Gandhi|Mandela|Churchill|Lincoln|Washington|Lenin|Bach|Chopin|Verdi|Wagner|Elvis|Bob Dylan|Rembrandt|Monet|van Gogh|Michelangelo|Dante|Goethe|Tolstoy|Dickens|Homer|Kafka|Hemingway|Agatha Christie|Sherlock Holmes|Don Quixote|Faust|Ulysses|the Odyssey|the Mona Lisa|the Magic Flute|Batman|Superman|Mickey Mouse|Titanic the film|the Godfather|James Bond|the Simpsons|Lord of the Rings|Dracula|Frankenstein
rugby|cricket|golf|hockey|skiing|swimming|boxing|judo|karate|cycling|rowing|surfing|the marathon|the Tour de France|Wimbledon|the Super Bowl|formula one|poker|bridge the card game|monopoly|sudoku|origami|pottery|knitting|ballet|tango|hip hop|opera|rock music|the piano|the flute|the cello|drums|theatre|sculpture|architecture|gothic art|impressionism|surrealism
marriage|adoption|inheritance|copyright|patents|contracts|insurance|mortgages|pensions|stocks|bonds|interest rates|the euro|the dollar|the yen|unemployment|globalisation|communism|monarchy|feudalism|slavery|colonialism|the renaissance|the enlightenment|the plague|the crusades|the vikings|the samurai|the aztecs|the incas|the maya|the mongols|the Ottoman empire|the Soviet union|the United Nations|the European union|NATO|the moon landing|the atomic bomb|Hiroshima|the Berlin wall|the Black Death|the industrial revolution
Islam|Hinduism|Christianity|Judaism|Taoism|atheism|ethics|logic|free will|consciousness|beauty|justice|truth|friendship|anger|jealousy|grammar|Esperanto|Sanskrit|hieroglyphs|the alphabet|Python the snake|cobol|a compiler|an operating system|a blockchain|the internet of things|a search engine|a smartphone|a drone|an electric car|solar panels|wind power|nuclear power|coal|a dam|a bridge|a submarine|a helicopter|an airplane|a rocket|a train|a bicycle|a clock|a compass|a map|a candle|soap|glass|paper|cotton|silk|leather|perfume|diamonds|pearls|coffee|tea|beer|whisky|milk|cheese|butter|bread|rice|pasta|potatoes|tomatoes|garlic|onions|apples|bananas|oranges|honey|sugar|cinnamon|vanilla|curry|tofu|a croissant|a burger""".replace("\n", "|").split("|")
FOODS = "cake|bread|rice|fish|pizza|soup|steak|omelette|pasta|chicken|lasagne|pancakes|goulash|risotto|sushi|curry|dumplings|paella|apple pie|a salad|cookies|jam|yoghurt|beef stew|tiramisu|ramen|hummus|falafel|waffles|muffins|strudel|borscht|ceviche|cheesecake|potato salad|a roast|gravy|pickles|kimchi".split("|")
ILLS = "headache|cold|fever|cough|flu|cancer|diabetes|back pain|rash|burn|depression|migraine|sore throat|toothache|sunburn|broken leg|high blood pressure|stomach ache|insomnia|allergy|asthma|anxiety|acne|hangover|hiccups|infection|nosebleed|swollen knee|sprained ankle|earache".split("|")
TASKS = "lose weight|get rich|learn piano|fix my car|build a house|get a visa|write a will|sue my neighbour|file my taxes|invest money|find a job|train a dog|grow tomatoes|tie a tie|change a tyre|paint a wall|learn to swim|quit smoking|find a partner|clean a carpet|repair a bicycle|sew a button|buy a house|sell my car|get a divorce|adopt a child|move to another country|learn a language|open a bank account|make friends|plan a wedding|raise a child|play chess better|run a marathon|remove a stain|unclog a sink|catch a fish|write a cv|prepare for an interview|get a passport|found a company|become a pilot|cut my hair|fold a paper plane|tune a guitar|whistle|juggle|start a fire|wash wool|iron a shirt|plant a tree".split("|")
THINGS = "river|mountain|ocean|animal|city|planet|building|bird|lake|person|desert|island|continent|tree|fish|volcano|waterfall|church|bridge|tower|tunnel|airport|train|ship|dinosaur|snake|insect|dog breed|country|company|museum|stadium|library|university|castle|forest|cave|star|diamond|painting|book|film|song|word|war|empire|party|bank|hotel|restaurant".split("|")
# Words of Hearth in a sense that has nothing to do with it.
NEAR_MISSES = [
    "(how (big|old|deep|busy) is|who owns|where is|tell me about) the (port|harbour) of (@C|Rotterdam|Hamburg|Singapore|Genoa|Antwerp)", "(which|what) (wine|year|glass) (is|makes) a good port(| wine)", "(what|which) key (signature |)(is|has|was) (@S|the moonlight sonata|this song|the national anthem|the fifth symphony) (in|written in|have)", "where (are|did I leave|have I put) my (car |house |)keys", "who (invented|discovered) the (key|lock|password|computer|transformer|light bulb|mailbox)",
    "(how|what) (does|is) (human memory|memory loss|a photographic memory|the memory of elephants|short term memory)(| work)", "how (do I|can I) (improve|train|lose) my memory", "(who|which) (fashion |top |super|)model (is|was|earns) (the |)(most famous|richest|best paid|on the cover)", "(what does|how much earns) a (fashion|role|car|train|ship) model (do|earn|cost)(|s)", "(which|what) (car|train|phone|aircraft) model (is|was) (the |)(best|fastest|cheapest|first|newest)", "how much (should I|do I) tip (the|a) (server|waiter)(| in @C)", "my server in the restaurant was (rude|slow|kind), what (now|should I do)",
    "(what|who) (is|was) (the |)token (of love|woman|ring|economy|system)", "where (can I buy|do I get) (a |)(subway|casino|laundry|arcade) tokens?", "(price|value|future) of (the |a |)(ethereum|crypto|game) token(|s)", "(what|which) (route|path) (leads|goes|is the shortest) (to|from) (@C|the station|the top|the airport)", "(what is the|which is the best) (route|way|path|train|road) (to|from) @C", "(silk|sea|trade|bus|mountain|hiking) route(|s)( of @S|)", "how long (is|was) the (queue|line) (at|in front of) (@S|the museum|the airport|the passport office)", "(what|when) (was|is) the (health|identity|default) of (@S|my wife|the king|Spain|a country)", "(my |)health (insurance|problems|food|advice|tips)(| in @C)", "how (healthy|unhealthy) is @S",
    "(who|what) is (a|the) (default|credit default|payment default)(| on a loan| of Greece)", "(how|why) (does|do) (a |)(worker|workers|worker bees|factory workers) (live|strike|earn|organise)", "(what|which) (evidence|proof) (is there |exists |)(for|of|against) (@S|god|life on mars|ghosts|the murder|aliens|dark matter)", "(was|is) there evidence (of|for|against) (@S|a crime|ghosts|global warming|the theory)", "(who|what) (signs|signed) (the |)(treaty|constitution|contract|declaration) of (@C|@S|independence)", "(which|what) (stream|river|creek) (flows|runs) through @C", "how (do|can) I (stream|watch) (the match|a film|the olympics|@S)(| for free| online)", "(what is|show me) on (netflix|tv|youtube|spotify)(| tonight)", "(what is|write) a (chain|chat up|cover|love) (letter|line)", "(how|what) (to|do I) (store|keep) (potatoes|wine|onions|honey|cheese|winter tyres|@F)", "where is the (nearest|next) (store|shop|folder factory|library|bank|pharmacy)", "(what|which) store sells (@F|shoes|@S)", "(can I|how do I) (import|export) (@S|a car|cheese|wine|goods)(| to (France|Japan|@C))", "how (do I|to) pull (a tooth|a muscle|a trailer|weeds|a boat)", "(what|why) (is|was) (a |)(pull|push) up(| good for)", "(how|when) (do|does) (I |a runner |)(run|start) (faster|a marathon|in winter|a business)", "(what is|who sang) (the |)(status quo|home on the range|stop in the name of love)", "(social|marital|tax) status of @P", "(the|what is the) (vector|dimension|normal) of (a |the |)(plane|space|universe|force|disease)", "which (mosquito|vector|insect) (transmits|carries) (malaria|zika|dengue)", "(how|what) is (a |)hash (brown|house|tag|browns)(| made)", "how (hot|warm) is the hearth (in|of) (a |)(castle|kitchen|fireplace|blacksmith)", "(how do I|what is the best way to) (clean|build|brick|light) (a|the|my) (hearth|fireplace|oven)", "(normal |body |oven |room |water |)temperature (of|for|in) (@F|a baby|the sun|@C|a sauna|the fridge|winter|human)", "what is the seed of (a |an |)(mango|pumpkin|sunflower|doubt|oak)", "(when|how) (do I|to) (plant|sow) (seeds|tomatoes|sunflower seeds|grass)", "(how many|which) (tools|hammers|screws) (do I need|are in|belong in) (a |)(toolbox|workshop|garden|kitchen)", "(grammar|spelling) of (the |)(@L|german|sentence)(| language)", "(which|what) (context|background) has (the poem|the speech|the painting|@S)", "(batch|code|serial|zip|area|dress|morse|penal|building|error) (code|number)( of|) (@C|my parcel|my washing machine|my car|my dishwasher)", "my (washing machine|dishwasher|car|printer|tv|heater|router|playstation) shows (error|code) (E12|E5|404|F21|3|17)", "(phone|serial|flight|lottery|house|atomic) number (8740|768|429|20|of @P|of @S)", "what happened in (the year |)(429|503|768|404|400)", "(is|what is) the number (8740|768|503|404|13|42) (lucky|prime|special)",
]
# What a user may ask about Hearth although nothing here tells it.
UNTOLD = [
    "(who|how many people) (is the (boss|ceo|founder|maintainer|leader) of|work on|founded|invented|started|pays for) Hearth", "(when|where|in which (year|city|country)) was Hearth (founded|released|first released|invented|started)", "how many (users|stars|downloads|contributors|customers|lines of code|bugs) does Hearth have", "(what|when) (is|comes|will be in) the (next|coming|following) (version|release) of Hearth", "(what is|show me) (the roadmap|the logo|the mascot|the revenue|the stock price|the slogan) of Hearth", "(is there|where is) (a|the) (Hearth|hearth) (forum|discord|mobile app|iphone app|android app|newsletter|conference|t-shirt|podcast|phone number|support hotline|youtube channel)", "which (model|llm) is (the best|best for coding|best for german|best for stories|the smartest)(| right now)", "how many tokens per second (will|do) (I|we) (get|see)(| on my laptop| with a 70b model| on a raspberry pi)", "is Hearth (faster|better|more popular|older) than (ollama|vllm|lm studio|the competition)", "(who|which companies) (uses|use) Hearth", "can I (train|fine tune|fine-tune|merge|quantise|prune the weights of) (a model|my model|llama) (with|in|on) Hearth", "(why|how) (did|do) you (choose|pick) the name Hearth", "what does the (name|word) Hearth (come from|mean in latin|mean in german)",
]
OUTSIDE = [
    "what is the capital of (@S|@W)", "(who|what) (is|was|were) @S", "what is @S", "when was @S (born|built|founded|invented|discovered|destroyed|published|crowned)", "how (old|tall|big|far|heavy|deep|hot|fast|expensive|long|large|rich|wide|cold|loud|rare|dangerous|popular) (is|was|are) @S", "why (is|does|did|do|are|was) @S (important|happen|exist|fail|work|so popular|so expensive|famous|disappear|red|blue|collapse|extinct|so big)",
    "(tell me|explain|teach me|write|give me (facts|some facts|an essay|a lecture)|what do you know|report|inform me|talk|anything interesting) about @S", "(explain|describe|summarize|define|discuss|analyse) @S(| to me| in detail| like I am five| in simple words| in one paragraph)", "how (does|do|did) @S (work|live|begin|end|grow|move|survive|get its name|make money)", "who (invented|discovered|wrote|painted|founded|built|won|killed|composed|directed|leads|owns|rules|translated|designed|married|betrayed) @S", "what (is the|'s the latest) news (about|on|from) @S", "what happened (to|in|with|at) @S(| yesterday| last year| in 1990| in 1848| today| in @Y)",
    "what do you think (about|of) @S", "(what is|give me|do you have) (your|an) opinion (on|about|of) @S", "(is|are) @S (good|bad|dangerous|true|real|healthy|better than @S|worth it|legal|poisonous|expensive|a lie|extinct|edible|overrated)", "where (is|are|was|were) @S", "where (does|do|did) @S (come from|live|grow|die|end|begin)", "how many (people|animals|planets|countries|stars|players|kinds|languages|rivers|islands|legs|teeth|calories|wives) (live in|are in|belong to|has|have|are there in|did) @S", "what is the population of (@S|@C)", "how much (does|is|do|was) @S (cost|worth|weigh|earn)(| today| now| in euros)",
    "what (is|was) the (history|meaning|price|weight|color|size|origin|height|area|currency|language|anthem|flag|speed|temperature|distance|religion|age|lifespan|formula|symbol|taste|smell|diet|climate|timezone|economy|national dish|secret|purpose|shape) of (@S|@W)", "should I (buy|sell|trust|try|eat|invest in|study|visit|fear|read|believe in|marry|watch) @S", "who (will win|won|is winning|lost) (the election|the world cup|the match|the game|the war|the championship|the race|the oscar|the nobel prize|the league|the final|the tournament)(| this year| in @Y| yesterday| last night)", "what (is|will be|was) the weather (today|tomorrow|now|in @C|like|this weekend|next week|in @C tomorrow)", "(will|did) it (rain|snow|be sunny|be cold|freeze|storm)(| today| tomorrow| in @C| this week)",
    "(how do I|how can I|what helps to|how to) (cure|treat|heal|prevent|stop|recognise) (a |my |an |)@I", "I have (a |an |)@I, what (should I do|can I take|is it|does it mean|helps)", "(is|are) (a |my |)@I (dangerous|contagious|serious|normal|hereditary)", "(which|what) (medicine|pill|drug|dose|doctor|tea|ointment|vitamin) (should I take|helps|is good|do I need)(| (for|against) (a |)@I)", "(symptoms|causes|treatment|signs|side effects) of (a |)(@I|@S)", "(write|compose|make|create|invent) (me |)(a|an) (poem|essay|song|novel|story|speech|love letter|screenplay|haiku|rap|limerick|fairy tale|birthday card|sermon|slogan|tweet|blog post|cover letter|sonnet)(| about @S| for my mother| for @P| on @S)",
    "in (what|which) (year|century|month) (was|did|were) @S (born|start|end|die|begin|built|happen)", "what year did @S (start|end|happen|begin|die)", "(who|which team|which country|which party) (won|governed|invaded|lost) (in |)(@Y|@C)", "what (date|day|time|year|month|season) is it(| today| now| in @C)", "what is today's date", "what time is it(| in @C)", "how many (people live on earth|stars are there|countries are there|planets are there|bones are in the body|languages exist|days has a year on mars|seconds are in a year|teeth has a shark|keys has a piano|strings has a harp|legs has a spider)", "what is the (largest|biggest|smallest|tallest|longest|oldest|deepest|fastest|richest|highest|most famous|most expensive|second largest|heaviest|coldest|hottest|rarest|loudest) @T(| in the world| on earth| in @S| of all time| in @C| ever)",
    "what is the (meaning of life|speed of light|boiling point of water|chemical formula of water|square root of two|atomic number of @S|melting point of @S|largest prime|speed of sound|age of the universe|value of pi|distance to the moon|national bird of @S|freezing point of @S)", "(who|what) should I vote for", "(which|what) (party|religion|phone|car|stock|football club|country|laptop|film|song|diet|university|camera|bank|game|perfume|toothpaste) is (the |)(best|worst|cheapest|healthiest|most popular)", "(can you |could you |please |)(recommend|suggest|propose|name) (a|some|me a|a good) (book|film|restaurant|hotel|song|wine|movie|series|laptop|holiday|present|name for my dog|recipe|museum|beach|podcast|game)(| in @C| for tonight| about @S| for my wife)", "(translate|say|how do you say|what is|spell|write) (hello|thank you|goodbye|good morning|I love you|cat|water|@S|please|house|happy birthday) (in|into|to) @L", "(conjugate|decline|pronounce|what is the plural of|what rhymes with|synonym for|opposite of) (@W|mouse|child|to be|to go|happy|beautiful|ox|goose)",
    "how (do|can|should|would) (I|you|one) (cook|bake|prepare|make|grill|roast|fry|freeze) (a |an |)@F", "(recipe|ingredients|cooking time|calories) (for|of) @F", "how long (does|must|should) @F (cook|bake|rest|keep)", "(what goes|which wine goes|what sauce goes) (well |)with @F", "how (do|can|could|should) I @K", "(what is the best way to|teach me to|tips to|I want to|is it hard to|how long does it take to) @K", "what is the (plot|ending|moral|summary|message) of @S", "who (plays|played|sings|sang|stars|scored) (in |)@S", "what is the (plural|opposite|etymology|translation) of @S", "(compare|what is the difference between|similarities of) @S and @S", "(which|who) is (better|bigger|older|faster|cheaper|stronger|healthier|more famous), @S or @S", "what (causes|caused|stops|follows|triggers) @S", "what are the (symptoms|causes|effects|rules|laws|parts|benefits|risks|types|ingredients|enemies|colours|advantages|dangers|stages) of @S",
    "do (you know|you remember|you like) (@S|who @S is|where @S is|my name|what I said yesterday|my birthday|@P|@C)", "what (did|do|have|should|will) (I|we|my wife|my boss) (eat|do|say|buy|wear|cook|dream|earn) (yesterday|tonight|tomorrow|last year|today)", "(what is|tell me|do you know|guess) my (name|age|address|phone number|birthday|password for the bank|favourite color|job|mother's name|weight|shoe size|horoscope|salary|blood type|star sign|wife's name|favourite song|hometown|height)", "(where|who|how old) am I", "where (is|are|did I put) my (glasses|wallet|phone|cat|husband|car|passport|shoes)", "(what is|what's|give me) the (phone number|email|address|salary|age|wife|height|net worth|birthday|husband|nationality|hobby|record) of (@S|@P)", "who (is|was|are) @P", "who was @P and what did (he|she) do", "what does the name @P mean", "what (is|are|was) (a |an |the |)@W", "what does the word @W mean", "is @P (famous|alive|dead|married|an actor|rich|a friend of @P|guilty|from @C)", "how many (goals|books|children|medals|films|songs|points) (did|has|does) @P (score|write|have|win|make|sing)", "(when|where|how|why) did @P (die|live|marry|become famous|disappear|leave @C|win)", "what did @P (say|write|invent|discover|paint|sing|study|eat)", "(how do I get|how far is it|is there a train|how long is the flight|which road leads) (to|from here to) @C", "(what is|how is|describe) (life|the food|the weather|the traffic|the nightlife|the crime rate|the rent) in @C", "(is|are) (it safe|there good restaurants|there many tourists|people friendly|the hotels expensive) in @C", "who is the (mayor|president|king|queen|prime minister|chancellor|bishop|owner|director|captain|coach|richest man|best player) of (@C|@S|@W)", "(who|what) is @W @W", "(what|where|who|why|when) (is|was|are) @W(| in @C| from @C| and @W)", "(tell me about|explain|define) @W",
    "prove (that |)(the Riemann hypothesis|there are infinitely many primes|P is not NP|Fermat's theorem|the theorem of Pythagoras|god exists)", "(solve|integrate|differentiate|factor) (x squared|the equation|sine of x|this integral|a quadratic equation|the cube)", "(write|code|implement|program) (a |an |me a |)(web server|game|compiler|python program|sorting algorithm|website|app|operating system|calculator|quicksort|linked list|regex|sql query|todo app|snake game)(| in (rust|java|python|c|haskell|go))", "what happened on @D", "what (was|is) special about (the year |)@Y", "tell me (a story|a fact|something interesting|a secret|the future|my fortune|the news|a fairy tale|the truth|about your childhood|about aliens)", "what are the (news|headlines|sports results|lottery numbers|election results|stock prices|opening hours|train times|exchange rates|cinema times)(| today| of today| in @C)", "(predict|forecast|guess) (the future|the weather|the stock market|who wins|the price of @S|my future|the next election|the score|the lottery numbers)", "(will|when will|could) (@S|the world|the economy|@C|prices|robots|humans) (end|rise|fall|disappear|take over|change|grow|crash)(| soon| next year| in @Y)", "(is it|am I|are you) (legal|illegal|allowed|forbidden) to @K(| in @C| in @S)", "(what is|how high is) the (fine|penalty|sentence|tax|punishment|minimum wage|speed limit|legal age) (for (speeding|theft|parking|smoking|@S)|in (@S|@C))", "(can|may) my (landlord|boss|neighbour|doctor|teacher|wife) (fire me|evict me|read my mail|raise the rent|keep my deposit|call me at night)", "(what|how much) (do|does|can) (@A|a @A|@A|my @A) (eat|sleep|weigh|live|cost|see|hear|think)", "how (long|old|fast|big) (do|does|can) (a |)@A (live|get|run|grow|sleep)", "(why|how) (do|does) (a |my |)@A (bark|sing|sleep all day|hunt|migrate|fly|swim|bite|scratch|shed hair)", "(translate|interpret|explain) (the poem|my dream|the bible verse|the proverb|this idiom|the last chapter)(| about @S)", "who (sang|wrote|recorded) the song @W", "(which|what) (team|club|player) (is|won|leads|plays|was) (the best|the league|last night|in @C|the champion)", "(score|result|winner) of (the match|the game|@C against @C|the final|the race)(| yesterday| last night)", "how (do|does|did) (people|children|women|doctors|the ancient romans|farmers|monks|pirates|vikings) (live|eat|travel|dress|sleep|pray|vote|die)(| in @C| in @Y| in @S)", "(what|which) (colour|size|dress|shoes|gift|haircut|name) (should I|do I|suits me|shall I) (wear|buy|choose|give|take)(| to a wedding| for @P|)", "(why is|what makes|why are) (the sky|grass|snow|blood|the sea|fire|gold|a flamingo|stars) (blue|green|white|red|salty|hot|shiny|pink)",
]
ANIMALS = "dog|cat|horse|elephant|parrot|hamster|whale|shark|owl|wolf|bear|rabbit|snake|turtle|cow|goat|bee|spider|penguin|tiger|lion|mouse|fox|eagle|dolphin|camel|giraffe|frog|hedgehog|squirrel|crow|octopus|goldfish|lizard".split("|")
LANGUAGES = ["French", "German", "Spanish", "Italian", "Japanese", "Latin", "Chinese", "Swedish", "Russian", "Finnish", "Greek", "Turkish", "Arabic", "Hindi", "Korean", "Polish", "Dutch", "Hungarian", "Welsh", "Swahili"]

PREFIXES = ["please tell me, ", "tell me, ", "hey, ", "hi, ", "quick question: ", "question: ", "I wonder, ", "so, ", "and ", "ok, ", "also, ", "sorry, ", "excuse me, ", "one more thing: ", "I would like to know: ", "hello! ", "by the way, ", "well, ", "just curious, ", "could you say ", "do you know ", "can you tell me ", "could you tell me ", "I want to know ", "any idea ", "a friend asks: ", "my colleague asks, ", "I forgot, ", "remind me, ", "I am not sure, ", "please explain: ", "in short, ", "briefly: ", "good morning, ", "hmm, ", "Q: ", "say, ", "for a project: ", "I am confused, ", "be honest, ", "let me ask, "]
SUFFIXES = [" please", ", please?", "??", "!", " thanks", " exactly?", " then?", " again?", ", do you know?", " in short?", ", any idea?", ", right?", " ...", " (short answer)", ", I forgot", "? I need it quickly.", "? Thank you."]


@functools.lru_cache(maxsize=None)
def parsed(pattern):
    """A pattern as a tree: texts, and tuples of alternatives that are trees themselves."""
    def sequence(at):
        parts, start = [], at
        while at < len(pattern) and pattern[at] not in ("|)" if depth[0] else ""):
            if pattern[at] == "(":
                parts.append(pattern[start:at])
                options, at = alternatives(at + 1)
                parts.append(options)
                start = at
            else:
                at += 1
        parts.append(pattern[start:at])
        return tuple(p for p in parts if p), at

    def alternatives(at):
        options = []
        depth[0] += 1
        while True:
            option, at = sequence(at)
            options.append(option)
            at += 1
            if pattern[at - 1] == ")":
                depth[0] -= 1
                return [options], at

    depth = [0]
    return sequence(0)[0]


def written(tree, rng):
    return "".join(part if isinstance(part, str) else written(rng.choice(part[0]), rng) for part in tree)


def expand(pattern, rng):
    """As words.expand, but each pattern is taken apart only once, because these are drawn millions of times."""
    return " ".join(written(parsed(pattern), rng).split())


def dress(question, rng, opened=0.45):
    """Gives a bare question an opening, an ending and a case, and now and then a slip of the finger."""
    prefix = rng.choice(PREFIXES) if rng.random() < opened else ""
    out = prefix + question + (rng.choice(SUFFIXES) if rng.random() < opened / 1.5 else rng.choice(["", "", "?", "?", "."]))
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
    return " ".join(words) if len(words) > 1 else question


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


# Facts that people ask for in more ways are asked for more often; no fact is asked for more than three times as often.
FACT_SHARES = list(itertools.accumulate(min(12, max(4, len(fact) - 1)) for fact in FACTS))
PLACES = [" in Hearth", " with Hearth", " of Hearth", " for Hearth", " on this server", " (hearth)", " on my hearth server"]


def hearth_pair(rng, index=None):
    fact = FACTS[index] if index is not None else rng.choices(FACTS, cum_weights=FACT_SHARES)[0]
    question = expand(rng.choice(fact[1:]), rng)
    if "@H" in question:
        question = question.replace("@H", rng.choice(SERVICE_NAMES))
    elif rng.random() < 0.1 and "earth" not in question:
        question += rng.choice(PLACES)
    return dress(vary(question, rng), rng), fact[0]


# Only real questions are opened with words such as "quick question:"; nobody puts them before a greeting.
ASKED = {IDENTITY, ABILITIES, MAKER}
SMALL_TALK_SHARES = list(itertools.accumulate([5, 6, 6, 2, 2, 1.5, 1.5, 1, 1, 0.7]))
# How people end what is no question.
MOODS = ["!", "!", "!!", " :)", " :-)", " ;)", "...", "!!!", " :D", ".", ""]
OPENINGS = ["(greetings|hello|hi) from @C", "(this is|it is) my (first|second) (time|day|message|visit|chat)", "I am (new|back|here|curious|trying this)", "(nice|lovely|great) (day|weather|to be back|program)", "(ready|shall we start|all good)", "(are you|anyone|somebody|is someone) (online|around|awake|ready|present)", "(I am|my name is|I'm) @N", "(glad|happy) to (meet|see) you", "let me (try|test) this", "(can|shall|may) we (talk|chat|begin)", "how nice to (meet|see) you", "(just|only) (looking|testing|checking in|dropping by)"]


def small_talk_pair(rng):
    answer, patterns = rng.choices(SMALL_TALK, cum_weights=SMALL_TALK_SHARES)[0]
    question = filled(expand(rng.choice(patterns), rng), rng)
    if rng.random() < 0.4:
        question = vary(question, rng)
    if answer is GREETING and rng.random() < 0.35:
        question += rng.choice([", ", "! ", " - ", ". "]) + filled(expand(rng.choice(OPENINGS), rng), rng) + rng.choice(["", ".", "!", "?"])
        return question[0].upper() + question[1:] if rng.random() < 0.6 else question, answer
    if answer not in ASKED and rng.random() < 0.3:
        question = question.rstrip("?.") + rng.choice(MOODS)
        return rng.choice([question, question.capitalize(), question.capitalize(), question.upper()]), answer
    return dress(question, rng, 0.45 if answer in ASKED else 0.05), answer


def subject(rng):
    r = rng.random()
    return rng.choice(SUBJECTS) if r < 0.75 else w.invented(rng).capitalize() if r < 0.9 else w.thing(rng)


FILLERS = {
    "@S": subject, "@N": w.first_name, "@C": w.city, "@W": w.invented, "@D": w.day, "@P": lambda rng: f"{w.first_name(rng)} {w.last_name(rng)}",
    "@Y": lambda rng: str(rng.randint(1200, 2040)), "@L": lambda rng: rng.choice(LANGUAGES), "@F": lambda rng: rng.choice(FOODS), "@I": lambda rng: rng.choice(ILLS),
    "@K": lambda rng: rng.choice(TASKS), "@T": lambda rng: rng.choice(THINGS), "@A": lambda rng: rng.choice(ANIMALS),
}
SLOT = re.compile("@[A-Z]")


def filled(question, rng):
    """Puts a name, a thing or an invented word in each slot, so that the model cannot know the questions by heart."""
    return SLOT.sub(lambda m: str(FILLERS[m.group()](rng)), question)


def outside_pair(rng):
    r = rng.random()
    patterns = OUTSIDE if r < 0.78 else NEAR_MISSES if r < 0.94 else UNTOLD
    question = filled(expand(rng.choice(patterns), rng), rng)
    if rng.random() < 0.12:
        question = telegraphic(question, rng)
    return dress(question, rng), UNKNOWN


NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty", "fifty", "a hundred"]

# Slots: @x and @y are numbers, @o an operator, @l a list, @e a text with an address, @s a text with a name, a place or a price.
CANNOT_DO = [
    "what is @x @o @y", "@x @o @y", "@x @o @y =", "how much is @x @o @y", "(calculate|compute|solve|work out|evaluate|figure out) @x @o @y", "what's @x@o@y", "can you do @x @o @y", "@x@o@y", "(tell me|give me|quickly,|please, what is|and|so what is) @x @o @y",
    "(add|sum|subtract|multiply|divide) @x (and|with|by|from) @y", "(what|how much) (is the (sum|product|difference|quotient) of|do I get for) @x and @y", "(sum|total) of @x, @y and @x", "(add up|sum up|total) @x, @y, @x", "@x @o @y @o @x", "what (do|does) @x @o @y (make|give|equal|come to)", "is @x @o @y (more|less) than @x",
    "what is @x (percent|per cent|%) of @y", "(half|a third|double|twice|the square|the square root|a quarter) of @x", "(round|halve|double|square) @x", "what is the (average|mean|median) of @x, @y and @x", "how many (minutes|seconds|hours|days|weeks) (are|is) in @x (hours|days|weeks|years)", "convert @x (km to miles|miles to km|pounds to kilos|celsius to fahrenheit)",
    "(I have|she has|there are) @x (apples|euros|coins|books) and (buy|get|find|lose|give away) @y, how many (are left|do I have|is that)", "(if|when) (one|a) (ticket|book|cake) costs @x euros, what do @y cost", "count from @x to @y", "which number is (bigger|larger|smaller): @x or @y", "is @x (bigger|larger|smaller) than @y", "is @x (even|odd|a prime|prime|divisible by @y)", "what comes (after|before|next after) @x",
    "(sort|order|arrange|rank|alphabetise) (these|the following|these words|these names|this list|the words|them): @l", "(sort|order|arrange|put) @l (alphabetically|by name|in alphabetical order|from A to Z|from Z to A|by length)", "(put|bring|write) (these|the following|these words) (in|into) (alphabetical order|order|the right order): @l", "which (comes first|is first|word is first) in the alphabet: @l", "(reverse|turn around|shuffle) (this list|these): @l", "in alphabetical order(, please|): @l",
    "(sort|order) (these|the) numbers: @x, @y, @x, @y", "@x, @y, @x: (sort|order) (them|these)( please|)", "how many (items|words|things) are in (this list|here): @l", "count (these|the items|the words): @l",
    "(extract|find|give me|get|pull out|show me|pick out|copy) (the|only the|just the) (email|e-mail|mail|email address|mail address|address) (from|in|of|out of) (this|the text|the following|this text): @e", "(what is|which is) the (email|email address|mail address) in (this|the) (text|message|note): @e", "@e (What|Which) is the (address|email|mail address)?", "which (email|address) is in (here|there): @e", "where (do I|should I|can I) (write|mail) to? @e",
    "(extract|find|give me|get) the (name|person|city|place|price|date|number) (from|in|of) (this|this text|the text|the following): @s", "(who|which city|which place|what price|which person) is (named|mentioned|in) (this text|here): @s", "(summarise|summarize|shorten|translate|correct|rewrite|simplify|proofread) (this|this text|the following): @s", "how many (letters|vowels|words|characters) (has|are in|does) (this|the sentence|the following): @s", "@s How many words is that?",
]


def spoken_number(rng):
    r = rng.random()
    if r < 0.12:
        return rng.choice(NUMBER_WORDS)
    if r < 0.2:
        return f"{rng.randint(0, 99)}.{rng.randint(1, 99)}"
    return str(rng.randint(0, rng.choice([9, 20, 99, 99, 999, 20000])))


def with_address(rng):
    who = rng.choice(["Write to", "Mail", "Contact", "My address is", "Send it to", "Ask", "The mail came from", "Reach me at", "Reply to"])
    return f"{sentence(rng)} {who} {w.email(rng)} {rng.choice(['please.', 'soon.', 'today.', 'for details.', ''])}".strip()


def things(rng):
    words = [rng.choice([w.thing, w.first_name, w.city, w.invented])(rng) for _ in range(rng.randint(2, 6))]
    return rng.choice([", ", ", ", " ", "; ", " and "]).join(words)


CANNOT_SLOTS = {
    "@x": spoken_number, "@y": spoken_number, "@l": things, "@e": with_address, "@s": lambda rng: " ".join(sentence(rng) for _ in range(rng.randint(1, 2))),
    "@o": lambda rng: rng.choice(["plus", "+", "minus", "-", "times", "*", "x", "/", "divided by", "and", "added to", "less", "multiplied by"]),
}
CANNOT_SLOT = re.compile("|".join(CANNOT_SLOTS))


def cannot_pair(rng):
    """It got such tasks right so rarely that an answer would mislead: it says that it cannot do them."""
    question = expand(rng.choice(CANNOT_DO), rng)
    return dress(CANNOT_SLOT.sub(lambda m: CANNOT_SLOTS[m.group()](rng), question), rng), CANNOT


def sentence(rng):
    return rng.choice([
        lambda: f"{w.person(rng)} {rng.choice(['lives in', 'works in', 'comes from', 'moved to'])} {w.city(rng)}.", lambda: f"The {w.thing(rng)} costs {w.number(rng)} euros.", lambda: f"{w.text(rng).capitalize()}.",
        lambda: f"{w.first_name(rng)} {rng.choice(['bought', 'sold', 'found', 'lost'])} a {w.thing(rng)} on {rng.choice(w.DAY)}.", lambda: f"Please call {w.person(rng)} at {w.time(rng)}.", lambda: f"Order {w.code(rng)} arrives on {w.date(rng)}."])()


def text_task(rng):
    """Copying, listing, rewriting and JSON: small skills on text that is in the message."""
    kind = rng.randrange(12)
    if kind == 0:
        value = rng.choice([w.text, w.title, w.code, w.person, w.invented, w.url, w.path])(rng)
        return rng.choice([f"repeat: {value}", f'say "{value}"', f"Repeat after me: {value}", f"copy this: {value}", f'Write "{value}"', f"echo {value}", f"Please repeat the following text: {value}"]), value
    if kind == 1:
        items = [w.thing(rng) for _ in range(rng.randint(2, 5))]
        return rng.choice(["make a list", "list these", "turn this into a list", "bullet points", "as a bulleted list", "list the items"]) + ": " + ", ".join(items), "\n".join(f"- {x}" for x in items)
    if kind == 2:
        value = rng.choice([w.text, w.title, w.thing])(rng)
        return rng.choice(["upper case", "in capitals", "make it upper case", "write in capital letters", "UPPERCASE this"]) + f": {value}", value.upper()
    if kind == 3:
        value = rng.choice([w.text, w.title, w.person])(rng)
        return rng.choice(["lower case", "make it lower case", "write in small letters", "lowercase this"]) + f": {value.upper() if rng.random() < 0.5 else value}", value.lower()
    if kind == 4:
        items = [w.thing(rng) for _ in range(rng.randint(2, 6))]
        which = rng.choice(["first", "last"])
        return rng.choice([f"what is the {which} item: {', '.join(items)}", f"give me the {which} word of this list: {', '.join(items)}", f"Which one is {which}? {', '.join(items)}"]), items[0 if which == "first" else -1]
    if kind == 5:
        name = w.first_name(rng)
        return f"My name is {name}. {rng.choice(['What is my name?', 'Who am I?', 'Say my name.', 'How am I called?'])}", f"Your name is {name}."
    if kind in (6, 7, 8):
        keys = rng.sample(["name", "age", "city", "email", "color", "price", "item", "date", "id", "count", "title", "owner", "status", "time"], rng.randint(1, 4))
        makers = {"name": w.person, "age": lambda r: r.randint(1, 99), "city": w.city, "email": w.email, "color": lambda r: r.choice(w.COLOUR), "price": w.number, "item": w.thing, "date": w.date, "id": w.code, "count": w.integer, "title": w.title, "owner": w.person, "status": lambda r: r.choice(["open", "closed", "done"]), "time": w.time}
        values = {k: makers[k](rng) for k in keys}
        said = ", ".join(rng.choice([f"{k} {v}", f"{k}: {v}", f"{k} = {v}", f"{k} is {v}"]) for k, v in values.items())
        ask = rng.choice(["write as JSON: ", "make JSON: ", "convert to JSON: ", "give me JSON with ", "Return a JSON object with ", "as JSON: ", "JSON please: ", "put this into JSON: ", "create a json object: "])
        return ask + said, json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    if kind == 9:
        name, place, age = w.person(rng), w.city(rng), rng.randint(1, 99)
        text = rng.choice([f"{name} is {age} years old and lives in {place}.", f"{name}, {age}, comes from {place}.", f"{name} ({age}) works in {place}."])
        return rng.choice(["Extract name, age and city as JSON: ", "Give name, age, city as JSON from: ", "JSON with name, age and city: "]) + text, json.dumps({"name": name, "age": age, "city": place}, ensure_ascii=False, separators=(",", ":"))
    if kind == 10:
        items = [w.thing(rng) for _ in range(rng.randint(2, 5))]
        return rng.choice(["JSON array of ", "as a JSON array: ", "make a JSON list: ", "put these in a JSON array: "]) + ", ".join(items), json.dumps(items, ensure_ascii=False, separators=(",", ":"))
    old, new = w.thing(rng), w.thing(rng)
    text = rng.choice([f"I bought a {old} today", f"the {old} is in the box", f"my {old} is lost", f"give me the {old}"])
    return f"replace {old} with {new}: {text}", text.replace(old, new)


def any_pair(rng):
    r = rng.random()
    if r < 0.30:
        return hearth_pair(rng)
    if r < 0.55:
        return small_talk_pair(rng)
    if r < 0.85:
        return outside_pair(rng)
    return cannot_pair(rng)


SYSTEM = ["You are a helpful assistant.", "You are hearth-mini.", "Be brief.", "Answer in one sentence.", "You are a friendly assistant.", "Answer shortly and honestly.", "You are an assistant that answers questions."]


def chat_dialogue(rng, pair):
    turns = [("system", rng.choice(SYSTEM))] if rng.random() < 0.15 else []
    question, answer = pair(rng)
    turns += [("user", question), ("assistant", answer)]
    while rng.random() < 0.22:
        question, answer = rng.choice([any_pair, pair])(rng)
        turns += [("user", question), ("assistant", answer)]
    return turns
