// What the compiler lets pass and a reader would trip over. Formatting is prettier's, the arrow dependency-cruiser's.
import tseslint from 'typescript-eslint';

/** Words that say neither what a value is nor what a function does (docs/contributing.md, "Language"). */
const emptyName =
  '[name=/^(?:one|what|why|most|by|said|told|named|known|given|enough|beside|atOnce|kept|found|asked|wanted|patience|here|there)$/]';
const declared = [
  'VariableDeclarator > Identifier.id',
  ':function > Identifier.params',
  ':function > Identifier.id',
  ':function > AssignmentPattern.params > Identifier.left',
  'ObjectPattern > Property > Identifier.value',
  'ObjectPattern > Property > AssignmentPattern.value > Identifier.left',
  'ArrayPattern > Identifier.elements',
];
const syntax = [
  { selector: 'ExportDefaultDeclaration', message: 'Name what is exported.' },
  { selector: 'TSEnumDeclaration', message: 'Node strips types only; use a union of literals.' },
  {
    selector: 'ObjectExpression > SpreadElement > ObjectExpression',
    message: 'Write the members; a literal in a literal only keeps the formatter from breaking lines.',
  },
];
const names = declared.map((place) => ({
  selector: place + emptyName,
  message: 'Say what it is: a noun for a value, a verb for a function.',
}));

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'data/',
      '.tap/',
      'src/contract/wire.ts',
      'src/contract/config-validator.ts',
      'src/*/declared.ts',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // `T extends X ? … : …` over wire shapes, and interfaces that say what a part offers, read well in both spellings.
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Parts are objects of functions that know no `this`, and may be taken apart.
      '@typescript-eslint/unbound-method': 'off',
      // With noUncheckedIndexedAccess the `!` says that an index is known to be in bounds.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // An async function that has nothing to wait for still keeps a promise that its interface makes.
      '@typescript-eslint/require-await': 'off',
      // Where a promise is the last word of a callback whose result nobody reads, `void` would only add noise.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // `void | Promise<void>` is what a callback may give that nobody reads; a parameter's type may be named once.
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      'no-restricted-syntax': ['error', ...syntax, ...names],
      eqeqeq: 'error',
      'object-shorthand': ['error', 'properties'],
      'no-useless-rename': 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-globals': ['error', { name: 'fetch', message: 'The store makes no outbound requests.' }],
      'no-restricted-imports': [
        'error',
        {
          paths: ['child_process', 'node:child_process'].map((name) => ({
            name,
            message: 'The store starts no programs.',
          })),
        },
      ],
    },
  },
  {
    // A command asks systemd why the unit of a store does not run. The server starts the key manager that the site configures, and nothing
    // else. A collector is no store, and runs the script that fetches, which is part of this program. 'larder prove' starts this program.
    files: [
      'src/cli/store/service.ts',
      'src/cli/store/prove/processes.ts',
      'src/cli/transfers/make/fetch.ts',
      'src/assertions/keys/manager-program.ts',
    ],
    rules: { 'no-restricted-imports': 'off' },
  },
  {
    // 'larder prove' calls the store that it has started, on this host.
    files: ['src/cli/store/prove/client.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    // A noun's records are a list of statements: each has a line or ten, and the list is as long as it is.
    files: ['src/**/*.ts'],
    ignores: ['src/records/**'],
    rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', 'src/configuration/config.ts', 'src/platform/native.ts', 'src/cli/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'The configuration is what a part is handed.' },
        { object: 'process', property: 'exit', message: 'Only main.ts ends the process.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'packaging/smoke.ts'],
    rules: {
      // tap gathers the promise of each t.test itself, and looks into answers whose shape is what is being tested.
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-misused-promises': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['test/**/*.test.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'performance',
          property: 'now',
          message: 'A busy machine takes its time: ask cpuWatch what something costs, and wait for what happened.',
        },
      ],
    },
  },
);
