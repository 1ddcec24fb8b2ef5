"""Dialogues with tools: choosing, copying arguments, answering from results, answering in words.

A tool is composed from a verb group, an object and parameters; its name, description and parameter names are drawn
from synonyms, so that the model has to read the definitions instead of remembering them.
"""

import json
import re
from pathlib import Path

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

# names; what a user says (default: the names); an object's own verbs that are not listed here stand for themselves
for line in """water|water,give water to,sprinkle
feed|feed,give food to,fill the bowl of
brew|brew,make,put on
bake|bake,put in the oven
inspect,examine|inspect,examine,have a look at,take a close look at
tune|tune,get in tune,adjust
charge,recharge|charge,recharge,plug in,fill up the battery of
park|park,put in a parking space
lower|lower,let down,bring down
raise,lift|raise,lift,bring up,pull up
mute,silence|mute,silence,quiet
skip|skip,jump over,pass over
dim|dim,darken,make darker
rotate,turn|rotate,turn,spin
calibrate|calibrate,adjust,zero
sterilise,disinfect|sterilise,disinfect,make germ free
polish|polish,make shiny,buff
rent,hire|rent,hire,I want to rent,I need to hire
lend|lend,lend out,give out
return,give_back|return,give back,bring back,hand in
translate|translate,what does it mean in another language:
convert|convert,turn,transform,change
pause,suspend|pause,suspend,hold,put on hold
resume,continue|resume,continue,go on with,carry on with
reset|reset,set back,clear
restart,reboot|restart,reboot,bounce,start again
merge,join|merge,join,combine,put together
split,divide|split,divide,break up
rename|rename,give a new name to
copy,duplicate|copy,duplicate,clone
move,relocate|move,shift,bring,relocate
compare|compare,what differs between
sort|sort,put in order,arrange
filter|filter,narrow down
weigh|weigh,put on the scale,how heavy is
scan|scan,read in,run a scan of
sign|sign,put a signature under
approve,accept|approve,accept,say yes to,give the green light to
reject,decline,refuse|reject,decline,turn down,say no to
schedule,plan|schedule,plan,arrange,fix a date for
postpone,delay|postpone,delay,push back,put off
log,record|log,record,note down,write down
report|report,tell them about,flag
clean,wash|clean,wash,scrub,tidy up
refill,fill|refill,fill,top up
empty,drain|empty,drain,let the water out of
mix,blend|mix,blend,stir
grind|grind,mill
harvest,pick|harvest,pick,bring in
plant,sow|plant,sow,put in the ground
trim,prune|trim,prune,cut back
sharpen|sharpen,make sharp
paint|paint,put colour on
install,mount|install,mount,put up,fit
uninstall,dismount|uninstall,take down,take off
enable,activate|enable,activate,switch on,turn on
disable,deactivate|disable,deactivate,switch off,turn off
subscribe|subscribe to,sign me up for
unsubscribe|unsubscribe from,sign me off from
upload|upload,put online,push up
backup,save|back up,save,make a copy of
restore,recover|restore,recover,bring back
encrypt|encrypt,make unreadable
compress,zip|compress,zip,make smaller
deploy,release|deploy,release,roll out,ship
rollback,revert|roll back,revert,undo
scale,resize|scale,resize,change the size of
draw,sketch|draw,sketch,make a drawing of
label,tag|label,tag,put a tag on
adopt|adopt,I want to adopt,take home
groom,brush|groom,brush,comb
vaccinate|vaccinate,give a shot to
examine,diagnose|examine,diagnose,check up on
prescribe|prescribe,write out
ship,dispatch|ship,dispatch,send off
load|load,put on board
unload|unload,take off
refund,reimburse|refund,reimburse,pay back
donate|donate,give away
bet|bet on,put money on
invest|invest in,put money into
calculate,compute|calculate,compute,work out,what is
predict,forecast|predict,forecast,what will happen with
explain,describe|explain,describe,tell me about
notify,alert|notify,alert,inform,tell
block,ban|block,ban,shut out
unblock,allow|unblock,allow,let in
join,enter|join,enter,take part in,count me in for
leave,quit|leave,quit,step out of
score|score,mark,give points to
guess|guess,have a go at
collect,gather|collect,gather,pick up
deliver,bring|deliver,bring,drop off
extend,prolong|extend,prolong,make longer,keep longer
renew|renew,extend,keep going
exchange,swap|exchange,swap,trade in
borrow|borrow,take out,I want to borrow
broadcast,announce|broadcast,announce,make known
transmit,radio|transmit,radio,send out
photograph,capture|photograph,capture,take a picture of
hang,exhibit|hang,exhibit,put on display""".splitlines():
    verb_names, verb_said = (part.split(",") for part in line.split("|"))
    VERBS.append((verb_names, [n.replace("_", " ").capitalize() for n in verb_names], verb_said, "write"))


def verb_named(name):
    """The verb group with this name, or a group of its own for a rare verb."""
    for group in VERBS:
        if name in group[0]:
            return group
    return ([name], [name.replace("_", " ").capitalize()], [name.replace("_", " ")], "write")

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

# noun: spoken forms: kinds of parameters: verbs of its own
VERBS_OF = {}
for line in """aquarium:aquarium,fish tank:litres slot flag:clean,feed,refill,inspect
hamster:hamster:word thing count:feed,groom,weigh
hive:hive,bee hive:number_slot code day:inspect,harvest,move
cow:cow:code litres day:feed,vaccinate,log,weigh
field:field,plot:word thing number_slot:water,harvest,plough,sow
tractor:tractor:code place litres:refill,rent,park,repair
greenhouse:greenhouse:degrees percent:heat,open,close,water
orchard:orchard:thing day:harvest,trim,water
stable:stable:number_slot time:clean,lock,open
barn:barn:word flag:lock,open,empty
seed:seed,seeds:thing grams:order,sow,count
compost:compost heap:litres day:turn,water,empty
coffee:coffee:choice count flag:brew,order,grind
teapot:pot of tea:choice minutes:brew,refill
oven:oven:degrees minutes choice:heat,start,stop,clean
dish:dish:title thing choice:order,rate,describe
bread:bread,loaf:choice grams:bake,order,slice
cake:cake:title choice people:bake,order
pantry:pantry:thing count:check,refill,sort
menu:menu:day title:print,plan,get
dishwasher:dishwasher:choice flag time:start,empty,stop
washer:washing machine:choice degrees flag:start,pause,stop
blind:blind,shutter:room percent:raise,lower,close
curtain:curtain:room percent:open,close
fan:fan:room level:start,stop,set
vacuum:vacuum cleaner:room choice:start,pause,charge
boiler:boiler:degrees time:set,check,restart
fireplace:fireplace:room flag:start,clean
doorbell:doorbell:word flag:mute,test
mattress:mattress:choice room:order,rotate,clean
wardrobe:wardrobe:room thing:sort,empty
piano:piano:room person day:tune,rent,polish
guitar:guitar:slot choice:tune,rent,repair
drum:drum kit:code percent:tune,mute
concert:concert:title city day:book,cancel,find
choir:choir:word person time:join,leave,conduct
album:album:title person:play,buy,rate
band:band:title person:book,follow
mixer_channel:mixer channel,fader:number_slot percent flag:mute,raise,lower
metronome:metronome:bpm flag:start,stop,set
chord:chord:slot choice:explain,play
podcast:podcast:title number_slot:play,pause,subscribe
radio_station:radio station:title decimal:play,find,save
antenna:antenna,aerial:degrees slot:rotate,raise,lower,tune
repeater:repeater:code decimal place:find,test,tune
beacon:beacon:code decimal:transmit,log
satellite:satellite:code city time:track,predict
telescope:telescope:slot degrees:rotate,park,calibrate
microscope:microscope:slot number_slot:calibrate,rent,clean
sample:sample:code degrees slot:freeze,label,scan,weigh
centrifuge:centrifuge:rpm minutes:start,stop,balance
pipette:pipette:code litres:calibrate,order
reagent:reagent,chemical:slot grams code:order,mix,store
culture:cell culture:code day slot:inspect,freeze,split
experiment:experiment:title number_slot person:log,repeat,approve
incubator:incubator:degrees percent number_slot:set,open,sterilise
scalpel:scalpel:count code:sterilise,order
bandage:bandage:choice person:change,order
blood_test:blood test:person day code:book,repeat,explain
vaccine:vaccine:slot person day:order,book,log
dose:dose:slot grams person time:log,calculate,skip
workout:workout,training:title minutes choice:plan,log,skip
run:run:decimal minutes day:log,plan
meal:meal:title count time:log,plan,rate
sleep:sleep:hours day:log,score
pulse:pulse,heart rate:number_slot time:log,measure
gym_class:gym class,yoga class:title day time:join,cancel
pool_lane:swimming lane:number_slot time minutes:book,close
court:tennis court:number_slot day time:book,light
referee:referee:person team:assign,rate
player:player:person team number_slot:swap,rate,ban
goal:goal:person number_slot:log,cancel
league:league:title team:join,leave,rank
trophy:trophy:title team:polish,award
ski_pass:ski pass:days person choice:buy,extend,block
tent_pitch:tent pitch,camp site:code days people:book,cancel
kayak:kayak,canoe:hours count place:rent,return
cabin:cabin,hut:place days people:book,clean
ferry:ferry:place2 time flag:book,track
bus:bus:number_slot place:track,find
tram:tram:number_slot place time:track,delay
scooter:scooter:code minutes place:rent,unlock,charge,park
parking:parking space:code hours place:book,extend,find
toll:toll:code euros:pay,check
seat:seat:code choice person:book,swap,upgrade
luggage:suitcase,luggage:code kilos person:track,weigh,report
visa:visa:slot person date:extend,check
passport:passport:code person:renew,scan,report
tour:guided tour:title people language:book,cancel
museum_ticket:museum ticket:title count date:buy,refund
exhibit:exhibit:title person number_slot:lend,hang,describe,clean
painting:painting:title person slot:hang,lend,restore,buy
statue:statue:title slot:move,polish,scan
gallery:gallery:place time:open,close
brush:brush:number_slot choice:clean,order
palette:palette:slot slot:mix,save
canvas:canvas:cm choice:order,stretch
sketch:sketch:title path:share,rate,scan
drill:drill:rpm code hours:rent,charge,return
saw:saw:code choice:sharpen,rent
plank:plank,board:cm thing count:cut,order,paint
wall:wall:room slot:paint,measure
screw:screw:cm count:order,count
shelf:shelf:number_slot room:mount,fill,label
pipe:pipe:cm slot:repair,order
fence:fence:slot cm:paint,repair
lawn:lawn:cm day:mow,water
ladder:ladder:code days:rent,return,lend
pallet:pallet:code place kilos:move,scan,ship
container:container:code city kilos:track,ship,unload,seal
crate:crate:code thing count:load,unload,label
truck:truck,lorry:code place kilos:load,dispatch,track
forklift:forklift:code hours:charge,rent
shelf_slot:rack:code thing:fill,empty,scan
driver:driver:person code:assign,notify
courier:courier:person address:call,rate
stamp:stamp:count euros:buy,count
letter:letter:person text:scan,dispatch,sign
street_lamp:street lamp:code address:report,dim
pothole:pothole:address choice:report,repair
bin:bin,trash bin:address choice:empty,report
recycling:recycling pickup:day address:schedule,cancel
permit:permit:code person slot:renew,approve,reject
fine:fine:code euros:pay,appeal
tree:tree:slot address:trim,plant,report
bench:bench:code place:report,paint
pet_licence:dog licence:word person:renew,print
polling_station:polling station:address:find
shelter:shelter:place people:find,open
cat:cat:word slot:adopt,feed,find
dog:dog:word minutes:walk,groom,adopt
litter:litter box:litres:clean,refill
leash:leash:choice cm:order
vet_visit:vet visit:word day time:book,cancel
deployment:deployment:word version percent:rollback,pause,scale
container_image:image:word version:pull,scan,tag
cluster:cluster:word number_slot:scale,restart
pod:pod:word code:restart,log
node:node:host flag:drain,reboot
pipeline:pipeline:title flag:run,pause,restart
secret:secret:word code:rotate,share
cache:cache:word seconds:clear,resize
feature_flag:feature flag:word percent flag:enable,disable
incident:incident:code level text:report,close,escalate
dashboard:dashboard:title hours:share,copy
column:column:word slot:rename,drop,sort
row:row:number_slot word:insert,copy
dataset:dataset:title version:merge,filter,publish
chart:chart:title choice:draw,export
formula:formula:slot title:explain,calculate
sheet:sheet,spreadsheet:title slot:rename,copy
share:share:ticker count:buy,sell
fund:fund:title euros:invest,sell
mortgage:mortgage:euros years:calculate,renew
receipt:receipt:code euros shop:scan,archive
tip:tip:euros percent:calculate
tax:tax:euros percent:calculate,pay
donation:donation:title euros:make,refund
piggy_bank:piggy bank:word euros:fill,empty
gift_card:gift card:code euros:buy,check
wish_list:wish list:person thing:share,sort
shoe:pair of shoes,shoes:number_slot choice shop:order,exchange
dress:dress:choice slot:rent,exchange
cart:cart:thing count:empty,share
quest:quest:title points:accept,skip
dungeon:dungeon:title people:enter,leave
spell:spell:slot slot:cast,learn
sword:sword:slot points:sharpen,swap
guild:guild:title:join,leave,rename
level:level:number_slot choice:skip,restart
puzzle:puzzle:title choice:start,hint
board:board:title people:draw,reset
dice:dice:number_slot:roll
lobby:lobby:code people flag:open,join
chess_clock:chess clock:minutes seconds:start,pause
essay:essay:title person slot:mark,check
exam:exam:title day room:schedule,postpone
homework:homework:title day slot:assign,collect
locker:locker:number_slot code:open,assign
timetable:timetable:slot day:print,change
quiz:quiz:title count:start,score
flashcard:flashcard:slot slot:write,flip,learn
classroom:classroom:code people time:book,air
badge:badge:person code:print,block
desk:desk:code day:book,raise,lower
whiteboard:whiteboard:room:clean,photograph
projector:projector:room flag:start,dim
stapler:stapler:room:refill
minutes:protocol:title person:sign,share
vacation_day:vacation day:person date:approve,reject
candidate:candidate:person slot:invite,reject
slide:slide:number_slot title:copy,skip
mailbox:mailbox:email slot:empty,forward
call:call:phone person:record,forward,schedule
voicemail:voicemail:phone number_slot:play,skip
phone_number:phone number:phone:block,call
thermometer:thermometer:room code:read,calibrate
barometer:barometer:place:read,calibrate
rain_gauge:rain gauge:place cm:read,empty
storm_warning:storm warning:place hours:subscribe,cancel
tide:tide:place day:predict,get
snow_depth:snow depth:place:measure,get
solar_panel:solar panel:code degrees:clean,rotate
wind_turbine:wind turbine:code flag:pause,inspect
drone:drone:code place metres:launch,land,charge
printer_3d:3d printer:path grams:start,pause
robot_arm:robot arm:degrees slot:rotate,park
conveyor:conveyor,belt:percent code:pause,resume
kiln:kiln:degrees hours:fire,cool""".splitlines():
    noun, spoken, kinds, verbs = (line.split(":") + [""])[:4]
    OBJECTS[noun] = (spoken.split(","), kinds.split())
    VERBS_OF[noun] = [verb_named(name) for name in verbs.split(",") if name]

