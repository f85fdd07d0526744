import { Sha256 } from '@aws-crypto/sha256-js';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../platform/clock.ts';
import { parseHttpDate } from '../hint-grammar.ts';
import type { HeaderValue, HttpHead } from '../http-client.ts';
import { Secret } from '../secret.ts';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret;
}

export interface Signer {
  sign(url: URL, body: string): Promise<Readonly<Record<string, HeaderValue>>>;
  /** A server that refuses a signature says its time: the next one is made with it. */
  learnTime(head: HttpHead): void;
}

/** A Bedrock API key needs no signature. */
export const bearerSigner = (key: Secret): Signer => ({
  sign: () =>
    Promise.resolve({ 'content-type': 'application/json', authorization: { prefix: 'Bearer ', secret: key } }),
  learnTime: () => {},
});

/** Signs with given keys, or with what AWS's own chain finds (profile, web identity, container, instance). */
export function awsSigner(
  region: string,
  keys: AwsKeys | undefined,
  profile: string | undefined,
  clock: Clock,
): Signer {
  let offsetMs = 0;
  const chain = keys === undefined ? defaultProvider(profile === undefined ? {} : { profile }) : undefined;
  return {
    async sign(url, body) {
      const signer = new SignatureV4({
        service: 'bedrock',
        region,
        sha256: Sha256,
        credentials: chain ?? revealed(keys, url.origin),
      });
      const request = {
        method: 'POST',
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port === '' ? {} : { port: Number(url.port) }),
        path: url.pathname,
        query: {},
        headers: { host: url.host, 'content-type': 'application/json' },
        body,
      };
      const signed = await signer.sign(request, { signingDate: new Date(clock.now() + offsetMs) });
      const { host: _, ...headers } = signed.headers;
      const token = headers['x-amz-security-token'];
      return token === undefined
        ? headers
        : { ...headers, 'x-amz-security-token': { prefix: '', secret: new Secret(token, url.origin) } };
    },
    learnTime({ status, headers }) {
      const theirs = parseHttpDate(String(headers['date'] ?? ''));
      if (theirs !== undefined && (status === 403 || status === 400)) offsetMs = theirs - clock.now();
    },
  };
}

function revealed(
  keys: AwsKeys | undefined,
  origin: string,
): { accessKeyId: string; secretAccessKey: string; sessionToken?: string } {
  const sessionToken = keys?.sessionToken?.revealFor(origin);
  return {
    accessKeyId: keys?.accessKeyId ?? '',
    secretAccessKey: keys?.secretAccessKey.revealFor(origin) ?? '',
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}
