// Certificates that do not prove who logs in: each begins no session and leaves no row in the audit log.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { createAccount } from '#acts/accounts/accounts.ts';
import { itself } from '#acts/act.ts';
import { continuation } from '#test/identity/openid/world.ts';
import {
  altNames,
  anyPurpose,
  authority,
  clientAuth,
  commonName,
  ecKey,
  email,
  hours,
  isAuthority,
  makeAuthority,
  onlyMailAt,
  principalName,
  rsaKey,
  serverAuth,
  signsCertificates,
  tagged,
  type CertificatePlan,
  type Extension,
  type Issued,
  type TestAuthority,
} from './authority.ts';
import { startCertificateStore, type CertificateStore } from './world.ts';

const key = ecKey();
const ada = [clientAuth, altNames(email('ada@example.com'))];
const forAda = (plan: CertificatePlan = {}): CertificatePlan => ({ key, extensions: ada, ...plan });
const naming = (...names: Buffer[]): CertificatePlan => forAda({ extensions: [clientAuth, altNames(...names)] });
const purpose = (...extensions: Extension[]): CertificatePlan =>
  forAda({ extensions: [...extensions, altNames(email('ada@example.com'))] });
const withChain = (issued: Issued, ...chain: TestAuthority[]): Issued => ({
  ...issued,
  pem: issued.pem + chain.map(({ pem }) => pem).join(''),
});
/** A key usage that no authority has. */
const extension = (bytes: number): Extension => ({ id: '1.2.3.4', value: tagged(0x04, Buffer.alloc(bytes)) });

/** The authorities of the store beside the usual ones, with their revocation lists. */
function furtherAuthorities({ root }: CertificateStore) {
  const foreign = makeAuthority('Foreign Root', ecKey());
  const crossed = foreign.certify('Crossed');
  const limited = root.certify('Limited', {
    extensions: [isAuthority(), signsCertificates, onlyMailAt('elsewhere.example')],
  });
  const short = root.certify('Short', { extensions: [isAuthority(0), signsCertificates] });
  return {
    foreign,
    crossed,
    limited,
    short,
    tooLong: short.certify('Too Long'),
    revoked: root.certify('Revoked'),
    expired: root.certify('Expired', { from: hours(-9), until: hours(-1) }),
    unlisted: root.certify('Unlisted'),
    late: root.certify('Late'),
    sha1: root.certify('SHA-1', { digest: 'sha1' }),
    weak: root.certify('Weak', { key: rsaKey(1024) }),
    /** The key of the foreign authority, certified here: revoked. */
    crossedHere: root.certify('Crossed', { key: crossed.keys }),
    unknown: root.certify('Unknown'),
  };
}

