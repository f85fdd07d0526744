import { gunzipSync } from 'node:zlib';

/** A report's text with everything that is packed inside it. */
export const unpackedReport = (page: string): string =>
  page +
  [...page.matchAll(/>(H4sI[A-Za-z0-9+/=]+)</g)]
    .map(([, packed]) => gunzipSync(Buffer.from(packed ?? '', 'base64')).toString('utf8'))
    .join('\n');
