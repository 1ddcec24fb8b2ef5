"""Word lists for varied training text: nouns, verbs, adjectives, proper names, kinds within a class."""

NOUNS = """
refrigerator freezer dishwasher microwave oven stove cooker toaster kettle blender mixer juicer grinder teapot coffeepot saucepan frypan skillet wok
casserole colander sieve ladle spatula whisk grater peeler corkscrew pestle mortar apron napkin tablecloth placemat coaster saucer plate bowl dish
tray mug cup glass goblet tumbler pitcher jug carafe decanter flask thermos fork knife spoon teaspoon tablespoon chopsticks tongs skewer toothpick
straw bottle jar lid cork pantry larder cupboard drawer shelf bookshelf bookcase wardrobe closet dresser nightstand bed bunk crib cradle mattress
pillow pillowcase blanket duvet quilt bedspread sheet hammock sofa couch armchair chair stool bench footstool ottoman recliner rocker table desk
sideboard cabinet chest trunk lamp lampshade chandelier lantern candle candlestick torch flashlight lightbulb dimmer switch socket plug cable cord
adapter extension fuse battery charger radiator heater boiler furnace fireplace chimney thermostat humidifier dehumidifier fan ventilator purifier
vacuum broom mop bucket dustpan duster sponge scrubber detergent soap bleach bin dustbin wastebasket washer dryer iron clothesline clothespin hanger
hamper laundry basket doorbell doormat doorknob doorway doorstep keyhole keyring key lock padlock deadbolt latch hinge curtain blind shutter awning
carpet rug mat linoleum tile wallpaper plaster paint mirror clock wristwatch stopwatch hourglass sundial timer alarm calendar vase flowerpot planter
doily cushion ashtray matchbox matchstick lighter bathtub shower showerhead faucet tap sink basin toilet bidet towel bathrobe washcloth toothbrush
toothpaste mouthwash floss shampoo conditioner comb hairbrush hairdryer hairpin hairspray razor shaver lotion perfume deodorant lipstick mascara
eyeliner eyeshadow foundation tweezers nailfile scissors hammer screwdriver wrench spanner pliers saw hacksaw chainsaw handsaw jigsaw drill chisel
plane sandpaper sander rasp file awl vise clamp crowbar lever jack pickaxe axe hatchet mallet sledgehammer nail screw bolt nut rivet bracket anvil
bellows forge lathe mill workbench toolbox toolshed ladder stepladder scaffold pulley winch crane hoist forklift bulldozer excavator backhoe
steamroller tractor plough harrow harvester combine baler seeder sprinkler hose nozzle wheelbarrow shovel spade rake hoe trowel pitchfork sickle
scythe shears pruner lawnmower trimmer chipper shredder compressor generator turbine engine motor pump piston cylinder valve gasket gearbox gear
cogwheel flywheel crankshaft camshaft bearing axle spring sprocket chain belt conveyor sensor actuator solenoid relay transistor resistor capacitor
diode inductor oscillator amplifier antenna transformer rectifier inverter magnet electromagnet coil wire solder multimeter oscilloscope voltmeter
ammeter thermometer barometer hygrometer anemometer altimeter speedometer odometer tachometer pedometer caliper micrometer ruler yardstick protractor
compass plumbline level theodolite gauge scale balance dynamometer robot drone printer plotter engraver laser welder blowtorch stapler staple punch
laminator typewriter telegraph loom spindle bobbin needle thimble thread yarn car automobile sedan hatchback convertible limousine taxi cab minivan
van truck pickup lorry trailer caravan camper motorhome bus minibus coach tram streetcar trolley train locomotive subway metro monorail wagon freight
carriage stagecoach rickshaw cart chariot sleigh sled sledge toboggan snowmobile snowplow bicycle tricycle unicycle tandem moped scooter motorcycle
motorbike sidecar skateboard ambulance firetruck hearse tank jeep helicopter airplane aeroplane jet airliner glider seaplane biplane balloon airship
blimp parachute rocket shuttle spacecraft spaceship spaceplane boat rowboat canoe kayak raft dinghy yacht sailboat catamaran schooner frigate ferry
hovercraft hydrofoil barge tugboat trawler lifeboat steamboat speedboat gondola submarine battleship destroyer cruiser icebreaker tanker freighter
steamship houseboat windshield windscreen wiper dashboard bumper fender headlight taillight indicator horn seatbelt airbag clutch brake accelerator
throttle carburetor muffler exhaust tailpipe tire tyre wheel hubcap spoke rim handlebar pedal saddle kickstand glovebox sunroof tailgate hood bonnet
boot chassis suspension propeller rudder anchor mast sail keel oar paddle hull deck cabin cockpit fuselage wing aileron runway hangar undercarriage
porthole gangway house home cottage bungalow villa mansion castle palace fortress tower skyscraper apartment flat condominium penthouse studio loft
attic basement cellar garage carport porch veranda balcony terrace patio courtyard garden greenhouse conservatory shed barn stable farmhouse farmyard
henhouse doghouse birdhouse beehive silo windmill watermill lighthouse warehouse factory workshop foundry refinery brewery distillery winery bakery
dairy sawmill quarry mine powerhouse substation reactor office headquarters embassy consulate courthouse townhouse townhall parliament library
bookshop museum gallery theatre theater cinema auditorium stadium arena gymnasium ballroom casino nightclub tavern pub bar cafe cafeteria restaurant
canteen diner bistro pizzeria steakhouse hotel hostel motel inn guesthouse campsite campground lodge chalet cabana hospital clinic pharmacy drugstore
surgery nursery kindergarten school college university academy laboratory observatory planetarium aquarium zoo church cathedral chapel temple mosque
synagogue monastery convent abbey shrine pagoda cemetery graveyard mausoleum pyramid monument statue fountain obelisk bridge viaduct aqueduct tunnel
dam canal harbor harbour pier dock jetty quay marina shipyard airport heliport airfield terminal station platform depot carpark crossroads roundabout
motorway highway freeway expressway boulevard avenue street lane alley driveway sidewalk pavement footpath footbridge crosswalk playground park
sandbox swing seesaw carousel slide treehouse igloo teepee tent yurt hut shack barracks bunker prison jail dungeon moat drawbridge gate gatehouse
gateway fence hedge wall brick roof rooftop rafter beam girder pillar column arch vault dome ceiling floor floorboard window windowsill windowpane
skylight door staircase stairway stairwell stair banister handrail escalator elevator lift lobby foyer hallway corridor kitchen bedroom bathroom
restroom washroom cloakroom playroom classroom ballpark boardroom showroom stockroom storeroom darkroom newsroom courtroom ward greenroom sunroom
lounge parlor study nook alcove mezzanine storey fireplug hydrant manhole gutter drainpipe sewer pipeline cistern well reservoir shirt tshirt blouse
sweater pullover jumper cardigan sweatshirt hoodie jacket blazer coat overcoat raincoat waistcoat vest windbreaker parka anorak poncho cape cloak
shawl scarf necktie tie bowtie collar cuff cufflink sleeve pocket button buttonhole zipper buckle suspenders trousers pants jeans shorts leggings
tights stockings sock slipper sandal shoe shoelace sneaker trainer loafer moccasin clog wellington snowshoe horseshoe heel sole skirt dress gown
petticoat underwear nightgown pajamas swimsuit bikini wetsuit tuxedo suit uniform costume overalls dungarees kilt kimono sari toga turban hat cap
beanie beret helmet crown tiara headband headscarf hairband earmuffs glove mitten gauntlet handkerchief handbag purse wallet backpack rucksack
briefcase suitcase satchel umbrella parasol cane crutch sunglasses eyeglasses spectacles goggles monocle earring necklace bracelet anklet ring brooch
pendant locket medal badge wig veil garter lining hem patch embroidery bread loaf bun roll bagel baguette toast sandwich hamburger cheeseburger hotdog
sausage bacon ham steak meatball meatloaf pork beef mutton lamb veal chicken turkey gravy stew soup broth chowder omelette egg pancake waffle crepe
porridge oatmeal cereal muesli granola rice noodle pasta spaghetti macaroni lasagna pizza dumpling taco burrito kebab curry salad coleslaw potato chip
crisp popcorn pretzel cracker biscuit cookie cake cupcake shortcake cheesecake pie tart pastry croissant doughnut muffin brownie gingerbread pudding
custard trifle jelly jam marmalade honey syrup molasses sugar sweetener chocolate candy lollipop toffee fudge caramel marshmallow nougat marzipan
licorice sorbet popsicle sundae milkshake smoothie yogurt cream buttermilk butter margarine cheese milk flour dough yeast batter breadcrumb salt
pepper mustard ketchup mayonnaise vinegar oil sauce pickle relish chutney tofu soybean lentil chickpea bean pea peapod carrot cabbage cauliflower
broccoli spinach lettuce celery asparagus artichoke cucumber zucchini eggplant aubergine pumpkin squash turnip radish beetroot parsnip leek onion
garlic scallion tomato corn maize mushroom truffle avocado olive apple pear peach plum apricot nectarine cherry strawberry raspberry blackberry
blueberry cranberry gooseberry blackcurrant mulberry grape grapefruit raisin lemon lime orange tangerine mandarin pineapple banana mango papaya
coconut melon watermelon cantaloupe pomegranate fig date kiwi peanut almond walnut hazelnut chestnut cashew pistachio pecan acorn coffee espresso tea
lemonade juice soda cola water beer ale cider wine champagne whisky brandy rum vodka gin liqueur cocktail cocoa nectar breakfast lunch dinner supper
brunch snack dessert appetizer picnic barbecue buffet banquet feast leftovers recipe cookbook lunchbox menu tablespoonful teabag sugarcane peppercorn
peppermint spearmint tree oak maple birch beech willow poplar elm ash pine fir spruce cedar larch cypress redwood sequoia palm bamboo bush shrub
hedgehog ivy vine grapevine moss lichen fern grass lawn meadow clover thistle nettle dandelion daisy rose tulip lily sunflower buttercup snowdrop
daffodil orchid violet poppy lavender marigold foxglove honeysuckle cactus seaweed algae reed bulrush toadstool leaf twig branch bark root stem petal
blossom bud pollen seed seedling sapling bulb thorn pinecone orchard vineyard plantation forest woodland rainforest jungle grove thicket dog puppy cat
kitten horse pony foal mare stallion donkey mule cow calf bull ox sheep ewe ram goat kid pig piglet rabbit hare hamster gerbil mouse rat squirrel
chipmunk beaver otter badger fox wolf coyote jackal hyena bear panda koala kangaroo wallaby wombat platypus opossum raccoon skunk weasel ferret mink
mole shrew bat porcupine anteater armadillo sloth monkey ape gorilla chimpanzee orangutan baboon lemur lion lioness tiger leopard panther jaguar
cheetah lynx bobcat cougar elephant mammoth rhinoceros hippopotamus giraffe zebra camel dromedary llama alpaca deer stag reindeer moose elk antelope
gazelle bison buffalo yak walrus seal whale dolphin porpoise shark octopus squid cuttlefish jellyfish starfish seahorse swordfish goldfish crab
lobster shrimp prawn crayfish oyster mussel clam scallop snail slug worm earthworm leech spider tarantula scorpion centipede millipede ant termite bee
bumblebee wasp hornet butterfly moth caterpillar cocoon dragonfly grasshopper cricket cockroach beetle ladybird firefly mosquito fly flea louse tick
mite frog toad tadpole newt salamander lizard chameleon gecko iguana crocodile alligator turtle tortoise snake rattlesnake python cobra viper dinosaur
bird chick hen rooster duck duckling goose gosling swan pigeon dove sparrow swallow robin blackbird crow raven magpie jay woodpecker kingfisher cuckoo
nightingale parrot budgerigar cockatoo owl eagle hawk falcon vulture gull seagull pelican stork heron flamingo ostrich emu penguin peacock pheasant
quail hummingbird feather beak claw paw hoof antler tusk tail fin gill fur wool mane whisker nest birdcage fishbowl fishpond kennel stall leash aviary
burrow cobweb honeycomb eggshell seashell shell coral herd flock body head face forehead eye eyebrow eyelash eyelid ear earlobe eardrum nose nostril
mouth lip tongue tooth gum jaw cheek chin beard moustache hair skull brain neck throat shoulder arm armpit elbow forearm wrist hand finger fingertip
fingernail fingerprint thumb knuckle fist rib ribcage heart heartbeat lung stomach belly navel liver kidney bladder bowel intestine pancreas spleen
spine backbone hip waist thigh knee kneecap shin ankle foot footprint toe toenail skin muscle tendon ligament bone skeleton joint artery vein nerve
blood bloodstream plasma hormone gland enzyme cell tissue fever cough cold flu headache toothache backache stomachache earache heartburn allergy
asthma bruise blister wound scar burn fracture sprain rash sunburn infection virus bacterium vaccine injection syringe pill tablet capsule ointment
antibiotic painkiller aspirin bandage stretcher wheelchair stethoscope scalpel ultrasound xray pacemaker defibrillator respirator inhaler prosthesis
denture brace prescription dose dosage diagnosis therapy massage checkup pulse breath sneeze hiccup yawn nap sleep dream nightmare calorie vitamin
protein carbohydrate diet exercise workout treadmill dumbbell barbell yoga pushup plumber electrician carpenter bricklayer mason roofer painter
glazier locksmith blacksmith goldsmith mechanic machinist engineer architect surveyor builder farmer gardener florist shepherd fisherman hunter
butcher baker grocer greengrocer chef cook waiter waitress bartender barista cashier shopkeeper salesman saleswoman merchant trader banker accountant
bookkeeper auditor economist lawyer attorney judge solicitor barrister notary clerk secretary receptionist typist manager director executive
supervisor foreman apprentice trainee intern teacher professor lecturer tutor headmaster principal librarian student pupil classmate scholar scientist
physicist chemist biologist botanist zoologist geologist astronomer astronaut mathematician statistician programmer developer analyst technician
doctor physician surgeon dentist nurse midwife paramedic pharmacist veterinarian psychologist psychiatrist therapist optician patient policeman
policewoman detective inspector officer sheriff firefighter fireman lifeguard bodyguard watchman soldier sailor pilot copilot captain admiral general
sergeant lieutenant colonel stewardess steward conductor driver chauffeur cyclist motorist pedestrian passenger commuter traveler tourist backpacker
postman mailman courier messenger janitor caretaker doorman porter housekeeper cleaner babysitter nanny butler maid hairdresser barber beautician
tailor seamstress cobbler shoemaker weaver potter sculptor artist illustrator photographer cameraman filmmaker producer actor actress dancer ballerina
acrobat clown juggler magician singer musician composer pianist guitarist violinist drummer songwriter novelist poet playwright author writer editor
publisher journalist reporter correspondent columnist translator interpreter announcer broadcaster presenter politician president minister chancellor
senator mayor governor ambassador diplomat king queen prince princess emperor knight duke priest monk nun bishop pope rabbi imam athlete referee
umpire goalkeeper striker quarterback swimmer sprinter jockey boxer wrestler champion spectator neighbor landlord tenant roommate host guest customer
client employer employee colleague coworker boss partner husband wife spouse bride groom bridesmaid father mother parent stepfather stepmother
grandfather grandmother grandparent son daughter brother sister twin uncle aunt nephew niece cousin grandson granddaughter child baby toddler infant
teenager adult pensioner orphan stranger friend girlfriend boyfriend pirate thief burglar shoplifter prisoner witness volunteer beekeeper zookeeper
bookbinder bookseller newsagent undertaker lumberjack miner computer laptop desktop notebook keyboard keypad touchpad touchscreen mousepad trackball
joystick gamepad monitor screen display webcam microphone headphone headset earphone earbud loudspeaker speaker scanner photocopier copier fax modem
router firewall server mainframe workstation supercomputer smartphone smartwatch telephone phone phonebook payphone pager beacon transmitter receiver
satellite disk diskette floppy drive memory processor microchip motherboard circuit cartridge toner inkjet barcode software hardware firmware malware
spyware spreadsheet database datasheet folder directory filename password passcode username login logout account profile avatar homepage website
webpage browser bookmark hyperlink cursor toolbar taskbar scrollbar menubar checkbox dropdown popup widget icon screensaver screenshot clipboard font
keystroke shortcut macro script algorithm compiler debugger program plugin update upgrade download upload backup snapshot archive repository network
intranet internet ethernet bluetooth hotspot bandwidth gigabyte megabyte kilobyte pixel megapixel thumbnail email mailbox inbox outbox newsletter
attachment spam chatbot chatroom forum blog podcast livestream emoji emoticon hashtag message voicemail ringtone notification reminder paperclip
paperweight pencil pen ballpoint pushpin thumbtack eraser sharpener highlighter marker crayon chalk chalkboard blackboard whiteboard flipchart inkwell
ink paper cardboard envelope postcard stamp letterhead letterbox sticker label tag tape glue notepad logbook diary planner organizer binder ringbinder
cubicle nameplate stationery calculator abacus projector pointer lectern podium football soccer basketball baseball softball volleyball handball
tennis badminton golf hockey rugby lacrosse polo bowling billiards snooker darts archery fencing boxing wrestling judo karate swimming rowing sailing
surfing surfboard snowboard skiing skating skate hiking climbing mountaineering cycling running jogging marathon triathlon decathlon hurdle javelin
discus trampoline gymnastics weightlifting horseback racket racquet ball shuttlecock puck goal goalpost net hoop scoreboard whistle trophy tournament
championship league playoff semifinal match game inning halftime overtime penalty touchdown chess chessboard checkerboard checkers pawn rook domino
dice backgammon poker blackjack solitaire roulette lottery raffle bingo crossword puzzle sudoku riddle quiz trivia hopscotch yoyo kite frisbee marble
dollhouse doll teddy puppet marionette toy rattle pinball arcade videogame slingshot boomerang dartboard bait fishhook waterskiing snorkel flipper
racetrack racecourse grandstand locker piano violin viola cello guitar ukulele banjo mandolin harp flute piccolo clarinet oboe bassoon saxophone
trumpet trombone tuba bugle harmonica accordion organ harpsichord xylophone glockenspiel marimba drum drumstick snare cymbal gong tambourine triangle
bagpipe synthesizer metronome song tune melody harmony rhythm chord lullaby anthem hymn symphony concerto sonata opera operetta musical overture
quartet orchestra choir band bandstand soloist concert recital rehearsal album playlist soundtrack jukebox gramophone turntable phonograph stereo
radio cassette vinyl songbook lyric chorus verse soprano tenor baritone encore mountain hill hillside hilltop mountaintop peak summit ridge cliff
canyon gorge valley ravine plateau plain prairie savanna steppe desert dune oasis tundra glacier iceberg avalanche volcano lava crater geyser
earthquake landslide cave cavern grotto rock stone pebble boulder gravel sand sandstone limestone granite clay soil mud swamp marsh bog wetland lake
pond puddle river riverbank riverbed stream brook creek waterfall rapids delta estuary lagoon bay gulf fjord strait sea seaside seashore ocean island
peninsula isthmus archipelago coast coastline beach shore reef atoll wave tide whirlpool current tsunami flood drought weather forecast sunshine
sunrise sunset daylight moonlight starlight twilight dawn dusk midnight noon rain raindrop rainfall rainstorm rainbow drizzle hail hailstone snow
snowfall snowflake snowstorm snowball snowman blizzard sleet slush frost ice icicle fog mist haze dew cloud thundercloud thunder thunderbolt
thunderstorm lightning storm wind breeze gale whirlwind tornado hurricane typhoon cyclone monsoon sandstorm heatwave temperature humidity climate
season summer autumn winter horizon landscape wilderness countryside waterhole campfire wildfire bonfire flame smoke ember planet moon sun star galaxy
constellation comet asteroid meteor meteorite meteoroid nebula supernova pulsar quasar orbit eclipse equinox solstice telescope spacesuit spacewalk
launchpad cosmonaut astronomy universe cosmos gravity stardust sunspot exoplanet lander rover passport visa ticket luggage baggage itinerary
reservation booking journey trip voyage cruise excursion safari pilgrimage expedition sightseeing landmark souvenir brochure guidebook map atlas globe
signpost milestone timetable departure arrival layover stopover jetlag customs border checkpoint tollbooth toll detour roadmap route railway railroad
turnstile aisle seat berth compartment sleeper fare carrier airline hitchhiker campervan waypoint destination adventure holiday vacation honeymoon
shop store supermarket hypermarket grocery market marketplace mall boutique bazaar kiosk newsstand bookstore toyshop pawnshop barbershop salon spa
laundromat laundrette launderette delicatessen fishmonger butchery greengrocery jeweler ironmonger stationer tobacconist optometrist dressmaker
dealership showcase storefront checkout counter till register bag carton crate barrel box package parcel wrapper receipt refund discount coupon
voucher bargain gift warranty guarantee catalog catalogue brand trademark logo slogan advertisement billboard leaflet flyer poster banner delivery
shipment cargo container pallet postage mail postbox subscription membership rental lease mortgage insurance carwash petrol gasoline diesel fuel
auction agency agent hotline helpdesk catering lesson lecture homework assignment essay exam examination test grade diploma degree certificate
scholarship curriculum syllabus textbook workbook schoolbag schoolyard schoolhouse schoolbook recess semester term graduation dormitory campus faculty
thesis dissertation seminar tutorial worksheet flashcard dictionary encyclopedia thesaurus glossary alphabet letter word sentence paragraph grammar
spelling vocabulary noun verb adjective punctuation comma semicolon apostrophe hyphen parenthesis arithmetic algebra geometry trigonometry calculus
equation fraction decimal percentage integer polygon rectangle square circle ellipse hexagon pentagon octagon cube sphere cone prism diameter radius
circumference hypotenuse experiment hypothesis theory formula molecule atom electron proton neutron nucleus isotope photon quark neutrino element
compound mixture solution crystal acid alkali hydrogen oxygen nitrogen carbon helium neon chlorine sodium potassium calcium magnesium aluminium copper
silver gold platinum zinc tin lead nickel mercury uranium plutonium sulfur phosphorus steel bronze brass pewter microscope spectrometer spectroscope
spectrograph seismograph centrifuge incubator autoclave microtome beaker pipette burette funnel crucible bunsen chromatograph calorimeter electroscope
galvanometer hydrometer pendulum gyroscope sextant astrolabe binoculars periscope kaleidoscope magnifier lens cyclotron accelerometer photometer
radiometer dosimeter cryostat electrode anode cathode electrolyte chromosome genome gene embryo fossil mineral specimen organism microbe
photosynthesis ecosystem habitat radar sonar wavelength frequency voltage wattage ampere kilowatt kilogram gram milligram tonne ounce pound kilometer
centimeter millimeter meter mile inch yard liter gallon pint acre hectare painting portrait drawing sketch sketchbook watercolor mural fresco mosaic
collage sculpture pottery porcelain ceramics engraving etching lithograph woodcut canvas easel palette brush paintbrush paintbox pastel charcoal
varnish frame exhibition masterpiece graffiti tapestry handicraft origami crochet knitting needlework patchwork camera camcorder tripod flashgun
viewfinder photograph photo negative slideshow filmstrip film movie documentary cartoon comedy tragedy drama thriller western sitcom subtitle
screenplay scene stage spotlight footlights backdrop props premiere television broadcast channel newscast headline newspaper magazine tabloid journal
periodical article interview cartoonist book paperback hardcover audiobook novel storybook fairytale fable legend myth poem sonnet haiku limerick
biography autobiography memoir anthology chapter page preface footnote index bookend bookworm manuscript handwriting typeface quotation proverb
puppetry circus carnival fairground funfair rollercoaster money cash coin banknote bill change moneybox bank cheque checkbook chequebook debit deposit
withdrawal overdraft loan debt interest savings budget salary wage paycheck payroll paycheque bonus tip pension tax income expense expenditure invoice
payment installment price cost profit loss revenue dividend stock share shareholder bond portfolio investment inflation currency dollar cent penny
dime quarter ledger treasury cashbox cashpoint safe fund donation charity fee fine ransom inheritance wedding birthday anniversary christening baptism
funeral party festival parade fireworks ceremony celebration reception conference meeting congress convention webinar hackathon fair jubilee reunion
election referendum campaign ballot debate protest strike riot revolution war battle truce treaty accident emergency rescue evacuation blackout sale
opening launch appointment deadline competition contest race tour sleepover housewarming potluck ballgame bullfight rodeo document contract agreement
licence license permit deed will testament affidavit subpoena warrant lawsuit verdict patent copyright blueprint diagram chart graph flowchart
histogram report summary memo memorandum minutes agenda questionnaire survey form application resume petition manifesto constitution statute bylaw
regulation guideline manual handbook checklist inventory list roster rota schedule transcript dossier booklet pamphlet prospectus proposal estimate
waiver disclaimer invitation greeting note scrapbook yearbook payslip timesheet bibliography appendix draft template signature watermark bulletin
circular directive census almanac gazette flowerbed flagpole flag kerosene lamppost streetlight streetlamp pothole crosswind sawdust driftwood
firewood plywood hardwood softwood lumber timber plank log woodpile haystack scarecrow hayloft pasture paddock pigsty cowshed farmland cornfield
wheatfield wheat barley rye oats hay fertilizer compost pesticide weed rainwater drainage irrigation sundeck pool poolside jacuzzi sauna sunbed
sunscreen sunshade deckchair lifejacket lifebelt lifebuoy buoy fishnet fishery seaport seafood seabed seafront shipwreck treasure spyglass cannon
cannonball gun pistol rifle shotgun bullet sword dagger spear shield armor bow arrow arrowhead crossbow catapult grenade torpedo missile warhead
parachutist hairnet hairdo haircut ponytail pigtail earplug eyepatch facecloth mouthpiece handcuff handshake handstand armband wristband waistband
footwear footrest footstep headrest headwind headboard bedside bedtime bedroll bedrock teacup teahouse coffeehouse eggcup eggbeater saltshaker
peppermill breadbox breadboard breadcrumbs breadbasket cheeseboard cheesecloth cookware tableware silverware glassware earthenware stoneware dishcloth
dishrag dishpan washboard washstand washbasin washtub bathmat bathwater waterbed waterwheel watercourse waterfront watercress floodgate floodlight
sunlamp nightlight nightcap nightshirt daybed daydream birdbath birdseed birdsong catfish catnip dogsled horsehair horsewhip horsefly horseradish
cowbell cowboy cowgirl cowhide pigskin goatskin sheepdog sheepskin foxhole foxhound wolfhound bulldog bullfrog ladybug bedbug doorframe doorstop
doorkeeper gatepost gatekeeper goalie newsreel newsprint newsboy paperboy papermill paperwork snowdrift snowbank snowboot raincloud raingear airbase
aircraft airlift airmail airway airlock airshow airstrip skylark skyline skydiver skydiving starship starboard moonbeam sunbeam sunburst sunhat
sundress sunstroke woodwork woodshed woodcarver woodwind stonemason stonework brickwork ironwork metalwork glassblower glasshouse silversmith
silverfish goldmine goldfield goldfinch copperplate stagehand stagecraft playhouse playpen playmate playback ballplayer snowglobe bookkeeping
bookplate booklist chessman cardholder scorecard scorekeeper scorebook pinwheel pincushion pinhole thumbprint thumbscrew keycard keynote keystone
keychain lockup lockout wiretap cablegram roadblock roadside roadwork roadster roadhouse railcar railing racehorse racecar rideshare carpool carseat
carload truckload trucker busload boathouse boatyard boatman shipmate shipowner shipbuilder sailcloth sailfish lifeline lifesaver lifestyle loudhailer
megaphone intercom videophone camerawork photocopy phototube teleprinter teleprompter telegram teletext interphone hologram holograph kilometre
centimetre millimetre chronometer chronograph tensiometer manometer pyrometer viscometer refractometer spectrophotometer magnetometer potentiometer
densitometer interferometer goniometer inclinometer planimeter polarimeter tonometer audiometer spirometer glucometer electrocardiograph
electroencephalograph sphygmomanometer ophthalmoscope otoscope laryngoscope endoscope tomograph mammogram cardiogram thermocouple thermograph
photocell semiconductor superconductor microcontroller microcomputer microprocessor microfilm microfiche microsecond millisecond nanosecond
teleconference videoconference videotape videocassette audiotape kitchenette dinette luncheonette cigarette cigar tobacco pipe vaporizer atomizer
carbonator dehydrator pasteurizer homogenizer sterilizer disinfectant antiseptic anesthetic antihistamine antidote tranquilizer stimulant
thermoplastic polyester polystyrene polyethylene fiberglass cellophane linen velvet denim corduroy leather rubber plastic wax cement concrete asphalt
mortarboard chipboard particleboard insulation weatherboard weathervane greenkeeper groundskeeper gamekeeper innkeeper timekeeper peacekeeper
bookmaker watchmaker clockmaker toymaker candlemaker winemaker cheesemaker glassmaker papermaker cabinetmaker lawmaker policymaker matchmaker
troublemaker shipwright wheelwright millwright chimneysweep milkman iceman businessman businesswoman chairman chairwoman spokesman spokeswoman
sportsman sportswoman craftsman salesperson tradesman nobleman gentleman horseman huntsman marksman middleman handyman repairman serviceman
servicewoman stuntman superhero superstar supermodel grandchild godfather godmother godchild stepson stepdaughter stepbrother stepsister kinsman
newborn newcomer newlywed apothecary acupuncturist anthropologist archaeologist archivist audiologist bacteriologist cardiologist cartographer
chiropractor choreographer cosmetologist criminologist curator dermatologist dietitian ecologist entomologist epidemiologist ethnologist geneticist
geographer gynecologist horticulturist hydrologist immunologist linguist meteorologist microbiologist mineralogist neurologist nutritionist
oceanographer oncologist ornithologist orthodontist paleontologist pathologist pediatrician philosopher physiotherapist podiatrist radiologist
seismologist sociologist stenographer taxidermist theologian toxicologist upholsterer urologist ventriloquist virologist volcanologist amphitheater
announcement aquamarine arboretum armory arsenal artwork assembly atrium automaton bandana bandsaw barricade baseboard bassinet bathhouse battlefield
battlement bayonet beachfront bearskin beanbag beanstalk bellboy bellhop bibliographer bikeway binnacle birdwatcher blowpipe boardwalk bobsled bodice
bookmobile bootstrap bowstring boxcar brazier breakwater briefing broomstick brushwood buckskin buggy bullhorn bullring bunting burner bushel
butterscotch buttress buzzer byproduct caboose caddy calligraphy cameo candelabra candlelight cannery canister canopy caravanserai cardroom carnation
cartwheel cashbook casket castor catacomb catwalk causeway cauldron caviar cedarwood censer centerpiece chaise chalice chamberlain chopper choirboy
chopstick churchyard cloister clubhouse coatrack cobblestone coffeemaker coffin coffer coinage colonnade comforter compactor concertina concierge
condiment confectionery confetti console cookhouse cooler cornerstone cornflakes cornflower cornmeal cornstarch corset coupling coverlet crabapple
credenza crevice crosshair crossbar crossbeam crouton curbstone cutlery cutlass dashcam daycare deckhand deerskin demijohn derailleur derrick
detonator diaper dictaphone dinnerware dirigible discotheque dispenser divan dispatcher dogwood downpour dragster drainboard drapery drawstring
dressing driftnet drumbeat dugout dumbwaiter dustcloth earthmover eggnog eiderdown embankment emporium enclosure escritoire espadrille evergreen
fairway farmhand farmstead fedora ferryboat ferryman figurehead figurine firebox firebreak firecracker firehouse fishcake fishmeal flapjack flatbed
flatcar flatiron fleece flintlock floatplane flowerbox flyover flyswatter foghorn footlocker footbath forecastle forester fretsaw frogman fruitcake
fusebox gallows galoshes gangplank garland gasworks gazebo gearshift gearstick geode gingham girdle glassworks gemstone goatherd gooseneck grapeshot
grassland gravestone greatcoat greenbelt griddle grill grindstone groundhog guardrail guillotine gunpowder gymnast haberdasher hacienda hairpiece
halogen handcart handset harmonium harness harpoon hatbox hatchway hatpin hayfork headlamp headstone hearth hearthstone hedgerow helipad hideaway
hippodrome hobbyhorse homestead honeydew hoopskirt hotplate hotelier houseplant hovel hydroplane icebox icecap icepick icehouse incense incinerator
inkblot inkpad inkstand interchange
""".split()

