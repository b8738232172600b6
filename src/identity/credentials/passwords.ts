// Hashes and verifies passwords, and checks their strength. A hash is a PHC string with its algorithm and parameters, so that the
// parameters can grow: an old hash is still accepted, and is replaced at the next login.
import {
  createDigest,
  hasArgon2,
  hashWithArgon2,
  hashWithScrypt,
  randomBytes,
  timingSafeEqual,
} from '#domain/cryptography.ts';

import { createConcurrencyLimit, type Turn } from '#domain/concurrency-limit.ts';
import { isCommon } from './common-passwords.ts';

export interface Passwords {
  /** The hash of a password, with a new salt each time. */
  hash(password: string, turn?: Turn): Promise<string>;
  /**
   * Whether a password matches a hash. Without a hash (unknown account) it does the same amount of work. `stale` means that the
   * hash must be replaced.
   */
  verify(password: string, hash: string | undefined, turn?: Turn): Promise<{ right: boolean; stale: boolean }>;
}

export interface PasswordOptions {
  /** A key outside the records; without it, stolen hashes are useless. */
  pepper?: Buffer | undefined;
  /** For tests: the algorithm of runtimes without argon2. */
  algorithm?: 'argon2id' | 'scrypt';
}

/** Limits that keep memory use low and leave threads for files. If the queue is full, the client must try again. */
const hashing = {
  concurrency: 2,
  waiting: {
    atMost: 32,
    ofClient: 8,
    refusal: 'Too many logins are in progress. Try again in a few seconds.',
  },
};

const saltLength = 16;
const tagLength = 32;

/** OWASP's smallest recommended argon2id: 19 MiB, two passes. */
const argon2Cost = { m: 19_456, t: 2, p: 1 };
const scryptCost = { ln: 15, r: 8, p: 3 };

type Parameters = Record<string, number>;

export function createPasswords(options: PasswordOptions = {}): Passwords {
  const { pepper } = options;
  const algorithm = options.algorithm ?? (hasArgon2 ? 'argon2id' : 'scrypt');
  const pepperId = pepper && createDigest('secret').update('pepper id').update(pepper).digest('base64').slice(0, 8);
  const inTurn = createConcurrencyLimit(hashing);

  /** The password with its pepper, as bytes of fixed length, after Unicode normalization. */
  const prepared = (password: string, peppered: boolean): Buffer => {
    const text = createDigest('password').update(password.normalize('NFKC'));
    if (peppered && pepper !== undefined) text.update(pepper);
    return text.digest();
  };

  const derive = ({ name, cost, salt }: Pick<Phc, 'name' | 'cost' | 'salt'>, message: Buffer, turn?: Turn) =>
    inTurn(() => (name === 'argon2id' ? argon2Of(message, salt, cost) : scryptOf(message, salt, cost)), turn);

  const currentCost: Parameters = algorithm === 'argon2id' ? argon2Cost : scryptCost;
  const phcOf = (salt: Buffer, tag: Buffer): string => {
    const parameters = Object.entries({ ...currentCost, ...(pepperId !== undefined && { keyid: pepperId }) });
    const written = parameters.map(([name, value]) => `${name}=${value}`).join(',');
    return ['', algorithm, ...(algorithm === 'argon2id' ? ['v=19'] : []), written, unpadded(salt), unpadded(tag)].join(
      '$',
    );
  };
  /** The hash that is checked if an account has none, so that the response time is the same. */
  const decoy = phcOf(randomBytes(saltLength), randomBytes(tagLength));

  return {
    async hash(password, turn) {
      const salt = randomBytes(saltLength);
      return phcOf(salt, await derive({ name: algorithm, cost: currentCost, salt }, prepared(password, true), turn));
    },
    async verify(password, storedHash, turn) {
      const phc = readPhc(storedHash ?? decoy);
      if (phc === undefined) throw new Error('cannot check a password: this release does not support its hash');
      const { name, cost, keyId, tag } = phc;
      const peppered = keyId !== undefined;
      const derived = await derive(phc, prepared(password, peppered), turn);
      const same = derived.length === tag.length && timingSafeEqual(derived, tag);
      const right = same && storedHash !== undefined && (!peppered || keyId === pepperId);
      const stale = name !== algorithm || keyId !== pepperId || JSON.stringify(cost) !== JSON.stringify(currentCost);
      return { right, stale };
    },
  };
}

