"""What one asks about, and the words that answers to it use: `subject words : answer words`.

Used for questions and passages. Subjects were written as a broad list of everyday and computing matters.
"""

LINES = """
tax : income state pay form refund declaration
diet weight lose : eat less vegetables sugar calories exercise slim
rent flat find : apartment landlord deposit lease room tenant
insurance accident : damage claim company pay policy
driving licence : test car lesson road instructor
airport arrive : flight gate luggage security boarding
train ticket : rail station fare seat price
hotel booking : room night price reception guest
visa : embassy passport country travel border
map read : north compass scale path
swim learn : water pool arms legs breathe
ski learn : snow slope lift boots
football rules : ball goal referee team foul
yoga : breath stretch body mat
headache cure : pain water rest tablet dark room
toothache : dentist tooth pain clove cavity
cold cough : tea throat nose rest honey
fever child : temperature water cool doctor
allergy : pollen sneeze skin nose medicine
blood pressure : heart salt sport doctor
eye tired : screen break light glasses
hair loss : head barber shampoo
pregnancy : mother baby month birth midwife
school homework : pupil teacher learn exercise
exam prepare : learn plan repeat sleep test
university apply : degree student form grade
library borrow : book card return shelf
write story : hero plot chapter reader
poem : verse rhyme word line
paint picture : colour brush canvas artist
museum visit : art ticket exhibition guide
cinema : film seat ticket screen
piano learn : keys fingers note practise
sing better : voice breath tone
dance : step music partner rhythm
wood fire stove : chimney log warm smoke
heating save : radiator warm window degree
mould wall : damp air window wet
move house : boxes van friends flat
washing machine : laundry soap drum clothes
dishes : plate soap sink sponge
vacuum floor : carpet dust clean
garden lawn : grass mow water cut
compost : waste soil peel worms
roses cut : flower thorn spring branch
apple tree : fruit branch prune harvest
rain water collect : barrel roof garden
bird feed winter : seed nut snow
fish aquarium : water tank feed plant
horse ride : saddle rider stable
chicken keep : hen egg coop grain
cow milk : farm calf grass
wolf : forest pack prey
whale : ocean mammal breathe
volcano erupt : lava magma ash mountain
earthquake : plates ground shake
tide : moon sea water high low
weather forecast : rain wind pressure cloud
thunder lightning : storm electric sky loud
desert : sand dry hot camel
glacier : ice mountain melt
star : sun sky light gas
moon phase : light earth orbit night
rocket : space engine fuel launch
magnet : iron pole pull metal
battery : charge power electric cell
solar : sun panel electricity roof
wind power : turbine blade electricity
computer slow : memory disk program restart
virus computer : malware program protect update
password safe : characters long secret reuse
backup : copy file disk store
email spam : mail filter sender
print : paper ink printer
phone lost : locate lock call
app install : program store download
website build : page html host
program learn : code language practise
database : table query store
encryption : key secret cipher
robot : machine sensor move
artificial intelligence : model learn machine
hearth port listen : server 8740 127 bind address development 8741
hearth download pull model : hub hf fetch quantisation file reference registered
evidence signed record header : frozen-v1 proof signature X-Svc-Evidence-Mode verify hash
files stored disk program : SVC_HOME blobs manifests keys logs folder written
password protect server key : SVC_API_KEY bearer token request authorization
embedding vector long : 768 numbers length unit input string
requests waiting queue : 429 Retry-After full bound status callers
receive answer stream token : chunks server-sent events DONE true
tools call model : envelope function protocol single response arguments
verify record offline : evidence file signature hashes check
idle model memory : keep-alive unloaded minutes time weights
own gguf file import : register local reference copy store command
exit code : status service reach command error
json force reply : response_format grammar schema object
native_ready : backend library bound hash health identity
threads cores : SVC_NUM_THREADS measure cpu
gpu graphics : SVC_GPU auto card
context window long prompt : num_ctx tokens fit 400
metrics : prometheus route counters
web interface browser : ui page chat
"""


def associations():
    for line in LINES.strip().splitlines():
        subject, answer = line.split(" : ")
        yield subject.split(), answer.split()
