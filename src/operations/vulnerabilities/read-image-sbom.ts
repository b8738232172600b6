import { onPackage } from '#access/access-rules.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { attachment } from '#http/response/content-disposition.ts';
import { formatImageSbom } from './sbom.ts';
import { cycloneDxType } from './read-revision-sbom.ts';

export const readImageSbom = operation({
  name: 'read_image_sbom',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/resources/:resource/images/:digest/sbom',
  since: 0,
  summary: 'Read the bill of materials of an image, with the claims about it, in CycloneDX 1.6.',
  access: onPackage('package-view-revisions'),
  produces: { [cycloneDxType]: 'CycloneDxBill' },
  headers: ['content-disposition'],

  async handle({ package: subject, params, records }) {
    const body = await formatImageSbom(records, subject, params);
    const name = `${subject.name}-${params.resource}-${params.digest.slice(0, 19)}.cdx.json`;
    return new OperationResponse({ headers: { 'content-type': cycloneDxType, ...attachment(name) }, body });
  },
});
