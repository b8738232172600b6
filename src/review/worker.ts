// The worker thread in which uploads are read: it is sent one upload after the other and answers each. Whatever an upload
// does to it, the thread can be ended without harm to anything else.
import { closeSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { readBundle, readCharm } from './charm.ts';
import { readRock } from './rock.ts';
import { fileSource } from './squashfs/source.ts';
import { readSnap } from './snap.ts';
import { Unacceptable } from './unacceptable.ts';
import { rejection, type Upload, type Verdict } from './verdict.ts';

/**
 * An answer has the verdict, or the fault of ours that kept it from being found. The code of an error is said by itself,
 * because an error that is sent from thread to thread arrives without it.
 */
export type Answer = { verdict: Verdict } | { fault: unknown; code: string | undefined };

parentPort?.on('message', (upload: Upload) => {
  // The next one is sent when this one is answered.
  void answer(upload).then((found) => parentPort?.postMessage(found));
});

async function answer(upload: Upload): Promise<Answer> {
  try {
    return { verdict: await verdictOn(upload) };
  } catch (fault) {
    if (fault instanceof Unacceptable) return { verdict: rejection(...fault.sentences) };
    return { fault, code: (fault as NodeJS.ErrnoException).code };
  }
}

async function verdictOn({ kind, path, name }: Upload): Promise<Verdict> {
  if (kind === 'plain') return { approved: true, kind };
  const file = openSync(path, 'r');
  try {
    const source = fileSource(file);
    switch (kind) {
      case 'snap':
        return { approved: true, kind, facts: readSnap(source, name) };
      case 'charm':
        return { approved: true, kind, facts: readCharm(source, name) };
      case 'bundle':
        return { approved: true, kind, facts: readBundle(source, name) };
      case 'rock':
        return { approved: true, kind, facts: await readRock(source, name) };
    }
  } finally {
    closeSync(file);
  }
}
