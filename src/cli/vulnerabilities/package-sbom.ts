// larder package sbom
import { Refusal } from '#domain/refusal.ts';
import { formatImageSbom, formatRevisionSbom } from '#operations/vulnerabilities/sbom.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { findPackage, packageArgument } from '../packages/package-argument.ts';
import { revisionNumber } from '../revisions/revision-argument.ts';

export const packageSbom = command({
  name: 'package sbom',
  summary: 'Print the bill of materials of a revision, or of an image in its repository, in CycloneDX 1.6.',
  description:
    'The list is read from the package itself: from snap/manifest.yaml of a snap, the lists of dpkg, apk and Chisel ' +
    "in a rock, and requirements.txt of a charm. Properties named 'larder:gap' say why it may be incomplete.",
  positionals: [
    packageArgument,
    { name: 'revision', summary: 'The number of the revision. Default: the newest.', optional: true },
  ],
  options: {
    image: {
      type: 'string',
      value: 'RESOURCE@DIGEST',
      summary: 'An image of the package, in place of a revision.',
    },
  },
  examples: [
    'larder package sbom snap/hello',
    'larder package sbom snap/hello 3 --json',
    `larder package sbom charm/hello --image app@sha256:${'0'.repeat(64)}`,
  ],

  run: ({ positionals, options, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const image = options.image === undefined ? undefined : parseImage(options.image, positionals.revision);
      const subject = await findPackage(records, positionals.package);
      if (image !== undefined) return toOutput(await formatImageSbom(records, subject, image));
      const [newest] = await records.revisions.list(subject.id, 1);
      const revision = positionals.revision === undefined ? newest?.revision : revisionNumber(positionals.revision);
      if (revision === undefined)
        throw new Refusal('resource-not-found', `${positionals.package} has no revision. Push one first.`);
      return toOutput(await formatRevisionSbom(records, subject, revision));
    }),
});

const toOutput = (document: string) => ({ text: document.trimEnd(), json: JSON.parse(document) as unknown });

function parseImage(text: string, revision: string | undefined): { resource: string; digest: string } {
  const [, resource, digest] = /^([^@]+)@(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/.exec(text) ?? [];
  if (resource === undefined || digest === undefined)
    throw new UsageError(`an image is named RESOURCE@DIGEST, such as app@sha256:…, not '${text}'`);
  if (revision !== undefined) throw new UsageError('name a revision or an image, not both');
  return { resource, digest };
}
