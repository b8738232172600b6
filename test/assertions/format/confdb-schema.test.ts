// Confdb-schemas are accepted as snapd accepts them: the vectors have its verdicts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { formatJsonBody } from '#assertions/format/confdb-schema.ts';
import { checkAssertion } from '#assertions/format/types.ts';
import { readJson } from '#contract/json.ts';

const vectors = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/assertions/confdb-schemas.json'), 'utf8'),
) as { cases: { name: string; content: string; refused?: string }[] };

t.test('a confdb-schema is refused if snapd refuses it, except for paths and types of the storage', (t) => {
  for (const { name, content, refused } of vectors.cases) {
    // The signature is not verified here.
    const read = () => checkAssertion(parseAssertion(`${content}\n\nAcLB\n`));
    if (refused === undefined || name.startsWith('finer: ')) t.doesNotThrow(read, name);
    else t.throws(read, { name: 'Refusal', code: 'api-error' }, `${name}: ${refused}`);
  }
  t.end();
});

t.test('a body is written in the form that snapd requires', (t) => {
  const drafts = {
    '{"b": 1e3, "a": {"10": [], "9": {}}}': '{\n  "a": {\n    "10": [],\n    "9": {}\n  },\n  "b": 1000\n}',
    '["<", "\\u00e4", -0, null]': '[\n  "\\u003c",\n  "ä",\n  -0,\n  null\n]',
  };
  for (const [draft, body] of Object.entries(drafts)) {
    t.equal(formatJsonBody(readJson(draft)), body);
    t.equal(formatJsonBody(readJson(body)), body, 'its own output stays');
  }
  t.end();
});
