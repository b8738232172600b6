// The form that uploads a file of a transfer.
import { html, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { uploadAddressesOf, uploadForm } from '../parts/upload-form.ts';
import { formatCount, size } from '../parts/values.ts';

export const transferUploadAddresses = uploadAddressesOf('/console/carry/uploads');

export const transferUploadForm = (browsing: Browsing, { uploads: limits }: Services['config']): Html =>
  uploadForm(browsing, transferUploadAddresses, {
    label: 'Transfer file',
    accept: '.tar',
    // All parts of a transfer together.
    several: true,
    hint: html`A file that <code>larder transfer make</code> has written, of at most ${size(limits.max_size)}; of a
      transfer in parts, one part after the other. The transfer is verified and reviewed, and waits for your decision.
      An interrupted upload resumes if you choose the same file again within
      ${formatCount(limits.unclaimed_hours, 'hour')}.`,
  });