interface Phc {
  name: 'argon2id' | 'scrypt';
  cost: Parameters;
  keyId: string | undefined;
  salt: Buffer;
  tag: Buffer;
}

/** `$argon2id$v=19$m=19456,t=2,p=1[,keyid=…]$salt$tag`, or `$scrypt$ln=15,r=8,p=3$salt$tag`. */
function readPhc(text: string): Phc | undefined {
  const parts = text
    .split('$')
    .slice(1)
    .filter((part) => part !== 'v=19');
  const [name, written = '', salt = '', tag = ''] = parts;
  if (parts.length !== 4 || (name !== 'argon2id' && name !== 'scrypt')) return undefined;
  const pairs = written.split(',').map((pair) => pair.split('=') as [string, string]);
  const keyId = pairs.find(([key]) => key === 'keyid')?.[1];
  const cost = Object.fromEntries(pairs.filter(([key]) => key !== 'keyid').map(([key, value]) => [key, Number(value)]));
  const expectedKeys = Object.keys(name === 'argon2id' ? argon2Cost : scryptCost);
  if (!expectedKeys.every((key) => Number.isInteger(cost[key])) || Object.keys(cost).length !== expectedKeys.length)
    return undefined;
  return { name, cost, keyId, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

const argon2Of = (message: Buffer, nonce: Buffer, { m = 0, t = 0, p = 0 }: Parameters): Promise<Buffer> =>
  hashWithArgon2({ message, nonce, memory: m, passes: t, parallelism: p, tagLength });

const scryptOf = (message: Buffer, salt: Buffer, { ln = 0, r = 0, p = 0 }: Parameters): Promise<Buffer> =>
  hashWithScrypt(message, { salt, length: tagLength, N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r });

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

export const minPasswordLength = 8;
export const maxPasswordLength = 1024;

/** The account that a password is for. */
interface PasswordOwner {
  username: string;
  email: string;
  displayName?: string;
}

/** The problem with a new password, as a sentence; undefined if it is acceptable. `host` is the host name of the store. */
export function passwordProblem(password: string, account: PasswordOwner, host: string): string | undefined {
  const length = Array.from(password).length;
  if (length < minPasswordLength)
    return `A password has at least ${minPasswordLength} characters; 15 or more are better.`;
  if (Buffer.byteLength(password) > maxPasswordLength) return `A password has at most ${maxPasswordLength} bytes.`;
  if (/[\u0000-\u001f\u007f]/.test(password)) return 'A password has no control characters in it.';
  const bare = stripped(password);
  if (
    isRepetition(password.toLowerCase()) ||
    isRun(password.toLowerCase()) ||
    common.has(bare) ||
    isVariation(password)
  ) {
    return 'This password is too common. Choose one that is hard to guess.';
  }
  if (isMadeOf(password, [account.username, account.email, account.displayName ?? '', host, ...products])) {
    return 'This password contains little more than the name of the account, the store or a product. Choose one that is hard to guess.';
  }
  return undefined;
}

/** Words that an attacker tries first for a store of this kind. */
const products = [
  'larder',
  'store',
  'snap',
  'snapcraft',
  'snapd',
  'charm',
  'charmcraft',
  'juju',
  'ubuntu',
  'canonical',
];

/**
 * Whether a password consists only of these names or their parts: any number of times, reversed, with digits or symbols between and
 * around them, or with digits in place of letters.
 */
function isMadeOf(password: string, names: readonly string[]): boolean {
  const words = names
    .flatMap((name) => [name, ...name.split(/[^\p{L}\p{N}]+/u)])
    .flatMap((name) => [lettersOf(name), name.normalize('NFKC').toLowerCase()])
    .filter((word) => word.length >= 3);
  const all = new Set(words.flatMap((word) => [word, Array.from(word).reverse().join('')]));
  const small = password.normalize('NFKC').toLowerCase();
  // Check the text as it is, and with digits read as the letters that they resemble.
  return [small, lookAlike(small)].some((text) => {
    const left = withoutWords(text, all);
    return left !== text && !/\p{L}/u.test(left);
  });
}

/** Replaces each of the words in a text by a blank. The longest words go first, because a shorter word can be a part of a longer one. */
const withoutWords = (text: string, words: ReadonlySet<string>): string =>
  [...words].sort((word, other) => other.length - word.length).reduce((left, word) => left.replaceAll(word, ' '), text);

/** Undoes the usual variations of a password: lower case, digits in place of letters, digits and symbols at the ends. */
function stripped(password: string): string {
  const small = password.normalize('NFKC').toLowerCase();
  const core = small.replace(/^[^a-z]+/, '').replace(/[^a-z]+$/, '');
  return lettersOf(core);
}

const lookAlikes: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

const lookAlike = (text: string): string => text.replace(/[013457@$!]/g, (sign) => lookAlikes[sign] ?? sign);

/** The letters of a text, with digits read as the letters that they resemble. */
const lettersOf = (text: string): string => lookAlike(text.normalize('NFKC').toLowerCase()).replace(/[^a-z]/g, '');

/** Whether it is a common password: also doubled, with digits in place of letters, or with a few characters at the ends. */
function isVariation(password: string): boolean {
  const small = password.normalize('NFKC').toLowerCase();
  const half = small.slice(0, Math.ceil(small.length / 2));
  const cores = [stripped(password), small.replace(/^[^a-z]+/, '').replace(/[^a-z]+$/, '')];
  // A short word among many other characters does not make a password weak.
  const near = cores.filter((core) => core.length >= 4 && small.length - core.length <= signsAround);
  return [small, ...(half + half === small ? [half] : []), ...near].some(isCommon);
}

const signsAround = 6;

/** The same one to four characters repeated, such as `abcabcabc`. */
function isRepetition(text: string): boolean {
  for (let length = 1; length <= Math.min(4, text.length / 2); length++) {
    if (
      text ===
      text
        .slice(0, length)
        .repeat(Math.ceil(text.length / length))
        .slice(0, text.length)
    )
      return true;
  }
  return false;
}

/** A sequence along the keyboard, the alphabet or the digits, in either direction. */
function isRun(text: string): boolean {
  const rows = [
    'abcdefghijklmnopqrstuvwxyz',
    '01234567890123456789',
    'qwertyuiopasdfghjklzxcvbnm',
    'qwertzuiopasdfghjklyxcvbnm',
    '1q2w3e4r5t6y7u8i9o0p',
    'qazwsxedcrfvtgbyhnujmikolp',
    '1qaz2wsx3edc4rfv5tgb6yhn',
  ];
  const backwards = (row: string): string => Array.from(row).reverse().join('');
  return rows.some((row) => row.includes(text) || backwards(row).includes(text));
}

/** Words that attackers try first, alone or with the usual variations: general ones, and product names that users of a store think of. */
const common = new Set(
  (
    'password passwort passwd passphrase pass secret geheim letmein welcome willkommen admin administrator root toor user guest ' +
    'test tester testing demo default changeme change temp temporary login qwerty qwertyuiop asdfgh asdfghjkl zxcvbnm ' +
    'abc abcd abcdef iloveyou ilove love loveyou lovely monkey dragon master hello hallo sunshine princess football soccer ' +
    'baseball basketball hockey shadow superman batman spiderman pokemon starwars trustno whatever michael jordan jennifer ' +
    'thomas charlie daniel jessica ashley andrew matthew joshua anthony robert william david richard george maggie pepper ' +
    'ginger summer winter spring autumn january february march april june july august september october november december ' +
    'monday tuesday wednesday thursday friday saturday sunday computer internet server linux ubuntu debian windows ' +
    'canonical snapcraft snapd charmcraft juju larder store appliance company office network system service access ' +
    'cheese chocolate banana orange apple purple yellow silver golden diamond flower butterfly freedom killer mustang ' +
    'corvette ferrari mercedes porsche yamaha harley hunter ranger tigger buster soccerball liverpool arsenal chelsea ' +
    'barcelona realmadrid juventus america england germany france london berlin paris newyork dallas chicago matrix ' +
    'nothing something everything anything fuckyou asshole bitch pussy sexy samsung google facebook twitter instagram ' +
    'youtube microsoft amazon netflix oracle cisco huawei lenovo dell passwordpassword adminadmin secretsecret ' +
    'correcthorsebatterystaple thisisapassword mypassword yourpassword newpassword oldpassword nopassword ' +
    'passwordadmin adminpassword rootpassword userpassword testpassword rootroot testtest guestguest useruser'
  ).split(' '),
);
