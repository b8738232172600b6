// larder package sbom
import { Refusal } from '#domain/refusal.ts';
import { formatRevisionSbom } from '#operations/vulnerabilities/sbom.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { findPackage, packageArgument } from '../packages/package-argument.ts';
import { revisionNumber } from '../revisions/revision-argument.ts';

export const packageSbom = command({
  name: 'package sbom',
  summary: 'Print the bill of materials of a revision in CycloneDX 1.6.',
  description:
    'The list is read from the package itself: from snap/manifest.yaml of a snap, the lists of dpkg, apk and Chisel ' +
    "in a rock, and requirements.txt of a charm. Properties named 'larder:gap' say why it may be incomplete.",
  positionals: [
    packageArgument,
    { name: 'revision', summary: 'The number of the revision. Default: the newest.', optional: true },
  ],
  examples: ['larder package sbom snap/hello', 'larder package sbom snap/hello 3 --json'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const subject = await findPackage(records, positionals.package);
      const [newest] = await records.revisions.list(subject.id, 1);
      const revision = positionals.revision === undefined ? newest?.revision : revisionNumber(positionals.revision);
      if (revision === undefined)
        throw new Refusal('resource-not-found', `${positionals.package} has no revision. Push one first.`);
      const text = await formatRevisionSbom(records, subject, revision);
      return { text: text.trimEnd(), json: JSON.parse(text) as unknown };
    }),
});