# names of string slots whose value only the cue word announces
SLOTS = """front back label brand breed genre species material flavour tone caption motto slogan nickname alias author composer artist sender receiver
author heading header footer prefix suffix keyword phrase question answer hint reason purpose note remark comment summary origin source target goal
method ingredient dish drink style theme layout section chapter verse chorus melody chord pitch scene role actor character hero enemy weapon item
reward skill spell mission planet galaxy star region country county district street village zone platform terminal gate dock bay aisle rack crate
sample reagent substance mineral gas fluid tissue organ symptom remedy drug allergen muscle exercise stroke tactic opponent coach captain sponsor
club venue stage tent crop variety soil pest tool part model make engine colour pattern fabric finish wood metal glue coating signal callsign
operator antenna band mode cluster region namespace image tag branch commit stage job owner team group channel topic board column row field table
schema index key value secret variable formula metric unit account payee bank fund asset category policy claim clause party witness judge recipe
spice sauce filling topping side dessert occasion guest host neighbour tenant landlord visitor customer supplier partner""".split()
NUMBER_SLOTS = """channel level row line page chapter lane track shelf floor room table seat gate platform hive bed field stop bus court port player set round
slide question box slot socket zone step version_number axis wheel string key episode season week lesson unit door locker stage position index priority_number""".split()
UNITS = [
    ("hours", ["hours", "duration", "length"], "{v} hours"), ("days", ["days", "duration", "stay"], "{v} days"), ("seconds", ["seconds", "delay", "timeout"], "{v} seconds"), ("years", ["years", "term"], "{v} years"),
    ("degrees", ["degrees", "temperature", "angle", "target"], "{v} degrees"), ("percent", ["percent", "level", "share", "power"], "{v} percent"), ("litres", ["litres", "volume", "amount"], "{v} litres"),
    ("grams", ["grams", "weight", "portion"], "{v} grams"), ("kilos", ["kilos", "weight", "load", "kg"], "{v} kg"), ("cm", ["cm", "height", "width", "length"], "{v} cm"), ("metres", ["metres", "altitude", "height"], "{v} metres"),
    ("euros", ["euros", "price", "amount", "limit"], "{v} euros"), ("points", ["points", "bonus", "score"], "{v} points"), ("people", ["people", "guests", "group_size", "persons"], "{v} people"),
    ("bpm", ["bpm", "tempo"], "{v} bpm"), ("rpm", ["rpm", "speed"], "{v} rpm"),
]
FLAG_PHRASES = {
    "urgent": ("it is urgent", "it is not urgent"), "notify": ("and notify everyone", "without notifying anyone"), "force": ("use force", "without force"), "loud": ("make it loud", "be quiet about it"),
    "verbose": ("verbose please", "not verbose"), "recursive": ("recursive", "not recursive"), "private": ("make it private", "for everyone to see"), "muted": ("muted", "unmuted"), "locked": ("locked", "unlocked"),
    "express": ("express please", "no express"), "gift_wrap": ("wrapped as a gift", "no gift wrap"), "silent": ("silently", "not silent"), "enabled": ("enable it", "disable it"), "on": ("switch it on", "switch it off"),
    "archived": ("archived", "not archived"), "draft": ("as a draft", "not a draft"), "active": ("turn it on", "turn it off"), "open": ("open", "shut"), "visible": ("show it", "hide it"), "heated": ("heated", "cold"),
    "sugar": ("with sugar", "without sugar"), "milk": ("with milk", "no milk"), "breakfast": ("with breakfast", "without breakfast"), "insurance": ("insured", "without insurance"), "return": ("return trip", "one way"),
    "vegetarian": ("no meat", "with meat"), "backup": ("keep a copy", "keep no copy"), "dry_run": ("just try it", "for real"), "public": ("for everybody", "only for me"), "repeat": ("on repeat", "only once"), "indoor": ("inside", "outside"),
    "pets": ("with a pet", "without pets"), "receipt": ("I need a receipt", "no receipt"), "confirm": ("ask me first", "don't ask me"), "night_mode": ("with night mode", "without night mode"), "shuffle": ("shuffled", "in order"),
}
CHOICES = {
    "color": "red green blue black white".split(), "size": "small medium large".split(), "format": "pdf csv json xml".split(), "interval": "daily weekly monthly".split(), "shape": "round square oval".split(), "speed": "slow normal fast".split(),
    "mode": "eco normal turbo".split(), "direction": "left right up down".split(), "side": "front back left right".split(), "position": "top middle bottom".split(), "quality": "draft standard fine".split(), "roast": "light medium dark".split(),
    "milk_kind": "whole oat soy".split(), "plan": "free basic premium".split(), "season": "spring summer autumn winter".split(), "class": "economy business first".split(), "status": "open closed pending".split(), "material": "wood steel glass plastic".split(),
    "tone_kind": "formal friendly funny".split(), "difficulty": "easy medium hard".split(), "gear": "park drive reverse".split(), "tuning": "standard drop open".split(), "fuel": "petrol diesel electric".split(), "meal": "breakfast lunch dinner".split(),
    "stage": "test staging production".split(), "type": "public private hidden".split(), "kind": "cat dog bird fish".split(), "method": "cash card transfer".split(), "texture": "smooth coarse fine".split(), "role": "admin editor viewer".split(),
    "language_code": "en de fr es".split(), "orientation": "portrait landscape".split(), "seat_kind": "aisle window middle".split(), "strength": "mild strong extra".split(), "crust": "thin thick stuffed".split(), "surface": "grass clay sand".split(),
    "theme": "light dark auto".split(), "order": "asc desc".split(), "period": "day week month year".split(), "action": "start stop pause".split(), "state": "on off standby".split(), "layer": "base middle cover".split(),
}
# how a message announces a value by its cue word
CUES = ["{k} {v}", "{k} {v}", "{k} {v}", "{k}: {v}", "{k} is {v}", "the {k} is {v}", "with {k} {v}", "with the {k} {v}", "{k} = {v}", "the {k} should be {v}", "use {v} as {k}", "{v} as the {k}", '{k} "{v}"', "{k} '{v}'", "{v} is the {k}", "and {k} {v}",
        "{k} should say {v}", "put {v} as {k}", "{k}={v}", "let the {k} be {v}", "having {k} {v}", "under the {k} {v}", "for {k} {v}"]

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
    "minutes": (["minutes", "duration", "length", "duration_minutes"], "integer", ["Duration in minutes", "Minutes", "How long"], w.small, ["for {v} minutes", "of {v} minutes", "{v} minutes"]),
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
    "place": (["place", "where", "location", "site", "venue", "to"], "string", ["The place", "Where"], w.place, ["at the {v}", "at {v}", "near the {v}", "place {v}", "to the {v}"]),
    "place2": (["from", "start", "origin", "pickup"], "string", ["Where it starts"], w.place, ["from the {v}", "from {v}", "starting at the {v}"]),
    "phone": (["phone", "number", "caller", "tel"], "string", ["Phone number"], w.phone, ["{v}", "number {v}", "phone {v}", "at {v}"]),
    "version": (["version", "tag", "release"], "string", ["Version"], w.version, ["version {v}", "at {v}", "in version {v}", "with {v}"]),
    "ticker": (["symbol", "ticker", "code"], "string", ["Symbol of the share"], lambda r: w.letters(r, r.randint(2, 4)).upper(), ["of {v}", "{v}", "symbol {v}"]),
    "shop": (["shop", "store", "brand", "vendor"], "string", ["The shop", "Brand"], w.product, ["at {v}", "from {v}", "by {v}"]),
    "decimal": (["frequency", "km", "ratio", "distance", "rate"], "number", ["As a decimal number"], lambda r: round(r.random() * r.choice([10, 200]) + 0.1, r.choice([1, 1, 2, 3])), ["at {v}", "{k} {v}", "with {k} {v}", "{v} {k}"]),
    "flag": (list(FLAG_PHRASES), "boolean", ["Whether to do so", "Switch", "True or false"], None, []),
    "choice": (list(CHOICES), "enum", ["One of the given values"], None, ["{k} {v}", "in {v}", "as {v}", "with {k} {v}", "{v}", "{v} {k}", "make it {v}"]),
    "slot": (SLOTS, "string", [], w.any_string, CUES),
    "number_slot": (NUMBER_SLOTS, "integer", [], w.small, ["{k} {v}", "{k} {v}", "{k} {v}", "number {v}", "{k}: {v}", "{k} number {v}", "no. {v}"]),
}
for unit, names, said in UNITS:
    KINDS[unit] = (names, "integer", [f"In {unit}", said.format(v="Number of").strip().capitalize() if said == "{v} " + unit else f"The {unit}"], w.small,
                   [said, said, said, "for " + said, "of " + said, "with " + said, "{k} {v}", "{k} " + said])