VERBS = """
open close start stop begin end pause resume continue restart reboot reset launch run execute quit exit abort cancel confirm approve accept reject
refuse deny allow block unblock ban mute unmute silence lock unlock arm disarm enable disable activate deactivate engage disengage turn switch toggle
flip rotate spin tilt pan zoom focus shift move push pull lift raise lower drop hoist hang lay place put set position align center adjust tune
calibrate balance level weigh measure count tally number rank rate score grade test check inspect examine verify validate scan probe detect sense
monitor watch observe track trace follow chase hunt find search seek locate look browse explore survey map navigate steer drive park ride sail fly
land dock tow carry haul transport ship deliver send mail post dispatch forward return receive fetch get bring collect gather pick choose select sort
order arrange organize group cluster file store stow save keep archive back copy duplicate clone mirror paste cut crop trim clip slice dice chop mince
grate grind crush mash press squeeze squash juice blend mix stir whisk beat knead roll fold crease bend twist stretch bake roast grill fry boil simmer
steam poach toast broil braise smoke cook reheat heat warm cool chill freeze thaw defrost melt dissolve dilute brew pour fill refill empty drain flush
rinse wash scrub wipe sweep mop dust vacuum clean polish wax buff shine dry iron bleach dye paint color draw sketch doodle design model shape mold
carve sculpt engrave etch print stamp label tag mark highlight underline circle annotate comment note write type spell edit correct fix repair mend
patch restore recover rescue rebuild renovate refurbish build construct assemble mount install attach connect link join bind tie knot fasten clamp
bolt screw nail hammer drill saw sand weld solder glue tape staple seal cover wrap pack unpack box crate load unload charge recharge discharge plug
unplug wire ground insulate power dim brighten darken light ignite extinguish burn blow inflate deflate pump spray sprinkle water irrigate mow prune
plant sow harvest reap dig plow rake weed fertilize feed groom brush comb shave milk saddle train teach instruct coach explain describe define
translate interpret transcribe dictate read recite narrate say speak tell announce broadcast stream play rewind record film shoot photograph capture
snap frame display show hide reveal project present share publish upload download import export sync transfer convert encode decode encrypt decrypt
compress extract unzip merge split divide multiply add subtract sum compute calculate estimate predict forecast guess simulate plot chart graph
tabulate list enumerate index catalog register enroll subscribe unsubscribe leave invite greet welcome call dial ring phone text message page notify
alert warn remind wake snooze schedule reschedule postpone delay advance book reserve rent lease hire buy purchase sell trade exchange swap refund pay
bill invoice tip donate lend borrow deposit withdraw invest budget audit insure sign certify license renew extend shorten lengthen widen narrow
enlarge shrink scale resize increase decrease boost reduce halve double triple loosen tighten release grip hold grab catch throw toss kick hit strike
serve bounce dribble pass shuffle deal cast bet vote poll quiz interview query ask answer reply respond request demand claim report summarize outline
compare contrast match pair filter screen sift strain purify sterilize disinfect bandage treat heal diagnose vaccinate inject massage protect guard
defend shield patrol escort guide lead accompany assist help support replace substitute change modify alter update upgrade downgrade uninstall remove
delete erase clear purge discard dump recycle reuse compost shred bury
""".split()

