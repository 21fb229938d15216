"""Frequent words of English and of programming that are one token each in the o200k vocabulary.

By themselves and behind a space, in lower case and capitalised; behind another character of ASCII they are
two tokens with it at most. Most frequent ones of some thousand texts about software; a test holds each
against the vocabulary.
"""

from __future__ import annotations

_TEXT = """
able abort about above absolute abstract accept access accessible according account action actions
active actor actual actually add added adding addition additional address addresses adds after
again against agent algorithm alias align all allow allowed allows almost along alpha already also
alt alternative although always among amount an analysis and annotation another answer any
anything apache api app append application applications apply approved architecture archive are
args argument arguments around array arrays as ask assert assign assigned associated async at
attached attempt attr attribute attributes auth authentication author authorization authors auto
automatic available avoid await away axis back backend background bad bar bare base based basic
batch be because been before begin behavior behind being below benchmark best beta better between
bin binary binding bit bits block blocking blocks body bool boolean both bound bounds branch break
breaking broken browser buffer bug build building built bundle but by byte bytes cache cached call
callback called caller calling calls can candidate cannot capacity care case cases cast catch
cause cd center certain certificate chain change changed changes changing channel character
characters check checked checking checks child children choice choose chunk claim class classes
clean cleanup clear cli client clients clone close closed closing cluster code codes collect
collection collections collector color column columns combined come command commands comment
comments commit common community compare comparison compatible compile compiler complete completed
completion complex component components compression compute condition conditions config
configuration configure connect connected connection connections consider console const constant
constants constraint constraints construct constructor consume contact container containers
contains content contents context continue control controls conversion convert converted copies
copy copyright core correct cost could count counter counts coverage covered create created
creates creating creation credentials cross crypto curl current currently custom data database
date days debug decimal decode decoder deep def default defaults define defined defines definition
definitions delay delete deleted depend dependencies dependency depending depends deprecated
derived describe description descriptor design desired destination detail details detect dev
developer development device devices dict dictionary did difference different dimension dir direct
directive directory disable disabled discussion disk display dist distributed distribution do doc
docs document documentation documents does doing domain don done double down download downloads
driver drop dry due duplicate duration during dynamic each easy edge edit effect eg either element
elements else email embedded emit empty enable enabled encode encoding end endpoint ends engine
ensure entity entries entry enum env environment equal equals err error errors escape especially
evaluate evaluation even event events ever every everything exact example examples exc except
exception exceptions exclusive exec execute execution exist existing exists exit expect expected
experimental explicit export expression extended extension extensions external extra extract face
factor factory fail failed failure fall falls false family far fast favor feature features fetch
few field fields file filename files fill filled filter filters final finally find fine finished
first fit five fix fixed flag flags flat float floating flow folder follow following foo for force
fork form format formats forms forward found four frame frames framework free fresh from fs full
fully func function functions future gate general generate generated generation generator generic
get gets getting git github give given global go going good google grammar graph greater group
groups guide had handle handler handles handling hard has hash have having head header headers
hello help helper helpers here high higher highest history hold home homepage hook hooks host
hosts how however http hub human id identifier identify identity if ignore image immutable
implement implementation import important imports in include included includes including inclusive
incoming index individual info information init initial initialize initialized inline input inputs
insert inside inspect install installation installed instance instances instead instructions int
integer integration interface interfaces internal interval into invalid invoke io is issue issues
it item items iterator its job join js json just keep key keys keyword keywords kind know known
label labels language languages large last later latest layer lead leading least leave left legacy
len length less let level levels lexer lib libraries library license like limit limited limits
line lines link linked links linux list listed listing lists literal live ll load loaded loading
loads local located location lock log logged logger logging logic logical logs long look looking
looks lookup loop low lower machine made main major make makes making man manage managed
management manager manual many map mapping maps mark markdown marker master match matches matching
math matrix max maximum may mean meaning means member members memory merge message messages meta
metadata meth method methods metric minimal minimum minor minutes miss missing mod mode model
models modified modify module modules moment more most mostly move msg much multi multiple must my
name named names namespace native necessary need needed needs negative nested net network never
new next no node nodes non none nor normal normalize normally not note notes nothing notice now
null nullable number numbers numeric obj object objects of off official offset often old older on
once one only open opening operation operations operator operators opt option optional options or
order ordered origin original os other others otherwise our out output outputs outside over
override overview own owner ownership package packages padding page pages pair parallel param
parameter parameters params parent parse parsed parser part partial parts pass passed passing
password past patch path paths pattern patterns payload peer pending people per perform
performance period permission permissions persist persistent pipeline place places plain platform
please plugin plugins plus pod pods point pointer points policy pool port position positive
possible post pr pre precision prefer preferred prefix prepare presence present pretty prevent
previous primary print printed printing prior priority private probably problem process processing
produce product production program progress project projects promise prompt proper properties
property protocol provide provided provider proxy public publish published pull pure purpose push
put py python quality queries query questions queue raise raised raises random range rather raw re
read reader reading reads ready real really reason receive received recent recommended record
records recursive reduce ref refer reference references regex register registered registry regular
reject related relative release released remaining remote remove removed render replace
replacement repo report reports repository represent representation request requested requests
require required requirements requires reserved reset resolution resolve resource resources
respect response responses rest restart result results retrieve retry return returned returns
reverse rich right rights root round row rows rule rules run running runs runtime safe same sample
save saved saving say scalar scale schema scheme scope script scripts search second seconds secret
section secure security see seen segment select selected selector self semantic send sending sense
sent sequence serialization serialize serialized series serve server servers service services
session sessions set sets setting settings setup shape share shared shell short should show shows
shutdown side sign signal signature signed similar simple since single site size sizes skip slow
small snapshot so socket software some something sometimes sort sorted source sources space spaces
span spec special specific speed split src stable stack standard start started starting starts
startup state statement static status step steps still stop storage store stored stores str
strategy stream streams strict string strings strip structure structured style sub subject success
successful such suite sum summary support supported supports sure switch symbol symbols sync
syntax sys system systems table tag tags take taken taking target targets task tasks team teams
tell template temporary tensor term terminal terms test testing tests text than that the their
them then there these they thing things third this those though thread threads three through throw
throws thus time timeout times timestamp title to token tokens too tool tools top topic total
trace track tracker tracking transport tree trigger true try trying tuple turn two type typed
types typically undefined under unexpected unicode union unique unit unix unknown unless unsafe
unsupported until up update updated updates upgrade upload upon upper url us usage use used user
username users uses using usually utilities utility valid validate validation value values var
variable variables variant ve vector verification verify version versions very via view virtual
visual volume vs wait waiting want warn warning was watch way ways we web website well were what
whatever wheel when where whether which while who whole why width will window windows wire wish
with within without won word words work worker workflow working works workspace world would wrap
wrapped wrapper write writes writing written wrong yet yield you your zero
"""

COMMON_WORDS = frozenset(_TEXT.split())
"""In lower case."""
