"""What the script of a folder that is carried out does, without the online store: unittest, run by register.tools.test.ts."""

import base64
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
import urllib.error
from unittest import mock

sys.dont_write_bytecode = True
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/cli/keys/register.py")

ROOT_SIGNATURE = bytes(range(32))
DISCHARGE_SIGNATURE = bytes(range(32, 64))
# HMAC-SHA256 under a key of zeros, of both signatures' HMACs under it: what libmacaroons calls binding for a request.
BOUND_SIGNATURE = bytes.fromhex("f058a8deac9980c66fb21c74d65c18ca513d0dfdaa626431f3cba65b6e715c99")


def load():
    spec = importlib.util.spec_from_file_location("register", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.BRAND, module.KEY_ID = "acme", "K" * 64
    module.LOGIN = "https://login.example.org"
    module.DASHBOARD = "https://dashboard.example.org"
    module.ASSERTIONS = "https://assertions.example.org/v2/assertions"
    return module


def macaroon(*packets):
    """A macaroon of the first version: packets of four hexadecimal digits, a name, a blank, a value and a newline."""
    raw = b"".join(b"%04x%s %s\n" % (len(name) + len(value) + 6, name, value) for name, value in packets)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def macaroon_of_store(*caveats):
    return macaroon((b"location", b"store"), (b"identifier", b"id"), *caveats, (b"signature", ROOT_SIGNATURE))


DISCHARGE = macaroon((b"location", b"login"), (b"identifier", b"caveat"), (b"signature", DISCHARGE_SIGNATURE))
FOR_LOGIN = ((b"cid", b"for the login"), (b"vid", b"v" * 48), (b"cl", b"login.example.org"))


def refused(status, document):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return urllib.error.HTTPError("https://example.org", status, "no", {}, io.BytesIO(body))


def assertion(kind, key, signer, **headers):
    lines = ["type: " + kind, *("%s: %s" % (name.replace("_", "-"), value) for name, value in headers.items())]
    return "\n".join([*lines, "sign-key-sha3-384: " + signer, "", "body of " + key, "", "signature", ""])


class Macaroons(unittest.TestCase):
    def setUp(self):
        self.script = load()

    def test_the_caveat_for_the_login_is_the_verified_one_at_its_host(self):
        first_party = (b"cid", b"expires soon")
        elsewhere = ((b"cid", b"for another"), (b"vid", b"v"), (b"cl", b"other.example.org"))
        unverified = ((b"cid", b"not to be proven"), (b"cl", b"login.example.org"))
        root = macaroon_of_store(first_party, *elsewhere, *unverified, *FOR_LOGIN)
        self.assertEqual(self.script.caveat_for_login(root), "for the login")

    def test_without_such_a_caveat_nothing_is_registered(self):
        with self.assertRaises(SystemExit) as ended:
            self.script.caveat_for_login(macaroon_of_store((b"cid", b"expires soon")))
        self.assertIn("nothing was registered", str(ended.exception))

    def test_a_discharge_is_bound_to_its_root(self):
        bound = self.script.bound(macaroon_of_store(), DISCHARGE)
        self.assertNotIn("=", bound)
        packets = self.script.unpacked(bound)
        self.assertEqual(packets[:-1], self.script.unpacked(DISCHARGE)[:-1])
        self.assertEqual(packets[-1], (b"signature", BOUND_SIGNATURE))

    def test_a_discharge_of_another_form_is_not_sent(self):
        strange = macaroon((b"identifier", b"caveat"), (b"signature", DISCHARGE_SIGNATURE + b"more"))
        with self.assertRaises(SystemExit):
            self.script.bound(macaroon_of_store(), strange)


class Refusals(unittest.TestCase):
    def test_what_the_other_side_said_is_found_in_each_form_of_error(self):
        said = load().said
        for document, message in (
            ({"error_list": [{"message": "one"}, {"message": "two"}]}, "one; two"),
            ({"error-list": [{"message": "one"}]}, "one"),
            ({"message": "one", "code": "NO"}, "one"),
            ([1, 2], "[1, 2]"),
            (b"<html>" + b"x" * 1000, "<html>" + "x" * 294),
            (b"\xff", "\ufffd"),
        ):
            with self.subTest(message=message[:10]):
                self.assertEqual(said(refused(500, document))[0], message)


class Conversation(unittest.TestCase):
    """A folder to work in, and another side that answers what it is told to."""

    def setUp(self):
        self.script = load()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.script.HERE = folder.name
        with open(os.path.join(folder.name, "account-key.json"), "w", encoding="utf-8") as file:
            json.dump({"account_key_request": "the request"}, file)
        self.calls = []
        self.typed = []

    def run_with(self, answers, work):
        """Does some work, where each call of an address is answered by the next of its answers."""

        def call(url, body=None, accept="application/json", authorization=None):
            self.calls.append((url, json.loads(json.dumps(body)), authorization))
            answer = answers[url].pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer if isinstance(answer, bytes) else json.dumps(answer).encode()

        def typed(prompt):
            self.typed.append(prompt)
            return "typed at " + prompt

        out = io.StringIO()
        with mock.patch.object(self.script, "call", call), mock.patch("builtins.input", typed):
            with mock.patch("getpass.getpass", typed), contextlib.redirect_stdout(out):
                work()
        return out.getvalue()


class Registration(Conversation):
    def answers(self, *discharges):
        return {
            "https://dashboard.example.org/dev/api/acl/": [{"macaroon": macaroon_of_store(*FOR_LOGIN)}],
            "https://login.example.org/api/v2/tokens/discharge": list(discharges),
            "https://dashboard.example.org/dev/api/account/account-key": [{}],
        }

    def test_one_time_password_is_asked_for_only_where_there_is_one(self):
        self.run_with(self.answers({"discharge_macaroon": DISCHARGE}), self.script.register)
        self.assertEqual(self.typed, ["E-mail: ", "Password: "])
        (_, asked, _), (_, login, _), (url, sent, authorization) = self.calls
        self.assertEqual(asked["permissions"], ["modify_account_key"])
        self.assertEqual(login["caveat_id"], "for the login")
        self.assertEqual((url.rsplit("/", 1)[-1], sent), ("account-key", {"account_key_request": "the request"}))
        self.assertRegex(authorization, r"^Macaroon root=[\w-]+, discharge=[\w-]+$")

        for code in ("TWOFACTOR_REQUIRED", "two-factor-required"):
            self.calls.clear()
            self.typed.clear()
            second = [refused(401, {"code": code, "message": "no"}), {"discharge_macaroon": DISCHARGE}]
            self.run_with(self.answers(*second), self.script.register)
            self.assertEqual(self.typed[-1], "One-time password: ")
            self.assertEqual(self.calls[2][1]["otp"], "typed at One-time password: ")

    def test_the_password_goes_to_the_login_alone(self):
        self.run_with(self.answers({"discharge_macaroon": DISCHARGE}), self.script.register)
        told = [url for url, body, authorization in self.calls if "Password" in json.dumps([body, authorization])]
        self.assertEqual(told, ["https://login.example.org/api/v2/tokens/discharge"])

    def test_refusals_end_it_with_what_was_said(self):
        wrong = refused(401, {"code": "INVALID_CREDENTIALS", "message": "Not correct."})
        twice = [refused(401, {"code": "TWOFACTOR_REQUIRED"}), refused(401, {"code": "TWOFACTOR_FAILURE", "message": "No."})]
        for discharges, message in (([wrong], "The login was refused: Not correct."), (twice, "The login was refused: No.")):
            with self.assertRaises(SystemExit) as ended:
                self.run_with(self.answers(*discharges), self.script.register)
            self.assertEqual(str(ended.exception), message)
        answers = self.answers({"discharge_macaroon": DISCHARGE})
        answers["https://dashboard.example.org/dev/api/account/account-key"] = [
            refused(409, {"error_list": [{"message": "It has that name already."}]})
        ]
        with self.assertRaises(SystemExit) as ended:
            self.run_with(answers, self.script.register)
        self.assertEqual(str(ended.exception), "The online store refused the key: It has that name already.")


class Fetching(Conversation):
    ROOT = "R" * 64
    STORE = "S" * 64

    def kept(self):
        key = "K" * 64
        return {
            "account-key/" + key: assertion("account-key", "key", self.STORE, public_key_sha3_384=key),
            "account/acme": assertion("account", "acme", self.STORE, account_id="acme") + "\n\n",
            "account-key/" + self.STORE: assertion("account-key", "store", self.ROOT, public_key_sha3_384=self.STORE),
            "account-key/" + self.ROOT: assertion("account-key", "root", self.ROOT, public_key_sha3_384=self.ROOT),
        }

    def fetched(self, kept):
        base = self.script.ASSERTIONS + "/"
        answers = {base + name: [text.encode()] for name, text in kept.items()}
        for name in ("account-key/" + "K" * 64, "account/acme", "account-key/" + self.STORE):
            answers.setdefault(base + name, [refused(404, {})])
        self.run_with(answers, self.script.fetch)
        with open(os.path.join(self.script.HERE, "return.assert"), "rb") as file:
            return file.read().decode()

    def test_what_is_carried_back_is_the_key_and_what_it_rests_on_but_no_root(self):
        kept = self.kept()
        names = ["account-key/" + "K" * 64, "account/acme", "account-key/" + self.STORE]
        self.assertEqual(self.fetched(kept), "\n".join(kept[name].rstrip("\n") + "\n" for name in names))
        self.assertEqual(len(self.calls), len({url for url, _, _ in self.calls}), "nothing is fetched twice")

    def test_what_is_not_there_is_named(self):
        kept = self.kept()
        del kept["account/acme"]
        with self.assertRaises(SystemExit) as ended:
            self.fetched(kept)
        self.assertIn("has no account/acme (404)", str(ended.exception))
        self.assertEqual(os.listdir(self.script.HERE), ["account-key.json"], "half of it is not written")


if __name__ == "__main__":
    unittest.main()
