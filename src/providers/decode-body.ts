import { type BrotliOptions, brotliDecompress, gunzip, inflate, type ZlibOptions, zstdDecompress } from 'node:zlib';

/** No body is held beyond this, decoded. */
export const largestBody = 16 * 1024 * 1024;
/** Honest text shrinks 3- to 20-fold; beyond this it is a bomb. Small bodies may always grow to one megabyte. */
const largestRatio = 200;
const alwaysAllowed = 1024 * 1024;

export interface DecodeFault {
  readonly code: 'too-large' | 'bad-encoding';
  readonly detail: string;
}

type Decompress = (body: Buffer, options: ZlibOptions & BrotliOptions, done: DecompressDone) => void;
type DecompressDone = (error: NodeJS.ErrnoException | null, decoded: Buffer) => void;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: brotliDecompress,
  zstd: (body, options, done) =>
    zstdDecompress(body, { maxOutputLength: options.maxOutputLength ?? largestBody }, done),
};

/** Undoes a `content-encoding`, never holding more than the caps allow. */
export function decodeBody(body: Buffer, encoding: string, done: (decoded: Buffer | DecodeFault) => void): void {
  const name = encoding.trim().toLowerCase();
  const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (name === 'identity' || name === '') done(body);
  else if (decode === undefined) done({ code: 'bad-encoding', detail: `content-encoding ${name.slice(0, 40)}` });
  else decompress(body, decode, done);
}

function decompress(body: Buffer, decode: Decompress, done: (decoded: Buffer | DecodeFault) => void): void {
  const maxOutputLength = Math.min(largestBody, Math.max(alwaysAllowed, body.length * largestRatio));
  decode(body, { maxOutputLength }, (error, decoded) => {
    if (error === null) done(decoded);
    else if (error.code === 'ERR_BUFFER_TOO_LARGE')
      done({ code: 'too-large', detail: `decodes to more than ${maxOutputLength} bytes` });
    else done({ code: 'bad-encoding', detail: error.code ?? 'unreadable' });
  });
}
