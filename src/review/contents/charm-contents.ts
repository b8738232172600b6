// Reads the bill of materials of a charm: the requirements on Python packages as they are listed in it. A requirement
// that allows several versions has none, which is a gap.
import { BillCollector, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { Unacceptable } from '../unacceptable.ts';
import type { Zip } from '../charms/zip.ts';
import { parseRequirement } from './package-lists.ts';

/** The second is that of reactive charms. */
export const requirementFiles = ['requirements.txt', 'wheelhouse.txt'];

export function readCharmBill(zip: Zip): BillOfMaterials {
  const bill = new BillCollector();
  for (const file of requirementFiles) {
    const text = textIn(zip, file, bill);
    if (text === undefined) continue;
    const lines = text.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line));
    const listed = lines.map(parseRequirement);
    bill.addFile(file, listed);
    const open = listed.filter((requirement) => requirement?.version === null).length;
    if (open > 0) bill.addGap(`${file} has ${String(open)} requirements that do not name one version.`);
  }
  return bill.finish('The charm has no requirements.txt.');
}

function textIn(zip: Zip, file: string, bill: BillCollector): string | undefined {
  try {
    return zip.text(file);
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    bill.addGap(`${file} cannot be read.`);
    return undefined;
  }
}