def flag_phrase(name, value, rng):
    """How a message says yes or no to a switch."""
    spoken = name.replace("_", " ")
    if name in FLAG_PHRASES and rng.random() < 0.6:
        return FLAG_PHRASES[name][0 if value else 1]
    return rng.choice([("with {k}", "without {k}"), ("{k} on", "{k} off"), ("{k} yes", "{k} no"), ("{k}: true", "{k}: false"), ("enable {k}", "disable {k}"), ("{k}", "no {k}"), ("turn {k} on", "turn {k} off"),
                       ("{k} please", "{k} not needed"), ("yes to {k}", "no to {k}"), ("and {k}", "not {k}"), ("switch on {k}", "switch off {k}")])[0 if value else 1].format(k=spoken)


class Parameter:
    """One parameter of a composed tool; `cue` is the word that announces its value in a message."""

    def __init__(self, kind, rng, taken):
        names, self.type, descriptions, self.maker, self.mentions = KINDS[kind]
        self.kind = kind
        free = [n for n in names if n not in taken] or [w.invented(rng)]
        self.name = rng.choice(free)
        self.description = rng.choice(descriptions) if descriptions and rng.random() < 0.25 else None
        self.options = None
        if self.type == "enum":
            self.options = CHOICES.get(self.name) if kind == "choice" else self.maker(rng)
            if kind == "choice" and rng.random() < 0.3:
                self.options = [rng.choice([w.invented, w.word])(rng) for _ in range(rng.randint(2, 4))]
            self.options = list(dict.fromkeys(self.options))
        if rng.random() < (0.2 if kind in ("slot", "number_slot", "flag") else 0.05):
            self.name = w.invented(rng, 1, 2)
        self.cue = self.name.replace("_", " ")
        if kind in ("slot", "number_slot") and rng.random() < 0.15:
            self.description = f"{rng.choice(['The', 'Its', 'Which'])} {self.cue}"
            self.name = next((n for n in ("value", "input", "x", "arg", w.invented(rng)) if n not in taken), self.cue)
        self.required = rng.random() < 0.92

    def schema(self):
        out = {"type": "string" if self.type == "enum" else self.type}
        if self.options:
            out["enum"] = self.options
        if self.description:
            out["description"] = self.description
        return out

    def sample(self, rng):
        if self.type == "boolean":
            return rng.random() < 0.55
        return rng.choice(self.options) if self.options else self.maker(rng)

    def mention(self, value, rng, alone=False):
        """`alone` says that no other value can be meant, so that the bare value is enough."""
        if self.type == "boolean":
            return flag_phrase(self.cue, value, rng)
        if self.kind == "slot" and alone and rng.random() < 0.4:
            return rng.choice(["{v}", "{v}", '"{v}"', "'{v}'"]).format(v=value)
        form = rng.choice(self.mentions)
        if rng.random() < (0.2 if alone or self.type != "string" else 0.5) or (self.type == "string" and not alone and form.strip("'\"") == "{v}"):
            form = rng.choice(CUES)
        return form.format(v=value, k=self.cue)


ASKED = ("I ", "what ", "how ", "is ", "which ", "where ", "any ", "can ", "let ", "there ", "please ")
BEFORE = ["", "", "", "", "", "please ", "could you ", "can you ", "hey, ", "I need you to ", "now ", "ok, ", "hi! ", "next: ", "would you ", "I'd like to ", "I want to ", "we need to ", "let's ", "time to ", "you should ",
          "is it possible to ", "will you ", "kindly ", "I would like you to ", "help me to ", "hello, please ", "go and ", "don't forget to ", "good morning, can you ", "sorry to bother you, could you ", "quick one: ", "my boss says we must "]
AROUND = ["", "", "", "hey, ", "hi! ", "now ", "ok, ", "well, ", "hello! ", "good evening. ", "one more thing: ", "I'm in a hurry, "]
AFTER = ["", "", "", "", ".", ".", "!", " please", ", please.", " thanks", ", thank you", ". Thanks!", ", if you can"]


def sentence(body, rng, values, verb=""):
    """Politeness and small talk around a request; a value at the very beginning keeps its spelling."""
    asked = (verb + " ").startswith(ASKED)
    body = rng.choice(AROUND if asked else BEFORE) + body + rng.choice(AFTER + (["?", "?"] if asked else []))
    if rng.random() < 0.5 and not any(body.startswith(str(v)) for v in values):
        body = body[0].upper() + body[1:]
    return body


class Tool:
    """A tool composed from a verb group, an object and parameters."""

    def __init__(self, rng, verb=None, noun=None):
        if noun is None:
            noun = rng.choice(list(OBJECTS)) if rng.random() < 0.8 else None
        own = VERBS_OF.get(noun) or VERBS
        self.verb = verb or rng.choice(own if rng.random() < 0.75 else VERBS)
        if noun:
            self.noun, (self.spoken, kinds) = noun, OBJECTS[noun]
            self.spoken = list(self.spoken)
        else:
            self.noun = w.invented(rng)
            self.spoken, kinds = [self.noun], rng.sample(list(KINDS), rng.randint(1, 3))
        kinds = list(dict.fromkeys(kinds))
        rng.shuffle(kinds)
        kinds = kinds[: rng.choice([1, 1, 2, 2, 3])]
        if rng.random() < 0.35:
            kinds[rng.randrange(len(kinds))] = "slot"
        if rng.random() < 0.25:
            kinds.append(rng.choice(["flag", "choice", "slot", "slot", "number_slot"]))
        if rng.random() < 0.03:
            kinds = []
        self.parameters = []
        for kind in kinds:
            taken = {p.name for p in self.parameters} | {p.cue for p in self.parameters}
            self.parameters.append(Parameter(kind, rng, taken))
        self.name_it(rng)

    def name_it(self, rng):
        name_verb, noun = rng.choice(self.verb[0]), rng.choice([self.noun, self.spoken[0].replace(" ", "_")])
        plural = "s" if self.verb[3] == "list" else ""
        camel = name_verb + "".join(x.capitalize() for x in noun.split("_")) + plural
        self.name = rng.choice([f"{name_verb}_{noun}{plural}"] * 5 + [camel, camel, f"{noun}_{name_verb}", f"{noun}.{name_verb}", f"{name_verb}-{noun}{plural}", f"{noun}{plural}", w.invented(rng)])
        article = "" if self.verb[3] == "list" else rng.choice(["a ", "a ", "the ", ""])
        self.description = f"{rng.choice(self.verb[1])} {article}{rng.choice(self.spoken)}{plural}"
        if rng.random() < 0.12 and self.parameters:
            self.description += rng.choice([" by ", " with "]) + self.parameters[0].cue
        self.description += rng.choice(["", "", "", "."])

    def definition(self, rng):
        parameters = {"type": "object", "properties": {p.name: p.schema() for p in self.parameters}}
        required = [p.name for p in self.parameters if p.required]
        if required:
            parameters["required"] = required
        if rng.random() < 0.04:
            parameters["additionalProperties"] = False
        return {"name": self.name, "description": self.description, "parameters": parameters}

    def ask(self, rng):
        """A user message and the arguments it gives."""
        given = [p for p in self.parameters if p.required or rng.random() < 0.4]
        values = {p.name: p.sample(rng) for p in given}
        order = list(given)
        rng.shuffle(order)
        verb, spoken = rng.choice(self.verb[2]), rng.choice(self.spoken)
        if self.verb[3] == "list" or verb.startswith(("how many", "count", "give me the number", "which are")):
            spoken += "s"
        article = rng.choice(["the ", "a ", "the ", "my ", ""]) if not spoken.endswith("s") else rng.choice(["the ", "", "all "])
        if verb.startswith(("I want a new", "new", "give me all", "show all", "list all")):
            article = ""
        if article == "a " and spoken[0] in "aeiou":
            article = "an "
        head = f"{verb} {article}{spoken}"
        strings = sum(p.type == "string" for p in given)
        if order and rng.random() < 0.2:
            body = self.telegram(rng, verb, spoken, order, values)
            return sentence(body, rng, values.values(), "I ") if rng.random() < 0.3 else body, self.arguments(values)
        for p in order:
            if p.options and len(p.options) > 1 and rng.random() < 0.2 and article and " " not in str(values[p.name]):
                head, order = f"{verb} {article.replace('an ', 'a ')}{values[p.name]} {spoken}", [q for q in order if q is not p]
                break
        mentions = [p.mention(values[p.name], rng, strings == 1) for p in order]
        if mentions and rng.random() < 0.12 and not mentions[0].startswith(":"):
            body = mentions.pop(0) + rng.choice([", ", ": ", " - "]) + head
            return self.finish(rng, body, mentions), self.arguments(values)
        return sentence(self.joined(rng, head, mentions), rng, values.values(), verb), self.arguments(values)

    def arguments(self, values):
        return {p.name: values[p.name] for p in self.parameters if p.name in values}

    @staticmethod
    def joined(rng, head, mentions):
        joiner = rng.choice([" ", " ", " ", ", ", ", ", " and "])
        return (head + "".join((" " if i == 0 else joiner) + m for i, m in enumerate(mentions))).replace(" : ", ": ")

    def finish(self, rng, body, mentions):
        return self.joined(rng, body, mentions) + rng.choice(["", "", ".", " please"])

    @staticmethod
    def telegram(rng, verb, spoken, order, values):
        """Cue words and values with hardly a sentence around them."""
        pairs = [flag_phrase(p.cue, values[p.name], rng) if p.type == "boolean" else f"{p.cue}{rng.choice([' ', ' ', ': ', ' = '])}{values[p.name]}" for p in order]
        if not (verb + " ").startswith(ASKED) and rng.random() < 0.5:
            head = rng.choice([f"{spoken}, {verb}", f"{verb} {spoken}", f"{verb} {spoken}"])
        else:
            head = f"{verb} {spoken}"
        joiner = rng.choice([", ", ", ", "; ", " ", "\n", " / "])
        if rng.random() < 0.2:
            return joiner.join(pairs) + joiner + head
        return head + rng.choice([": ", ": ", ", ", " ", " - ", "\n"]) + joiner.join(pairs)


