// Macaroons to test with: a few that are always the same, and recipes for any others.
import fc from 'fast-check';
import {
  bindForRequest,
  mint,
  withFirstPartyCaveat,
  withThirdPartyCaveat,
  type DecodedMacaroon,
  type Met,
} from '#macaroons/codec/macaroon.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';

export const long = process.env['LARDER_LONG'] === '1';

export const rootKey = Buffer.from('the key that only the store of ada and bob knows');
export const caveatRootKey = Buffer.from('the key that the store shares with the identity provider');

export const met = (): Met => ({ met: true });

/** Ada's token, as the store hands it out for every call. */
export function adasToken(): DecodedMacaroon {
  return ['time-before 2031-01-01T00:00:00Z', 'session-id 0b5e', 'permissions package-view'].reduce(
    withFirstPartyCaveat,
    mint(rootKey, 'ada', 'https://store.example'),
  );
}

/** A root that wants to know who asks, and the bound discharge that says it is ada. */
export function adasLogin(): { root: DecodedMacaroon; discharge: DecodedMacaroon } {
  const root = withThirdPartyCaveat(
    withFirstPartyCaveat(mint(rootKey, 'login', 'https://store.example'), 'session-id 7'),
    {
      caveatRootKey,
      identifier: 'who is it?',
      location: 'https://store.example/identity',
    },
  );
  const discharge = withFirstPartyCaveat(mint(caveatRootKey, 'who is it?', ''), 'declared username ada');
  return { root, discharge: bindForRequest(root, discharge) };
}

/** The signed content; two macaroons with the same content are the same token. */
export function signedParts({ identifier, caveats, signature }: DecodedMacaroon): unknown {
  return {
    identifier: identifier.toString('hex'),
    signature: signature.toString('hex'),
    caveats: caveats.map((caveat) => [caveat.identifier.toString('hex'), caveat.verificationId?.toString('hex')]),
  };
}

export interface ThirdPartyRecipe {
  caveatRootKey: Buffer;
  identifier: Buffer;
  location: string;
  conditions: string[];
}

export interface Recipe {
  rootKey: Buffer;
  identifier: Buffer;
  location: string;
  conditions: string[];
  thirdParties: ThirdPartyRecipe[];
}

/** The root of a recipe with its conditions first, and one bound discharge for each of its third parties. */
export function cooked(recipe: Recipe): { root: DecodedMacaroon; discharges: DecodedMacaroon[] } {
  const plain = recipe.conditions.reduce(
    withFirstPartyCaveat,
    mint(recipe.rootKey, recipe.identifier, recipe.location),
  );
  const root = recipe.thirdParties.reduce<DecodedMacaroon>(withThirdPartyCaveat, plain);
  const discharges = recipe.thirdParties.map(({ caveatRootKey: key, identifier, conditions }) =>
    bindForRequest(root, conditions.reduce(withFirstPartyCaveat, mint(key, identifier, ''))),
  );
  return { root, discharges };
}

export const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength, maxLength }).map((array) => Buffer.from(array));

/** Any well-formed text but one with a byte-order mark in front, which other implementations drop. */
export const text = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, minLength, maxLength }).filter((value) => !value.startsWith('\ufeff'));

const utf8 = (minLength: number, maxLength: number): fc.Arbitrary<Buffer> =>
  text(minLength, maxLength).map((value) => Buffer.from(value));

/**
 * Identifiers may be any bytes, which version 1 JSON cannot bear, or any text, or, as locations then are too, plain
 * letters: Python miscounts others in version 1 binary.
 */
export function recipes(spelling: 'bytes' | 'text' | 'letters' = 'bytes'): fc.Arbitrary<Recipe> {
  const letters = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
    fc.string({ unit: 'grapheme-ascii', minLength, maxLength });
  const location = spelling === 'letters' ? letters(0, 20) : text(0, 20);
  const identifiers = {
    bytes: fc.oneof(utf8(1, 30), bytes(1, 40)),
    text: utf8(1, 30),
    letters: letters(1, 30).map((value) => Buffer.from(value)),
  };
  const identifier = identifiers[spelling];
  return fc.record({
    rootKey: bytes(1, 40),
    identifier,
    location,
    conditions: fc.array(text(1, 40), { maxLength: 8 }),
    thirdParties: fc.uniqueArray(
      fc.record({
        caveatRootKey: bytes(1, 40),
        identifier,
        location,
        conditions: fc.array(text(1, 20), { maxLength: 3 }),
      }),
      { maxLength: 2, selector: (party) => party.identifier.toString('hex') },
    ),
  });
}
