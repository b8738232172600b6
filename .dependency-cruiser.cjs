// The arrow: a part imports itself and what stands to its left. test/architecture.test.ts checks the same in plain words;
// this sees through every import, counts cycles, those of types too, and knows which file of a dependency is used by whom.
const arrow = [
  ['domain'],
  ['platform'],
  ['files'],
  ['contract'],
  ['configuration'],
  ['engine'],
  ['records'],
  ['assertions', 'blobs', 'deltas', 'review', 'shared', 'tls'],
  ['acts'],
  ['macaroons', 'registry'],
  ['access'],
  ['http'],
  ['documents'],
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

const arrowRules = arrow.flatMap((step, at) =>
  step.map((part) => ({
    name: `${part}-imports-only-to-its-left`,
    severity: 'error',
    from: { path: place(part) },
    to: {
      path: '^src/',
      pathNot: [part, ...arrow.slice(0, at).flat()].map(place),
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
    only(
      'others-import-the-configuration-as-a-whole',
      '^src/(?:configuration|cli)/',
      '^src/configuration/(?!config\\.ts$)',
    ),
    only('only-the-server-knows-koa', '^src/http/(?:server|route-table)\\.ts$', '^node_modules/(?:koa|@koa)/'),
    only('only-one-file-knows-ajv', '^src/contract/schema\\.ts$', '^node_modules/ajv/'),
    only(
      'only-the-engine-and-the-lock-know-sqlite',
      '^src/(?:engine/sqlite/|data/lock\\.ts$)',
      '^node_modules/better-sqlite3/',
    ),
    only(
      'only-these-load-native-code',
      '^src/(?:main\\.ts$|data/|appliance/|cli/|integrity/database-worker\\.ts$)',
      '^src/platform/native\\.ts$',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { conditionNames: ['node', 'import', 'types'], exportsFields: ['exports'] },
  },
};
