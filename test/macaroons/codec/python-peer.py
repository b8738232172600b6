"""The other side of python.test.ts: Debian's python3-pymacaroons and python3-macaroonbakery.

Reads a JSON list of requests, each with its operation under "do", and writes the JSON list of their answers.
Bytes travel as standard base64.
"""

import base64
import json
import sys

import macaroonbakery.bakery as bakery
import macaroonbakery.checkers as checkers
import nacl.public
from pymacaroons import Macaroon, Verifier
from pymacaroons.serializers import BinarySerializer, JsonSerializer


def to_bytes(text):
    return base64.b64decode(text)


def to_text(raw):
    return base64.b64encode(raw).decode('ascii')


def serializer(form):
    return JsonSerializer() if form == 'json' else BinarySerializer()


def with_caveats(macaroon, caveats):
    for caveat in caveats:
        if 'condition' in caveat:
            macaroon.add_first_party_caveat(caveat['condition'])
        else:
            identifier = to_bytes(caveat['identifier'])
            macaroon.add_third_party_caveat(caveat['location'], to_bytes(caveat['rootKey']), identifier)
    return macaroon


def fresh(parts, version):
    macaroon = Macaroon(
        location=parts['location'],
        identifier=to_bytes(parts['identifier']),
        key=to_bytes(parts['rootKey']),
        version=version,
    )
    return with_caveats(macaroon, parts['caveats'])


def mint(request):
    """A root and its bound discharges, written in one form."""
    version = request['version']
    root = fresh(request['root'], version)
    bound = [root.prepare_for_request(fresh(parts, version)) for parts in request['discharges']]
    return [each.serialize(serializer(request['form'])) for each in [root] + bound]


def verify(request):
    """Whether a root and its discharges verify when exactly these conditions are met."""
    root, *discharges = [Macaroon.deserialize(token, serializer(request['form'])) for token in request['tokens']]
    verifier = Verifier()
    for condition in request['met']:
        verifier.satisfy_exact(condition)
    try:
        return verifier.verify(root, to_bytes(request['rootKey']), discharges)
    except Exception:
        return False


def private_key(text):
    return bakery.PrivateKey(nacl.public.PrivateKey(to_bytes(text)))


def public_key(text):
    return bakery.PublicKey(nacl.public.PublicKey(to_bytes(text)))


def encode_payload(request):
    third_party = bakery.ThirdPartyInfo(version=request['version'], public_key=public_key(request['thirdPartyKey']))
    return to_text(
        bakery.encode_caveat(
            request['condition'],
            to_bytes(request['rootKey']),
            third_party,
            private_key(request['firstParty']),
            checkers.deserialize_namespace(request['namespace']),
        )
    )


def decode_payload(request):
    info = bakery.decode_caveat(private_key(request['thirdParty']), to_bytes(request['payload']))
    return {
        'version': info.version,
        'condition': info.condition,
        'rootKey': to_text(info.root_key),
        'firstPartyKey': str(info.first_party_public_key),
        'namespace': info.namespace.serialize_text().decode('utf-8'),
    }


class Store(bakery.ThirdPartyLocator):
    def __init__(self, version, key):
        self.info = bakery.ThirdPartyInfo(version=version, public_key=public_key(key))

    def third_party_info(self, location):
        return self.info


class Declares(bakery.ThirdPartyCaveatChecker):
    def check_third_party_caveat(self, context, info):
        if info.condition != 'is-authenticated-user':
            raise bakery.ThirdPartyCaveatCheckFailed('another condition')
        return [checkers.declared_caveat('username', 'ada')]


class Nowhere(bakery.ThirdPartyLocator):
    def third_party_info(self, location):
        return None


def mint_asking(request):
    """A bakery macaroon with one third-party caveat."""
    namespace = checkers.Namespace({checkers.STD_NAMESPACE: ''})
    macaroon = bakery.Macaroon(
        to_bytes(request['rootKey']), request['identifier'], 'https://store.example', request['version'], namespace
    )
    caveat = checkers.Caveat(location='https://store.example/identity', condition='is-authenticated-user')
    store = Store(request['dischargerVersion'], request['thirdPartyKey'])
    macaroon.add_caveat(caveat, private_key(request['firstParty']), store)
    return macaroon.to_dict()


def discharge_all(request):
    """What a client does with a root: the identity provider's part and its own for local caveats."""
    root = bakery.Macaroon.from_dict(request['root'])

    def from_identity_provider(caveat, payload):
        return bakery.discharge(
            checkers.AuthContext(),
            id=caveat.caveat_id_bytes,
            caveat=payload,
            key=private_key(request['thirdParty']),
            checker=Declares(),
            locator=Nowhere(),
        )

    local_key = private_key(request['localKey']) if 'localKey' in request else None
    discharged = bakery.discharge_all(root, from_identity_provider, local_key)
    header = '[' + ','.join(each.serialize(JsonSerializer()) for each in discharged) + ']'
    return {
        'header': base64.urlsafe_b64encode(header.encode('utf-8')).decode('ascii'),
        'binary': to_text(b''.join(BinarySerializer().serialize_raw(each) for each in discharged)),
    }


def accept_discharge(request):
    """Whether a discharge that somebody else wrote as JSON answers this root."""
    root = bakery.Macaroon.from_dict(request['root'])
    discharged = bakery.discharge_all(root, lambda caveat, payload: bakery.Macaroon.from_dict(request['discharge']))
    verifier = Verifier()
    for condition in request['met']:
        verifier.satisfy_exact(condition)
    try:
        return verifier.verify(discharged[0], to_bytes(request['rootKey']), discharged[1:])
    except Exception:
        return False


operations = {
    operation.__name__: operation
    for operation in [mint, verify, encode_payload, decode_payload, mint_asking, discharge_all, accept_discharge]
}

json.dump([operations[request['do']](request) for request in json.load(sys.stdin)], sys.stdout)
