// larder assertion import
import { primaryKeyOf } from '#assertions/format/types.ts';
import { importAssertions } from '#acts/assertions/assertions.ts';
import { readTrusted } from '#assertions/trusted-roots.ts';
import { readAssertionFile } from './read-file.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const assertionImport = command({
  name: 'assertion import',
  summary: 'Import assertions that were fetched from the online store.',
  description:
    'The files together are one stream, in any order. Each assertion is verified up to the trusted roots that ' +
    'assertions.trusted in the configuration names, never to a root in the files. If one of them cannot be ' +
    'verified, none is imported, and the reason is shown.',
  positionals: [
    { name: 'files', value: 'FILE', summary: 'Files of assertions, exactly as they were fetched.', repeated: true },
  ],
  examples: [
    'larder assertion import return.assert',
    'larder assertion import account.assert account-key.assert --json',
  ],

  run({ positionals, data, world }) {
    const { files } = positionals;
    if (files.length === 0) throw new UsageError('nothing was read: name the files of assertions');
    const texts = files.map(readAssertionFile);
    if (texts.join('').trim() === '')
      throw new Failure(`Nothing was read: there is no assertion in ${files.join(', ')}.`);
    return withStore({ data, world }, async ({ records, acts, config, person, now }) => {
      const roots = readTrusted(config.assertions.trusted);
      const imported = await importAssertions(texts.join('\n'), person, { records, acts, roots, now: now() });
      const summaries = imported.map((assertion) => ({ type: assertion.type, 'primary-key': primaryKeyOf(assertion) }));
      return {
        text: summaries.map((summary) => `imported ${summary.type} ${summary['primary-key'].join(' ')}`).join('\n'),
        json: { imported: summaries },
      };
    });
  },
});
