"""More everyday words by field, beside the synonym groups of lexicon.py.

Words of one line belong to one small field: they are near each other, but they do not mean the same.
"""

FIELDS = """
potato tuber chips mash fries peel
rice pasta noodle spaghetti macaroni grain wheat corn oat barley cereal
oil olive vinegar mayonnaise sauce ketchup mustard dressing
onion garlic leek ginger
tomato cucumber pepper salad lettuce bean pea lentil pumpkin mushroom
orange lemon lime grape peach melon strawberry raspberry blueberry mango pineapple
chocolate cocoa candy caramel vanilla honey jam marmalade
butter margarine yogurt curd whey rennet ripen
juice lemonade cola soda bottle glass cup mug jug can
whisky vodka rum gin liquor cocktail drunk alcohol sober
fork spoon chopstick napkin tray lid ladle bowl
kettle toaster microwave blender grinder dishwasher appliance household
spicy bitter salty ripe rotten raw crisp tender stale juicy
arm hand finger thumb wrist elbow shoulder
leg foot knee ankle toe heel hip
head face nose mouth lip tongue chin cheek forehead ear neck throat
back spine muscle joint rib limb trunk
lung breath kidney liver organ nerve vein
bandage plaster scissors ointment gel cream gloves
itch rash burn blister swelling scar
germ bacteria infection epidemic pandemic immune antibody symptom
vomit nausea diarrhoea digestion
obese overweight slim calorie protein vitamin sugar
smoke smoker cigarette tobacco nicotine addiction lungs
massage therapy therapist psychologist depression anxiety
wheelchair disabled blind deaf crutch
dream nightmare awake insomnia bed snore
uncle aunt cousin nephew niece twin son daughter
bride groom ring engaged guest vow
teen pupil youth childhood adult grown-up
nappy cradle pram stroller lullaby breastfeed
neighbourhood community club member association
hug kiss flirt date romantic affair
generous selfish kind cruel gentle modest arrogant patient curious shy stubborn
anger temper insult forgive revenge envy
grief mourn tears comfort condolence
confidence courage shame guilt pride regret
sunrise dawn dusk noon midnight
thunder lightning hail cyclone tornado
glacier avalanche ridge slope cliff cave
volcano lava crater eruption ash
tide wave current shore harbour coast reef coral
ocean atlantic pacific continent equator pole arctic antarctica
leaf leaves branch root bark twig foliage stem trunk
seed bulb pot compost fertilizer spade rake hoe shovel bed
weed moss fern ivy cactus
oxygen carbon dioxide hydrogen nitrogen gas
green pigment chlorophyll photosynthesis
spider mosquito fly moth butterfly worm snail caterpillar
hive honey queen swarm pollen beekeeper
frog toad lizard turtle crocodile
elephant giraffe zebra camel kangaroo monkey ape
penguin seal walrus polar
eagle owl parrot swan goose duck feather beak wing nest
shark octopus crab lobster shrimp jellyfish
paw tail fur claw hoof horn mane
kennel leash collar bowl puppy walk breed
saddle stable gallop rider
hay barn tractor crop wheat harvest plough
pasture herd shepherd wool
cage aquarium terrarium
sail anchor deck captain crew harbour port hull mast
pilot cockpit runway wing takeoff landing flight
rail track platform conductor carriage timetable
steering clutch gear pedal windscreen bumper headlight mirror horn
spare jack puncture nuts wrench
electric hybrid charging station plug
fine speed limit radar licence
bridge tunnel crossing roundabout sign pavement crosswalk
rucksack backpack tent sleeping campfire torch compass
beach towel sunscreen swimsuit bikini sand shade
ski snowboard slope sledge lift
souvenir postcard abroad foreign passport customs
reception lobby suite balcony breakfast guests
bucket mop sponge broom brush detergent soap bleach vinegar soda
stain spill dirt dust grease rinse
tap faucet pipe drain leak plumber sink toilet shower bath tub
socket switch fuse cable electrician voltage power current electricity
hammer nail screw screwdriver drill saw pliers glue tape rivet tool
board plank timber wood plywood varnish
brick cement concrete tile plaster gravel mortar
shelf bookshelf drawer hook rack furniture wardrobe
blind curtain rug carpet cushion lamp vase frame candle
fence hedge terrace patio porch balcony shed
lawn mower hose sprinkler barbecue grill
elevator escalator corridor hall lobby basement cellar attic
estate agent valuation broker property
moving removal boxes van relocate
steam iron collar sleeve cuff button zipper thread needle
cotton wool silk leather linen denim
perfume lipstick makeup mirror comb brush shampoo razor shave beard
gold silver diamond pearl bracelet earring
fashion model style trend designer
wage payroll bonus overtime shift
secretary assistant clerk receptionist accountant engineer architect carpenter electrician mechanic
waiter waitress bartender cashier butcher baker gardener tailor
startup founder entrepreneur shareholder board
advertisement advertising campaign brand slogan logo marketing
warehouse stock inventory logistics freight cargo pallet
export import trade tariff
bankrupt bankruptcy crisis recession
inflation economy economic currency euro dollar interest rate
stock share dividend bond fund broker
pension retire retiree
charity donation volunteer aid
auction bid offer
customer queue till checkout basket trolley
kindergarten nursery daycare
semester lecture seminar campus thesis scholarship
blackboard chalk eraser ruler notebook folder
alphabet letter spelling grammar vowel sentence paragraph vocabulary
noun verb adjective
fraction percent sum multiply divide add subtract equation formula
metre kilometre mile inch litre gram kilo tonne
experiment laboratory microscope theory scientist
atom molecule electron energy force gravity magnet pressure
acid base salt metal iron copper steel aluminium
astronomy orbit galaxy telescope comet rocket astronaut space eclipse
fossil dinosaur evolution gene species
empire emperor medieval castle knight pyramid ancient century
revolution independence colony treaty
opera ballet choir chorus stage audience applause curtain
rhythm melody lyrics album record
sculpture statue portrait canvas brush sketch
director scene script cast premiere
chapter page cover publisher editor reader plot
fairy tale legend myth hero
cartoon comic animation
pawn knight bishop rook castle queen checkmate
card dice puzzle riddle quiz bet casino lottery
goalkeeper striker penalty referee whistle kick offside
marathon sprint jogging distance track stopwatch
gym yoga pilates stretch plank squat push-up
boxing judo wrestling karate
golf hockey cricket baseball volleyball
medal trophy cup championship tournament league
skate bicycle helmet
fishing rod hook bait
hunting rifle deer prey
sewing knitting crochet embroidery
pottery craft origami
parliament minister senate congress party opposition
democracy dictatorship monarchy republic
council ballot envelope candidate
refugee asylum border
treaty alliance ambassador embassy
soldier tank bomb missile navy
spy intelligence agent
jury witness verdict sentence evidence testimony
theft fraud murder kidnapping blackmail
handcuffs cell guard
hose ladder siren truck
ambulance paramedic rescue
priest monk bishop mosque temple synagogue prayer god
christmas easter ramadan
festival carnival parade fireworks
fake rumour gossip scandal
press journalist reporter interview article column headline
channel programme series episode
stamp envelope postcard postman
accent dialect translate interpreter
whisper shout silence echo
signature sign form stamp seal
red blue green yellow orange purple pink brown black white grey colour
metal plastic wood glass rubber paper cardboard
liquid solid powder
hot lukewarm cool ice
triangle cube sphere cylinder
top bottom left right middle centre corner edge side
front rear above below inside outside
first second third last next previous
half quarter double triple
one two three four five six seven eight nine ten twenty hundred thousand million
monday tuesday wednesday thursday friday saturday sunday weekend
january february march april may june july august september october november december
century decade era
second minute quarter timer stopwatch alarm
crowded lonely noisy peaceful
comfortable uncomfortable cosy
smooth rough flat steep curved straight bent
thick thin fat slim
sharp blunt
sticky slippery
transparent visible invisible
useful useless
necessary optional
complete partial
exact approximate
bluetooth headphones earphones microphone speaker volume
scanner copier toner ink cartridge
tablet touchscreen stylus
spreadsheet table cell column row formula
text font bold italic paragraph
folder path desktop icon shortcut
spam phishing firewall antivirus
cookie tab bookmark link
algorithm data structure variable loop function class
python javascript typescript java rust
repository commit branch merge clone git
container docker kubernetes deployment
cloud hosting domain certificate
json xml yaml csv
api http get post status
quantisation quant weights gguf tensor parameters
instance boot id
bearer authorization key
base64 float encoding
dimensions width 768 unit length normalised
manifest blob store
public private pem ed25519
batch prefill decode sequence slot
drone sensor camera robot automation
solar panel wind turbine nuclear coal energy power plant
battery charger volt
laser lens mirror
print pixel resolution
factory assembly line conveyor
pulp fibre sieve
furnace melt blow jar
mine coal miner
oil drill refinery
"""


def fields():
    for line in FIELDS.strip().splitlines():
        yield line.split()