ADJECTIVES = """
big small large little tiny huge giant enormous gigantic miniature compact bulky slim thick thin wide narrow broad long short tall high low deep
shallow heavy light lightweight hefty fat skinny plump medium mini jumbo extra double single triple half full empty hollow solid flat round square
oval rectangular triangular curved straight crooked bent twisted pointed sharp blunt smooth rough bumpy coarse fine soft hard firm stiff flexible
rigid elastic fragile sturdy brittle tough durable wooden metallic plastic golden silver bronze copper brass steel iron ceramic porcelain glassy
crystal marble granite concrete leather woolen cotton silken velvet linen woven knitted quilted rubber paper cardboard bamboo wicker furry fluffy
fuzzy hairy feathery leafy grassy sandy rocky muddy dusty dirty filthy grimy greasy oily sticky slimy slippery clean spotless tidy messy neat wet damp
moist soggy dry arid frozen icy frosty chilly cold cool mild tepid lukewarm warm hot boiling scorching sunny cloudy rainy stormy windy foggy misty
snowy hazy humid breezy bright dim dark gloomy shiny glossy matte dull sparkling glittering glowing luminous transparent translucent opaque cloudless
red crimson scarlet pink orange yellow green blue turquoise navy purple violet indigo brown beige tan gray black white ivory pale vivid pastel
colorful monochrome striped spotted checkered plaid floral patterned plain speckled dotted sweet sour bitter salty spicy savory tangy bland tasty
delicious juicy ripe unripe raw cooked fried baked roasted grilled smoked pickled stuffed stale fresh rotten moldy creamy crunchy crispy chewy buttery
nutty fruity peppery minty herbal sugary sugarless decaffeinated vegan vegetarian organic fizzy flavored seedless boneless instant homemade canned
bottled packed sealed loose tight open closed locked unlocked shut ajar broken cracked torn chipped faulty defective damaged repaired mended
refurbished used secondhand new old ancient antique vintage retro modern contemporary futuristic classic classical traditional rustic gothic baroque
minimalist elegant fancy luxurious cheap expensive costly affordable free premium basic deluxe standard regular normal common rare unique unusual
strange weird ordinary special popular famous unknown secret private public shared personal official formal informal casual festive wild tame domestic
foreign local regional national international global urban rural suburban coastal alpine tropical arctic polar desert underground underwater indoor
outdoor upper lower inner outer central northern southern eastern western left right front rear top bottom upstairs downstairs nearby distant remote
fast quick rapid swift slow gradual quiet silent noisy loud shrill muffled musical automatic manual electric electronic mechanical hydraulic pneumatic
solar nuclear digital analog wireless cordless portable mobile stationary fixed foldable adjustable detachable removable reusable disposable
refillable rechargeable waterproof fireproof bulletproof soundproof shockproof heatproof airtight watertight foolproof magnetic optical thermal
chemical acoustic atomic robotic virtual online offline idle active inactive busy ready pending paused standby asleep awake dormant charged drained
overloaded overheated jammed stuck clogged leaky rusty worn faded scratched dented early late daily weekly monthly yearly annual hourly nightly
weekday seasonal temporary permanent urgent important optional mandatory final initial first last next previous current recent upcoming overdue young
elderly infant adult teenage newborn healthy sick injured tired sleepy hungry thirsty strong weak brave timid shy friendly kind polite rude angry calm
happy sad cheerful grumpy lazy curious clever wise silly funny serious gentle fierce loyal playful italian french german spanish portuguese dutch
belgian swiss austrian polish czech slovak hungarian romanian bulgarian greek turkish russian ukrainian finnish swedish norwegian danish icelandic
irish scottish welsh english british american canadian mexican brazilian argentine chilean peruvian colombian cuban jamaican egyptian moroccan
tunisian nigerian kenyan ethiopian persian arabic israeli indian nepalese chinese japanese korean thai vietnamese indonesian malaysian filipino
australian georgian armenian croatian serbian estonian latvian lithuanian
""".split()