FAMILIES = []  # hand-written tools whose users do not repeat the words of the definition


def family(names, descriptions, parameters, asks):
    FAMILIES.append((names, descriptions, [([name], (kind, maker)) for name, kind, maker in parameters], asks, "general"))


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

# Hand-written tools, one a line, grouped by field: names # descriptions # parameters (synonyms:kind) # ways to ask.
# `{p}` is a value; `{p?yes text/no text}` speaks a boolean; in a kind, a/b/c are the values of an enum.
FIELD_LINES = """home
irrigate;water_bed # Water a garden bed;Give water to plants # bed/plot/plant:thing, litres/amount:int # the {bed} (is dry|looks thirsty), give it {litres} litres;pour {litres} litres on the {bed};{litres} l for the {bed}
room_climate;set_climate # Set the temperature of a room # room/zone:room, celsius/degrees:int # (make it|I want) {celsius} degrees in the {room};the {room} should be at {celsius};{room} {celsius} degrees;it is cold in the {room}, go to {celsius}
blinds;move_shutter # Raise or lower a blind # room/window:room, up/raised:bool # {up?let some sun into/block the sun in} the {room};{up?blinds up/blinds down} in the {room};{up?pull up/pull down} the blind in the {room}
vacuum_room;robot_clean # Send the robot vacuum to a room # room/area:room, power/mode:quiet/normal/turbo # the {room} floor is dirty, use {power};hoover the {room} on {power};{power} cleaning in the {room}
laundry;wash_clothes # Start the washing machine # program/cycle:cotton/wool/quick, heat/temperature:int # wash my clothes at {heat} with {program};{program} at {heat} degrees;dirty laundry: {program}, {heat}
doorbell_mode;bell # Mute or unmute the doorbell # muted/silent:bool # {muted?I don't want to hear the bell/let the bell ring again};{muted?the baby sleeps, no ringing/I expect guests, ringing is fine};bell {muted?off/on}
scene;light_scene # Set a light scene # scene/mood:party/movie/dinner/reading # I want to have a {scene};make it cosy for {scene};{scene} mood, please;{scene} time
chore;add_chore # Put a chore on somebody's list # chore/job:text, who/person:first # {who} (has to|must|should) {chore};tell {who} to {chore};chore for {who}: {chore}
== desk
new_note;note_add # Save a note # title/heading:title, body/text:text # new note: title {title}, body {body};title {title}, text {body}, keep that;write down {body} under {title};{title}: {body}, as a note
add_contact;address_book # Save a person in the address book # person/name:person, phone/number:phone # {person} has the number {phone};{phone} belongs to {person};{person} {phone}, remember that;new contact {person}, {phone}
bookmark;keep_link # Keep a web page # url/link:url, label/tag:word # {url} is worth keeping, label {label};label {label} for {url};keep {url} under {label}
help_ticket;open_case # Open a support case # subject/title:title, details/body:text, priority/urgency:low/normal/high # subject {subject}, details {details}, priority {priority};case with {priority} priority: {subject}. {details};"{subject}" - "{details}" ({priority})
poll_new;ask_group # Ask a group a question # question/text:text, group/to:word # what does {group} think: {question};ask {group}: {question};group {group}, question {question}
sticker;print_label # Print a label # line/text:any, copies/number:int # {copies} labels with {line};I need {copies} stickers saying {line};label {line}, {copies} times
dark_mode;appearance # Switch the dark look of the screen # dark/night:bool # {dark?my eyes hurt, make the screen dark/back to a bright screen};{dark?dark/bright} screen please;dark look {dark?on/off}
microphone;mic # Mute or unmute the microphone # muted/off:bool # {muted?they must not hear me/I want to speak};{muted?mute/unmute} me;mic {muted?off/on}
lock_house;front_door # Lock or unlock the front door # locked/shut:bool # {locked?we are leaving, lock up/somebody is at the door, let them in};front door {locked?locked/unlocked} please
heating_mode;holiday_heat # Put the heating into holiday mode # away/holiday:bool, degrees/target:int # {away?we are away/we are back}, {degrees} degrees;heating {away?in holiday mode/in normal mode}, {degrees}
order_pizza;pizza # Order a pizza # topping/with:thing, size/big:small/medium/large, spicy/hot:bool # a {size} pizza with {topping}, {spicy?spicy/not spicy};{size}, {topping}, {spicy?with chilli/without chilli};pizza: {topping} {size} {spicy?hot/mild}
ticket_sale;buy_seat # Buy tickets for a show # show/event:title, seats/number:int, row/area:front/middle/back # {seats} seats in the {row} for {show};{show}, {seats} people, {row} rows;we want to see {show}, {seats} of us, {row}
plan_trip;journey # Plan a journey # from/start:city, to/goal:city, by/vehicle:car/train/bike # by {by} from {from} to {to};{from} to {to}, {by};I leave {from} and must reach {to} by {by}
set_alarm_clock;wake_call # Wake somebody # at/time:time, days/repeat:once/daily/weekdays # get me up at {at}, {days};I have to be awake at {at} ({days});{at} {days} alarm
hash_text;fingerprint # Fingerprint of a text # text/input:any, method/kind:md5/sha1/sha256 # {method} of {text};what is the {method} of "{text}";fingerprint {text} with {method}
replace_word;substitute_text # Replace a word everywhere # old/find:word, new/replace:word # write {new} instead of {old};every {old} becomes {new};old {old}, new {new};find {old} replace {new}
define_key;shortcut # Set a keyboard shortcut # key/letter:code, action/does:phrase # {key} should do {action};press {key} for {action};key {key} action {action}
repair_order;fix_it # Have a thing repaired # thing/item:thing, problem/fault:text # my {thing} is broken: {problem};{thing}, problem {problem};something is wrong with the {thing}, {problem}
return_book;give_back_book # Bring a book back to the library # title/book:title, card/reader:code # I have read {title}, card {card};card {card} brings back {title};{title} is finished, my card is {card}
lost_found;found_item # Report a found thing # item/what:thing, place/where:place # somebody left a {item} at the {place};I found a {item} near the {place};{item} found, {place}
== travel
book_stay;lodging # Book a place to sleep # town/city:city, nights/stay:int, guests/people:int # we are {guests} and sleep {nights} nights in {town};{nights} nights in {town} for {guests};somewhere to sleep in {town}, {guests} people, {nights} nights
seat_choice;pick_seat # Choose a seat on a booking # booking/ref:code, seat/place:code # I want to sit on {seat}, booking {booking};booking {booking}: seat {seat};put me on {seat} for {booking}
flight_status;plane_info # Check whether a flight is on time # flight/number:code # is {flight} late;when does {flight} land;has {flight} left;any delay for {flight}
baggage;luggage_trace # Trace lost luggage # tag/label:code # my suitcase is gone, tag {tag};I lost bag {tag};where did my bag {tag} end up
travel_visa;visa_rules # Tell whether a visa is needed # passport/nationality:city, destination/country:city # do I need papers for {destination} with a passport from {passport};may someone from {passport} enter {destination};passport {passport}, going to {destination}
hire_car;car_rental # Rent a car # pickup/where:place, days/length:int, class/category:small/family/van # I need wheels for {days} days at the {pickup}, {class};{class} car from the {pickup}, {days} days;get me a {class} at {pickup} for {days} days
jet_lag;time_zone # Time in a city # city/where:city # what time is it in {city};how late is it in {city};are they asleep in {city};{city} time
pack_list;suitcase_add # Add an item to the packing list # item/thing:thing # I must take {item};don't let me forget the {item};{item} goes into the suitcase;pack {item}
== office
book_room;meeting_space # Reserve a meeting room # room/space:code, from/start:time, seats/people:int # we need {room} at {from} for {seats};{seats} of us in {room}, {from};is {room} free at {from} for {seats} people, take it
minutes_add;protocol_line # Add a line to the minutes # line/text:text # put on record: {line};the minutes should say {line};note for the protocol: {line}
hand_over;delegate # Give a task to a colleague # task/job:text, colleague/to:person # {colleague} (takes over|does): {task};let {colleague} do this: {task};{task} is for {colleague} now
leave_request;time_off # Ask for days off # from/first_day:date, days/length:int # I am away for {days} days from {from};from {from} I take {days} days off;holiday: {from}, {days} days
expense_claim;claim # Hand in an expense # reason/for:text, amount/sum:num # I paid {amount} for {reason};{amount} euros spent: {reason};get my {amount} back, reason {reason}
desk_phone;forward_calls # Forward calls to another number # number/to:phone # I am out, send my calls to {number};calls go to {number};ring {number} instead
mail_merge;bulk_mail # Write to a group of people # group/list:word, subject/title:title # tell everybody in {group} about "{subject}";"{subject}" to all of {group};let {group} know: {subject}
out_of_office;auto_reply # Set an automatic reply # text/reply:text, active/on:bool # {active?answer my mails with/stop answering with} "{text}";{active?turn on/turn off} the reply "{text}"
== school
flashcard_new;make_card # Make a flash card # front/question:any, back/answer:any # front {front} back {back};a card with {front} on one side and {back} on the other;front: {front}, back: {back};I want to learn that {front} means {back}
mark_pupil;enter_grade # Enter a mark for a pupil # pupil/student:person, mark/points:int # {pupil} got {mark} points;{mark} for {pupil};give {pupil} a {mark}
absence;sick_note # Report a pupil absent # child/pupil:person, day/date:day # {child} (is ill|can't come|stays home) {day};{child} will miss school {day};no school for {child} {day}
quiz_question;ask_quiz # Get a quiz question # subject/topic:topic, level/difficulty:easy/medium/hard # test me on {subject}, {level};something {level} about {subject};quiz: {subject}, {level} please
spell_word;spelling # Spell a word # word/term:word # how do you write {word};which letters are in {word};{word}, letter by letter
timetable_lookup;lessons # Lessons of a class on a day # class/group:code, day/weekday:weekday # what does {class} have on {day};{day} plan of {class};which lessons has {class} on {day}
== farm
milk_log;milk_yield # Record how much milk a cow gave # cow/animal:code, litres/yield:num # {cow} gave {litres} litres;{litres} l from {cow};milk: {cow} {litres}
feed_stock;order_feed # Order animal feed # feed/kind:thing, kilos/weight:int # we run out of {feed}, {kilos} kilos please;{kilos} kg of {feed} for the animals;the animals need {kilos} kilos {feed}
hive_check;bee_visit # Log a look into a bee hive # hive/number:int, note/finding:text # hive {hive}: {note};I looked into hive {hive}, {note};bees in {hive}: {note}
sow_field;seeding # Plan sowing in a field # field/plot:word, crop/seed:thing, date/day:date # {crop} goes into {field} on {date};on {date} we put {crop} in {field};{field}: {crop}, {date}
egg_count;hens # Save the number of eggs # eggs/number:int # the hens laid {eggs};{eggs} eggs today;found {eggs} eggs
== lab
freeze_sample;cold_store # Put a sample in the freezer # sample/code:code, shelf/slot:int # {sample} on ice, shelf {shelf};store {sample} cold on shelf {shelf};shelf {shelf} for {sample}
spin;run_centrifuge # Run the centrifuge # rpm/speed:int, minutes/duration:int # {minutes} minutes at {rpm} rpm;spin it at {rpm} for {minutes} minutes;{rpm} rpm {minutes} min
mix_solution;dilute # Prepare a solution # substance/chemical:any, percent/strength:int, volume/millilitres:int # {volume} ml of {percent} percent {substance};I need {substance} at {percent} %, {volume} ml;{percent}% {substance}, {volume} ml
reading;lab_value # Save a measured value # quantity/what:word, value/measured:num # {quantity} came out at {value};I measured {value} for {quantity};{quantity} = {value}
book_instrument;reserve_device # Reserve an instrument # device/instrument:thing, slot/start:time # I need the {device} at {slot};keep the {device} free for me at {slot};{device}, {slot}
== music
queue_song;enqueue # Put a song in the queue # song/track:title, artist/by:person # next I want {song} by {artist};{artist} with {song} after this one;line up {song} from {artist}
set_volume;loudness # Set the volume # percent/level:int # (make it|go to) {percent} percent;loudness {percent};too quiet, {percent} please;turn it up to {percent}
set_tempo;click_track # Start a click at a tempo # bpm/tempo:int # click at {bpm};{bpm} beats per minute;I practice at {bpm};give me the beat, {bpm}
tune_string;tuner # Tune a string to a note # string/number:int, note/pitch:A/B/D/E/G # string {string} should sound {note};{note} on string {string};get string {string} to {note}
gig;add_concert # Save a concert date # venue/place:place, date/day:date, band/act:product # {band} plays at the {venue} on {date};{date}: {band}, {venue};we have a show on {date} at {venue} with {band}
mute_track;channel_mute # Mute or unmute a channel # channel/track:int, mute/silent:bool # {mute?silence/let me hear} channel {channel};channel {channel} {mute?off/back on};{mute?mute/unmute} {channel}
skip_song;next_track # Skip the current song # # I don't like this one;next one please;skip this;another song
lyrics;song_words # Find the words of a song # song/title:title # what do they sing in {song};words of {song};sing along: {song}
== sports
log_run;add_run # Save a run # km/distance:num, minutes/time:int # I ran {km} km in {minutes} minutes;{km} kilometres, {minutes} min;today {minutes} minutes for {km} km
goal_scored;add_goal # Record a goal # player/scorer:person, minute/at:int # {player} scored in minute {minute};{minute}. minute: {player};it is in! {player}, {minute}
swap_player;substitute # Replace a player by another # out/off:last, in/on:last # {out} goes off, {in} comes on;{in} for {out};take {out} off and bring {in}
league_table;standings # Show the table of a league # league/competition:product # who is on top in {league};how do they stand in {league};{league} ranking
book_court;play_court # Reserve a court # court/number:int, time/at:time, game/sport:tennis/squash/badminton # {game} on court {court} at {time};we play {game} at {time}, court {court};court {court}, {time}, {game}
== health
log_weight;body_weight # Save my weight # kilos/kg:num # I weigh {kilos};the scale says {kilos};{kilos} kg this morning
medication;pill_reminder # Remind of a medicine # medicine/drug:word, time/at:time # I take {medicine} at {time};{medicine} every day at {time};don't let me forget {medicine}, {time}
symptom;log_symptom # Note a symptom # symptom/complaint:phrase, severity/strength:mild/moderate/severe # I have {severity} {symptom};{symptom}, it is {severity};my {symptom} is {severity}
doctor_visit;see_doctor # Make an appointment with a doctor # doctor/with:last, day/date:day # I have to see Dr. {doctor} {day};is there a slot with doctor {doctor} {day};{day} at Dr. {doctor}'s
blood_pressure;pressure_log # Save blood pressure # upper/systolic:int, lower/diastolic:int # {upper} over {lower};my pressure is {upper} to {lower};upper {upper} lower {lower}
water_intake;drink_log # Log how much I drank # millilitres/ml:int # I had {millilitres} ml;drank {millilitres} millilitres;{millilitres} ml more
== shop
price_tag;label_price # Set the price of an article # article/item:product, price/euros:num # {article} now costs {price};{price} for {article};sell {article} at {price}
stock_take;count_shelf # Correct the number in stock # article/item:thing, pieces/number:int # there are {pieces} {article} left;we have {pieces} {article};{article}: {pieces} on the shelf
size_check;has_size # Check whether a size is there # article/model:product, size/number:int # do you have {article} in {size};{article} in {size}, is it there;would {article} come in {size}
give_refund;money_back # Pay money back to a customer # receipt/bill:code, reason/why:text # they want their money for {receipt}: {reason};{receipt} back, because {reason};refund on {receipt}, reason {reason}
loyalty;bonus_points # Give points to a card # card/number:code, points/bonus:int # {points} points for card {card};card {card} gets {points};put {points} on {card}
opening_hours;shop_hours # When a shop is open # shop/store:place # when can I go to the {shop};until when is the {shop} open;is the {shop} still open
== transport
next_bus;departures # Next departures at a stop # stop/station:place # when does something go from {stop};what leaves at {stop};I stand at {stop}, when can I go
bike_unlock;free_bike # Unlock a rental bike # bike/code:code # I want to ride {bike};let me take bike {bike};I am at bike {bike}, open it
report_delay;late_train # Report a delay # line/train:code, minutes/late:int # {line} is {minutes} minutes late;{minutes} min behind: {line};we wait {minutes} minutes for {line}
charge_car;ev_charge # Charge an electric car # station/post:code, percent/until:int # fill my car at {station} until {percent} percent;car to {percent}% at {station};plug in at {station}, stop at {percent}
ride;call_cab # Call a taxi # from/pickup:address, to/goal:place # pick me up at {from}, I go to the {to};from {from} to the {to} please;a car to the {to}, I am at {from}
toll_cost;road_fee # Cost of a road # road/route:code, axles/wheels:int # what do I pay on {road} with {axles} axles;{road}, {axles} axles, how much;fee for {road} and {axles} axles
== city services
broken_lamp;street_light # Report a street lamp # lamp/code:code, street/road:address # it is dark at {street}, lamp {lamp};lamp {lamp} at {street} is dead;{street}: lamp {lamp} flickers
bulky_waste;pickup_waste # Order collection of bulky waste # item/what:thing, date/day:date # come and get my old {item} on {date};{item} to throw away, {date};on {date} please take the {item}
dog_tax;register_dog # Register a dog # dog/name:first, breed/race:word # my dog is called {dog}, a {breed};new dog: {dog}, breed {breed};{dog} the {breed} should be known to the city
parking_permit;resident_park # Parking permit for a resident # plate/number:plate, zone/area:int # may {plate} stand in zone {zone};permit zone {zone} for {plate};my car {plate} lives in zone {zone}
noise;complain_noise # Complain about noise # address/where:address, at/since:time # (they are|it is) so loud at {address} since {at};I can't sleep, {address}, {at};noise, {address}, {at}
marry;registry_date # Ask for a wedding date # first/partner_a:person, second/partner_b:person # {first} and {second} want to marry;wedding of {first} and {second};{first} marries {second}
== gaming
new_game;start_match # Start a game # game/title:product, players/people:int, hard/difficult:bool # {players} of us play {game}{hard?, hard mode/, easy mode};{game} for {players}, {hard?make it hard/not too hard}
give_item;loot # Give an item to a player # player/hero:first, item/loot:phrase # {player} found a {item};{item} goes to {player};hand {player} the {item}
cast;use_spell # Cast a spell on a target # spell/magic:word, target/on:word # {spell} on {target};hit {target} with {spell};use {spell} against {target}
move_piece;play_move # Move a piece on the board # from/source:square, to/target:square # {from} to {to};my move is {from} {to};take the piece from {from} to {to}
high_score;leaderboard # Best scores of a game # game/title:product, top/number:int # who are the best {top} in {game};top {top} of {game};{game} champions, {top} of them
guild_invite;party_add # Invite a player to the group # player/name:word, role/class:tank/healer/mage/archer # we want {player} as {role};{player} joins us as a {role};get {player} in, {role}
== DIY
cut_board;saw_plank # Cut a board # material/wood:thing, length/centimetres:int # I need {length} cm of {material};{material}, {length} centimetres long;saw {material} at {length}
mix_paint;paint_tint # Mix a colour of paint # colour/tone:colour, litres/volume:num # {litres} litres in {colour};my wall becomes {colour}, {litres} l;{colour} for the wall, {litres} litres
borrow_tool;tool_library # Borrow a tool # tool/item:thing, days/length:int # can I have the {tool} for {days} days;I need a {tool}, {days} days;{days} days with your {tool}
drill_hole;bore # Drill a hole # x/across:int, y/up:int, depth/millimetres:int # hole at x {x} y {y}, {depth} mm deep;{depth} mm into x {x}, y {y}
== art and museum
hang_work;place_picture # Hang a work on a wall # work/picture:title, wall/hall:code # {work} goes to wall {wall};wall {wall} gets {work};I'd like to see {work} on {wall}
artist_bio;who_painted # Life of an artist # artist/name:person # who was {artist};tell me about {artist};what did {artist} paint
guide_tour;tour_group # Book a guided tour # people/group:int, tongue/language:language, at/start:time # {people} of us, {tongue}, {at};show {people} visitors around in {tongue} at {at};tour at {at} in {tongue} for {people}
loan_work;lend_piece # Lend a work to another museum # work/piece:title, museum/to:place # the {museum} gets {work} for a while;{work} travels to {museum};may {museum} have {work}
caption;wall_text # Write the caption of a picture # picture/image:code, caption/text:text # under {picture} it should read "{caption}";{picture}: "{caption}";the sign at {picture} says {caption}
== weather and radio
rain_soon;rain_check # Chance of rain # place/town:city, hours/ahead:int # will I get wet in {place} in the next {hours} hours;umbrella in {place}, {hours} hours;{place}, {hours} h, wet or dry
wind_speed;wind_at # Wind at a place # place/where:place # is it stormy at the {place};how hard does it blow at the {place};can I sail at the {place}
sunset;sun_times # When the sun rises and sets # town/city:city, date/day:date # when does it get dark in {town} on {date};{date}, {town}, last light;how long is the day in {town} on {date}
log_contact;radio_log # Save a radio contact # call/station:call, band/frequency:num # I worked {call} on {band};{call} heard me on {band};QSO with {call}, {band} MHz
tune_radio;set_frequency # Set the frequency of the radio # mhz/frequency:num, mode/modulation:FM/AM/USB/CW # go to {mhz} in {mode};{mhz} {mode};listen on {mhz}, {mode}
aim_antenna;beam # Turn the antenna # degrees/bearing:int # point it at {degrees};beam to {degrees} degrees;bearing {degrees}
== logistics
pallet_move;shift_goods # Move a pallet # pallet/code:code, to/dock:code # {pallet} belongs on {to};get {pallet} over to {to};dock {to} for {pallet}
sign_delivery;proof # Confirm a delivery # parcel/code:code, by/signer:person # {by} took {parcel};{parcel} handed to {by};got it: {parcel}, {by}
route_stop;add_stop # Add a stop to a route # route/tour:code, stop/at:address # on {route} also go by {stop};{stop} must be on {route};route {route}, extra stop {stop}
customs;declare # Declare goods # goods/content:thing, value/worth:num, origin/from:city # {goods} worth {value} from {origin};{value} euros of {goods} out of {origin};goods {goods} origin {origin} value {value}
== devops and data
roll_out;ship_version # Deploy a version # service/app:word, version/tag:version, to/stage:staging/production/test # {service} {version} to {to};put {version} of {service} on {to};{to} should run {service} {version}
scale_to;replicas # Change the number of copies of a service # service/app:word, copies/count:int # {service} needs {copies} copies;run {copies} of {service};{copies} x {service}
flip_flag;toggle # Switch a feature on or off # flag/feature:word, enabled/on:bool # {enabled?give everybody/take away} {flag};{flag} {enabled?on/off};{enabled?enable/disable} {flag}
page_engineer;wake_up # Page the engineer on call # service/system:word, problem/reason:text # {service} is burning: {problem};help with {service}, {problem};someone get up, {service}: {problem}
tail_log;last_lines # Show the last lines of a log # file/path:path, lines/number:int # what are the last {lines} lines of {file};end of {file}, {lines} lines;{lines} lines from {file}
rename_column;col_rename # Rename a column # old/from:word, new/to:word # {old} should be called {new};old {old} new {new};the column {old} becomes {new}
export_table;dump # Export a table # table/name:word, format/as:csv/json/xml # I want {table} as {format};{format} of {table};give me {table} in {format}
cron;repeat_job # Run a job every day # job/name:word, at/time:time # {job} every day at {at};daily at {at}: {job};each day {at} {job}
dns_record;point_domain # Point a host name to an address # host/name:host, ip/address:ip # {host} is now {ip};{host} lives on {ip};let {host} go to {ip}
open_port;firewall # Open or close a port # port/number:int, open/allow:bool # {open?let people in/keep people out} on {port};port {port} {open?open/shut};{open?allow/deny} {port}
== finance
send_money;bank_transfer # Send money to somebody # to/payee:person, amount/sum:num, note/purpose:text # {to} gets {amount} from me, "{note}";pay {to} {amount} for "{note}";{amount} to {to}, note "{note}"
freeze_card;card_block # Block a bank card # card/number:code # I lost my card {card};someone stole {card};card {card} is gone
buy_shares;stock_order # Buy shares # symbol/paper:ticker, shares/pieces:int # I want {shares} {symbol};get {shares} of {symbol} into my depot;{shares} x {symbol}
save_goal;savings # Start a savings goal # goal/for:thing, amount/target:int # I save {amount} for a {goal};one day I want a {goal}, {amount} euros;goal {goal}, amount {amount}
split_bill;share_cost # Split a bill # total/bill:num, people/heads:int # we were {people} and it cost {total};{total} among {people};what does each of {people} pay of {total}
loan_rate;monthly_rate # Monthly rate of a loan # amount/loan:int, years/term:int # what do I pay each month for {amount} over {years} years;{amount} euros, {years} years;borrow {amount} for {years} years
== cooking
start_timer;kitchen_timer # Start a kitchen timer # label/for:thing, minutes/duration:int # {label} takes {minutes} minutes;tell me in {minutes} minutes, {label};{minutes} min for the {label}
find_recipe;what_to_cook # Recipes with an ingredient # ingredient/with:thing, vegan/meatless:bool # what can I make with {ingredient}{vegan?, no meat/, meat is fine};I have {ingredient}, {vegan?vegan/not vegan}
preheat;heat_oven # Heat the oven # degrees/temperature:int, fan/air:bool # oven at {degrees} {fan?with fan/without fan};{degrees} degrees, {fan?fan on/fan off};I will bake at {degrees}, {fan?with/without} air
brew_coffee;barista # Make coffee # drink/kind:espresso/latte/mocha/filter, sugar/spoons:int # I'm tired, {drink} with {sugar} sugar;one {drink}, {sugar} spoons;{drink} {sugar} sugar
shopping_add;need_item # Add to the grocery list # item/what:thing, amount/quantity:int # we are out of {item}, take {amount};{amount} {item};next time bring {amount} {item}
serve_table;waiter # Order a dish to a table # table/number:int, dish/meal:phrase # table {table} wants {dish};{dish} for table {table};table {table}: {dish}
== pets
feed_pet;pet_food # Feed an animal # pet/animal:first, grams/portion:int # {pet} is hungry, {grams} grams;{grams} g for {pet};{pet} gets {grams} grams
vet;pet_doctor # Appointment at the vet # pet/animal:first, reason/why:text # {pet} needs a doctor: {reason};something is wrong with {pet}, {reason};vet for {pet}, reason {reason}
walk;dog_walker # Order a dog walk # dog/pet:first, minutes/length:int # somebody take {dog} out for {minutes} minutes;{minutes} minutes in the park with {dog};{dog} wants out, {minutes} min
tank_light;aqua_light # Light of the aquarium # on/lit:bool # {on?the fish need light/let the fish sleep};fish tank {on?bright/dark};{on?light for/no light for} the fish
adopt_pet;new_home # Adopt an animal # kind/animal:cat/dog/rabbit/parrot, name/called:first # I give a {kind} called {name} a home;{name} the {kind} may live with me;{kind} {name} comes to us"""

