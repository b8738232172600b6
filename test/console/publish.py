"""Publishes with the lines that the console shows, pasted into the shell that runs this: what snapcraft does at a store of a site, on the
library (requests) that its own stands on. Registers the name of the first argument, or pushes the file of the second under it, and prints what came of it.
"""
import base64
import json
import os
import sys

import requests

assert os.environ["SNAPCRAFT_STORE_AUTH"] == "onprem"
token = base64.b64decode(os.environ["SNAPCRAFT_STORE_CREDENTIALS"], validate=True).decode()
dashboard, storage = os.environ["STORE_DASHBOARD_URL"], os.environ["STORE_UPLOAD_URL"]

session = requests.Session()
session.trust_env = False
session.headers.update({"Authorization": "macaroon " + token, "User-Agent": "snapcraft/8.0"})


def call(method, url, **more):
    answer = session.request(method, url, timeout=60, **more)
    answer.raise_for_status()
    return answer.json()


name, *files = sys.argv[1:]
who = call("GET", dashboard + "/v1/tokens/whoami")["account"]["username"]
if files:
    with open(files[0], "rb") as file:
        sent = {"binary": (os.path.basename(files[0]), file, "application/octet-stream")}
        upload = call("POST", storage + "/unscanned-upload/", files=sent)["upload_id"]
    pushed = call("POST", f"{dashboard}/v1/snap/{name}/revisions", json={"upload-id": upload})
    [review] = call("GET", dashboard + pushed["status-url"])["revisions"]
    print(json.dumps({"who": who, "upload": upload, "status": review["status"]}))
else:
    print(json.dumps({"who": who, "id": call("POST", dashboard + "/v1/snap", json={"name": name})["id"]}))