PROPER = """
Paris London Berlin Madrid Rome Vienna Prague Budapest Warsaw Lisbon Dublin Oslo Stockholm Helsinki Copenhagen Athens Brussels Amsterdam Zurich Geneva
Basel Bern Lausanne Lucerne Munich Hamburg Cologne Frankfurt Stuttgart Leipzig Dresden Nuremberg Bremen Hanover Kassel Erfurt Weimar Jena Rostock
Lubeck Kiel Mainz Trier Aachen Bonn Essen Dortmund Mannheim Ulm Augsburg Passau Salzburg Graz Linz Innsbruck Klagenfurt Bregenz Milan Turin Genoa
Bologna Florence Venice Verona Padua Naples Bari Palermo Catania Siena Pisa Parma Modena Ravenna Perugia Trieste Lyon Marseille Toulouse Nantes
Bordeaux Lille Rennes Strasbourg Dijon Grenoble Nice Cannes Avignon Orleans Tours Rouen Caen Metz Nancy Barcelona Valencia Seville Granada Malaga
Bilbao Toledo Cordoba Salamanca Segovia Zaragoza Porto Coimbra Braga Faro Antwerp Ghent Bruges Leuven Liege Rotterdam Utrecht Eindhoven Groningen
Delft Leiden Haarlem Maastricht Aarhus Odense Aalborg Malmo Uppsala Lund Bergen Trondheim Stavanger Tromso Turku Tampere Oulu Reykjavik Akureyri
Tallinn Tartu Riga Vilnius Kaunas Krakow Gdansk Poznan Wroclaw Lublin Brno Ostrava Plzen Bratislava Kosice Debrecen Szeged Pecs Ljubljana Maribor
Zagreb Split Dubrovnik Sarajevo Mostar Belgrade Skopje Tirana Sofia Plovdiv Varna Bucharest Cluj Brasov Sibiu Chisinau Kyiv Lviv Odesa Kharkiv Minsk
Moscow Kazan Omsk Tomsk Irkutsk Istanbul Ankara Izmir Antalya Bursa Thessaloniki Patras Valletta Nicosia Manchester Liverpool Birmingham Leeds
Sheffield Bristol Oxford Cambridge York Norwich Exeter Plymouth Brighton Dover Durham Edinburgh Glasgow Aberdeen Dundee Inverness Cardiff Swansea
Belfast Derry Cork Galway Limerick Boston Chicago Seattle Denver Houston Dallas Austin Phoenix Atlanta Miami Orlando Tampa Detroit Cleveland
Pittsburgh Philadelphia Baltimore Nashville Memphis Minneapolis Milwaukee Omaha Tulsa Tucson Sacramento Oakland Portland Boise Anchorage Honolulu
Toronto Montreal Vancouver Ottawa Calgary Edmonton Winnipeg Halifax Quebec Regina Monterrey Guadalajara Puebla Merida Oaxaca Havana Kingston Nassau
Managua Bogota Medellin Cali Quito Guayaquil Lima Cusco Arequipa Santiago Valparaiso Montevideo Rosario Mendoza Brasilia Recife Salvador Curitiba
Manaus Fortaleza Caracas Cairo Alexandria Luxor Tunis Algiers Rabat Casablanca Fez Marrakesh Dakar Bamako Accra Lagos Abuja Kano Nairobi Mombasa
Kampala Kigali Dodoma Lusaka Harare Maputo Windhoek Pretoria Durban Johannesburg Khartoum Asmara Djibouti Beirut Damascus Amman Baghdad Tehran Isfahan
Shiraz Muscat Doha Dubai Riyadh Kabul Karachi Lahore Islamabad Delhi Mumbai Kolkata Chennai Bangalore Hyderabad Jaipur Pune Kathmandu Dhaka Colombo
Kandy Yangon Bangkok Phuket Hanoi Vientiane Jakarta Bandung Surabaya Manila Cebu Beijing Shanghai Nanjing Wuhan Chengdu Xian Harbin Taipei Seoul Busan
Incheon Tokyo Osaka Kyoto Nagoya Sapporo Fukuoka Sendai Kobe Nara Ulaanbaatar Almaty Tashkent Samarkand Bishkek Tbilisi Yerevan Baku Sydney Melbourne
Brisbane Perth Adelaide Hobart Darwin Canberra Auckland Wellington Christchurch Dunedin Suva Bavaria Saxony Hesse Thuringia Tyrol Styria Carinthia
Tuscany Umbria Lombardy Piedmont Liguria Calabria Sicily Sardinia Corsica Provence Normandy Brittany Burgundy Alsace Gascony Andalusia Catalonia
Galicia Asturias Aragon Navarre Algarve Flanders Wallonia Jutland Scania Lapland Karelia Silesia Moravia Bohemia Transylvania Crimea Siberia Anatolia
Crete Rhodes Cornwall Devon Kent Sussex Yorkshire Cumbria Wales Scotland Ulster Connacht Texas Ohio Iowa Utah Nevada Oregon Montana Vermont Maine
Florida Alaska Hawaii Kansas Nebraska Ontario Manitoba Yukon Patagonia Amazonia Punjab Kerala Gujarat Assam Tibet Yunnan Hokkaido Okinawa Bali Java
Sumatra Borneo Tasmania Queensland Rhine Danube Elbe Oder Weser Main Neckar Mosel Seine Loire Rhone Garonne Thames Severn Tyne Shannon Ebro Tagus
Douro Tiber Arno Vistula Dnieper Volga Don Ural Lena Yenisei Nile Congo Niger Zambezi Limpopo Euphrates Tigris Indus Ganges Brahmaputra Mekong Yangtze
Amur Mississippi Missouri Colorado Potomac Hudson Orinoco Amazon Parana Everest Kilimanjaro Matterhorn Eiger Zugspitze Etna Vesuvius Olympus Ararat
Elbrus Denali Aconcagua Fuji Kailash Annapurna Lhotse Makalu Brocken Triglav Rigi Alps Andes Himalaya Pyrenees Carpathians Apennines Dolomites
Caucasus Rockies Appalachians Sahara Gobi Kalahari Atacama Baltic Adriatic Aegean Caspian Baikal Titicaca Balaton France Germany Italy Spain Portugal
Poland Austria Switzerland Belgium Netherlands Luxembourg Denmark Sweden Norway Finland Iceland Ireland Estonia Latvia Lithuania Hungary Slovakia
Slovenia Croatia Serbia Bosnia Montenegro Albania Greece Romania Bulgaria Moldova Ukraine Belarus Turkey Cyprus Malta Monaco Andorra Canada Mexico
Cuba Haiti Jamaica Panama Honduras Guatemala Nicaragua Belize Brazil Argentina Chile Peru Bolivia Ecuador Colombia Venezuela Uruguay Paraguay Guyana
Suriname Egypt Libya Tunisia Algeria Morocco Senegal Ghana Togo Benin Nigeria Cameroon Gabon Angola Namibia Botswana Zambia Malawi Mozambique
Madagascar Tanzania Kenya Uganda Rwanda Ethiopia Somalia Sudan Israel Lebanon Jordan Syria Iraq Iran Kuwait Oman Yemen Pakistan India Nepal Bhutan
Bangladesh Myanmar Thailand Laos Cambodia Vietnam Malaysia Singapore Indonesia Philippines China Mongolia Japan Kazakhstan Uzbekistan Armenia
Azerbaijan Australia Fiji Samoa Tonga Mercury Venus Mars Jupiter Saturn Uranus Neptune Pluto Ceres Vesta Pallas Eris Titan Europa Ganymede Callisto Io
Triton Charon Phobos Deimos Enceladus Rhea Dione Sirius Vega Altair Deneb Rigel Betelgeuse Antares Arcturus Aldebaran Polaris Capella Procyon Regulus
Spica Castor Pollux Fomalhaut Canopus Achernar Bellatrix Mizar Algol Andromeda Orion Cassiopeia Cygnus Lyra Aquila Perseus Pegasus Draco Gemini
Scorpius Sagittarius Anna Maria Sophie Clara Emma Hannah Laura Julia Marie Katharina Ingrid Astrid Greta Helga Ursula Brigitte Monika Petra Sabine
Claudia Heike Lukas Jonas Felix Maximilian Moritz Leon Paul Karl Otto Hans Fritz Heinrich Wolfgang Dieter Klaus Jurgen Stefan Matthias Tobias
Sebastian Florian Andreas James John Robert William Thomas Charles George Edward Henry Oliver Harry Jack Arthur Samuel Benjamin Daniel Matthew Andrew
Peter Simon Nigel Trevor Graham Mary Elizabeth Margaret Alice Emily Charlotte Jessica Sarah Rebecca Rachel Victoria Eleanor Harriet Beatrice Fiona
Siobhan Niamh Aoife Sean Liam Declan Pierre Jean Jacques Michel Louis Antoine Francois Etienne Camille Chloe Juliette Amelie Margaux Giovanni Marco
Luca Matteo Alessandro Giuseppe Paolo Francesca Chiara Giulia Alessia Lucia Carlos Miguel Javier Diego Pablo Alejandro Fernando Carmen Pilar Dolores
Ines Joao Tiago Beatriz Mariana Lars Sven Erik Bjorn Nils Gustav Freja Sigrid Mikko Aino Juhani Jakub Piotr Wojciech Agnieszka Malgorzata Zofia Pavel
Jana Tomas Zuzana Istvan Laszlo Eszter Ion Mihai Ioana Dragan Milica Goran Ivan Dmitri Sergei Vladimir Natasha Olga Svetlana Tatiana Oksana Taras
Nikos Yannis Eleni Mehmet Ayse Emre Fatma Zeynep Ahmed Mohammed Omar Hassan Youssef Fatima Leila Aisha Khadija Tariq David Yael Noa Avi Cyrus Shirin
Raj Arjun Vikram Anil Sanjay Priya Deepa Lakshmi Kavita Wei Ming Li Xiu Jun Hiroshi Kenji Takashi Yuki Sakura Haruka Aiko Minjun Jiwoo Soojin Nguyen
Linh Thuy Somchai Putri Budi Dewi Kwame Kofi Ama Chidi Ngozi Amara Thabo Sipho Zanele Wanjiru Kamau Abebe Tigist Smith Jones Brown Taylor Wilson
Davies Evans Roberts Walker Wright Robinson Thompson Hughes Edwards Clarke Turner Harrison Murphy Kelly Sullivan Brennan MacDonald Campbell Stewart
Mueller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Koch Bauer Richter Klein Schroeder Neumann Zimmermann Krueger Hartmann
Lange Vogel Keller Huber Dupont Durand Moreau Lefebvre Fournier Girard Rossi Russo Ferrari Bianchi Romano Ricci Marino Garcia Martinez Lopez Sanchez
Gonzalez Rodriguez Fernandez Ramirez Silva Santos Oliveira Pereira Almeida Jansen Visser Bakker Vermeulen Andersson Johansson Larsen Hansen Nielsen
Virtanen Korhonen Nowak Kowalski Wisniewski Novak Svoboda Dvorak Nagy Kovacs Szabo Horvat Popescu Ionescu Petrov Ivanov Dimitrov Papadopoulos
Kuznetsov Volkov Shevchenko Yilmaz Demir Kaya Haddad Khoury Cohen Levi Friedman Hosseini Ahmadi Khan Patel Sharma Singh Gupta Mehta Iyer Banerjee Wang
Zhang Chen Huang Tanaka Suzuki Takahashi Watanabe Yamamoto Kim Park Choi Tran Pham Okafor Adeyemi Mensah Nkosi Dlamini Mwangi Diallo Traore Zentrix
Lumora Vexaro Nordwell Quantiva Brightholm Ferrano Kestrelo Solvanta Mirelux Tekora Arvida Bluefern Pinewick Glimora Halcyra Novaquil Rivendale
Stormhelm Velocino Cremona Zephyrix Oakhaven Auralis Fendrix Corvanta Meridio Skyloom Driftwell Copperline Wexley Marvona Trillium Solstad Kavango
Pixaroo Yumleaf Freshora Hydronix Grumwald Inverno Cyberon Lunetta Tamsen Ravello Ultrano Snorvik Plumetta Bravura
""".split()