# kind of a family's parameter: (schema type, value maker)
FAMILY_KINDS = {
    "int": ("integer", w.small), "num": ("number", w.number), "bool": ("boolean", lambda r: r.random() < 0.5), "thing": ("string", w.thing), "word": ("string", w.word),
    "any": ("string", w.any_string), "phrase": ("string", w.phrase), "person": ("string", w.person), "first": ("string", w.first_name), "last": ("string", w.last_name),
    "city": ("string", w.city), "place": ("string", w.place), "text": ("string", w.text), "title": ("string", w.title), "product": ("string", w.product), "topic": ("string", lambda r: r.choice(w.TOPIC)),
    "date": ("string", w.date), "day": ("string", w.day), "weekday": ("string", lambda r: r.choice(w.DAY)), "time": ("string", w.time), "code": ("string", w.code), "path": ("string", w.path),
    "phone": ("string", w.phone), "url": ("string", w.url), "ip": ("string", w.ip), "version": ("string", w.version), "room": ("string", lambda r: r.choice(w.ROOM) if r.random() < 0.7 else w.place(r)),
    "language": ("string", lambda r: r.choice(w.LANGUAGE)), "colour": ("string", lambda r: r.choice(w.COLOUR) if r.random() < 0.6 else w.phrase(r)), "host": ("string", lambda r: f"{w.word(r)}.{w.invented(r)}.net"),
    "address": ("string", lambda r: f"{w.last_name(r)} {r.choice(['Street', 'Road', 'Lane'])} {r.randint(1, 200)}"), "ticker": ("string", lambda r: w.letters(r, r.randint(2, 4)).upper()),
    "plate": ("string", lambda r: f"{w.letters(r, r.randint(1, 3)).upper()}-{w.letters(r, 2).upper()} {r.randint(1, 9999)}"), "square": ("string", lambda r: r.choice("abcdefgh") + str(r.randint(1, 8))),
    "call": ("string", lambda r: f"{w.letters(r, r.randint(1, 2)).upper()}{r.randint(0, 9)}{w.letters(r, r.randint(2, 3)).upper()}"),
}


