import t from 'tap';
import fc from 'fast-check';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, parseConfig, readConfig, type Config } from '#configuration/config.ts';
import { sections, valuesIn } from '#configuration/keys.ts';
import { entries } from '#configuration/toml-text.ts';
import { embeddedText } from '#platform/embedded.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';

type Test = Parameters<NonNullable<Parameters<typeof t.test>[0]>>[0];

const long = process.env['LARDER_LONG'] === '1';
const digest = '0123456789abcdef'.repeat(6);

/** The refusal of a text, as people read it. */
function refusal(text: string): string[] {
  try {
    parseConfig('larder.toml', text);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const defaults = {
  store: { id: 'larder', offline_mode: false },
  auth: {},
  identity: {
    redirect_urls: [],
    root_key_days: 7,
    longest_token_days: 365,
    require_totp: false,
    certificates: {
      crl_files: [],
      expired_crl: 'refuse',
      account_name: 'email',
      upn_domains: [],
      require_certificate: [],
    },
    oidc: {
      hosts: [],
      name: 'your site account',
      scopes: ['profile', 'email'],
      accounts: 'known',
      username_claim: 'preferred_username',
      groups_claim: 'groups',
      roles: {},
    },
  },
  sessions: {
    idle_minutes: 30,
    max_hours: 12,
    acknowledge_banner: false,
    show_last_login: false,
    reauthenticate: [],
    reauthenticate_minutes: 15,
  },
  http: {
    base_url: 'http://127.0.0.1:8080',
    listen: '127.0.0.1:8080',
    trusted_proxies: [],
    metrics: true,
    monitors: [],
    console: true,
    documents: true,
    security_contacts: [],
    drain_minutes: 10,
    workers: 1,
  },
  tls: { names: [] },
  internal: { package_permissions: false, build_records: false },
  records: {},
  blobs: { region: 'us-east-1', redirect_downloads: false },
  uploads: { max_size: 32 * 2 ** 30, reserve: 2 ** 30, unclaimed_per_address: 64 * 2 ** 30, unclaimed_hours: 72 },
  quotas: {},
  revisions: { older_than_days: 30 },
  registry: { notifications: true },
  integrity: { scrub_rate: 20 * 2 ** 20 },
  names: { reserved: [] },
  collaborators: { invite_days: 7 },
  log: { level: 'info', format: 'auto' },
  keys: { environment: [], timeout_seconds: 10, concurrent: 2 },
  assertions: { trusted: [] },
  devices: { snap: false, charm: false, remember: false, deltas: false, max_deltas_size: 10 * 2 ** 30 },
  limits: { known_networks: [] },
  approvals: {
    transfers: '0',
    unsigned_folders: '0',
    requests: '0',
    releases: [],
    delete_keys: '0',
    import_keys: '0',
    sources: '0',
    policy: '0',
    feeds: '0',
    vulnerabilities: [],
    days: 7,
  },
  site: {},
  transfers: {},
  vulnerabilities: { feed_days: 7 },
  backup: { every: '5m' },
};

const everything = `# The store of the site.
[store]
id = "site-7" # known to the gateways
offline_mode = true

[auth]
store_admin_id = "larder-admin"
store_admin_macaroon_sha3_384 = ["${digest}",
  "${digest.replace('0', 'f')}"]
[identity]
redirect_urls = ["https://builds.example.org/+callback/"]
root_key_days = 1
longest_token_days = 30
require_totp = true
[identity.certificates]
listen = "0.0.0.0:8444"
authority_file = "/etc/larder/client-cas.pem"
crl_files = ["/var/lib/crl/root.crl"]
expired_crl = "accept"
account_name = "upn"
upn_domains = ["site.example"]
require_certificate = ["store-admin", "auditor"]
[identity.oidc]
issuer = "https://login.example.org/realms/site"
client_id = "larder"
client_secret_file = "/etc/larder/oidc-secret"
authority_file = "/etc/larder/oidc-ca.pem"
hosts = ["keys.example.org:8443"]
name = "EXAMPLE"
scopes = ["groups", "offline_access"]
accounts = "create"
username_claim = "email"
groups_claim = "roles"
[identity.oidc.roles]
store-officers = ["transfer-approver", "brand-admin:acme"]
"Store Auditors" = ["auditor"]
[sessions]
idle_minutes = 10
max_hours = 8
max_per_account = 3
banner = "For authorized use.\\nUse is monitored."
acknowledge_banner = true
show_last_login = true
reauthenticate = ["change_role", "push_releases"]
reauthenticate_minutes = 5
[http]
base_url = 'https://store.example.org:8443'
listen = "[::]:443"
trusted_proxies = ["10.0.0.7", "10.1.0.0/16", "fd00::/8"]
nginx_location = "/larder-blobs"
metrics = false
monitors = ["10.0.0.9"]
security_contacts = ["mailto:security@site.example"]
drain_minutes = 60
workers = 4
[tls]
names = ["store", "10.0.0.7", "fd00::7"]
certificate_file = "/etc/larder/server.pem"
key_file = "/etc/larder/server.key"
[internal]
package_permissions = true
[records]
postgres = "postgres://larder@db.internal:6432/larder?sslmode=verify-ca&sslrootcert=/etc/larder/db-ca.pem"
password_file = "/etc/larder/postgres-password"
[blobs]
s3 = "https://s3.internal:8080/larder/main"
region = "site-1"
credentials_file = "/etc/larder/s3.toml"
authority_file = "/etc/larder/s3-ca.pem"
redirect_downloads = true
[uploads]
max_size = 1_048_576
reserve = "2 GiB"
unclaimed_per_address = "512MiB"
unclaimed_hours = 0x30
[quotas]
bytes = "20 GiB"
packages = 50
[revisions]
keep = 20
older_than_days = 90
[registry]
external = "registry.internal:5000"
notifications = false
[integrity]
scrub_rate = 0
[names]
reserved = [
  "core", # ours
  "kernel",
]
[log]
level = "warn"
[keys]
master_key_file = "/etc/larder/master.key"
passphrase_file = "/run/larder/passphrase"
manager = "/usr/lib/larder/pkcs11"
environment = ["LARDER_PKCS11_MODULE"]
timeout_seconds = 30
concurrent = 8
[assertions]
trusted = ["/etc/larder/roots.assert"]
[devices]
snap = true
charm = true
remember = true
deltas = true
max_deltas_size = "2 GiB"
max_downloads = 500
max_download_rate = "50 MiB"

[limits]
known_networks = ["10.2.0.0/16"]
[approvals]
transfers = "2"
unsigned_folders = "3 of bob, carol, dave"
releases = ["1 for snap/*:*/stable"]
vulnerabilities = ["2 for known-exploited", "1 of bob for critical in snap/*:*/stable"]
days = 3

[site]
label = "restricted"
levels = ["open", "restricted", "secret"]

[transfers]
expected_days = 30
watch = "/srv/transfers"
`;

const everythingRead = {
  store: { id: 'site-7', offline_mode: true },
  auth: { store_admin_id: 'larder-admin', store_admin_macaroon_sha3_384: [digest, digest.replace('0', 'f')] },
  identity: {
    redirect_urls: ['https://builds.example.org/+callback/'],
    root_key_days: 1,
    longest_token_days: 30,
    require_totp: true,
    certificates: {
      listen: '0.0.0.0:8444',
      authority_file: '/etc/larder/client-cas.pem',
      crl_files: ['/var/lib/crl/root.crl'],
      expired_crl: 'accept',
      account_name: 'upn',
      upn_domains: ['site.example'],
      require_certificate: ['store-admin', 'auditor'],
    },
    oidc: {
      issuer: 'https://login.example.org/realms/site',
      client_id: 'larder',
      client_secret_file: '/etc/larder/oidc-secret',
      authority_file: '/etc/larder/oidc-ca.pem',
      hosts: ['keys.example.org:8443'],
      name: 'EXAMPLE',
      scopes: ['groups', 'offline_access'],
      accounts: 'create',
      username_claim: 'email',
      groups_claim: 'roles',
      roles: { 'store-officers': ['transfer-approver', 'brand-admin:acme'], 'Store Auditors': ['auditor'] },
    },
  },
  sessions: {
    idle_minutes: 10,
    max_hours: 8,
    max_per_account: 3,
    banner: 'For authorized use.\nUse is monitored.',
    acknowledge_banner: true,
    show_last_login: true,
    reauthenticate: ['change_role', 'push_releases'],
    reauthenticate_minutes: 5,
  },
  http: {
    base_url: 'https://store.example.org:8443',
    listen: '[::]:443',
    trusted_proxies: ['10.0.0.7', '10.1.0.0/16', 'fd00::/8'],
    nginx_location: '/larder-blobs',
    metrics: false,
    monitors: ['10.0.0.9'],
    console: true,
    documents: true,
    security_contacts: ['mailto:security@site.example'],
    drain_minutes: 60,
    workers: 4,
  },
  tls: {
    names: ['store', '10.0.0.7', 'fd00::7'],
    certificate_file: '/etc/larder/server.pem',
    key_file: '/etc/larder/server.key',
  },
  internal: { package_permissions: true, build_records: false },
  records: {
    postgres: 'postgres://larder@db.internal:6432/larder?sslmode=verify-ca&sslrootcert=/etc/larder/db-ca.pem',
    password_file: '/etc/larder/postgres-password',
  },
  blobs: {
    s3: 'https://s3.internal:8080/larder/main',
    region: 'site-1',
    credentials_file: '/etc/larder/s3.toml',
    authority_file: '/etc/larder/s3-ca.pem',
    redirect_downloads: true,
  },
  uploads: { max_size: 2 ** 20, reserve: 2 * 2 ** 30, unclaimed_per_address: 512 * 2 ** 20, unclaimed_hours: 48 },
  quotas: { bytes: 20 * 2 ** 30, packages: 50 },
  revisions: { keep: 20, older_than_days: 90 },
  registry: { external: 'registry.internal:5000', notifications: false },
  integrity: { scrub_rate: 0 },
  names: { reserved: ['core', 'kernel'] },
  collaborators: { invite_days: 7 },
  log: { level: 'warn', format: 'auto' },
  keys: {
    master_key_file: '/etc/larder/master.key',
    passphrase_file: '/run/larder/passphrase',
    manager: '/usr/lib/larder/pkcs11',
    environment: ['LARDER_PKCS11_MODULE'],
    timeout_seconds: 30,
    concurrent: 8,
  },
  assertions: { trusted: ['/etc/larder/roots.assert'] },
  devices: {
    snap: true,
    charm: true,
    remember: true,
    deltas: true,
    max_deltas_size: 2 * 2 ** 30,
    max_downloads: 500,
    max_download_rate: 50 * 2 ** 20,
  },
  limits: { known_networks: ['10.2.0.0/16'] },
  approvals: {
    transfers: '2',
    unsigned_folders: '3 of bob, carol, dave',
    requests: '0',
    releases: ['1 for snap/*:*/stable'],
    delete_keys: '0',
    import_keys: '0',
    sources: '0',
    policy: '0',
    feeds: '0',
    vulnerabilities: ['2 for known-exploited', '1 of bob for critical in snap/*:*/stable'],
    days: 3,
  },
  site: { label: 'restricted', levels: ['open', 'restricted', 'secret'] },
  transfers: { expected_days: 30, watch: '/srv/transfers' },
  vulnerabilities: { feed_days: 7 },
  backup: { every: '5m' },
};

t.test('an empty file means the defaults', async (t) => {
  t.strictSame(parseConfig('larder.toml', ''), defaults);
  t.strictSame(parseConfig('larder.toml', '# nothing\n[store]\n[http]'), defaults);
});

t.test('every key is read, sizes as bytes', async (t) => {
  t.strictSame(parseConfig('larder.toml', everything), everythingRead);
  t.strictSame(parseConfig('larder.toml', everything.replaceAll('\n', '\r\n')), everythingRead);
  t.strictSame(parseConfig('larder.toml', '\ufeff' + everything), everythingRead, 'behind a byte order mark');
  t.strictSame(parseConfig('larder.toml', 'store = { id = "a" }\nlog.level = "fatal"'), {
    ...defaults,
    store: { id: 'a', offline_mode: false },
    log: { level: 'fatal', format: 'auto' },
  });
});

t.test('a configuration that was read cannot be changed', async (t) => {
  const config = parseConfig('larder.toml', everything) as unknown as Record<string, Record<string, unknown>>;
  t.throws(() => (config['store']!['id'] = 'x'), TypeError);
  t.throws(() => (config['store'] = {}), TypeError);
  t.throws(() => (config['names']!['reserved'] as string[]).push('x'), TypeError);
  t.throws(() => (parseConfig('x', '').http.trusted_proxies as string[]).push('x'), TypeError);
});

t.test('the place of the blobs is an address, with its credentials elsewhere', async (t) => {
  const wrong = (address: string): string[] =>
    refusal(`[blobs]\ns3 = "${address}"\ncredentials_file = "/etc/larder/s3.toml"\n`);
  for (const [address, reason] of [
    [
      'https://ada:secret@s3/blobs',
      'it contains a name or a password; put them into a file and name it in credentials_file',
    ],
    ['https://s3', 'it has no bucket: 3 to 63 lower-case letters, digits, dots and dashes after the host'],
    ['https://s3/blobs?secret', 'it must not have a query (?) or a fragment (#)'],
    ['https://s3/blobs/a b', 'it has a prefix that is not made of letters, digits, dots, dashes and underscores'],
  ] as const) {
    t.strictSame(wrong(address), [`larder.toml:2: blobs.s3: ${reason}`], address);
  }
  t.match(wrong('s3://blobs'), [/^larder\.toml:2: .*expected https:\/\/HOST:PORT\/BUCKET\/PREFIX/]);
  t.strictSame(wrong('https://s3.internal:9000/blobs/larder'), []);
  t.match(refusal('[blobs]\ns3 = "https://s3/blobs"\n'), [/set blobs\.credentials_file too/]);
  for (const line of ['credentials_file = "/etc/x"', 'authority_file = "/etc/x"', 'redirect_downloads = true']) {
    t.strictSame(refusal(`[blobs]\n${line}\n`), [
      `larder.toml:2: blobs.${line.split(' ')[0]!} is for the server of blobs.s3: set that too`,
    ]);
  }
  t.strictSame(refusal('[blobs]\nredirect_downloads = false\n'), []);
});

t.test('a bucket for backups is on the server of the files, and another one than theirs', (t) => {
  const blobs = '[blobs]\ns3 = "https://s3.internal:8080/larder/main"\ncredentials_file = "/etc/larder/s3.toml"\n';
  t.strictSame(refusal(`${blobs}[backup]\nbucket = "larder-backups/main"\n`), []);
  t.match(refusal('[backup]\nbucket = "larder-backups"\n'), [
    /backup\.bucket is on the server of blobs\.s3: set that too/,
  ]);
  t.match(refusal(`${blobs}[backup]\nbucket = "larder/backups"\n`), [/expected another bucket than that of blobs\.s3/]);
  t.match(refusal(`${blobs}[backup]\nbucket = "larder-backups"\nfolder = "/mnt/backups"\n`), [
    /two places for the same/,
  ]);
  for (const wrong of ['Larder', 'https://s3/b', 'b', 'bucket/', 'bucket/../x'])
    t.match(
      refusal(`${blobs}[backup]\nbucket = "${wrong}"\n`),
      [/backup\.bucket: expected the name of a bucket/],
      wrong,
    );
  t.end();
});

t.test('the two files of a certificate belong together', async (t) => {
  t.match(refusal('[tls]\nkey_file = "/k.pem"\n'), [
    /larder\.toml:2: tls\.certificate_file and tls\.key_file belong together/,
  ]);
  t.match(refusal('[tls]\nnames = ["a b"]\n'), [/expected a host name/]);
});

t.test('the address of PostgreSQL is one, without a password, and an error never repeats it', async (t) => {
  const wrong = (address: string): string[] => refusal(`[records]\npostgres = "${address}"\n`);
  const cases: [string, string][] = [
    [
      'postgres://larder:secret@db/larder',
      'it contains a password; write the password into its own file, and name that file in records.password_file',
    ],
    ['postgres://db/larder', 'it does not say which user'],
    ['postgres://larder:secret@db', 'it does not say which database'],
    ['postgres://larder:secret@/larder', 'it does not say which host'],
    [
      'postgres://larder:secret@db/larder?sslmode=secret',
      'its sslmode may be verify-full, verify-ca, require or disable',
    ],
    [
      'postgres://larder:secret@db/larder?password=secret',
      'behind its question mark it may say host, options, sslcert, sslkey, sslmode, sslrootcert',
    ],
    ['postgres://larder:%ZZsecret@db/larder', 'write a percent sign in it as %25'],
    ['postgres://larder:secret@db:99999/larder', 'write it as postgres://user@host:5432/database'],
  ];
  for (const [address, reason] of cases)
    t.strictSame(wrong(address), [`larder.toml:2: records.postgres: ${reason}`], address);
  const shape =
    'expected postgres://USER@HOST:PORT/DATABASE, or postgres://USER@/DATABASE?host=FOLDER for a Unix socket';
  for (const other of ['mysql://larder:secret@db/larder', 'larder:secret', '']) {
    t.strictSame(wrong(other), [`larder.toml:2: records.postgres: ${shape}`], other);
  }
  t.strictSame(wrong('postgres://larder@/larder?host=/run/postgresql'), []);
  t.strictSame(refusal('[records]\npassword_file = "/p"\n'), [
    'larder.toml:2: records.password_file is the password for records.postgres: set that too',
  ]);
  t.match(refusal('[records]\npostgres = "postgres://a@b/c"\npassword_file = "p"\n'), [
    /larder\.toml:3: records\.password_file: expected an absolute path/,
  ]);
});

t.test('the label of a site is one of its labels', async (t) => {
  t.match(refusal('[site]\nlabel = "secret"\n'), [/larder\.toml:2: site\.label: expected one of site\.levels/]);
  t.match(refusal('[site]\nlevels = ["open"]\nlabel = "secret"\n'), [/larder\.toml:3: .*got "secret"/]);
  t.match(refusal('[site]\nlevels = ["open", "open"]\n'), [/larder\.toml:2: site\.levels: expected/]);
  t.match(refusal('[site]\nlevels = ["Open"]\n'), [/site\.levels\[1\]: expected lower-case letters/]);
  t.strictSame(refusal('[site]\nlevels = ["open", "secret"]\n'), [], 'a list alone says what is known');
});

t.test('a mistake about the OpenID provider is refused with its key', (t) => {
  const section =
    '[identity.oidc]\nissuer = "https://a.example"\nclient_id = "larder"\nclient_secret_file = "/secret"\n';
  const cases: [string, string][] = [
    ['[identity.oidc]\nissuer = "https://a.example"\nclient_id = "l"', 'identity.oidc.client_secret_file is missing'],
    ['[identity.oidc]\nauthority_file = "/ca.pem"', 'identity.oidc.issuer is missing'],
    [section.replace('https:', 'http:'), 'identity.oidc.issuer: expected an address'],
    [section.replace('a.example', 'A.example'), 'identity.oidc.issuer: expected an address'],
    [section.replace('issuer', 'isuer'), "unknown key 'isuer' in [identity.oidc]; did you mean 'issuer'?"],
    [`${section}hosts = ["https://b.example"]`, 'identity.oidc.hosts[1]: expected a host'],
    [`${section}accounts = "any"`, 'identity.oidc.accounts: expected one of "known", "create", got "any"'],
    [`${section}roles = "admin"`, 'expected a section [identity.oidc.roles]'],
    [`${section}[identity.oidc.roles]\nofficers = ["admin"]`, 'identity.oidc.roles.officers[1]: expected one of'],
    [`${section}[identity.oidc.roles]\n"a b" = "auditor"`, 'identity.oidc.roles."a b": expected a list'],
    ['[identity]\noidc = true', 'expected a section [identity.oidc], got true'],
  ];
  refusesEach(t, cases);
  t.end();
});

t.test('a mistake about logins with certificates is refused with its key', (t) => {
  const section = '[identity.certificates]\nlisten = "[::]:8444"\nauthority_file = "/ca.pem"\n';
  refusesEach(t, [
    [section.replace('listen', '# listen'), 'identity.certificates.listen is missing'],
    [section.replace('authority_file', '# '), 'identity.certificates.authority_file is missing'],
    [section.replace('8444', 'x'), 'identity.certificates.listen: expected'],
    [`${section}account_name = "upn"`, 'identity.certificates.upn_domains is missing'],
    [`${section}account_name = "mail"`, 'identity.certificates.account_name: expected one of "email", "upn"'],
    [`${section}require_certificate = ["admin"]`, 'identity.certificates.require_certificate[1]: expected one of'],
    [`${section}crl_files = ["a.crl"]`, 'identity.certificates.crl_files[1]: expected an absolute path'],
    [
      '[identity.certificates]\nrequire_certificate = ["store-admin"]',
      'require_certificate needs identity.certificates.listen: without it these roles cannot log in',
    ],
  ]);
  t.end();
});

function refusesEach(t: Test, cases: readonly (readonly [text: string, message: string])[]): void {
  for (const [text, message] of cases) {
    t.throws(
      () => parseConfig('larder.toml', text),
      { message: new RegExp(message.replace(/[.[\]?*()"]/g, '\\$&')) },
      text,
    );
  }
}

t.test('an unknown key is refused with its line and the key that was meant', async (t) => {
  t.strictSame(refusal('# one\n[store]\nid = "a"\n\noffline_mod = true\n'), [
    "larder.toml:5: unknown key 'offline_mod' in [store]; did you mean 'offline_mode'?",
  ]);
  t.strictSame(refusal('[store]\nzebra = 1\n'), ["larder.toml:2: unknown key 'zebra' in [store]"]);
  t.strictSame(refusal('[store]\nlisten = "x"\n'), [
    "larder.toml:2: unknown key 'listen' in [store]; it belongs in [http]",
  ]);
  t.strictSame(refusal('level = "x"\n'), ["larder.toml:1: 'level' is outside its section; it belongs in [log]"]);
  t.strictSame(refusal('zebra = 1\n'), ["larder.toml:1: unknown key 'zebra' outside any section"]);
  t.strictSame(refusal('\n[upload]\n'), ['larder.toml:2: unknown section [upload]; did you mean [uploads]?']);
  t.strictSame(refusal('[zebra]\n'), ['larder.toml:1: unknown section [zebra]']);
  t.strictSame(refusal('[store.more]\n'), ["larder.toml:1: unknown key 'more' in [store]"]);
  t.strictSame(refusal('http = { listne = "" }\n'), [
    "larder.toml:1: unknown key 'listne' in [http]; did you mean 'listen'?",
  ]);
  t.strictSame(refusal('[store]\n"__proto__" = 1\nconstructor = 2\n'), [
    "larder.toml:2: unknown key '__proto__' in [store]",
    "larder.toml:3: unknown key 'constructor' in [store]",
  ]);
});

t.test('a wrong value is refused with the expected one', async (t) => {
  const size = 'expected a number of bytes, or text such as "32 GiB" (KiB, MiB, GiB, TiB)';
  const url = 'expected http:// or https:// with a host in lower case and perhaps a port; no path, no slash at the end';
  const digests =
    'expected 96 lower-case hexadecimal digits, or a list of at most 64, each 96 lower-case hexadecimal digits';
  const cases: [string, string, string][] = [
    [
      'store',
      'id = ""',
      'store.id: expected at most 64 letters, digits, dashes and underscores, beginning with a letter or digit, got ""',
    ],
    ['store', 'offline_mode = "true"', 'store.offline_mode: expected true or false, got "true"'],
    ['store', 'offline_mode = 1', 'store.offline_mode: expected true or false, got 1'],
    [
      'auth',
      'store_admin_id = "a.b"',
      'auth.store_admin_id: expected an account id: 32 letters and digits, or 2 to 28 lower-case letters, digits and dashes, got "a.b"',
    ],
    ['auth', 'store_admin_macaroon_sha3_384 = "AgEL"', `auth.store_admin_macaroon_sha3_384: ${digests}`],
    ['auth', 'store_admin_macaroon_sha3_384 = []', `auth.store_admin_macaroon_sha3_384: ${digests}`],
    [
      'auth',
      `store_admin_macaroon_sha3_384 = ["${digest}", "${digest.toUpperCase()}"]`,
      'auth.store_admin_macaroon_sha3_384[2]: expected 96 lower-case hexadecimal digits',
    ],
    [
      'http',
      'base_url = "https://store.example.org/"',
      `http.base_url: ${url}, got "https://store.example.org/"; did you mean "https://store.example.org"?`,
    ],
    [
      'http',
      'base_url = "https://store.example.org/publishergw"',
      `http.base_url: ${url}, got "https://store.example.org/publishergw"; did you mean "https://store.example.org"?`,
    ],
    [
      'http',
      'base_url = "HTTP://Store:80"',
      `http.base_url: ${url}, got "HTTP://Store:80"; did you mean "http://store"?`,
    ],
    ['http', 'base_url = "ftp://store"', `http.base_url: ${url}, got "ftp://store"`],
    ['http', 'base_url = "http://store:99999"', `http.base_url: ${url}, got "http://store:99999"`],
    [
      'http',
      'base_url = "https://ada:pass@store"',
      `http.base_url: ${url}, got text of 22 characters; did you mean "https://store"?`,
    ],
    ...[
      'https://registry.internal',
      'registry',
      'registry.internal/images',
      'registry.internal:0',
      'Registry.internal',
    ].map((value): [string, string, string] => [
      'registry',
      `external = "${value}"`,
      `registry.external: expected a host in lower case, with a dot or with a port, such as registry.internal:5000; no http:// before it and no path behind it, got "${value}"`,
    ]),
    ...['/', 'larder-blobs', '/larder-blobs/', '/../x', '/x y', '/a;b', '/%2e%2e/x', '//x'].map(
      (location): [string, string, string] => [
        'http',
        `nginx_location = "${location}"`,
        `http.nginx_location: expected the path of a location without the slash at its end, such as "/larder-blobs", got "${location}"`,
      ],
    ),
    ['http', 'listen = "8080"', 'http.listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::]:443, got "8080"'],
    [
      'http',
      'listen = "127.0.0.1:65536"',
      'http.listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::]:443, got "127.0.0.1:65536"',
    ],
    [
      'http',
      'listen = "300.0.0.1:80"',
      'http.listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::]:443, got "300.0.0.1:80"',
    ],
    ['http', 'listen = "::1:80"', 'http.listen: expected HOST:PORT, such as 127.0.0.1:8080 or [::]:443, got "::1:80"'],
    [
      'http',
      'trusted_proxies = "10.0.0.7"',
      'http.trusted_proxies: expected a list of at most 256, each an IP address or network, such as 10.0.0.7 or 10.0.0.0/8, got "10.0.0.7"',
    ],
    [
      'http',
      'trusted_proxies = ["10.0.0.7", "10.0.0.0/33"]',
      'http.trusted_proxies[2]: expected an IP address or network, such as 10.0.0.7 or 10.0.0.0/8, got "10.0.0.0/33"',
    ],
    ['uploads', 'max_size = "32 GB"', `uploads.max_size: ${size}, got "32 GB"`],
    ['uploads', 'max_size = -1', `uploads.max_size: ${size}, got -1`],
    ['uploads', 'reserve = 1.5', `uploads.reserve: ${size}, got 1.5`],
    ['uploads', 'reserve = inf', `uploads.reserve: ${size}, got Infinity`],
    ['uploads', 'reserve = nan', `uploads.reserve: ${size}, got NaN`],
    ['uploads', 'unclaimed_hours = 0', 'uploads.unclaimed_hours: expected a whole number from 1 to 8760, got 0'],
    [
      'uploads',
      'unclaimed_hours = 2026-01-02',
      'uploads.unclaimed_hours: expected a whole number from 1 to 8760, got a date or time',
    ],
    [
      'uploads',
      'unclaimed_hours = { at = 1 }',
      'uploads.unclaimed_hours: expected a whole number from 1 to 8760, got a table',
    ],
    [
      'names',
      'reserved = ["core", "-a"]',
      'names.reserved[2]: expected a package name: 2 to 40 lower-case letters, digits and single inner dashes, with a letter among them, got "-a"',
    ],
    [
      'log',
      'level = "warning"',
      'log.level: expected one of "trace", "debug", "info", "warn", "error", "fatal", got "warning"; did you mean "warn"?',
    ],
    [
      'keys',
      'master_key_file = "master.key"',
      'keys.master_key_file: expected an absolute path, beginning with a slash',
    ],
    ['keys', 'manager = "pkcs11"', 'keys.manager: expected an absolute path, beginning with a slash, got "pkcs11"'],
    [
      'keys',
      'environment = ["PIN", "A=B"]',
      'keys.environment[2]: expected the name of an environment variable: letters, digits and underscores, got "A=B"',
    ],
    ['keys', 'concurrent = 0', 'keys.concurrent: expected a whole number from 1 to 64, got 0'],
  ];
  for (const [section, line, message] of cases) {
    t.strictSame(refusal(`\n[${section}]\n${line}\n`), [`larder.toml:3: ${message}`], line);
  }
  t.strictSame(refusal('store = "x"'), ['larder.toml:1: expected a section [store], got "x"']);
  t.strictSame(refusal('store = 2026-01-02'), ['larder.toml:1: expected a section [store], got a date or time']);
  t.strictSame(refusal('[[store]]\nid = "x"'), ['larder.toml:1: expected a section [store], got a list']);
});

t.test('all mistakes are reported at once, in the order of the file', async (t) => {
  t.strictSame(
    refusal('[log]\nlevel = "loud"\n[stor]\n[uploads]\nreserve = true\nmax = 3\n').map((line) => line.slice(0, 24)),
    ['larder.toml:2: log.level', 'larder.toml:3: unknown s', 'larder.toml:5: uploads.r', 'larder.toml:6: unknown k'],
  );
  const members = refusal('[names]\nreserved = [\n"a--b",\n3,\n"good",\n"A"\n]\n').map(
    (line) => line.split(': expected')[0],
  );
  t.strictSame(members, [
    'larder.toml:3: names.reserved[1]',
    'larder.toml:4: names.reserved[2]',
    'larder.toml:6: names.reserved[4]',
  ]);
});

t.test('broken TOML is refused with line and column, and a repeated key with both lines', async (t) => {
  t.match(refusal('[store]\nid = larder\n'), [
    /^larder\.toml:2:6: invalid value; store\.id is .*, as in: id = "larder"$/,
  ]);
  t.match(refusal('[devices]\nsnap = yes\n'), [/; devices\.snap is true or false, as in: snap = false$/]);
  t.match(refusal('http.listen = 127.0.0.1:80\n'), [/; http\.listen is HOST:PORT.*, as in: http\.listen = "127/]);
  t.match(refusal('[http]\nname = \n'), [/^larder\.toml:2:\d+: .*; there is no setting 'http\.name'$/]);
  t.match(refusal('name = \n'), [/; there is no setting 'name'$/]);
  t.match(refusal('[store\n'), [/^larder\.toml:1:7: illegal character in key; a line is a section such as \[http\]/]);
  t.strictSame(refusal('[store]\nid = "a"\n\nid = "b"\n'), ["larder.toml:4: 'store.id' is already set on line 2"]);
  t.strictSame(refusal('[store]\n[log]\n[store]\n'), ['larder.toml:3: [store] is already set on line 1']);
  t.strictSame(refusal('store.id = "a"\nstore = { id = "b" }\n').length, 1);
  t.match(refusal(`a = ${'['.repeat(100_000)}`), [/^larder\.toml:1:\d+: /]);
});

t.test('a message never repeats what may be a secret', async (t) => {
  const secret = 'MDAxY2xvY2F0aW9uIGxhcmRlcgow';
  for (const text of [
    `[auth]\nstore_admin_macaroon_sha3_384 = "${secret}"`,
    `[auth]\nstore_admin_macaroon_sha3_384 = ["${secret}"]`,
    `[auth]\nstore_admin_macaroon_sha3_384 = "${secret}`,
    `[keys]\nmaster_key_file = "${secret}"`,
    `[store]\nid = "${secret.repeat(3)}"`,
  ]) {
    const message = refusal(text).join('\n');
    t.match(message, /^larder\.toml:2:/);
    t.notMatch(message, secret);
  }
});

t.test('a message is one line with any content of the file', async (t) => {
  t.strictSame(refusal('[store]\n"a\\nb\\u001b[2J" = 1\n'), [
    "larder.toml:2: unknown key 'a\\nb\\u001b[2J' in [store]",
  ]);
  t.strictSame(refusal('[log]\nlevel = "a\\u001bb"\n').length, 1);
});

t.test('a file that cannot be read is refused by its name', async (t) => {
  const folder = t.testdir({ 'good.toml': everything, 'large.toml': '#'.repeat(1024 * 1024 + 1) });
  const file = (name: string) => join(folder, name);
  t.strictSame(readConfig(file('good.toml')), everythingRead);
  const refused = (name: string, problem: object) =>
    t.throws(() => readConfig(file(name)), { name: 'ConfigError', problems: [problem] });
  refused('none.toml', { message: "there is no such file; 'larder init' makes one" });
  refused('large.toml', { message: 'the file is larger than 1 MiB' });
  mkdirSync(file('folder.toml'));
  refused('folder.toml', { message: 'this is not a file' });
  writeFileSync(file('latin.toml'), Buffer.from('[store]\n# caf\xe9\n', 'latin1'));
  refused('latin.toml', { line: 2, message: 'this is not UTF-8 text' });
  if (process.getuid?.() !== 0) {
    chmodSync(file('good.toml'), 0o000);
    refused('good.toml', { message: /^this user may not open / });
  }
  t.throws(() => readConfig(file('none.toml')), {
    message: `${file('none.toml')}: there is no such file; 'larder init' makes one`,
  });
});

/** The values of all keys as text, by dotted name. */
function flat(config: Config): Map<string, string> {
  const all = [...sections().keys()].flatMap((section) =>
    Object.entries(valuesIn(config, section)).map(
      ([key, value]) => [`${section}.${key}`, JSON.stringify(value)] as const,
    ),
  );
  return new Map(all.filter(([name]) => !sections().has(name)));
}

/** Whether `at` is on the lines of this key, the line end before them included: losing that makes it part of a comment. */
function touched(file: string, at: number, name: string): boolean {
  const entry = [...entries(file)].find(({ kind, path }) => kind === 'key' && path.join('.') === name);
  return entry !== undefined && at >= file.lastIndexOf('\n', entry.from) && at <= file.indexOf('\n', entry.to);
}

t.test('a file with one changed letter is refused with a line, or differs only in that line', async () => {
  const files = [everything, embeddedText('config/appliance.toml'), embeddedText('config/air-gapped.toml')];
  const unchanged = new Map(files.map((file) => [file, flat(parseConfig('larder.toml', file))]));
  const letter = fc.oneof(
    fc.constantFrom(...Array.from('"\'=[]{}#.,\n\r \t\\_-+019aeZ\u0000\u007f\ud800é')),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  );
  const mutation = fc.record({
    file: fc.constantFrom(...files),
    place: fc.nat(),
    letter,
    how: fc.constantFrom('insert', 'replace', 'remove'),
  });
  fc.assert(
    fc.property(mutation, ({ file, place, letter, how }) => {
      const at = place % file.length;
      const changed = file.slice(0, at) + (how === 'remove' ? '' : letter) + file.slice(how === 'insert' ? at : at + 1);
      let config: Config;
      try {
        config = parseConfig('larder.toml', changed);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return error.problems.length > 0 && error.problems.every(({ line }) => line !== undefined && line > 0);
      }
      const now = flat(config);
      return [...unchanged.get(file)!].every(([name, value]) => now.get(name) === value || touched(file, at, name));
    }),
    { numRuns: long ? 50_000 : 1_500 },
  );
});

t.test('a misspelt key is refused on its line with the right one', async (t) => {
  const keys = [...everything.matchAll(/^([a-z_0-9]+) = /gm)];
  t.ok(keys.length >= 15, 'every key of the file');
  const key = fc.constantFrom(...keys);
  const letter = fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyz'));
  fc.assert(
    fc.property(
      key,
      fc.nat(),
      letter,
      fc.constantFrom('insert', 'replace', 'remove'),
      ({ 1: name = '', index }, place, letter, how) => {
        const at = place % name.length;
        const wrong = name.slice(0, at) + (how === 'remove' ? '' : letter) + name.slice(how === 'insert' ? at : at + 1);
        if (wrong === name || wrong === '') return;
        const line = everything.slice(0, index).split('\n').length;
        const problems = refusal(everything.slice(0, index) + wrong + everything.slice(index + name.length));
        if (problems.length !== 1 || !problems[0]!.startsWith(`larder.toml:${line}: unknown key '${wrong}'`))
          throw new Error(problems.join());
        if (!problems[0]!.endsWith(`did you mean '${name}'?`)) throw new Error(problems.join());
      },
    ),
    { numRuns: long ? 20_000 : 250 },
  );
});

t.test('one wrong letter is nearer than another key that begins the misspelt one', (t) => {
  const [key] = [...everything.matchAll(/^max_download_rate(?= = )/gm)];
  const { index } = key!;
  const wrong = `${everything.slice(0, index)}max_downloads_rate${everything.slice(index + 'max_download_rate'.length)}`;
  t.match(refusal(wrong).join(), /did you mean 'max_download_rate'\?$/);
  t.end();
});

t.test('any text at all is read or refused', async () => {
  const part = fc.oneof(
    fc.constantFrom(
      '[store]',
      '[http]',
      '\n',
      '=',
      'id',
      '"',
      '"""',
      "'''",
      '[',
      ']',
      '[[',
      '{',
      '}',
      ',',
      '.',
      '1',
      '1979-05-27',
      'true',
      '#',
      '\\',
    ),
    fc.string({ unit: anyCharacter, maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      return refusal(text).every((line) => /^larder\.toml:[1-9]/.test(line));
    }),
    { numRuns: long ? 200_000 : 2_000 },
  );
});

t.test('a rule for vulnerabilities names a known kind of finding, and channels only once', (t) => {
  const read = (...rules: string[]) => refusal(`[approvals]\nvulnerabilities = ${JSON.stringify(rules)}\n`);
  t.strictSame(
    read('2 for known-exploited', '1 for known-exploited in snap/*:*/stable', '1 signed of bob for low'),
    [],
  );
  for (const rule of ['2', '2 for', '2 for severe', '2 for critical in', '2 for critical in snap/hello', 'x for high'])
    t.match(
      read(rule).join(),
      /larder\.toml:2: approvals\.vulnerabilities\[1\]: expected how many different people/,
      rule,
    );
  t.match(
    read('2 for high', '1 for high in */*:*').join(),
    /approvals\.vulnerabilities: expected one rule for high in \*\/\*:\*, got a second/,
  );
  t.end();
});

t.test('two rules for releases to the same channels are refused', (t) => {
  const text =
    '[approvals]\nreleases = [\n  "2 for snap/*:*/stable",\n  "1 for snap/*:*/beta",\n  "1 for snap/*:*/stable",\n]\n';
  t.match(
    refusal(text).join(),
    /larder\.toml:\d: approvals\.releases: expected one rule for snap\/\*:\*\/stable, got a second/,
  );
  t.strictSame(refusal(text.replace('  "1 for snap/*:*/stable",\n', '')), []);
  t.end();
});
