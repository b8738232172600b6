// The arrow: a part imports itself and what stands to its left. test/architecture.test.ts checks the same in plain words;
// this sees through every import, counts cycles, those of types too, and knows which file of a dependency is used by whom.
const arrow = [
  ['domain'],
  ['files'],
  ['engine'],
  ['records'],
  ['assertions', 'blobs', 'deltas', 'review', 'shared', 'tls'],
  ['acts'],
  ['macaroons', 'registry'],
  ['api'],
  ['operations', 'identity', 'jobs', 'integrity', 'backup', 'transfers'],
  ['data'],
  ['examinations'],
  ['console'],
  ['appliance'],
  ['workers'],
  ['cli'],
  ['main'],
];
const place = (part) => `^src/${part}(?:/|\\.ts$)`;
// Beside the arrow: the shapes, which are generated types, and the files at the top, which import no part.
const beside = '^src/(?!main\\.ts)[^/]+\\.ts$';
const everybodys = ['^src/api/wire\\.ts$', beside];
const configuration = '^src/configuration/';

const arrowRules = arrow.flatMap((step, at) =>
  step.map((part) => ({
    name: `${part}-imports-only-to-its-left`,
    severity: 'error',
    from: { path: place(part) },
    to: {
      path: '^src/',
      pathNot: [part, ...arrow.slice(0, at).flat()].map(place).concat(...everybodys, configuration),
    },
  })),
);

/** What `to` matches is imported by these files and no other. */
const only = (name, path, to) => ({
  name,
  severity: 'error',
  from: { path: '^src/', pathNot: path },
  to: { path: to },
});

module.exports = {
  forbidden: [
    ...arrowRules,
    { name: 'no-cycles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'sources-import-no-tools',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(?:packaging|test)/' },
    },
    {
      name: 'sources-import-only-dependencies',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'beside-the-arrow-means-importing-no-part',
      severity: 'error',
      from: { path: beside },
      to: { path: '^src/[^/]+/', pathNot: '^src/(?:configuration/|domain/|files/|api/wire\\.ts$)' },
    },
    only('configuration-belongs-to-config-and-cli', '^src/(?:config\\.ts$|configuration/|cli/)', configuration),
    only('only-the-server-knows-koa', '^src/api/(?:server|places)\\.ts$', '^node_modules/(?:koa|@koa)/'),
    only('only-one-file-knows-ajv', '^src/api/schema\\.ts$', '^node_modules/ajv/'),
    only(
      'only-the-engine-and-the-lock-know-sqlite',
      '^src/(?:engine/sqlite/|data/lock\\.ts$)',
      '^node_modules/better-sqlite3/',
    ),
    only(
      'only-these-load-native-code',
      '^src/(?:main\\.ts$|data/|appliance/|cli/|integrity/database-worker\\.ts$)',
      '^src/native\\.ts$',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { conditionNames: ['node', 'import', 'types'], exportsFields: ['exports'] },
  },
};
