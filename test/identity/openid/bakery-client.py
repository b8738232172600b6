"""Logs in to a store with the bakery client that craft-store uses, and prints lines of JSON: the page for the browser, then the account.

The address of the store is the argument.
"""
import base64
import json
import sys

import requests

import macaroonbakery.bakery as bakery
import macaroonbakery.httpbakery as httpbakery
from macaroonbakery import _utils as utils

base = sys.argv[1]


def show(**line):
    print(json.dumps(line), flush=True)


browser = httpbakery.WebBrowserInteractor(open=lambda url: show(visit=url))
client = httpbakery.Client(interaction_methods=[browser])
request = {"permissions": ["package-view"], "description": "craft on a laptop", "ttl": 3600}
issued = requests.post(base + "/v1/tokens", json=request)
issued.raise_for_status()
root = bakery.Macaroon.from_dict(json.loads(issued.json()["macaroon"]))
discharged = bakery.discharge_all(root, client.acquire_discharge, client.key)
texts = ",".join(utils.macaroon_to_json_string(each) for each in discharged)
header = base64.urlsafe_b64encode(f"[{texts}]".encode()).decode()
exchanged = requests.post(base + "/v1/tokens/exchange", headers={"Macaroons": header}, json={})
exchanged.raise_for_status()
token = {"Authorization": "Macaroon " + exchanged.json()["macaroon"]}
show(whoami=requests.get(base + "/v1/tokens/whoami", headers=token).json())
