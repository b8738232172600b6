#!/usr/bin/env python3
"""Registers the signing key of this folder with the online store, and fetches what is to be carried back."""

import base64
import getpass
import hashlib
import hmac
import json
import os
import sys
import urllib.error
import urllib.request

BRAND = "@BRAND@"
KEY_ID = "@KEY_ID@"
DASHBOARD = os.environ.get("STORE_DASHBOARD_URL", "https://dashboard.snapcraft.io").rstrip("/")
LOGIN = os.environ.get("UBUNTU_ONE_SSO_URL", "https://login.ubuntu.com").rstrip("/")
ASSERTIONS = os.environ.get("STORE_ASSERTIONS_URL", "https://api.snapcraft.io/v2/assertions").rstrip("/")
HERE = os.path.dirname(os.path.abspath(__file__))


def call(url, body=None, accept="application/json", authorization=None):
    headers = {"Accept": accept, "User-Agent": "larder-key-registration"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if authorization is not None:
        headers["Authorization"] = authorization
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
        return answer.read()


def said(error):
    text = error.read().decode("utf-8", "replace")
    try:
        document = json.loads(text)
        errors = document.get("error_list") or document.get("error-list") or [document]
        return "; ".join(one.get("message", "") for one in errors), json.dumps(document)
    except (ValueError, AttributeError):
        return text[:300], text


def unpacked(macaroon):
    raw = base64.urlsafe_b64decode(macaroon + "=" * (-len(macaroon) % 4))
    at, packets = 0, []
    while at < len(raw):
        size = int(raw[at : at + 4], 16)
        name, _, value = raw[at + 4 : at + size - 1].partition(b" ")
        packets.append((name, value))
        at += size
    return packets


def caveat_for_login(macaroon):
    host = LOGIN.split("://", 1)[-1].split("/", 1)[0].encode()
    caveat, verified = None, False
    for name, value in unpacked(macaroon):
        if name == b"cid":
            caveat, verified = value, False
        elif name == b"vid":
            verified = True
        elif name == b"cl" and verified and host in value:
            return caveat.decode()
    sys.exit("The online store asks for no login at %s; nothing was registered." % LOGIN)


def bound(root, discharge):
    """The discharge as it is sent: its signature is bound to that of the root."""
    key = bytes(32)
    digest = lambda data: hmac.new(key, data, hashlib.sha256).digest()
    signature = lambda macaroon: unpacked(macaroon)[-1][1]
    fresh = digest(digest(signature(root)) + digest(signature(discharge)))
    raw = base64.urlsafe_b64decode(discharge + "=" * (-len(discharge) % 4))
    end = b"002fsignature " + signature(discharge) + b"\n"
    if not raw.endswith(end):
        sys.exit("The login answered in a form that this script does not know; nothing was registered.")
    return base64.urlsafe_b64encode(raw[: -len(end)] + b"002fsignature " + fresh + b"\n").decode().rstrip("=")


def log_in():
    asked = {"permissions": ["modify_account_key"], "description": "registering a signing key"}
    root = json.loads(call(DASHBOARD + "/dev/api/acl/", asked))["macaroon"]
    login = {"caveat_id": caveat_for_login(root)}
    print("Log in as the brand account %s." % BRAND)
    login["email"] = input("E-mail: ")
    login["password"] = getpass.getpass("Password: ")
    for attempt in range(2):
        try:
            answer = json.loads(call(LOGIN + "/api/v2/tokens/discharge", login))
            return "Macaroon root=%s, discharge=%s" % (root, bound(root, answer["discharge_macaroon"]))
        except urllib.error.HTTPError as error:
            message, whole = said(error)
            if attempt == 0 and "twofactor" in whole.lower().replace("_", "").replace("-", ""):
                login["otp"] = input("One-time password: ")
                continue
            sys.exit("The login was refused: %s" % message)


def register():
    authorization = log_in()
    with open(os.path.join(HERE, "account-key.json"), encoding="utf-8") as file:
        body = json.load(file)
    try:
        call(DASHBOARD + "/dev/api/account/account-key", body, authorization=authorization)
    except urllib.error.HTTPError as error:
        sys.exit("The online store refused the key: %s" % said(error)[0])
    print("The key is registered.")


def fetch():
    kind = "application/x.ubuntu.assertion"
    texts, seen, wanted = [], set(), ["account-key/" + KEY_ID, "account/" + BRAND]
    while wanted:
        name = wanted.pop(0)
        if name in seen:
            continue
        seen.add(name)
        try:
            text = call(ASSERTIONS + "/" + name, accept=kind).decode()
        except urllib.error.HTTPError as error:
            sys.exit("The online store has no %s (%s). Is the key registered? Try --fetch later." % (name, error.code))
        head = text.split("\n\n", 1)[0].split("\n")
        signer = [line.split(": ", 1)[1] for line in head if line.startswith("sign-key-sha3-384: ")][0]
        if "public-key-sha3-384: " + signer in head:
            continue  # a root of trust signs itself; every store has it, and takes it from nobody
        texts.append(text.rstrip("\n") + "\n")
        wanted.append("account-key/" + signer)
    with open(os.path.join(HERE, "return.assert"), "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(texts))
    print("return.assert is written; carry it back as it is.")


if __name__ == "__main__":
    try:
        if "--fetch" not in sys.argv[1:]:
            register()
        fetch()
    except urllib.error.URLError as error:
        sys.exit("The online store could not be reached: %s" % error.reason)
