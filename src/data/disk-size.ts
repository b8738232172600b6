// Whether a disk is large enough for what is to be kept free on it.

/** That a disk is smaller than what is to be kept free on it; the numbers as people write them in the configuration. */
export function tooSmall(diskSize: number, reserve: number): string | undefined {
  if (diskSize > reserve) return undefined;
  return (
    `The whole disk has ${mebibytes(diskSize)}, and uploads.reserve keeps ${mebibytes(reserve)} of it free, so nothing can be ` +
    'uploaded. Use a larger disk, or set uploads.reserve in larder.toml lower and restart the server.'
  );
}

const mebibytes = (bytes: number): string => `${String(Math.floor(bytes / 1024 / 1024))} MiB`;
