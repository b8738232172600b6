// Agreement with the npm package `macaroon`. It reads binary version 2 and both JSON versions, and writes JSON.
import fc from 'fast-check';
import { importMacaroon, newMacaroon, type PackageMacaroon } from 'macaroon';
import t from 'tap';
import { writeBinary } from '#macaroons/codec/binary.ts';
import { fromJson, toJson1, toJson2 } from '#macaroons/codec/json.ts';
import { verify, type DecodedMacaroon } from '#macaroons/codec/macaroon.ts';
import { tokenListFromJson } from '#macaroons/codec/text.ts';
import { cooked, long, met, recipes, type Recipe } from './recipes.ts';

const through = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function packageAccepts(rootKey: Buffer, primary: PackageMacaroon, discharges: PackageMacaroon[]): boolean {
  try {
    primary.verify(rootKey, () => null, discharges);
    return true;
  } catch {
    return false;
  }
}

const weAccept = (rootKey: Buffer, primary: DecodedMacaroon, discharges: DecodedMacaroon[]): boolean =>
  verify({ macaroon: primary, rootKey, discharges, check: met }).verified;

/** The same recipe, cooked by the package. */
function theirs({ rootKey, identifier, location, conditions, thirdParties }: Recipe, version: 1 | 2) {
  const root = newMacaroon({ identifier, location, rootKey, version });
  for (const condition of conditions) root.addFirstPartyCaveat(condition);
  for (const party of thirdParties) root.addThirdPartyCaveat(party.caveatRootKey, party.identifier, party.location);
  const discharges = thirdParties.map((party) => {
    const key = party.caveatRootKey;
    const discharge = newMacaroon({ identifier: party.identifier, location: '', rootKey: key, version });
    for (const condition of party.conditions) discharge.addFirstPartyCaveat(condition);
    discharge.bindToRoot(root.signature);
    return discharge;
  });
  return { root, discharges };
}

t.test('the package verifies our tokens, and we verify its tokens', (t) => {
  let agreed = 0;
  fc.assert(
    fc.property(fc.constantFrom(1 as const, 2 as const), recipes('text'), (version, recipe) => {
      const { rootKey } = recipe;
      const ours = cooked(recipe);
      const toJson = version === 1 ? toJson1 : toJson2;
      const [primary, ...answers] = [ours.root, ...ours.discharges].map((each) =>
        importMacaroon(through(toJson(each))),
      );
      const foreign = theirs(recipe, version);
      const read = tokenListFromJson(through([foreign.root, ...foreign.discharges].map((each) => each.exportJSON())));
      const [root, ...discharges] = read ?? [];
      const agree =
        primary !== undefined &&
        root !== undefined &&
        packageAccepts(rootKey, primary, answers) &&
        weAccept(rootKey, root, discharges) &&
        weAccept(rootKey, ours.root, ours.discharges);
      // Third-party caveats hold a nonce, so only the others can have one signature.
      if (recipe.thirdParties.length === 0) t.strictSame(root, ours.root);
      agreed += 1;
      return agree;
    }),
    { numRuns: long ? 10_000 : 200 },
  );
  t.equal(agreed, long ? 10_000 : 200);
  t.end();
});

t.test('the package reads our binary form with any bytes and any number of caveats', (t) => {
  fc.assert(
    fc.property(recipes(), (recipe) => {
      const { root, discharges } = cooked(recipe);
      const primary = importMacaroon(new Uint8Array(writeBinary(root, 2)));
      const answers = discharges.map((each) => importMacaroon(writeBinary(each, 2).toString('base64url')));
      t.strictSame(Buffer.from(primary.identifier), root.identifier);
      t.strictSame(Buffer.from(primary.signature), root.signature);
      return packageAccepts(recipe.rootKey, primary, answers);
    }),
    { numRuns: long ? 2_000 : 60 },
  );
  t.end();
});

t.test('both refuse the same forgeries', (t) => {
  const forgeries = ['key', 'drop', 'swap', 'unbind', 'missing', 'twice', 'signature'] as const;
  fc.assert(
    fc.property(recipes('text'), fc.constantFrom(...forgeries), (recipe, forgery) => {
      const { root, discharges } = cooked(recipe);
      const [first, ...rest] = discharges;
      const rootKey = forgery === 'key' ? Buffer.concat([recipe.rootKey, Buffer.from('x')]) : recipe.rootKey;
      const forged = { ...root };
      let answers = discharges;
      if (forgery === 'drop') forged.caveats = root.caveats.slice(1);
      if (forgery === 'swap') forged.caveats = root.caveats.toReversed();
      if (forgery === 'signature') forged.signature = Buffer.from(root.signature.map((byte) => byte ^ 1));
      if (forgery === 'missing') answers = rest;
      if (forgery === 'twice' && first) answers = [...discharges, first];
      if (forgery === 'unbind' && first) answers = [{ ...first, signature: root.signature }, ...rest];
      const primary = importMacaroon(through(toJson2(forged)));
      const theirAnswers = answers.map((each) => importMacaroon(through(toJson2(each))));
      t.equal(weAccept(rootKey, forged, answers), packageAccepts(rootKey, primary, theirAnswers), forgery);
    }),
    { numRuns: long ? 3_000 : 150 },
  );
  t.end();
});

t.test('both take one macaroon for the same in either JSON version', (t) => {
  fc.assert(
    fc.property(recipes('text'), (recipe) => {
      const { root } = theirs(recipe, 1);
      const second = importMacaroon(through(toJson2(fromJson(through(root.exportJSON())) ?? cooked(recipe).root)));
      t.strictSame(Buffer.from(second.signature), Buffer.from(root.signature));
    }),
    { numRuns: long ? 1_000 : 40 },
  );
  t.end();
});
