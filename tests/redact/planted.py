"""200 secrets, and every form in which one may come to light."""

import base64
import random
import urllib.parse

COUNTS = {"user": 25, "host": 25, "directory": 25, "ending": 25, "number": 25, "ipv4": 25, "ipv6": 25, "email": 25}


def make(seed=7):
    """[(kind, text)]: words that no language has, so that chance does not find them."""
    draw = random.Random(seed)

    def word(syllables):
        return "".join(draw.choice("bcdfglmprtv") + draw.choice("aeiou") for _ in range(syllables))

    def octets():
        return ".".join(str(draw.randint(101, 223)) for _ in range(4))

    def groups():
        return ":".join(f"{draw.randint(0x1a01, 0xfdfe):x}" for _ in range(8))

    makers = {
        "user": lambda: word(5),
        "host": lambda: word(3) + "-" + word(3),
        "directory": lambda: word(4).capitalize() + "_" + word(3),
        "ending": lambda: word(4),
        "number": lambda: str(draw.randint(4 * 10**9, 9 * 10**9)),
        "ipv4": octets,
        "ipv6": groups,
        "email": lambda: f"{word(4)}@{word(4)}.org",
    }
    return [(kind, makers[kind]()) for kind, count in COUNTS.items() for _ in range(count)]


def needles(kind, secret):
    """Byte strings of which none may be in a redacted trail, in lower case."""
    lower = secret.lower()
    found = {lower}
    # A run of digits in hashes and times equals six digits of some secret by chance; eight do so rarely (see COPIES).
    piece = 8 if kind == "number" else 6
    for at in range(len(lower) - piece + 1):
        window = lower[at : at + piece]
        if kind != "ipv4" or "." in window[1:-1]:
            found.add(window)
    raw = {secret.encode(), lower.encode(), secret.upper().encode()}
    texts = {needle.encode() for needle in found}
    for whole in raw:
        texts.add(whole.hex().encode())
        texts.add(whole[::-1].lower())
        texts.add("".join(f"\\x{byte:02x}" for byte in whole).encode())
        texts.add("".join(f"%{byte:02x}" for byte in whole).encode())
        texts.add(urllib.parse.quote(whole, safe="").lower().encode())
        for pad in range(3):
            # The first and last characters of a base64 text depend on what is around it.
            text = base64.b64encode(b"\0" * pad + whole)
            texts.add(text[4 if pad else 0 : -4].lower())
            texts.add(base64.urlsafe_b64encode(b"\0" * pad + whole)[4 if pad else 0 : -4].lower())
    return {text for text in texts if len(text) >= 6}