function certificates(
  store: CertificateStore,
  others: ReturnType<typeof furtherAuthorities>,
  revokedLeaf: Issued,
): Record<string, Partial<Issued>> {
  const { root, issuing } = store;
  const { foreign, crossed, limited, tooLong, short, revoked, expired, unlisted, late, sha1, weak, unknown } = others;
  const otherRoot = makeAuthority('Test Root', ecKey());
  const otherIssuing = otherRoot.certify('Test Issuing');
  const leaf = issuing.issue(forAda());
  const leafAsAuthority = authority([], key, leaf.pem);
  const own = makeAuthority('ada', key, { extensions: ada });
  const ownAsIssuing = makeAuthority('Test Issuing', key, { extensions: ada });
  const secret = leaf.key;
  const tampered = Buffer.from(leaf.pem.split('\n').slice(1, -2).join(''), 'base64');
  tampered.writeUInt8(tampered.readUInt8(tampered.length - 3) ^ 1, tampered.length - 3);
  return {
    'no certificate': {},
    expired: issuing.issue(forAda({ from: hours(-9), until: hours(-1) })),
    'not yet valid': issuing.issue(forAda({ from: hours(1) })),
    revoked: revokedLeaf,
    'of a revoked authority': revoked.issue(forAda()),
    'of an expired authority': expired.issue(forAda()),
    'of an authority without a revocation list': unlisted.issue(forAda()),
    'of an authority with an expired revocation list': late.issue(forAda()),
    'of another authority with the same names': withChain(otherIssuing.issue(forAda()), otherIssuing, otherRoot),
    'of another authority': withChain(foreign.issue(forAda()), foreign),
    'of an authority that only the client sends': withChain(unknown.issue(forAda()), unknown),
    'signed by itself': { pem: own.pem, key: secret },
    'signed by itself, with the name of the authority': { pem: ownAsIssuing.pem, key: secret },
    'of a key that another authority and a revoked certificate of this one certify': withChain(
      crossed.issue(forAda()),
      crossed,
      foreign,
    ),
    'of a person that plays an authority': withChain(leafAsAuthority.issue(forAda()), authority([], key, leaf.pem)),
    'below an authority that may have none below it': withChain(tooLong.issue(forAda()), tooLong, short),
    'of an authority for other names': limited.issue(forAda()),
    'the certificate of an authority': {
      pem: issuing.pem,
      key: issuing.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    },
    'a person marked as an authority': issuing.issue(purpose(clientAuth, isAuthority())),
    'for servers only': issuing.issue(purpose(serverAuth)),
    'for e-mail only': issuing.issue(
      purpose({ id: '2.5.29.37', value: tagged(0x30, tagged(0x06, Buffer.from('2b06010505070304', 'hex'))) }),
    ),
    'for any purpose': issuing.issue(purpose(anyPurpose)),
    'without a purpose': issuing.issue(purpose()),
    'for signing certificates': issuing.issue(purpose(clientAuth, signsCertificates)),
    'with an RSA key of 1024 bits': issuing.issue(forAda({ key: rsaKey(1024) })),
    'with an RSA key of 1536 bits': issuing.issue(forAda({ key: rsaKey(1536) })),
    'with a key on another curve': issuing.issue(forAda({ key: ecKey('secp256k1') })),
    'signed with SHA-1': issuing.issue(forAda({ digest: 'sha1' })),
    'of an authority signed with SHA-1': sha1.issue(forAda()),
    'of an authority with a weak key': weak.issue(forAda()),
    'with another signature': {
      pem: `-----BEGIN CERTIFICATE-----\n${tampered.toString('base64')}\n-----END CERTIFICATE-----\n`,
      key: secret,
    },
    'with a critical extension that is not known': issuing.issue(
      forAda({ extensions: [...ada, { ...extension(4), critical: true }] }),
    ),
    'with its alternative names twice': issuing.issue(
      forAda({ extensions: [...ada, altNames(email('ada@example.com'))] }),
    ),
    'without a name': issuing.issue(forAda({ extensions: [clientAuth] })),
    'with the e-mail address as common name only': issuing.issue(
      forAda({ extensions: [clientAuth], subject: [[commonName, 'ada@example.com']] }),
    ),
    'with the e-mail address in the subject only': issuing.issue(
      forAda({ extensions: [clientAuth], subject: [['1.2.840.113549.1.9.1', 'ada@example.com', 0x16]] }),
    ),
    'with the user name as common name only': issuing.issue(
      forAda({ extensions: [clientAuth], subject: [[commonName, 'ada']] }),
    ),
    'with two e-mail addresses': issuing.issue(naming(email('ada@example.com'), email('bob@example.com'))),
    'with a second e-mail address of no account': issuing.issue(
      naming(email('ada@example.com'), email('x@example.com')),
    ),
    'with the same e-mail address twice': issuing.issue(naming(email('ada@example.com'), email('ada@example.com'))),
    'with the e-mail address of no account': issuing.issue(naming(email('mallory@example.com'))),
    'with the e-mail address of two accounts': issuing.issue(naming(email('carol@example.com'))),
    'of a disabled account': issuing.issue(naming(email('bob@example.com'))),
    'with the user name as e-mail address': issuing.issue(naming(email('ada'))),
    'with an empty e-mail address': issuing.issue(naming(email(''))),
    'with a NUL after the e-mail address': issuing.issue(naming(email('ada@example.com\0.evil.example'))),
    'with a NUL at the end of the e-mail address': issuing.issue(naming(email('ada@example.com\0'))),
    'with a space after the e-mail address': issuing.issue(naming(email('ada@example.com '))),
    'with a line end after the e-mail address': issuing.issue(naming(email('ada@example.com\n'))),
    'with a name around the e-mail address': issuing.issue(naming(email('Ada <ada@example.com>'))),
    'with a Cyrillic letter in the e-mail address': issuing.issue(naming(email('\u0430da@example.com'))),
    'with full-width letters in the e-mail address': issuing.issue(naming(email('\uff41da@example.com'))),
    'with a wildcard in the e-mail address': issuing.issue(naming(email('%da@example.com'))),
    'with the e-mail address as a host name': issuing.issue(naming(tagged(0x82, 'ada@example.com'))),
    'with the e-mail address as a principal name': issuing.issue(naming(principalName('ada@example.com'))),
    'of 50 kB': issuing.issue(forAda({ extensions: [...ada, extension(50_000)] })),
    'of 1 MB': issuing.issue(forAda({ extensions: [...ada, extension(1_000_000)] })),
    'of a root with the name of an account': withChain(
      otherRoot.issue(forAda({ subject: [[commonName, 'ada']] })),
      otherRoot,
      root,
    ),
  };
}