KINDS = """
labrador poodle beagle dachshund rottweiler dalmatian collie corgi chihuahua greyhound whippet spaniel retriever terrier husky malamute pug boxer
mastiff schnauzer pomeranian doberman pointer setter basset borzoi samoyed vizsla akita papillon siamese persian sphynx ragdoll burmese birman angora
manx bengal abyssinian lipizzaner haflinger shetland clydesdale appaloosa mustang palomino holstein angus hereford jersey merino suffolk leghorn
bantam cheddar gouda edam brie camembert roquefort gorgonzola mozzarella parmesan ricotta feta halloumi emmental gruyere manchego provolone mascarpone
stilton havarti raclette pecorino burrata munster limburger tilsit paneer cottage appenzeller taleggio asiago assam darjeeling ceylon oolong sencha
matcha rooibos chamomile jasmine lapsang gunpowder hibiscus keemun yerba genmaicha hojicha puerh espresso cappuccino latte macchiato americano mocha
ristretto lungo arabica robusta silk cotton linen velvet satin denim tweed corduroy flannel chiffon taffeta muslin organza cashmere polyester nylon
lycra brocade damask gabardine canvas fleece felt burlap calico gingham lace tulle viscose poplin seersucker jacquard waltz tango foxtrot rumba samba
salsa mambo polka mazurka quickstep charleston flamenco bolero jive bachata merengue lambada minuet ballet breakdance limbo tarantella quadrille swing
lindy kizomba gavotte oak maple birch beech walnut mahogany teak ebony cedar pine spruce larch cherry ash balsa rosewood hickory alder elm poplar
sycamore bamboo olive acacia sandalwood juniper yew hornbeam linden helvetica arial times courier garamond futura verdana georgia bodoni calibri
cambria baskerville palatino rockwell univers optima tahoma roboto ubuntu lato montserrat impact didot frutiger consolas quartz granite marble
feldspar mica basalt slate gypsum talc calcite pyrite hematite magnetite obsidian pumice topaz ruby sapphire emerald diamond amethyst opal jade garnet
turquoise malachite onyx agate zircon beryl citrine peridot tourmaline galena graphite dolomite fluorite lapis moonstone cinnamon nutmeg ginger
turmeric cumin coriander cardamom clove paprika saffron vanilla anise fennel mustard pepper cayenne chili allspice caraway oregano basil thyme
rosemary sage parsley dill chive mint marjoram tarragon bay sumac wasabi fenugreek lovage chervil savory lemongrass apple pear quince peach plum
apricot lychee guava kumquat persimmon papaya mango durian rambutan jackfruit tamarind pomelo clementine satsuma damson greengage elderberry
loganberry boysenberry honeydew plantain starfruit dragonfruit mangosteen medlar loquat salmon trout cod haddock herring mackerel sardine anchovy tuna
halibut plaice sole turbot carp pike perch eel bass bream catfish sturgeon tilapia barracuda piranha guppy mullet flounder monkfish pollock hake roach
zander grayling rose tulip lily orchid daisy carnation chrysanthemum dahlia peony iris hyacinth crocus daffodil lavender begonia geranium petunia
primrose magnolia azalea camellia gardenia hydrangea lilac freesia gladiolus zinnia aster anemone marigold pansy violet lupin snapdragon edelweiss
gentian rhododendron fuchsia forsythia wisteria robin sparrow finch thrush starling wren nightingale lark swallow swift kestrel buzzard osprey kite
falcon condor albatross puffin cormorant tern plover lapwing sandpiper curlew ibis toucan macaw cockatiel parakeet canary bullfinch chaffinch nuthatch
titmouse goldcrest hoopoe kookaburra kiwi cassowary grouse partridge ptarmigan jackdaw rook warbler oriole cardinal violin viola cello oboe clarinet
bassoon flute piccolo trumpet trombone tuba saxophone cornet flugelhorn harp lute zither sitar balalaika bouzouki mandolin banjo ukulele accordion
bandoneon harpsichord celesta timpani bongo conga djembe tabla marimba vibraphone didgeridoo ocarina recorder theremin kazoo jazz blues rock pop
reggae ska soul funk disco techno house trance dubstep hiphop rap country folk bluegrass gospel classical baroque opera metal punk grunge ambient
calypso fado klezmer zydeco chanson thriller western fantasy horror romance comedy drama mystery satire noir musical biopic dollar euro yen pound
franc krona krone zloty koruna forint lira ruble hryvnia shekel dinar dirham rial riyal rupee yuan won baht dong ringgit rupiah peso real rand naira
cedi shilling lek leu lev kuna lari tenge sol quetzal algebra geometry calculus statistics biology chemistry physics geography history economics
philosophy religion latin greek literature grammar spelling music art pottery astronomy geology psychology sociology civics ethics gymnastics woodwork
needlework robotics computing ecology botany zoology anatomy ant bee wasp hornet beetle ladybug moth mosquito gnat midge dragonfly mayfly cricket
grasshopper locust cicada aphid termite cockroach earwig mantis weevil flea bumblebee horsefly butterfly silverfish happy cheerful calm relaxed cozy
romantic gloomy melancholy nostalgic energetic sleepy angry playful dreamy festive tense curious serene moody hopeful salt soy tabasco vinegar ketchup
mayonnaise pesto horseradish chutney tahini harissa sriracha teriyaki worcestershire miso tartar hollandaise relish aioli spaghetti penne fusilli
rigatoni linguine tagliatelle farfalle macaroni ravioli tortellini gnocchi lasagne fettuccine cannelloni orzo merlot chardonnay riesling pinot shiraz
malbec sauvignon cabernet rioja chianti prosecco tempranillo zinfandel barolo lager pilsner stout porter ale weizen bitter mojito daiquiri margarita
martini negroni manhattan cosmopolitan spritz sedan coupe roadster hatchback cabriolet limousine minivan sloop ketch schooner cutter brigantine
clipper
""".split()

NOUNS, VERBS, ADJECTIVES, PROPER, KINDS = (list(dict.fromkeys(x)) for x in (NOUNS, VERBS, ADJECTIVES, PROPER, KINDS))