FAMILY_FILE = Path(__file__).parent / "families.txt"  # more of them, in the same form


def read_fields():
    field = None
    for line in [*FIELD_LINES.splitlines(), *FAMILY_FILE.read_text().splitlines()]:
        if " # " not in line:
            field = line.strip("= ")
            continue
        names, descriptions, parameters, asks = (part.strip() for part in line.replace("# #", "#  #").split(" # "))
        slots = []
        for slot in filter(None, parameters.split(", ")):
            synonyms, kind = slot.split(":")
            slots.append((synonyms.split("/"), kind.split("/") if "/" in kind else kind))
        FAMILIES.append((names.split(";"), descriptions.split(";"), slots, asks.split(";"), field))


SPOKEN_BOOL = re.compile(r"\{(\w+)\?([^/}]*)/([^}]*)\}")


class FamilyTool(Tool):
    """A hand-written tool; the names of its parameters vary, and now and then nothing but its description tells what it does."""

    def __init__(self, rng, index=None, field=None):
        pool = [f for f in FAMILIES if f[4] == field] if field else FAMILIES
        names, descriptions, slots, asks, self.field = FAMILIES[index] if index is not None else rng.choice(pool)
        self.asks = asks
        self.name, self.description = rng.choice(names), rng.choice(descriptions)
        if rng.random() < 0.12:
            self.name = w.invented(rng)
        elif rng.random() < 0.2 and "_" in self.name:
            head, *rest = self.name.split("_")
            self.name = rng.choice([head + "".join(x.capitalize() for x in rest), "-".join([head, *rest]), ".".join([head, *rest])])
        self.verb, self.spoken = (None, None, None, "read"), [names[0]]
        self.slots, taken = [], set()  # (key in the ways to ask, name, type, maker, values of an enum)
        for synonyms, kind in slots:
            name = rng.choice([synonyms[0], rng.choice(synonyms), rng.choice(synonyms)]) if rng.random() < 0.95 else w.invented(rng)
            name = name if name not in taken else synonyms[0]
            taken.add(name)
            if isinstance(kind, list):
                self.slots.append((synonyms[0], name, "string", None, kind))
            else:
                self.slots.append((synonyms[0], name, *(FAMILY_KINDS[kind] if isinstance(kind, str) else kind), None))
        self.described = rng.random() < 0.2

    def definition(self, rng):
        properties = {}
        for key, name, kind, _, options in self.slots:
            properties[name] = {"type": kind}
            if options:
                properties[name]["enum"] = options
            if self.described or (name not in key and rng.random() < 0.3):
                properties[name]["description"] = f"The {key.replace('_', ' ')}"
        return {"name": self.name, "description": self.description,
                "parameters": {"type": "object", "properties": properties, "required": list(properties)}}

    def ask(self, rng):
        values = {key: rng.choice(options) if options else maker(rng) for key, _, _, maker, options in self.slots}
        message = SPOKEN_BOOL.sub(lambda m: m[2] if values[m[1]] else m[3], w.expand(rng.choice(self.asks), rng))
        message = PLACE_OF_VALUE.sub(lambda m: str(values[m[1]]), message)
        message = rng.choice(["", "", "", "", "please ", "hey, ", "can you help: ", "quick: ", "hi! ", "ok, ", "well, ", "hello, "]) + message + rng.choice(["", "", "", "?", ".", " please", ", thanks"])
        if rng.random() < 0.5 and not any(message.startswith(str(v)) for v in values.values()):
            message = message[0].upper() + message[1:]
        return message, {name: values[key] for key, name, *_ in self.slots}


