// Converts the findings of a review into their stored form.
import type { Blobs } from '#blobs/blobs.ts';
import type { NewIds } from '#domain/ids.ts';
import { unknownBill } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Findings } from '#records/uploads/uploads.ts';
import { iconName } from '#review/icon.ts';
import type { ReviewApproval, ReviewUpload } from '#review/verdict.ts';

/** Returns the kind of review for uploads of a package. Uploads of a type without a reader are stored unchanged ('plain'). */
export function kindOf({ type }: Pick<PublishedPackage, 'type'>): ReviewUpload['kind'] {
  return type === 'snap' || type === 'charm' || type === 'bundle' || type === 'rock' ? type : 'plain';
}

/** Stores the icon of a snap, if it has one, and returns its name. */
export async function keepIcon(
  verdict: ReviewApproval,
  { blobs, newId }: { blobs: Pick<Blobs, 'put'>; newId: Pick<NewIds, 'uuid'> },
): Promise<string | null> {
  if (verdict.kind !== 'snap' || verdict.facts.icon === null) return null;
  const { bytes, mediaType } = verdict.facts.icon;
  const { sha3_384 } = await blobs.put(bytes, { id: newId.uuid() });
  return iconName(sha3_384, { mediaType });
}

/** Only charms need `sha384`. */
export function findingsOf(verdict: ReviewApproval, icon: string | null, sha384 = ''): Findings {
  const nothing = { version: null, details: {}, declares: [], packageYaml: null, craftYaml: null, prose: null };
  switch (verdict.kind) {
    case 'snap': {
      const { facts } = verdict;
      const { apps, architectures, base, buildUrl, confinement, grade, notices, type } = facts;
      const noticed = notices.length > 0 && { notices };
      return {
        kind: 'revision',
        version: facts.version,
        details: { apps, architectures, base, buildUrl, confinement, grade, type, ...noticed },
        declares: facts.components ?? [],
        packageYaml: facts.snapYaml,
        craftYaml: facts.craftYaml,
        prose: { ...proseOf(facts), license: facts.license, links: facts.links },
        icon,
        bill: facts.bill,
      };
    }
    case 'charm':
    case 'bundle': {
      const {
        version,
        bases,
        resources,
        catalogFacts: traits,
        packageYaml,
        craftYaml,
        configYaml,
        actionsYaml,
        bill,
      } = verdict.facts;
      return {
        kind: 'revision',
        version,
        details: { bases, said: traits },
        declares: resources,
        packageYaml,
        craftYaml,
        charm: { sha384, configYaml, actionsYaml },
        prose: proseOf(verdict.facts),
        bill,
      };
    }
    case 'rock': {
      const { version, architectures, bill } = verdict.facts;
      return { kind: 'revision', ...nothing, version, details: { architectures }, ...(bill && { bill }) };
    }
    case 'plain':
      return { kind: 'revision', ...nothing, bill: unknownBill('The store does not read files of this type.') };
  }
}

interface Prose {
  title: string | null;
  summary: string | null;
  description: string | null;
}

const proseOf = ({ title, summary, description }: Prose): Prose => ({ title, summary, description });
