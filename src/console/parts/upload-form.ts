// The form that uploads a file. Without script it sends the file as a whole; the script of the console sends pieces.
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { fileField } from './form.ts';

/** The addresses of the form and of the script. */
export interface UploadAddresses {
  whole: string;
  begin: string;
  piece: string;
  receive: string;
}

/** The addresses below the address of the form. */
export const uploadAddressesOf = (whole: string): UploadAddresses => ({
  whole,
  begin: `${whole}/begin`,
  piece: `${whole}/piece`,
  receive: `${whole}/receive`,
});

interface UploadForm {
  label: string;
  accept: string;
  hint: HtmlContent;
  /** Whether the script sends several files, one after the other. */
  several?: boolean;
}

/** The form, with the token of each address that the script calls. */
export const uploadForm = (
  browsing: Browsing,
  { whole, begin, piece, receive }: UploadAddresses,
  { label, accept, hint, several = false }: UploadForm,
): Html =>
  html`<form
    method="post"
    action="${whole}"
    enctype="multipart/form-data"
    hx-boost="false"
    data-begin="${begin}"
    data-begin-token="${browsing.formToken(begin)}"
    data-piece="${piece}"
    data-piece-token="${browsing.formToken(piece)}"
    data-receive="${receive}"
    data-receive-token="${browsing.formToken(receive)}"
    ${several ? html`data-several` : nothing}
  >
    <input type="hidden" name="form-token" value="${browsing.formToken(whole)}" />
    ${fileField({ label, accept, hint })}
    <button>Upload</button>
    <progress max="1" value="0" aria-label="Progress of the upload" hidden></progress>
    <output hidden></output>
  </form>`;
