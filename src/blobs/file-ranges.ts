// Bytes that lie in files which are open here, so that no byte of them passes the event loop when they are copied.

/** Bytes of a file that is open, by its descriptor; the file stays open until the next ones are asked for. */
export interface FileRange {
  descriptor: number;
  offset: number;
  size: number;
}

/** One behind the other. */
export type FileRanges = Iterable<FileRange> | AsyncIterable<FileRange>;