/** What a login leaves. */
async function traces({ beside: { records } }: CertificateStore): Promise<unknown> {
  const page = { accountId: null, includeInactive: true, now: '', before: undefined };
  return { audit: await records.audit.head(), sessions: await records.macaroons.page(page, 10) };
}

t.test('a certificate that does not prove who logs in begins no session and leaves no trace', async (t) => {
  const store = await startCertificateStore(t);
  const { root, issuing, files } = store;
  const others = furtherAuthorities(store);
  const { revoked, crossedHere, unlisted, late } = others;
  const apart = new Set([revoked, crossedHere, unlisted, late, others.unknown, others.foreign, others.crossed]);
  const listed = Object.values(others).filter((authority) => !apart.has(authority));
  const above = [root, issuing, revoked, crossedHere, unlisted, late, ...listed];
  writeFileSync(files.authorities, above.map(({ pem }) => pem).join(''));
  writeFileSync(files.rootCrl, root.crl([revoked.serial, crossedHere.serial]));
  const revokedLeaf = issuing.issue(forAda());
  const lists = [revoked, crossedHere, ...listed].map((each) => each.crl());
  lists.push(issuing.crl([revokedLeaf.serial]));
  const crls = [...lists, late.crl([], { from: hours(-9), until: hours(-1) })];
  writeFileSync(
    files.crl,
    crls.map((crl) => `-----BEGIN X509 CRL-----\n${crl.toString('base64')}\n-----END X509 CRL-----\n`).join(''),
  );
  const { acts } = store.beside;
  for (const username of ['carol', 'dora'])
    await acts.do(createAccount, itself, {
      id: username.charAt(0).repeat(32),
      username,
      displayName: username,
      email: `${username}@example.com`,
      idMadeHere: true,
    });
  // An earlier release stored e-mail addresses as they were typed.
  const database = new SQLite(join(store.directory, 'larder.db'));
  database.exec("UPDATE accounts SET email = 'CAROL@example.com' WHERE username = 'dora'");
  database.close();
  await store.disable('bob');

  const browser = store.visitor();
  const page = await browser.send(await browser.open('/console/log-in'), '/identity/certificates/login');
  const before = await traces(store);
  const attacks = certificates(store, others, revokedLeaf);
  const accepted: string[] = [];
  for (const [name, credentials] of Object.entries(attacks)) {
    const { status, text, cookies } = await store.present(continuation(page), credentials, browser.cookie);
    if (status < 400 && status !== 0) accepted.push(name);
    t.ok(status === 401 || status === 0, `${name}: ${String(status)} ${text.slice(0, 300)}`);
    t.strictSame(cookies, [], name);
  }
  t.strictSame(accepted, []);
  t.ok(Object.keys(attacks).length >= 30);
  t.strictSame(await traces(store), before);

  const good: Record<string, Issued> = {
    usual: issuing.issue(forAda()),
    'with capital letters in the e-mail address': issuing.issue(naming(email('ADA@Example.com'))),
    'with other kinds of names': issuing.issue(
      naming(tagged(0x82, 'host.example'), principalName('x@y.example'), email('ada@example.com')),
    ),
    'with an RSA key of 2048 bits': issuing.issue(forAda({ key: rsaKey() })),
    'of the root': root.issue(forAda()),
    'of an authority for the name': others.short.issue(forAda({ digest: 'sha384' })),
  };
  for (const [name, credentials] of Object.entries(good))
    t.match((await store.logIn(credentials)).presented, { status: 200 }, name);
});
