"""Words that say the same in the notes of people who work with computers, and everywhere."""

from __future__ import annotations

from memory.words.stem import stem

_GROUPS = """
    production prod|development dev|staging stage|environment env|database db|configuration config
    repository repo|documentation docs|application app|administrator admin|authentication auth
    kubernetes k8s|javascript js|typescript ts|python py|postgresql postgres|mongodb mongo
    information info|specification spec|directory folder dir|argument arg|parameter param|function func
    message msg|password passwd|maximum max|minimum min|average avg|approximately approx|library lib
    package pkg|temporary temp tmp|reference ref|number num|document doc|identifier id|milliseconds ms
    seconds secs|minutes mins|hours hrs|internationalization i18n|decide agree|runbook playbook
    buy purchase|begin start commence|end finish|big large|small little|fast quick rapid|quickly rapidly
    allow permit|forbid prohibit|delete remove|create make|build construct|choose select pick
    use utilize utilise employ|help assist|show display|fix repair|need require|get obtain receive
    ask request|tell inform|speak talk|reply answer respond|keep retain|change modify alter|bug defect
    company firm|car automobile|boss manager|movie film|colour color|favourite favorite
    behaviour behavior|centre center|licence license|grey gray|organise organize|optimise optimize
    analyse analyze|initialise initialize|serialise serialize|normalise normalize|catalogue catalog
    email e-mail mail|website site|phone telephone|home house|kid child|woman lady|man guy|stone rock
    road street|photo picture image|bike bicycle|motorbike motorcycle|couch sofa|sick ill|happy glad
    sad unhappy|angry mad|hard difficult|easy simple|near close|afraid scared|often frequently
    sometimes occasionally|rarely seldom|usually normally typically generally|currently now presently
    automatically auto|reside live|prefer favour favor|like enjoy|deploy deployment|migrate migration
    configure configuration|install installation|back-up backup|login log-in sign-in signin
    logout log-out sign-out|set-up setup|meeting meet
    """

SAME: dict[str, str] = {}
"""Stem to the first stem of its group."""
for _group in _GROUPS.replace("\n", "|").split("|"):
    _stems = [stem(_word) for _word in _group.split()]
    for _word in _stems:
        SAME.setdefault(_word, SAME.get(_stems[0], _stems[0]))
