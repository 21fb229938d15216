"""Words that say nothing about what is searched for, in common languages, as `fold` leaves them.

Question words are among them: an answer does not repeat them.
"""

from __future__ import annotations

_ENGLISH = """
a about after all also am an and any are as at be because been before being between both
but by can could did do does doing during each for from had has have having he her here
hers him his how i if in into is it its itself just many me more most much my no nor not
of off on once only or other our out over own same she should so some such than that the
their them then there these they this those through to too under until up upon was we were
what when where which while who whom whose why will with would you your tell find give
show please
"""
_GERMAN = """
aber als auch auf aus bei bin bis das dass dem den der des die durch ein eine einem einen
einer eines er es fur hat hatte ich ihr im ist ja kann mit nach nicht noch nur oder sein
seine sich sie sind uber um und uns unter vom von vor war waren wann warum welche welcher
welches wenn wer werden wie wieviel wir wird wo woher wurde wurden zu zum zur
"""
_SPANISH = """
al algo ante como con contra cual cuales cuando cuanta cuantas cuanto cuantos de del desde
donde durante e el ella ellas ellos en entre era eran esa ese eso esta estan estas este
esto estos fue fueron ha haber habia han hasta hay la las le les lo los mas mi muy nos o
os otra otro para pero por porque que quien quienes se segun ser si sin sobre son su sus
tambien tanto tenia tiene un una unas uno unos y ya
"""
_ROMANCE = """
au aux avec ce ces cette comment dans du elle est et etait il ils je leur leurs mais ne
nous ou par pas pour quand quel quelle quelles quels qui sa sans ses sont sur une vous che
chi cosa della delle di dove gli nel nella non per perche quale sono com da dos em foi na
nas onde pela pelo qual quando
"""
"""French, Italian, Portuguese."""
_HINDI = """
का की के को से में ने है हैं था थी थे और पर क्या किस किसने किसके किसकी कितने कितनी कब कहाँ
कहां कौन कौनसा कि ही भी एक यह वह इस उस कर करने हो गया गई लिए साथ द्वारा
"""
_RUSSIAN = """
\u0438 \u0432 \u0432\u043e \u043d\u0435 \u0447\u0442\u043e \u043e\u043d \u043d\u0430 \u044f
\u0441 \u0441\u043e \u043a\u0430\u043a \u0430 \u0442\u043e \u0432\u0441\u0435
\u043e\u043d\u0430 \u0442\u0430\u043a \u0435\u0433\u043e \u043d\u043e \u0434\u0430 \u0442\u044b
\u043a \u0443 \u0436\u0435 \u0432\u044b \u0437\u0430 \u0431\u044b \u043f\u043e \u0435\u0435
\u0431\u044b\u043b \u0431\u044b\u043b\u0430 \u0431\u044b\u043b\u0438 \u043a\u0442\u043e
\u0433\u0434\u0435 \u043a\u043e\u0433\u0434\u0430 \u0441\u043a\u043e\u043b\u044c\u043a\u043e
\u0438\u0437 \u043e\u0442
"""
_ARABIC = """
من في علي الي عن ما ماذا متي اين كيف كم هل هو هي التي الذي ان كان كانت
"""

STOP_WORDS = frozenset(
    (_ENGLISH + _GERMAN + _SPANISH + _ROMANCE + _HINDI + _RUSSIAN + _ARABIC).split()
)
