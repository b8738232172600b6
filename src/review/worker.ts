// The worker thread that reads uploads: it gets one upload at a time and answers each. If an upload breaks the thread,
// it can be terminated without harm to anything else.
import { closeSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { checkComponent } from './snaps/component.ts';
import { readBundle, readCharm } from './charms/charm.ts';
import { readOwnName } from './own-name.ts';
import { readRock } from './images/rock.ts';
import { readStoredImage, type StoredImage } from './images/stored-image.ts';
import { fileSource, type UploadBytes } from './squashfs/source.ts';
import { readSnap } from './snaps/snap.ts';
import { Unacceptable } from './unacceptable.ts';
import { rejection, type OpenUpload, type OwnName, type ReviewUpload, type ReviewVerdict } from './verdict.ts';
import { wrongKind } from './wrong-kind.ts';

/** A request: for a verdict, for the name in a file, or for the bill of materials of an image. */
export type ReviewRequest =
  ReviewUpload | OpenUpload | { kind: 'own-name'; file: number } | ({ kind: 'image-bill' } & StoredImage);

/** The result: a verdict, the name, undefined if there is none, or the bill. */
export type ReviewResult = ReviewVerdict | { ownName: OwnName | undefined } | { bill: BillOfMaterials };

/**
 * An answer has the result, or the internal fault that prevented it. The code of an error is a separate field, because
 * an error loses it when it is sent between threads.
 */
export type ReviewReply = { result: ReviewResult } | { fault: unknown; code: string | undefined };

/** A message of the main thread: one request, or several that are answered in their order and by one message. */
export type ReviewMessage = ReviewRequest | { together: readonly ReviewRequest[] };
export type ReviewAnswer = ReviewReply | ReviewReply[];

parentPort?.on('message', (message: ReviewMessage) => {
  // The next message is sent when this one is answered.
  void answerMessage(message).then((reply) => parentPort?.postMessage(reply));
});

async function answerMessage(message: ReviewMessage): Promise<ReviewAnswer> {
  if (!('together' in message)) return answer(message);
  const replies: ReviewReply[] = [];
  for (const question of message.together) replies.push(await answer(question));
  return replies;
}

async function answer(question: ReviewRequest): Promise<ReviewReply> {
  try {
    return { result: await resultOf(question) };
  } catch (fault) {
    if (fault instanceof Unacceptable) return { result: rejection(...fault.sentences) };
    return { fault, code: (fault as NodeJS.ErrnoException).code };
  }
}

async function resultOf(question: ReviewRequest): Promise<ReviewResult> {
  if (question.kind === 'own-name') return { ownName: readOwnName(fileSource(question.file)) };
  return question.kind === 'image-bill' ? { bill: await readStoredImage(question) } : verdictOn(question);
}

async function verdictOn(upload: ReviewUpload | OpenUpload): Promise<ReviewVerdict> {
  if ('file' in upload) return verdictOnFile(upload, upload.file);
  const file = openSync(upload.path, 'r');
  try {
    return await verdictOnFile(upload, file);
  } finally {
    closeSync(file);
  }
}

async function verdictOnFile(
  { kind, name, component, signed = false, billBytes }: Omit<ReviewUpload, 'path'>,
  file: number,
): Promise<ReviewVerdict> {
  if (kind === 'plain') return { approved: true, kind };
  const source = fileSource(file);
  try {
    return await readAs({ kind, name, component, signed, billBytes }, source);
  } catch (fault) {
    throw (fault instanceof Unacceptable ? wrongKind(kind, source) : undefined) ?? fault;
  }
}

interface ReviewInput {
  kind: Exclude<ReviewUpload['kind'], 'plain'>;
  name: string;
  component: ReviewUpload['component'];
  signed: boolean;
  billBytes: number | undefined;
}

async function readAs(
  { kind, name, component, signed, billBytes }: ReviewInput,
  source: UploadBytes,
): Promise<ReviewVerdict> {
  switch (kind) {
    case 'snap':
      return { approved: true, kind, facts: readSnap(source, name, signed) };
    case 'component':
      if (component === undefined) throw new Error('cannot review a component: its name is missing');
      checkComponent(source, name, component);
      return { approved: true, kind: 'plain' };
    case 'charm':
      return { approved: true, kind, facts: readCharm(source, name) };
    case 'bundle':
      return { approved: true, kind, facts: readBundle(source, name) };
    case 'rock':
      return { approved: true, kind, facts: await readRock(source, name, billBytes) };
  }
}
