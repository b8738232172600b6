import { onPackage } from '#access/access-rules.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { parseRevisionNumber } from '../revisions/parse-revision-number.ts';
import { formatRevisionSbom } from './sbom.ts';

export const cycloneDxType = 'application/vnd.cyclonedx+json';

export const readRevisionSbom = operation({
  name: 'read_revision_sbom',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/revisions/:revision/sbom',
  since: 0,
  summary: 'Read the bill of materials of a revision in CycloneDX 1.6.',
  access: onPackage('package-view-revisions'),
  produces: { [cycloneDxType]: 'CycloneDxBill' },
  headers: ['content-disposition'],

  async handle({ package: subject, params, records }) {
    const revision = parseRevisionNumber(params.revision);
    const body = await formatRevisionSbom(records, subject, revision);
    const name = `${subject.namespace}-${subject.name}-${String(revision)}.cdx.json`;
    return new OperationResponse({ headers: { 'content-type': cycloneDxType, ...attachment(name) }, body });
  },
});