PLACE_OF_VALUE = re.compile(r"\{(\w+)\}")
read_fields()


# Tools that read something: names # descriptions # parameter # field=ways to ask for this field; the message says which field is wanted.
READING_LINES = """weather_now;sky_report # Weather at a place # city/place:city # temperature=how warm is it in {city},how cold is {city} right now;condition=is it raining in {city},what is the sky like in {city};wind=how windy is {city},is there a storm in {city};humidity=how damp is the air in {city}
parcel_info;shipment_state # State of a parcel # parcel/code:code # location=where is {parcel},where has {parcel} got to;arrival=when does {parcel} come;weight=how heavy is {parcel};driver=who brings {parcel}
product_info;article_data # Data of an article # article/name:product # price=how much is {article},what do I pay for {article};stock=how many {article} are left,do we have {article};color=what colour has {article};brand=who makes {article}
staff_card;person_record # Record of an employee # person/name:person # phone=how can I call {person};email=what is the mail of {person},where do I write to {person};room=where does {person} sit;manager=who is the boss of {person}
host_info;machine_facts # Facts about a computer # host/machine:word # ip=which address has {host};version=what is installed on {host},how new is {host};load=how busy is {host};status=is {host} fine,how is {host} doing
train_info;connection_data # Facts about a connection # train/line:code # departure=when does {train} leave;platform=where do I board {train};wait=how late is {train};driver=who drives {train}
patient_chart;ward_record # Chart of a patient # patient/name:person # room=which bed has {patient},where is {patient};temperature=does {patient} have a fever;weight=how much does {patient} weigh;note=what did the nurse write about {patient}
animal_card;pet_record # Card of an animal # animal/name:first # weight=how heavy is {animal};breed=what kind of animal is {animal};owner=who does {animal} belong to;date=when was {animal} born
match_info;game_facts # Facts about a match # match/code:code # score=how did {match} end,who won {match};winner=which player was best in {match};date=when was {match} played;city=where was {match}
book_info;shelf_card # Data of a book # title/book:title # author=who wrote {title};length=how thick is {title};language=in what tongue is {title};id=which number has {title}
account_info;bank_data # Data of an account # account/number:code # balance=how much money is on {account},am I broke on {account};owner=whose account is {account};rate=what interest gives {account}
trail_info;path_facts # Facts about a hiking trail # trail/path:place # distance=how far is the {trail},how long is the way to the {trail};height=how high is the {trail};duration=how many hours to the {trail};status=can I walk to the {trail}"""
READINGS = []
for line in READING_LINES.splitlines():
    reading_names, reading_descriptions, slot, wanted = line.split(" # ")
    READINGS.append((reading_names.split(";"), reading_descriptions.split(";"), slot, [(f.split("=")[0], f.split("=")[1].split(",")) for f in wanted.split(";")]))


class ReadingTool(FamilyTool):
    """A tool whose result holds several facts; the message asks for one of them without saying its name."""

    def __init__(self, rng):
        names, descriptions, slot, self.facts = rng.choice(READINGS)
        self.name = rng.choice(names) if rng.random() < 0.8 else w.invented(rng)
        self.description, self.field, self.described = rng.choice(descriptions), "general", rng.random() < 0.2
        self.verb, self.spoken = (None, None, None, "read"), [names[0]]
        synonyms, kind = slot.split(":")
        synonyms = synonyms.split("/")
        self.slots = [(synonyms[0], rng.choice(synonyms), *FAMILY_KINDS[kind], None)]
        self.wanted = None

    def ask(self, rng):
        self.wanted, self.asks = rng.choice(self.facts)
        return super().ask(rng)

    def result(self, rng, arguments):
        """The facts as an object, and the answer to the last question."""
        values = {name: next(maker for names, maker, _ in RESULT_FIELDS if name in names)(rng) for name, _ in self.facts}
        shown = [name for name in values if name == self.wanted or rng.random() < 0.6]
        rng.shuffle(shown)
        echoed = arguments if rng.random() < 0.3 and not set(arguments) & set(values) else {}
        return wrapped({**echoed, **{name: values[name] for name in shown}}, rng), None, full_stop(f"The {self.wanted} is {said(values[self.wanted])}")


def any_tool(rng):
    """A hand-written or a composed tool."""
    r = rng.random()
    return ReadingTool(rng) if r < 0.06 else FamilyTool(rng) if r < 0.65 else Tool(rng)


def distractor(rng, first):
    """A tool that is easily taken for the first one: the same object, the same verb or the same field."""
    r = rng.random()
    if isinstance(first, FamilyTool):
        return FamilyTool(rng, field=first.field) if r < 0.45 else any_tool(rng)
    if r < 0.35 and first.noun in OBJECTS:
        return Tool(rng, noun=first.noun)
    return Tool(rng, verb=first.verb) if r < 0.5 else any_tool(rng)


def clash(a, b):
    """Two tools that one message could mean."""
    if a.name == b.name or a.description == b.description:
        return True
    if type(a) is not type(b) or not set(a.spoken) & set(b.spoken):
        return False
    return isinstance(a, FamilyTool) or a.verb is b.verb or bool(set(a.verb[2]) & set(b.verb[2]))


def toolbox(rng, size):
    tools = [any_tool(rng)]
    for _ in range(4 * size):
        if len(tools) >= size:
            break
        new = distractor(rng, tools[0])
        if not any(clash(t, new) for t in tools):
            tools.append(new)
    rng.shuffle(tools)
    return tools


SYSTEMS = [*[""] * 14, "You are a helpful assistant.", "You are a helpful assistant that uses tools.", "Be brief.", "Use the tools when they help.",
           "You are an assistant in a small company.", "Today is 2026-11-20.", "Answer shortly.", "You help at home.", "Call tools to do what the user asks."]


def system_turn(tools, rng):
    own = rng.choice(SYSTEMS)
    lines = "\n".join(compact(t.definition(rng)) for t in tools)
    return (own + "\n\n" if own else "") + HEADER + lines + "\n" + FOOTER


# --- results -------------------------------------------------------------------------------------------------------

RESULT_FIELDS = []  # (names, value maker, questions that do not use the name)


def fields(names, maker, asks=""):
    RESULT_FIELDS.append((names.split(), maker, [a for a in asks.split(";") if a]))


def one_of(text):
    options = text.split(",")
    return lambda r: r.choice(options) if r.random() < 0.8 else w.word(r)


def unit_value(low, high, units):
    return lambda r: f"{r.randint(low, high)} {r.choice(units.split())}"


fields("temperature temp degrees", lambda r: r.choice([0, r.randint(-20, 40), round(r.random() * 40 - 8, 1)]), "how warm is it;how cold is it;do I need a coat, how many degrees")
fields("balance saldo", w.number, "how much money is left;how much do I have")
fields("price cost fee total", w.number, "how much is it;what does it cost;what do I pay")
fields("status state", one_of("ok,open,closed,pending,shipped,done,running,active,paused,delivered,failed,ready,queued,lost,waiting,sleeping,charging"), "how does it look;how is it going")
fields("name title_holder", w.person, "who is it;what is it called")
fields("city town location", w.city, "where is it;in which town is it")
fields("owner author manager driver teacher winner keeper", w.person, "who is it;by whom")
fields("id code reference ticket tracking", w.code, "which number do I get")
fields("date day deadline due", w.date, "which day is it;when is it")
fields("time departure arrival start ends_at", w.time, "when is it;at what time")
fields("count number stock available_seats unread items points", lambda r: r.choice([0, w.integer(r), w.small(r), w.small(r)]), "how many are there;how many are left")
fields("email mail contact", w.email, "how do I reach them;where do I write to")
fields("size length capacity", unit_value(1, 900, "KB MB GB m cm litres"), "how big is it;how large is it")
fields("distance range", unit_value(1, 900, "km miles m"), "how far is it")
fields("duration wait eta", unit_value(1, 90, "minutes hours days seconds"), "how long does it take;how long do I wait")
fields("color colour", lambda r: r.choice(w.COLOUR), "what does it look like")
fields("condition sky weather", one_of("sunny,cloudy,light rain,snow,windy,fog,clear,hail,drizzle,thunderstorm"), "how is it outside;what is it like out there")
fields("humidity level percent progress battery", lambda r: f"{r.randint(0, 100)}" + r.choice(["%", " %", ""]), "how full is it")
fields("phone tel number_to_call", w.phone, "where do I call;how do I call them")
fields("version release", w.version, "which one is installed;how new is it")
fields("ip address host_ip", w.ip, "which address has it")
fields("room desk gate platform seat", lambda r: r.choice([str(r.randint(1, 500)), r.choice("ABCD") + str(r.randint(1, 40)), r.randint(1, 60)]), "where do I go;where is it")
fields("score result", lambda r: f"{r.randint(0, 9)}:{r.randint(0, 9)}", "how did it end;who won, and how")
fields("weight load", unit_value(1, 900, "kg g tons"), "how heavy is it")
fields("speed wind", unit_value(1, 200, "km/h m/s mph knots"), "how fast is it")
fields("title song movie book", w.title, "which one is it;what is it called")
fields("address street", lambda r: f"{w.last_name(r)} Street {r.randint(1, 99)}", "where do they live;where is it")
fields("rate ratio average", lambda r: round(r.random() * 3, 3))
fields("height depth width", unit_value(1, 300, "cm m mm"), "how tall is it;how high is it")
fields("language", lambda r: r.choice(w.LANGUAGE), "what do they speak")
fields("species breed brand model material", w.thing, "what kind is it")
fields("word answer translation meaning value", w.any_string, "what does it say")
fields("message note comment description", w.text, "what does it say")
fields("url link", w.url, "where can I read it")
fields("file path", w.path, "where is it saved")
FLAG_FIELDS = "open available paid online valid full locked charged empty ready broken active free occupied confirmed enabled visible late healthy clean frozen allowed".split()
PROBLEMS = ["not found", "access denied", "timeout", "service unavailable", "invalid id", "no such file", "quota exceeded", "out of stock", "already exists", "permission denied", "connection refused", "not available", "bad request",
            "rate limit reached", "sold out", "wrong password", "device offline", "no route", "card declined", "room is taken", "too many requests", "battery empty"]


