"""Synonym groups, written by hand: what hearth-embed knows about words.

One line is one concept; its words may stand for each other. A heading names the topic: concepts of one topic are
related but not the same. The first letter is the kind: n noun, v verb, a adjective or adverb. `_` joins a phrase.
"""

TEXT = """
# vehicle
n car automobile auto vehicle sedan motorcar
n bicycle bike cycle two-wheeler
n truck lorry van pickup
n train railway rail locomotive metro subway tram
n airplane plane aircraft jet airliner
n ship boat vessel ferry yacht
n bus coach minibus
n motorcycle motorbike scooter moped
n wheel tyre tire rim
n engine motor
n fuel petrol gasoline gas diesel
n garage workshop carport
n driver motorist chauffeur
n passenger traveller rider commuter
n road street highway motorway avenue lane route
n traffic congestion jam gridlock rush_hour
n accident crash collision wreck
n brake brakes
v drive steer motor
v park parking
v repair fix mend restore patch overhaul
v accelerate speed_up hurry rush hasten
v ride pedal
# travel
n journey trip travel voyage tour excursion
n holiday vacation getaway leave break
n hotel inn lodging accommodation hostel guesthouse motel
n airport terminal airfield
n station stop depot platform
n luggage baggage suitcase bag trunk
n ticket pass fare voucher
n map chart atlas plan
n passport visa papers identification
n tourist visitor sightseer vacationer
n border frontier boundary
n guide companion escort
v travel journey tour go_abroad wander
v arrive reach come land get_there
v depart leave set_off go_away exit
v book reserve
v fly aviate soar
v visit drop_by call_on see
# home
n house home residence dwelling building villa cottage
n apartment flat condo studio
n room chamber space
n kitchen cookery galley
n bathroom washroom toilet restroom lavatory
n bedroom sleeping_room
n bed mattress bunk cot
n sofa couch settee armchair
n chair seat stool bench
n table desk worktop
n lamp light bulb lantern lighting
n door gate entrance doorway
n window pane glass
n floor ground flooring carpet rug
n wall partition
n roof ceiling attic
n stairs staircase steps ladder
n garden yard lawn backyard
n cupboard wardrobe closet cabinet shelf
n fridge refrigerator freezer icebox
n oven stove cooker range
n washing_machine washer laundry
n rent lease tenancy
n landlord owner proprietor
n tenant renter lodger occupant
n neighbour neighbor
n key lock latch
n heating heater radiator furnace boiler
n blanket duvet quilt cover
n pillow cushion
n curtain blind drapes shade
v clean wash scrub wipe tidy polish
v live reside dwell inhabit stay
v paint decorate coat
v renovate refurbish remodel
v sweep vacuum hoover
v lock bolt secure
v furnish equip
# food
n food meal dish nourishment cuisine
n breakfast morning_meal brunch
n dinner supper evening_meal
n lunch midday_meal
n bread loaf toast roll bun
n meat beef pork steak
n chicken poultry hen
n fish salmon tuna seafood cod trout
n vegetable greens veg carrot cabbage spinach broccoli
n fruit apple pear banana cherry plum berry
n cheese cheddar gouda dairy
n milk cream
n sugar sweetener
n dessert cake pastry pudding pie sweet biscuit cookie
n soup broth stew
n coffee espresso cappuccino latte caffeine
n tea brew infusion
n wine red_wine champagne
n beer ale lager
n water drink beverage
n restaurant diner bistro cafe eatery
n cook chef
n recipe instructions_for_cooking
n spice seasoning herb pepper salt
n knife blade cutter
n pot pan saucepan
n plate bowl crockery
n hunger appetite starvation
n thirst dryness
n vegetarian vegan meatless
v eat dine consume devour feed
v drink sip swallow gulp
v cook bake boil fry roast grill prepare
v chop slice cut dice
v taste flavour savour
a tasty delicious yummy flavourful
a hungry starving famished
# body and health
n doctor physician medic general_practitioner
n nurse caregiver carer
n hospital clinic infirmary ward
n illness disease sickness ailment
n medicine drug medication pill remedy tablet
n pain ache soreness hurt
n headache migraine
n fever temperature
n cold flu influenza cough
n wound injury cut bruise
n heart cardiac
n stomach belly tummy abdomen
n tooth teeth dental
n dentist orthodontist
n eye eyesight vision sight
n glasses spectacles lenses
n skin complexion
n hair haircut hairstyle
n barber hairdresser
n bone skeleton fracture
n blood bleeding
n brain mind
n sleep slumber nap rest doze
n exercise workout training fitness
n diet nutrition slimming
n weight heaviness
n vaccine vaccination jab shot inoculation
n surgery operation
n allergy intolerance
n pharmacy chemist drugstore
n patient invalid
n pregnancy expecting
n baby infant newborn toddler
n stress tension pressure burnout
v heal cure recover get_better treat
v exercise train work_out
v sleep snooze doze_off
v breathe inhale
v bleed haemorrhage
a sick ill unwell poorly
a healthy fit well
a tired exhausted weary sleepy fatigued
a pregnant expectant
# people
n child kid youngster boy girl
n parent mother father mum dad mom
n family relatives kin relations
n friend pal buddy mate companion
n wife husband spouse partner
n grandmother grandfather grandparent grandma grandpa
n brother sister sibling
n man guy gentleman male
n woman lady female
n person human individual somebody
n crowd mob throng
n guest visitor invitee
n enemy foe rival opponent
n stranger unknown_person
n teenager adolescent youth
n elderly senior pensioner old_people
n wedding marriage nuptials
n divorce separation split
n birthday anniversary
n party celebration festivity
n funeral burial
n love affection romance
n gift present
v marry wed get_married
v meet encounter gather get_together
v help assist aid support lend_a_hand
v argue quarrel fight dispute
v celebrate rejoice
v hug embrace cuddle
v invite ask_over
v raise bring_up
v die pass_away perish
v be_born arrive_in_the_world
# feeling
n happiness joy delight pleasure
n sadness sorrow grief unhappiness
n anger rage fury
n fear fright terror dread
n surprise astonishment amazement
n boredom tedium
n hope optimism
n worry anxiety concern
a happy glad cheerful joyful pleased delighted
a sad unhappy gloomy down miserable
a angry furious mad cross annoyed
a afraid scared frightened terrified
a surprised astonished amazed
a bored uninterested
a nervous anxious worried uneasy
a lonely alone isolated
a proud satisfied
a jealous envious
a calm relaxed peaceful serene
a brave courageous bold fearless
v cry weep sob
v laugh giggle chuckle
v smile grin
v worry fret
v enjoy like love relish adore
v hate dislike detest loathe
v calm soothe relax
v frighten scare terrify
# nature
n weather climate forecast
n rain drizzle shower downpour
n snow snowfall blizzard
n storm tempest hurricane thunderstorm
n wind breeze gust
n sun sunshine sunlight
n cloud overcast
n fog mist haze
n ice frost
n flood flooding inundation
n drought dry_spell
n earthquake tremor quake
n mountain peak summit hill
n river stream creek brook
n lake pond reservoir
n sea ocean
n beach shore coast seaside
n forest woods woodland
n tree oak pine birch
n flower blossom bloom rose tulip
n plant shrub bush
n grass lawn meadow
n island isle
n desert wasteland
n valley canyon gorge
n stone rock pebble boulder
n soil earth dirt ground
n sky heavens
n star stars
n moon lunar
n planet mars jupiter
n season spring summer autumn winter
n pollution contamination smog
n rubbish garbage trash waste litter
n environment ecology nature
v grow cultivate sprout
v plant sow
v rain pour
v freeze ice_over
v melt thaw
v harvest reap pick
v water irrigate sprinkle
v recycle reuse
a cold chilly freezing cool icy frosty
a hot warm boiling scorching
a wet damp moist soaked
a dry arid
a sunny bright clear
a cloudy overcast grey
a windy breezy
# animal
n dog puppy hound canine
n cat kitten feline
n horse pony stallion mare
n cow cattle bull calf
n pig hog swine
n sheep lamb goat
n bird sparrow pigeon crow
n mouse rat rodent
n insect bug beetle ant
n bee wasp hornet
n snake serpent viper
n whale dolphin
n lion tiger leopard
n bear grizzly
n wolf fox
n rabbit hare bunny
n pet domestic_animal
n animal creature beast
n vet veterinarian animal_doctor
n farm ranch
n farmer grower
n zoo wildlife_park
v bark howl
v hunt chase
v bite sting
v feed nourish
v pet stroke
# work
n job work occupation employment profession position
n company firm business enterprise corporation
n boss manager supervisor chief head
n employee worker staff_member
n colleague coworker teammate
n office workplace bureau
n salary wage pay income earnings
n meeting conference gathering session appointment
n contract agreement deal
n interview job_talk
n career profession
n strike walkout
n project undertaking plan
n deadline due_date time_limit
n report account summary
n customer client buyer shopper
n factory plant mill
n machine device apparatus
n tool instrument implement
n union labour_union
n application form
n experience background expertise
n retirement pension
n unemployment joblessness
v work labour toil
v hire employ recruit engage
v dismiss fire sack lay_off
v resign quit step_down
v manage lead direct run
v finish complete end conclude
v begin start commence
v plan schedule organise arrange
v postpone delay put_off defer
v cancel call_off abort
v produce manufacture make
v present show demonstrate
v promote advance
a busy occupied
a unemployed jobless out_of_work
a lazy idle
# money
n money cash funds currency
n bank lender credit_union
n loan credit mortgage
n debt liability money_owed
n price cost charge fee
n bill invoice statement
n tax duty levy
n savings nest_egg
n investment stocks shares
n profit gain earnings
n loss deficit
n budget finances
n insurance coverage
n discount reduction rebate bargain
n shop store market supermarket
n receipt proof_of_purchase
n refund money_back repayment
n purchase order acquisition
n coin coins
n wallet purse
n inheritance legacy
v buy purchase acquire get
v sell vend trade
v pay settle spend
v save put_aside
v borrow lend
v earn make_money
v owe be_in_debt
v invest put_money_into
v donate give contribute
v steal rob pinch
v return give_back bring_back
a expensive costly pricey dear
a cheap inexpensive affordable low-cost
a rich wealthy affluent
a poor needy broke
a free gratis at_no_charge
# school
n school academy
n university college
n teacher instructor tutor professor
n student pupil learner
n lesson class course
n exam test examination quiz
n homework assignment exercise
n book volume novel
n library reading_room
n language tongue
n mathematics maths math arithmetic
n history past
n science research
n chemistry chemical
n physics mechanics
n biology life_science
n geography
n grade mark score
n knowledge learning
n question query
n answer reply response
n dictionary glossary
n degree diploma certificate
n pencil pen
n paper sheet
v learn study
v teach instruct educate
v read peruse
v write compose jot
v calculate compute work_out
v explain clarify describe
v understand comprehend grasp
v remember recall recollect
v forget overlook
v pass succeed
v fail flunk
v translate interpret
v research investigate
v ask inquire
v answer reply respond
v count number
a clever smart intelligent bright
a stupid foolish silly dumb
a difficult hard tough challenging
a easy simple effortless
# art and leisure
n music song tune melody
n concert gig performance
n singer vocalist
n band orchestra group
n guitar violin instrument
n piano keyboard
n film movie picture
n cinema theatre
n actor actress performer
n painting picture drawing artwork
n painter artist
n museum gallery exhibition
n photo photograph snapshot
n camera lens
n dance ballet
n game play
n toy doll
n football soccer
n tennis racket
n basketball hoops
n swimming swim
n running jogging
n race competition contest
n team squad
n player athlete sportsman
n coach trainer
n winner champion victor
n goal point
n hobby pastime
n story tale narrative
n author writer novelist
n poem verse poetry
n newspaper magazine journal
n news headlines
n television tv telly
n radio broadcast
n chess board_game
n hike walk stroll
n tent camping
n ball
v sing chant
v play
v dance
v paint draw sketch
v watch view look_at
v listen hear
v win triumph
v lose be_defeated
v swim bathe
v run jog sprint
v walk stroll hike
v climb ascend
v jump leap hop
v photograph take_a_picture
v throw toss hurl
v catch grab
v relax unwind rest
v read leaf_through
# clothing
n clothes clothing garments outfit apparel
n shirt blouse top
n trousers pants jeans
n dress gown skirt
n coat jacket overcoat
n shoe boot sneaker trainers footwear
n hat cap
n glove mitten
n sock stocking
n jewellery jewelry necklace ring
n tailor seamstress
n fabric cloth textile
n umbrella parasol
v wear put_on dress
v sew stitch
v iron press
v undress take_off
# society
n government administration authorities
n president head_of_state
n election vote ballot poll
n politician statesman
n law rule regulation act
n court tribunal
n judge magistrate
n lawyer attorney solicitor
n police cops officer
n crime offence
n thief burglar robber
n prison jail
n victim
n war conflict
n peace
n army military soldiers troops
n weapon gun
n city town
n village hamlet
n country nation state
n king queen monarch
n citizen inhabitant resident
n church chapel cathedral
n religion faith
n protest demonstration
n fire blaze
n firefighter fire_brigade
n emergency urgent_situation
n danger hazard risk
n freedom liberty
n equality fairness
n population number_of_people
n immigrant migrant foreigner
n mayor
v vote elect
v arrest detain
v kill murder
v attack assault
v defend protect guard
v escape flee run_away
v forbid ban prohibit
v allow permit let
v obey follow
v burn
v rescue save
v destroy demolish ruin
v build construct erect
a dangerous risky hazardous unsafe
a safe secure
a legal lawful
a illegal unlawful forbidden
a famous well-known celebrated
a guilty at_fault
# communication
n phone telephone mobile cellphone smartphone
n letter mail post
n email message
n call ring
n conversation talk chat discussion
n speech address lecture
n word term
n name title
n secret confidential
n lie falsehood
n truth fact
n joke gag
n advice tip counsel suggestion
n complaint grievance
n apology sorry
n idea thought notion
n opinion view
n promise pledge
n parcel package delivery
n address location
n noise sound racket
n silence quiet
v speak talk chat
v say tell state mention
v call phone ring dial
v send mail dispatch ship
v receive get
v shout yell scream
v whisper murmur
v lie deceive
v promise swear
v complain grumble
v apologise apologize say_sorry
v advise recommend suggest
v warn alert
v agree consent
v refuse decline reject
v thank
v greet welcome
v persuade convince
v deliver hand_over
v announce declare
a loud noisy
a quiet silent
a polite courteous
a rude impolite
a honest sincere truthful
a secret hidden
# quality
a big large huge enormous giant great
a small little tiny miniature
a fast quick rapid swift speedy
a slow sluggish
a good great excellent fine
a bad poor awful terrible
a new fresh recent brand-new
a old ancient aged
a young youthful
a beautiful pretty lovely attractive gorgeous
a ugly unattractive
a strong powerful sturdy
a weak feeble
a heavy weighty
a light lightweight
a long lengthy
a short brief
a high tall
a low
a wide broad
a narrow tight
a deep
a full packed
a empty vacant
a broken damaged defective faulty out_of_order
a clean spotless
a dirty filthy grimy
a open
a closed shut
a right correct accurate
a wrong incorrect false mistaken
a important significant essential crucial
a strange odd weird unusual
a usual normal ordinary common
a rare scarce
a modern contemporary
a dark dim
a bright shiny
a soft gentle
a hard solid
a sharp pointed
a round circular
a similar alike
a different unlike
a sure certain
a ready prepared
a late overdue tardy
a early premature
a near close nearby
a far distant
a lost missing
a possible feasible
a impossible unfeasible
a sweet sugary
a sour bitter
a quick_and_easy convenient
# time
n day date
n night nighttime
n morning dawn sunrise
n evening dusk sunset
n hour minutes
n week seven_days
n month
n year twelve_months
n clock watch
n calendar diary agenda
n moment instant
n future tomorrow
n beginning start
n ending finish
a often frequently
a rarely seldom
a always constantly
a never
a now currently
a soon shortly
a daily every_day
# action
v open unlock
v close shut
v carry bring transport haul
v move shift relocate
v push shove
v pull drag tug
v find discover locate
v search look_for seek hunt_for
v hide conceal
v break smash shatter
v lift raise pick_up
v drop let_fall
v fall tumble
v wait hold_on
v stop halt cease
v continue go_on keep_going
v change alter modify
v choose select pick
v try attempt
v use employ utilise
v need require
v want wish desire
v think consider
v believe trust
v know be_aware
v decide determine
v keep retain hold
v throw_away discard get_rid_of
v fill load
v mix blend stir
v measure gauge
v compare contrast
v improve enhance better
v worsen deteriorate
v increase rise grow
v decrease reduce lower shrink
v prevent avoid
v cause bring_about
v happen occur take_place
v wake awaken get_up
v sit
v stand
v touch feel
v smell sniff
v see notice spot
v tie fasten
v connect link join
v separate divide split
v share divide
v copy duplicate imitate
v check inspect examine verify
v wrap pack
v hurt injure harm
v exchange swap
v install set_up fit
v replace substitute
v remove take_away
v prepare get_ready
# computing
n computer pc laptop machine notebook
n server host backend
n program software application app
n file document
n folder directory
n disk drive hard_disk storage ssd
n memory ram
n processor cpu chip
n graphics_card gpu
n network internet lan
n website site web_page homepage
n browser
n password passphrase credential
n user account
n error fault failure exception
n bug defect glitch
n crash breakdown
n code source_code program_text
n programmer developer coder
n database data_store
n backup safety_copy
n virus malware
n hacker attacker intruder
n encryption cipher
n key token secret
n screen display monitor
n keyboard keys
n mouse pointer
n printer
n cable wire cord
n battery accumulator
n charger power_supply
n port socket
n log protocol trace
n setting option preference configuration
n environment_variable env_var
n version release
n update upgrade
n download fetch
n upload
n request query call
n response reply
n route endpoint url path
n header
n stream streaming
n token
n model llm neural_network language_model
n embedding vector
n prompt input
n context window
n temperature randomness
n thread core
n queue waiting_line
n cache
n timeout time_limit
n library package dependency
n test check
n documentation manual docs
n licence license
n command instruction
n terminal console shell command_line
n signature signed_record
n evidence proof
n hash checksum digest
n identity
n tool function
n argument parameter
n schema
n default standard
n process daemon
n worker
n client
n robot
n artificial_intelligence ai machine_learning
v install set_up
v uninstall remove delete
v download pull fetch
v start launch run boot
v stop halt shut_down quit
v restart reboot
v configure set_up adjust
v connect link plug_in
v encrypt scramble
v delete erase remove wipe
v save store
v load open
v print
v click press tap
v type enter key_in
v log_in sign_in
v log_out sign_out
v search query
v compile build
v debug troubleshoot
v import register add
v list enumerate show
v verify validate check
v limit restrict cap
v generate produce create
v serve host
v listen accept
v crash freeze hang
v cancel abort interrupt
v charge recharge
v scroll swipe
v hack break_into
v sort order
v measure benchmark
a online connected
a offline disconnected
a local on_your_own_machine
a remote far_away
a encrypted protected
a idle unused
a compatible
a parallel concurrent simultaneous
a random
a deterministic repeatable reproducible
a graceful clean
a private confidential
a public open
"""


def concepts():
    """Yields (topic, kind, words) for every line."""
    topic = ""
    for line in TEXT.strip().splitlines():
        if line.startswith("#"):
            topic = line[2:]
        else:
            kind, *words = line.split(" ")
            yield topic, kind, [w.replace("_", " ") for w in words]
