// The words of the audit log: one grammar, and no word that was ever written is lost or gets another meaning.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { retiredWords, toActName, wordsOfAct } from '#acts/audit-words.ts';
import { everyAct } from '#acts/index.ts';

const file = join(import.meta.dirname, '../fixtures/records/audit-words.txt');

/** Verbs that stand before an object. Take one of them for a new act; a synonym is a second word for one thing. */
const verbs =
  'accept add approve begin change create delete disable discard distrust enable end exchange expire export grant ' +
  'hand_over hold import invite issue leave make move name offer pause post propose publish push quarantine raise read receive record ' +
  'refuse register rehash reject remove renew repair reset restore resume retire revoke rewrite roll_back rotate scan seal set ' +
  'settle sign skip store sweep switch_off switch_on trust unregister update upgrade use verify withdraw';
const withoutObject = 'log_in subscribe unsubscribe';
const grammar = new RegExp(
  `^(?:(?:${verbs.replaceAll(' ', '|')})_[a-z]+(?:_[a-z]+)*|${withoutObject.replaceAll(' ', '|')})$`,
);

const names = [...new Set(everyAct.map(({ name }) => name))].sort();

t.test('the name of every act is a verb and its object', (t) => {
  t.strictSame(
    names.filter((name) => !grammar.test(name)),
    [],
    'take a verb of the list above, and name the object after it',
  );
  const unused = verbs.split(' ').filter((verb) => !names.some((name) => name.startsWith(`${verb}_`)));
  t.strictSame(unused, [], 'a verb that no act needs');
  t.end();
});

t.test('no word stands for two acts', (t) => {
  const words = [...names.flatMap(wordsOfAct), ...retiredWords];
  t.equal(new Set(words).size, words.length);
  for (const name of names) for (const word of wordsOfAct(name)) t.equal(toActName(word), name, word);
  for (const word of [...retiredWords, 'constructor', '__proto__', '']) t.equal(toActName(word), word);
  t.end();
});

/** A word of release 0.1.0, which had no approvals. */
const beforeApprovals = 'key delete';

t.test('an act that can wait keeps its name, because approvers have signed it', (t) => {
  const gated = everyAct.filter(({ gate }) => 'kinds' in gate);
  t.equal(gated.length, 20, 'raise the number for a new act that can wait');
  for (const { name } of gated)
    t.strictSame(wordsOfAct(name), name === 'delete_signing_key' ? [name, beforeApprovals] : [name]);
  t.end();
});

t.test('every word that was ever written is known', (t) => {
  const listed = readFileSync(file, 'utf8');
  const knownWords = new Set([...names.flatMap(wordsOfAct), ...retiredWords]);
  const lost = listed
    .split(/[\n,]|: /)
    .map((word) => word.trim())
    .filter((word) => word !== '' && !knownWords.has(word));
  t.strictSame(
    lost,
    [],
    'add the former name of the act to src/acts/audit-words.ts; if only your branch had it, restore the file',
  );
  const lines = names.map((name) =>
    [name, wordsOfAct(name).slice(1).join(', ')].filter((part) => part !== '').join(': '),
  );
  const text = `${[...lines, ...retiredWords].join('\n')}\n`;
  if (process.env['LARDER_KEEP'] === '1' && lost.length === 0) writeFileSync(file, text);
  t.equal(readFileSync(file, 'utf8'), text, 'LARDER_KEEP=1 writes the file again');
  t.end();
});