def said(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def full_stop(text):
    return text if text[-1] in ".!?" else text + "."


def wrapped(values, rng):
    """The object itself, or the object inside another one."""
    r = rng.random()
    if r < 0.75:
        return compact(values)
    if r < 0.95:
        return compact({rng.choice(["data", "result", "item", "response", "details", w.invented(rng)]): values})
    return compact({"ok": True, "data": values})


def error_result(rng):
    problem = rng.choice(PROBLEMS) if rng.random() < 0.75 else f"{rng.choice(['unknown', 'no', 'missing', 'cannot read', 'invalid'])} {w.any_string(rng)}"
    shown = rng.choice([compact({"error": problem}), compact({"error": problem}), f"Error: {problem}", f"error: {problem}", compact({"ok": False, "error": problem}), compact({"error": {"message": problem}}), compact({"status": "error", "message": problem})])
    return shown, None, f"The tool reported an error: {problem}."


def bare_result(rng):
    plain = rng.choice([lambda: f"{rng.randint(-15, 40)} degrees, {rng.choice(['sunny', 'light rain', 'cloudy', 'windy', 'snow'])}", lambda: str(w.number(rng)), lambda: str(w.small(rng)), lambda: "0", lambda: w.text(rng).capitalize(), lambda: f"{w.person(rng)}, {w.city(rng)}",
                        lambda: w.code(rng), lambda: w.title(rng), lambda: w.time(rng), lambda: w.version(rng), lambda: w.ip(rng), lambda: w.phone(rng), lambda: w.any_string(rng), lambda: w.date(rng), lambda: unit_value(1, 99, "km kg minutes degrees euros litres")(rng),
                        lambda: f"{rng.choice(['Order', 'Ticket', 'Parcel', 'Room', 'Job', 'Sample', 'Table'])} {w.code(rng)} {rng.choice(['is ready', 'was created', 'has arrived', 'is on the way', 'was deleted', 'is free', 'was moved', 'is closed'])}"])()
    shown = compact(plain) if rng.random() < 0.15 else plain
    return shown, None, full_stop(f"The result is: {plain}")


def list_result(rng):
    if rng.random() < 0.1:
        return rng.choice(["[]", '{"items":[]}', '{"results":[]}', '{"count":0,"items":[]}']), None, "Nothing was found."
    maker = rng.choice([w.thing, w.thing, w.person, w.title, w.city, w.code, w.small, w.time, w.word])
    items = [maker(rng) for _ in range(rng.randint(2, 4))]
    spoken = ", ".join(map(str, items[:-1])) + f" and {items[-1]}"
    r = rng.random()
    if r < 0.15:
        key = rng.choice(["name", "title", "id"])
        return compact([{key: item} for item in items]), None, f"Here they are: {spoken}."
    return compact(items if r < 0.6 else {rng.choice(["items", "results", "names", "list", "found", w.invented(rng)]): items}), None, f"Here they are: {spoken}."


def flag_result(rng):
    name, value = rng.choice(FLAG_FIELDS), rng.random() < 0.5
    values = [(name, value)] + [(rng.choice(n), m(rng)) for n, m, _ in rng.sample(RESULT_FIELDS, rng.choice([0, 1, 1, 2]))]
    rng.shuffle(values)
    question = rng.choice([f"is it {name}", f"is it {name}", f"{name}", f"tell me if it is {name}", f"{name} or not"])
    return wrapped(dict(values), rng), question, f"Yes, it is {name}." if value else f"No, it is not {name}."


def written_result(rng):
    if rng.random() < 0.6:
        code, key = w.code(rng), rng.choice(["id", "id", "code", "number", "reference", "ticket"])
        return compact({**rng.choice([{"status": "ok"}, {"ok": True}, {"success": True}, {}]), key: code}), None, f"Done. The {key} is {code}."
    return rng.choice(['{"status":"ok"}', "ok", "done", '{"ok":true}', '{"success":true}', '{"done":true}', "true", "OK"]), None, "Done."


def field_result(rng, arguments):
    """An object of a few fields; the message asks for one of them, or for all."""
    values, asks = {}, {}
    for names, maker, questions in rng.sample(RESULT_FIELDS, rng.choice([1, 2, 2, 3, 3, 4])):
        name = rng.choice([names[0], rng.choice(names)]) if rng.random() < 0.9 else w.invented(rng)
        values[name], asks[name] = maker(rng), questions if name in names else []
    targets = list(values)
    if arguments and rng.random() < 0.35:
        key = rng.choice(list(arguments))
        values = {key: arguments[key], **values} if key not in values else values
    if len(values) > 1 and rng.random() < 0.25:
        joined = [f"the {k.replace('_', ' ')} is {said(v)}" for k, v in values.items()]
        joined = ", ".join(joined[:-1]) + " and " + joined[-1]
        return wrapped(values, rng), rng.choice([None, "tell me everything", "give me all of it"]), full_stop(joined[0].upper() + joined[1:])
    target = rng.choice(targets)
    spoken = target.replace("_", " ")
    questions = [q for q in asks[target] if sum(q in asks[t] for t in targets) == 1]
    if questions and rng.random() < 0.4:
        question = rng.choice(questions)
    else:
        question = rng.choice([f"what is the {spoken}", f"what's the {spoken}", f"tell me the {spoken}", f"I need the {spoken}", f"give me the {spoken}", f"the {spoken}, please", f"which {spoken} is it", f"{spoken}?", f"I want to know the {spoken}", f"just the {spoken}"])
    return wrapped(values, rng), question if len(targets) > 1 or rng.random() < 0.5 else None, full_stop(f"The {spoken} is {said(values[target])}")


def result_and_answer(rng, arguments, tool):
    """A tool result as text, a question about it (or None), and the answer in words."""
    if isinstance(tool, ReadingTool) and rng.random() < 0.85:
        return tool.result(rng, arguments)
    r, kind = rng.random(), tool.verb[3]
    if r < 0.07:
        return error_result(rng)
    if r < 0.20:
        return bare_result(rng)
    if r < 0.29:
        return list_result(rng)
    if r < 0.36:
        return flag_result(rng)
    if r < 0.44 and kind == "write":
        return written_result(rng)
    return field_result(rng, arguments)


# --- dialogues -----------------------------------------------------------------------------------------------------

REFUSAL = "None of my tools can do that."


def with_question(rng, message, question):
    """A request and what its result should tell, in one message; sometimes only the question is said."""
    if not question:
        return message
    if rng.random() < 0.2:
        return f"{question}: {message}" if not question.endswith("?") else f"{question} {message}"
    return f"{message.rstrip('.!?')}{rng.choice([', ', '. ', ' and ', ' - '])}{question}" + ("?" if rng.random() < 0.3 and not question.endswith("?") else "")


def stranger_turns(rng, tools):
    """A request that none of the tools can fulfil, or nothing when it is too close to one of them."""
    stranger = any_tool(rng)
    if any(set(stranger.spoken) & set(t.spoken) or stranger.verb is t.verb for t in tools):
        return []
    return [("user", stranger.ask(rng)[0]), ("assistant", envelope_text(REFUSAL))]


def request_turns(rng, tool):
    message, arguments = tool.ask(rng)
    call = envelope_call(tool.name, arguments)
    if rng.random() < (0.4 if isinstance(tool, ReadingTool) else 0.72):
        return [("user", message), ("assistant", call)]
    result, question, answer = result_and_answer(rng, arguments, tool)
    return [("user", with_question(rng, message, question)), ("assistant", call), ("tool", result), ("assistant", envelope_text(answer))]


def tool_dialogue(rng, small_talk):
    """One system turn with tools, then a few independent requests.

    small_talk(rng) gives a (question, answer) pair that needs no tool. Several requests share the cost of reading the definitions.
    """
    tools = toolbox(rng, rng.choice([1, 2, 2, 2, 3, 3, 3, 4, 4, 5]))
    turns = [("system", system_turn(tools, rng))]
    for _ in range(rng.choice([1, 2, 3, 3, 4, 5])):
        r = rng.random()
        if r < 0.07:
            question, answer = small_talk(rng)
            turns += [("user", question), ("assistant", envelope_text(answer))]
        elif r < 0.10 and (strange := stranger_turns(rng, tools)):
            turns += strange
        else:
            turns += request_turns(rng, rng.choice(tools))
    return turns


def result_dialogue(rng):
    """A tool result without tools in the system turn: the answer is plain text."""
    tool = any_tool(rng)
    message, arguments = tool.ask(rng)
    result, question, answer = result_and_answer(rng, arguments, tool)
    if question and rng.random() < 0.5:  # the question alone; the call shows what it is about
        about = f" {rng.choice(['for', 'of', 'in', 'with', 'at'])} {rng.choice(list(arguments.values()))}" if arguments and rng.random() < 0.7 else ""
        message, question = question.rstrip("?") + about + rng.choice(["", "?", "?"]), None
    return [("user", with_question(rng, message, question)), ("assistant", envelope_call(tool.name, arguments)), ("tool", result), ("assistant", answer)]
