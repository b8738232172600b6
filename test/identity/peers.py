"""Logs in to a store with the bakery client that Debian packages, and prints what came of it as JSON.

Each line that comes in is a plan, each line that goes out its outcome. A plan is {"base", "method": "browser" | "agent" | "legacy-browser" | "legacy-agent" | "sso",
"username", "password", "agents": <agent file>, "version": null | 1 | 2 | 3, "condition", "body"}.
Without a version the root is the store's own, and is exchanged for a token; with one, this program is a
service of its own that asks the identity provider about whoever logs in.
"""
import base64
import json
import re
import sys
import threading
import time

import requests
from pymacaroons import Macaroon, Verifier

import macaroonbakery.bakery as bakery
import macaroonbakery.checkers as checkers
import macaroonbakery.httpbakery as httpbakery
import macaroonbakery.httpbakery.agent as agent
from macaroonbakery import _utils as utils

plan = {}
base = identity = client = None


def fill_in(url):
    """What a person does in a browser, a moment after the client has begun to wait."""
    def work():
        time.sleep(0.1)
        shown = requests.get(url)
        did = re.search(r'name="did" value="([^"]+)"', shown.text).group(1)
        action = re.search(r'<form method="post" action="([^"]+)"', shown.text).group(1)
        form = {"did": did, "username": plan["username"], "password": plan["password"]}
        requests.post(requests.compat.urljoin(url, action), data=form).raise_for_status()
    threading.Thread(target=work).start()


def new_client():
    if plan["method"].endswith(("browser", "sso")):
        return httpbakery.Client(interaction_methods=[httpbakery.WebBrowserInteractor(open=fill_in)])
    found = agent.read_auth_info(json.dumps(plan["agents"]))
    return httpbakery.Client(interaction_methods=[agent.AgentInteractor(found)], key=found.key)


def acquire(caveat, payload):
    if not plan["method"].startswith("legacy"):
        return client.acquire_discharge(caveat, payload)
    # What an old identity provider would have said: where to go, and no more.
    reply = client._acquire_discharge_with_token(caveat, payload, None)
    error = httpbakery.Error.from_dict(reply.json())
    info = error.info._replace(interaction_methods=None)
    return client._legacy_interact(caveat.location + "/", error._replace(info=info))


def as_header(macaroons):
    texts = ",".join(utils.macaroon_to_json_string(one) for one in macaroons)
    return base64.urlsafe_b64encode(("[" + texts + "]").encode()).decode()


def of_the_store():
    issued = requests.post(base + "/v1/tokens", json=plan["body"])
    issued.raise_for_status()
    root = bakery.Macaroon.from_dict(json.loads(issued.json()["macaroon"]))
    discharged = bakery.discharge_all(root, acquire, client.key)
    direct = requests.get(base + "/v1/tokens/whoami", headers={"Macaroons": as_header(discharged)})
    exchanged = requests.post(base + "/v1/tokens/exchange", headers={"Macaroons": as_header(discharged)}, json={})
    exchanged.raise_for_status()
    token = exchanged.json()["macaroon"]
    whoami = requests.get(base + "/v1/tokens/whoami", headers={"Authorization": "Macaroon " + token})
    read = Macaroon.deserialize(token)
    return {
        "direct": direct.json(),
        "whoami": whoami.json(),
        "conditions": [one.caveat_id_bytes.decode() for one in read.caveats],
    }


class Locator(bakery.ThirdPartyLocator):
    def third_party_info(self, location):
        told = requests.get(location + "/discharge/info").json()
        key = bakery.PublicKey.deserialize(told["PublicKey"])
        return bakery.ThirdPartyInfo(version=told["Version"], public_key=key)


def of_a_service():
    version = plan["version"]
    namespace = checkers.Namespace({checkers.STD_NAMESPACE: ""}) if version == 3 else bakery.legacy_namespace()
    root = bakery.Macaroon(b"root key of the service", b"id of the service", "service", version, namespace)
    root.add_caveat(checkers.Caveat(location=identity, condition=plan["condition"]), bakery.generate_key(), Locator())
    discharged = bakery.discharge_all(root, acquire, client.key)
    seen = []
    verifier = Verifier()
    verifier.satisfy_general(lambda condition: seen.append(condition) or True)
    verifier.verify(discharged[0], b"root key of the service", discharged[1:])
    now = checkers.AuthContext()
    checker = checkers.Checker()
    problems = [checker.check_first_party_caveat(now, one) for one in seen if one.startswith("time-before")]
    return {"conditions": seen, "unmet": [one for one in problems if one is not None]}


def in_the_sso_style():
    """What charmcraft does since 4.4: its base ends in /publishergw, and one of its calls drops that."""
    gateway = base + "/publishergw"
    issued = requests.post(requests.compat.urljoin(gateway, "v1/tokens/usso"), json=plan["body"])
    issued.raise_for_status()
    root = Macaroon.deserialize(issued.json()["macaroon"])
    third = [one for one in root.third_party_caveats()]
    login = {"email": plan["username"], "password": plan["password"], "caveat_id": third[0].caveat_id}
    reply = requests.post(base + "/api/v2/tokens/discharge", json=login)
    if reply.status_code != 200:
        return {"refused": reply.json(), "status": reply.status_code}
    bound = root.prepare_for_request(Macaroon.deserialize(reply.json()["discharge_macaroon"]))
    header = "Macaroon root=" + root.serialize() + ", discharge=" + bound.serialize()
    direct = requests.get(gateway + "/v1/tokens/whoami", headers={"Authorization": header})
    exchanged = requests.post(gateway + "/v1/tokens/usso/exchange", headers={"Authorization": header},
                              json={"client-description": "charmcraft@peer"})
    exchanged.raise_for_status()
    authorization = {"Authorization": "Macaroon " + exchanged.json()["macaroon"]}
    whoami = requests.get(gateway + "/v1/tokens/whoami", headers=authorization)
    tokens = requests.get(gateway + "/v1/tokens", headers=authorization)
    return {
        "location": [one.location for one in third],
        "direct": direct.json(),
        "whoami": whoami.json(),
        "description": tokens.json()["macaroons"][0]["description"],
    }


def outcome():
    if plan["method"] == "sso":
        return in_the_sso_style()
    return of_the_store() if plan["version"] is None else of_a_service()


for line in sys.stdin:
    plan = json.loads(line)
    base = plan["base"]
    identity = base + "/identity"
    client = new_client()
    try:
        print(json.dumps(outcome()), flush=True)
    except Exception as error:  # what went wrong is what the test asks about
        print(json.dumps({"error": type(error).__name__ + ": " + str(error)}), flush=True)
